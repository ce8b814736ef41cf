// JSON Web Tokens, signed RS256 or ES256 as the key's type demands, and no other way. Immutable
// once loaded; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/result.h"

using EVP_PKEY = struct evp_pkey_st;

namespace mailroom::apiserver {

class TokenKeys {
 public:
  // PEM texts: the private key that signs, and further keys (private or public) whose tokens are
  // still believed.
  static Result<TokenKeys> Load(const std::string& signing_pem,
                                const std::vector<std::string>& believed_pems);

  std::string Sign(const Json& claims) const;
  // The claims of a token that one of the keys signed; Unauthorized otherwise. Says nothing about
  // what the claims mean.
  Result<Json> Verify(std::string_view token) const;
  // The public keys as a JSON Web Key Set.
  const Json& key_set() const { return key_set_; }
  // RS256, ES256: those in use.
  std::vector<std::string> algorithms() const;

 private:
  struct Key {
    std::string id;         // hash of the public key
    std::string algorithm;
    std::shared_ptr<EVP_PKEY> key;
  };
  static Result<Key> Read(const std::string& pem);

  std::vector<Key> keys_;  // the first one signs
  Json key_set_;
};

// Base64 in the URL alphabet without padding.
std::string EncodeUrl64(std::string_view bytes);
// False when `text` is not well-formed.
bool DecodeUrl64(std::string_view text, std::string& out);

}  // namespace mailroom::apiserver
