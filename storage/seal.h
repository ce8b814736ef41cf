// Encryption of stored values: AES-256-GCM with the value's key as associated data, so that a
// value cannot be moved to another place. Configured by a Kubernetes EncryptionConfiguration with
// providers aesgcm and identity. Immutable; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/object/ids.h"
#include "storage/object/result.h"

namespace mailroom::storage {

class Seal {
 public:
  // YAML or JSON. The first provider's first key writes, all keys read; identity first means that
  // new values are written plain.
  static Result<Seal> Parse(std::string_view text);

  // What is to be stored for `plain` under that key: sealed, or as it is. Internal when it cannot
  // be sealed, never plain instead.
  Result<std::string> Close(std::string_view store_key, std::string_view plain) const;
  // The plain value; Internal when it was sealed with an unknown key or has been tampered with.
  Result<std::string> Open(std::string_view store_key, std::string_view stored) const;
  // Whether Close would store that value otherwise than it is stored now (but for randomness).
  bool IsStale(std::string_view store_key, std::string_view stored) const;
  static bool IsSealed(std::string_view stored) { return stored.starts_with(kPrefix); }

 private:
  static constexpr std::string_view kPrefix = "sealed:aesgcm:";
  struct Key {
    std::string name, secret;
  };
  struct Rule {
    std::vector<GroupResource> resources;  // "*" stands for all
    std::vector<Key> keys;
    bool writes_plain = false;
  };
  // Null when values under that key are stored plain and always were.
  const Rule* RuleOf(std::string_view store_key) const;

  std::vector<Rule> rules_;
};

}  // namespace mailroom::storage
