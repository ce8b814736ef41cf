#include "apiserver/http/ticket_keys.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <algorithm>

#include "storage/object/limits.h"
#include "storage/object/random.h"

namespace mailroom::apiserver {
namespace {

bool SetMac(EVP_MAC_CTX* mac, TicketKeys::Key& key) {
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac.data(), key.mac.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// The values of SSL_CTX_set_tlsext_ticket_key_evp_cb.
constexpr int kError = -1, kUnknownKey = 0, kGood = 1, kGoodButOld = 2;

int UseKey(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
           EVP_MAC_CTX* mac, int sealing) {
  auto& keys = *static_cast<TicketKeys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  if (sealing == 1) {
    TicketKeys::Key key = keys.Current();
    std::copy(key.name.begin(), key.name.end(), name);
    const bool done = RAND_bytes(iv, EVP_MAX_IV_LENGTH) == 1 &&
                      EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(),
                                         iv) == 1 &&
                      SetMac(mac, key);
    return done ? kGood : kError;
  }
  TicketKeys::Key key;
  if (!keys.Find(name, key)) return kUnknownKey;
  const bool done =
      SetMac(mac, key) &&
      EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), iv) == 1;
  if (!done) return kError;
  return key.name == keys.Current().name ? kGood : kGoodButOld;
}

}  // namespace

void TicketKeys::Serve(SSL_CTX* context) {
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, UseKey);
  constexpr auto kLife = std::chrono::duration_cast<std::chrono::seconds>(limits::kTicketKeyAge);
  SSL_CTX_set_timeout(context, kLife.count());
}

TicketKeys::Key TicketKeys::Current() {
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (keys_.empty() || now - keys_.front().made >= limits::kTicketKeyAge) {
    Key& fresh = keys_.emplace_front();
    fresh.made = now;
    FillRandom(fresh.name.data(), fresh.name.size());
    FillRandom(fresh.cipher.data(), fresh.cipher.size());
    FillRandom(fresh.mac.data(), fresh.mac.size());
    if (keys_.size() > 2) keys_.pop_back();
  }
  return keys_.front();
}

bool TicketKeys::Find(const unsigned char* name, Key& out) {
  std::lock_guard lock(mutex_);
  for (const Key& key : keys_) {
    if (!std::equal(key.name.begin(), key.name.end(), name)) continue;
    out = key;
    return true;
  }
  return false;
}

}  // namespace mailroom::apiserver
