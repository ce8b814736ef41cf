// ConfigMaps and Secrets.
#include "openapi/base64.h"
#include "openapi/json_syntax.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kFrozen = "field is immutable when `immutable` is set";

const Json& EntriesAt(const Json& object, std::string_view member) {
  static const Json kNone = Json::object();
  const Json* found = Find(object, {member});
  return found != nullptr && found->is_object() ? *found : kNone;
}

// Size of a value once decoded.
std::size_t DecodedBytes(const Json& value) {
  if (!value.is_string()) return 0;
  const std::string& text = value.get_ref<const std::string&>();
  const std::size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  return text.size() / 4 * 3 - std::min(padding, text.size() / 4 * 3);
}

void CheckKeys(const BuiltinCheck& check, std::string_view member) {
  for (const auto& [key, value] : EntriesAt(check.object, member).items()) {
    AddInvalid(check.causes, std::string(member) + "[" + key + "]", key, CheckConfigKey(key));
  }
}

void CheckFrozen(const BuiltinCheck& check, std::initializer_list<const char*> members) {
  if (check.old == nullptr || !BoolAt(*check.old, {"immutable"})) return;
  if (!BoolAt(check.object, {"immutable"})) check.Forbidden("immutable", kFrozen);
  for (const char* member : members) {
    if (EntriesAt(check.object, member) != EntriesAt(*check.old, member)) {
      check.Forbidden(member, kFrozen);
    }
  }
}

// The keys a type of secret must hold.
void CheckSecretType(const BuiltinCheck& check) {
  const std::string type = StringAt(check.object, {"type"});
  const Json& data = EntriesAt(check.object, "data");
  auto want = [&](const std::string& key) {
    if (!data.contains(key)) check.Required("data[" + key + "]");
  };
  auto want_json = [&](const std::string& key) {
    want(key);
    if (!data.contains(key)) return;
    const std::string why = JsonObjectProblem(DecodeBase64(StringAt(data, {key})).value_or(""));
    if (!why.empty()) check.Invalid("data[" + key + "]", "<secret contents redacted>", why);
  };
  if (type == "kubernetes.io/service-account-token") {
    const std::string key = "kubernetes.io/service-account.name";
    if (StringAt(check.object, {"metadata", "annotations", key}).empty()) {
      check.Required("metadata.annotations[" + key + "]");
    }
  } else if (type == "kubernetes.io/dockercfg") {
    want_json(".dockercfg");
  } else if (type == "kubernetes.io/dockerconfigjson") {
    want_json(".dockerconfigjson");
  } else if (type == "kubernetes.io/basic-auth") {
    if (!data.contains("username") && !data.contains("password")) {
      want("username");
      want("password");
    }
  } else if (type == "kubernetes.io/ssh-auth") {
    if (StringAt(data, {"ssh-privatekey"}).empty()) check.Required("data[ssh-privatekey]");
  } else if (type == "kubernetes.io/tls") {
    want("tls.crt");
    want("tls.key");
  }
}

}  // namespace

void CheckConfigMap(const BuiltinCheck& check) {
  CheckFrozen(check, {"data", "binaryData"});
  const Json& data = EntriesAt(check.object, "data");
  const Json& binary = EntriesAt(check.object, "binaryData");
  CheckKeys(check, "data");
  std::size_t bytes = 0;
  for (const auto& [key, value] : data.items()) {
    if (binary.contains(key)) {
      check.Invalid("data[" + key + "]", key, "duplicate of key present in binaryData");
    }
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  CheckKeys(check, "binaryData");
  for (const Json& value : binary) bytes += DecodedBytes(value);
  if (bytes > limits::kConfigBytes) check.causes.push_back(TooLong(kWholeObject, limits::kConfigBytes));
}

void CheckSecret(const BuiltinCheck& check) {
  check.Immutable({"type"});
  CheckFrozen(check, {"data"});
  CheckKeys(check, "data");
  std::size_t bytes = 0;
  for (const Json& value : EntriesAt(check.object, "data")) bytes += DecodedBytes(value);
  if (bytes > limits::kConfigBytes) check.causes.push_back(TooLong("data", limits::kConfigBytes));
  CheckSecretType(check);
}

}  // namespace mailroom::openapi
