// A client's side of getting a certificate: its key, the request it signs with it, and when what it
// got comes to its end. PEM texts; pure functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/result.h"

namespace mailroom::client {

// A new P-256 private key.
Result<std::string> NewKey();
// A PKCS #10 request for that key with the given subject.
Result<std::string> NewSigningRequest(std::string_view key_pem, std::string_view common_name,
                                      const std::vector<std::string>& organizations);

struct Lifetime {
  std::chrono::system_clock::time_point begins, ends;
  // When it is time for the next one: after two thirds.
  std::chrono::system_clock::time_point renew() const { return begins + (ends - begins) * 2 / 3; }
};
Result<Lifetime> LifetimeOf(std::string_view certificate_pem);
// The common name of the certificate's subject, "" when there is none.
std::string CommonNameOf(std::string_view certificate_pem);

}  // namespace mailroom::client
