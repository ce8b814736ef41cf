#include "storage/seal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/resource_key.h"
#include "storage/object/yaml.h"

namespace mailroom::storage {
namespace {

// `sealed:aesgcm:<key name>:` nonce, ciphertext, tag. Plain values begin with '{'.
constexpr int kNonceBytes = 12, kTagBytes = 16;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* In(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Out(std::string& text, std::size_t at = 0) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}

const EVP_CIPHER* CipherOf(const std::string& secret) {
  return secret.size() == 32 ? EVP_aes_256_gcm()
         : secret.size() == 24 ? EVP_aes_192_gcm()
                               : EVP_aes_128_gcm();
}

// Nonce, ciphertext, tag; nothing when one of them could not be made.
std::optional<std::string> Encrypt(const std::string& secret, std::string_view place,
                                   std::string_view plain) {
  std::string out(kNonceBytes + plain.size() + kTagBytes, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      cipher != nullptr && RAND_bytes(Out(out), kNonceBytes) == 1 &&
      EVP_EncryptInit_ex(cipher.get(), CipherOf(secret), nullptr, In(secret), Out(out)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, In(place),
                        static_cast<int>(place.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), Out(out, kNonceBytes), &size, In(plain),
                        static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), Out(out, kNonceBytes + plain.size()), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                          Out(out, kNonceBytes + plain.size())) == 1;
  if (!done) return std::nullopt;
  return out;
}

bool Decrypt(const std::string& secret, std::string_view place, std::string_view sealed,
             std::string& plain) {
  if (sealed.size() < kNonceBytes + kTagBytes) return false;
  const std::string_view body = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  plain.resize(body.size());
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  return cipher != nullptr &&
         EVP_DecryptInit_ex(cipher.get(), CipherOf(secret), nullptr, In(secret), In(sealed)) == 1 &&
         EVP_DecryptUpdate(cipher.get(), nullptr, &size, In(place),
                           static_cast<int>(place.size())) == 1 &&
         EVP_DecryptUpdate(cipher.get(), Out(plain), &size, In(body),
                           static_cast<int>(body.size())) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, Out(tag)) == 1 &&
         EVP_DecryptFinal_ex(cipher.get(), Out(plain, plain.size()), &size) == 1;
}

// Standard base64 of a key.
std::string DecodeSecret(const std::string& text) {
  std::string out(text.size(), '\0');
  const int size = EVP_DecodeBlock(Out(out), In(text), static_cast<int>(text.size()));
  if (size < 0) return "";
  const auto padding = std::count(text.begin(), text.end(), '=');
  out.resize(static_cast<std::size_t>(size) - static_cast<std::size_t>(padding));
  return out;
}

GroupResource ParseResource(const std::string& text) {
  if (text == "*.*" || text == "*") return {"*", "*"};
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return {"", text};
  return {text.substr(dot + 1), text.substr(0, dot)};
}

}  // namespace

Result<Seal> Seal::Parse(std::string_view text) {
  const Json tree = TRY(ParseYaml(text));
  const Json* groups = Find(tree, {"resources"});
  if (StringAt(tree, {"kind"}) != "EncryptionConfiguration" || groups == nullptr ||
      !groups->is_array() || groups->empty()) {
    return BadRequest("encryption keys: want an EncryptionConfiguration with resources");
  }
  Seal seal;
  for (const Json& group : *groups) {
    Rule rule;
    for (const std::string& name : StringsAt(group, {"resources"})) {
      rule.resources.push_back(ParseResource(name));
    }
    const Json* providers = Find(group, {"providers"});
    if (rule.resources.empty() || providers == nullptr || !providers->is_array()) {
      return BadRequest("encryption keys: an entry wants resources and providers");
    }
    for (const Json& provider : *providers) {
      if (provider.contains("identity")) {
        if (rule.keys.empty()) rule.writes_plain = true;
        continue;
      }
      const Json* keys = Find(provider, {"aesgcm", "keys"});
      if (keys == nullptr || !keys->is_array()) {
        return BadRequest("encryption keys: providers are aesgcm and identity");
      }
      for (const Json& key : *keys) {
        Key parsed{StringAt(key, {"name"}), DecodeSecret(StringAt(key, {"secret"}))};
        const std::size_t size = parsed.secret.size();
        if (parsed.name.empty() || parsed.name.find(':') != std::string::npos ||
            (size != 16 && size != 24 && size != 32)) {
          return BadRequest("encryption keys: a key has a name and 16, 24 or 32 bytes in base64");
        }
        rule.keys.push_back(std::move(parsed));
      }
    }
    if (rule.keys.empty()) rule.writes_plain = true;
    seal.rules_.push_back(std::move(rule));
  }
  return seal;
}

const Seal::Rule* Seal::RuleOf(std::string_view store_key) const {
  const auto key = ResourceKey::Parse(store_key);
  const GroupResource named = key.ok() ? key->resource : GroupResource{"*", "*"};
  for (const Rule& rule : rules_) {
    for (const GroupResource& resource : rule.resources) {
      if ((resource.group == "*" || resource.group == named.group) &&
          (resource.resource == "*" || resource.resource == named.resource)) {
        return &rule;
      }
    }
  }
  return nullptr;
}

Result<std::string> Seal::Close(std::string_view store_key, std::string_view plain) const {
  const Rule* rule = RuleOf(store_key);
  if (rule == nullptr || rule->writes_plain) return std::string(plain);
  const Key& key = rule->keys.front();
  const auto sealed = Encrypt(key.secret, store_key, plain);
  if (!sealed) return Internal("the value of " + std::string(store_key) + " cannot be sealed");
  return std::string(kPrefix) + key.name + ":" + *sealed;
}

Result<std::string> Seal::Open(std::string_view store_key, std::string_view stored) const {
  if (!IsSealed(stored)) return std::string(stored);
  const std::string_view rest = stored.substr(kPrefix.size());
  const std::size_t colon = std::min(rest.find(':'), rest.size() - 1);
  const std::string_view name = rest.substr(0, colon);
  std::string plain;
  for (const Rule& rule : rules_) {
    for (const Key& key : rule.keys) {
      if (key.name == name && Decrypt(key.secret, store_key, rest.substr(colon + 1), plain)) {
        return plain;
      }
    }
  }
  return Internal("no key opens the value of " + std::string(store_key));
}

bool Seal::IsStale(std::string_view store_key, std::string_view stored) const {
  const Rule* rule = RuleOf(store_key);
  if (rule == nullptr || rule->writes_plain) return IsSealed(stored);
  return !stored.starts_with(std::string(kPrefix) + rule->keys.front().name + ":");
}

}  // namespace mailroom::storage
