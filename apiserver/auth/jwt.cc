#include "apiserver/auth/jwt.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>

#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/openssl.h"

namespace mailroom::apiserver {
namespace {

using openssl::Bio;
using openssl::Freer;
using Digest = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Freer<BN_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freer<ECDSA_SIG_free>>;

constexpr int kHalf = 32;  // bytes of r and of s on P-256

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// DER to r and s side by side, as tokens carry an ECDSA signature, and back.
std::string RawSignature(std::string_view der) {
  const unsigned char* at = Bytes(der);
  const Signature parsed(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!parsed) return "";
  std::string out(2 * kHalf, '\0');
  auto* data = reinterpret_cast<unsigned char*>(out.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), data, kHalf);
  BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), data + kHalf, kHalf);
  return out;
}

std::string DerSignature(std::string_view raw) {
  if (raw.size() != 2 * kHalf) return "";
  const Signature parsed(ECDSA_SIG_new());
  ECDSA_SIG_set0(parsed.get(), BN_bin2bn(Bytes(raw), kHalf, nullptr),
                 BN_bin2bn(Bytes(raw) + kHalf, kHalf, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parsed.get(), &der);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(std::max(size, 0)));
  OPENSSL_free(der);
  return out;
}

std::string SignBytes(EVP_PKEY* key, const std::string& algorithm, std::string_view text) {
  const Digest digest(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, Bytes(text), text.size()) != 1) {
    return "";
  }
  std::string out(size, '\0');
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(out.data()), &size, Bytes(text),
                     text.size()) != 1) {
    return "";
  }
  out.resize(size);
  return algorithm == "ES256" ? RawSignature(out) : out;
}

bool VerifyBytes(EVP_PKEY* key, const std::string& algorithm, std::string_view text,
                 std::string_view signature) {
  const std::string der = algorithm == "ES256" ? DerSignature(signature) : std::string(signature);
  if (der.empty()) return false;
  const Digest digest(EVP_MD_CTX_new());
  const bool good =
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
      EVP_DigestVerify(digest.get(), Bytes(der), der.size(), Bytes(text), text.size()) == 1;
  ERR_clear_error();
  return good;
}

std::string NumberAt(EVP_PKEY* key, const char* name, int width) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw) != 1) return "";
  const Number number(raw);
  std::string out(static_cast<std::size_t>(width > 0 ? width : BN_num_bytes(raw)), '\0');
  BN_bn2binpad(raw, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size()));
  return EncodeUrl64(out);
}

Json PublicKey(const std::string& id, const std::string& algorithm, EVP_PKEY* key) {
  Json out = {{"use", "sig"}, {"kid", id}, {"alg", algorithm}};
  if (algorithm == "RS256") {
    out["kty"] = "RSA";
    out["n"] = NumberAt(key, OSSL_PKEY_PARAM_RSA_N, 0);
    out["e"] = NumberAt(key, OSSL_PKEY_PARAM_RSA_E, 0);
  } else {
    out["kty"] = "EC";
    out["crv"] = "P-256";
    out["x"] = NumberAt(key, OSSL_PKEY_PARAM_EC_PUB_X, kHalf);
    out["y"] = NumberAt(key, OSSL_PKEY_PARAM_EC_PUB_Y, kHalf);
  }
  return out;
}

}  // namespace

std::string EncodeUrl64(std::string_view bytes) {
  std::string out = openapi::EncodeBase64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

bool DecodeUrl64(std::string_view text, std::string& out) {
  std::string plain(text);
  if (plain.find_first_of("+/=\r\n") != std::string::npos) return false;
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  plain.append((4 - plain.size() % 4) % 4, '=');
  auto decoded = openapi::DecodeBase64(plain);
  if (!decoded) return false;
  out = std::move(*decoded);
  return true;
}

Result<TokenKeys::Key> TokenKeys::Read(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  EVP_PKEY* raw = PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr);
  if (raw == nullptr) {
    const Bio again(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    raw = PEM_read_bio_PUBKEY(again.get(), nullptr, nullptr, nullptr);
  }
  ERR_clear_error();
  if (raw == nullptr) return Internal("cannot read a service-account key");
  Key key;
  key.key = std::shared_ptr<EVP_PKEY>(raw, EVP_PKEY_free);
  const int type = EVP_PKEY_get_base_id(raw);
  if (type == EVP_PKEY_RSA && EVP_PKEY_get_bits(raw) >= 2048) {
    key.algorithm = "RS256";
  } else if (type == EVP_PKEY_EC && EVP_PKEY_get_bits(raw) == 256) {
    key.algorithm = "ES256";
  } else {
    return Internal("a service-account key is RSA of at least 2048 bits, or P-256");
  }
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(raw, &der);
  unsigned char hash[EVP_MAX_MD_SIZE];
  EVP_Digest(der, static_cast<std::size_t>(std::max(size, 0)), hash, nullptr, EVP_sha256(), nullptr);
  OPENSSL_free(der);
  key.id = EncodeUrl64({reinterpret_cast<char*>(hash), 32});
  return key;
}

Result<TokenKeys> TokenKeys::Load(const std::string& signing_pem,
                                  const std::vector<std::string>& believed_pems) {
  TokenKeys keys;
  keys.keys_.push_back(TRY(Read(signing_pem)));
  if (SignBytes(keys.keys_[0].key.get(), keys.keys_[0].algorithm, "probe").empty()) {
    return Internal("the signing key is not a private key");
  }
  for (const std::string& pem : believed_pems) {
    Key key = TRY(Read(pem));
    const bool known = std::any_of(keys.keys_.begin(), keys.keys_.end(),
                                   [&](const Key& other) { return other.id == key.id; });
    if (!known) keys.keys_.push_back(std::move(key));
  }
  keys.key_set_ = {{"keys", Json::array()}};
  for (const Key& key : keys.keys_) {
    keys.key_set_["keys"].push_back(PublicKey(key.id, key.algorithm, key.key.get()));
  }
  return keys;
}

std::string TokenKeys::Sign(const Json& claims) const {
  const Key& key = keys_.front();
  const std::string text = EncodeUrl64(DumpJson({{"alg", key.algorithm}, {"kid", key.id}})) + "." +
                           EncodeUrl64(DumpJson(claims));
  return text + "." + EncodeUrl64(SignBytes(key.key.get(), key.algorithm, text));
}

Result<Json> TokenKeys::Verify(std::string_view token) const {
  if (token.size() > limits::kTokenBytes) return Unauthorized();
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last) return Unauthorized();
  std::string header_text, claims_text, signature;
  if (!DecodeUrl64(token.substr(0, first), header_text) ||
      !DecodeUrl64(token.substr(first + 1, last - first - 1), claims_text) ||
      !DecodeUrl64(token.substr(last + 1), signature)) {
    return Unauthorized();
  }
  const auto header = ParseJson(header_text);
  if (!header.ok() || !header->is_object()) return Unauthorized();
  const std::string algorithm = StringAt(*header, {"alg"}), id = StringAt(*header, {"kid"});
  for (const Key& key : keys_) {
    // The key decides the algorithm, never the token: it may only agree.
    if (key.algorithm != algorithm || (!id.empty() && id != key.id)) continue;
    if (!VerifyBytes(key.key.get(), key.algorithm, token.substr(0, last), signature)) continue;
    auto claims = ParseJson(claims_text);
    if (!claims.ok() || !claims->is_object()) return Unauthorized();
    return claims;
  }
  return Unauthorized();
}

std::vector<std::string> TokenKeys::algorithms() const {
  std::vector<std::string> out;
  for (const Key& key : keys_) {
    if (std::find(out.begin(), out.end(), key.algorithm) == out.end()) out.push_back(key.algorithm);
  }
  return out;
}

}  // namespace mailroom::apiserver
