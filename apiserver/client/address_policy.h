// Which addresses may not be connected to when users say where to connect. Judged on the address
// itself, never on a name.
#pragma once

#include <string>

#include "storage/object/result.h"

struct sockaddr;

namespace mailroom::client {

// Which peers may not be called.
struct AddressPolicy {
  bool refuse_loopback = false;    // also the unspecified address, which leads there
  bool refuse_link_local = false;  // cloud metadata services live there
  bool refuse_private = false;     // RFC 1918, shared and unique local addresses
  // `loopback,link-local,private`, or "" for none.
  static Result<AddressPolicy> Parse(const std::string& text);
  bool Refuses(const sockaddr& address) const;
};

}  // namespace mailroom::client
