#include "openapi/validate_devices.h"

#include <algorithm>
#include <array>

#include "openapi/cel/program.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_storage.h"
#include "storage/object/json.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kPoolBytes = 253;
constexpr std::size_t kDriverBytes = 63;
constexpr std::size_t kIdentifierBytes = 32;
constexpr std::size_t kAttributeBytes = 64;
constexpr std::size_t kAttributes = 32;
constexpr std::size_t kRawBytes = 10 * 1024;
constexpr std::size_t kExpressionBytes = 10 * 1024;
constexpr std::uint64_t kExpressionCost = 1'000'000;
constexpr std::size_t kSelectors = 32;
constexpr std::size_t kConditions = 4;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

void CheckIdentifier(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  if (name.size() > kIdentifierBytes) check.causes.push_back(TooLong(path, kIdentifierBytes));
  const bool fits = !name.empty() && IsLetter(name[0]) &&
                    std::all_of(name.begin(), name.end(),
                                [](char c) { return IsLetter(c) || IsDigit(c); });
  if (fits) return;
  check.Invalid(path, name,
                "a valid C identifier must start with alphabetic character or '_', followed by a "
                "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
                "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

cel::TypePtr Sized(cel::Kind kind, std::size_t most) {
  cel::Type type = *cel::Simple(kind);
  type.max_elements = static_cast<std::int64_t>(most);
  return std::make_shared<const cel::Type>(std::move(type));
}

cel::TypePtr SizedMap(std::size_t key, cel::TypePtr value) {
  cel::Type type = *cel::MakeMap(Sized(cel::Kind::kString, key), std::move(value));
  type.max_elements = kAttributes;
  return std::make_shared<const cel::Type>(std::move(type));
}

const cel::Environment& DeviceEnvironment() {
  static const auto* environment = [] {
    const auto by_domain = [](cel::TypePtr value) {
      return SizedMap(kDriverBytes, SizedMap(kIdentifierBytes, std::move(value)));
    };
    const std::vector<cel::Field> fields = {
        {"driver", "driver", Sized(cel::Kind::kString, kDriverBytes)},
        {"allowMultipleAllocations", "allowMultipleAllocations", Sized(cel::Kind::kBool, 1)},
        {"attributes", "attributes", by_domain(Sized(cel::Kind::kDyn, kAttributeBytes))},
        {"capacity", "capacity", by_domain(cel::MakeOpaque("kubernetes.Quantity"))}};
    auto* made = new cel::Environment;
    made->binds = true;
    made->variables = {{"device", cel::MakeObject("kubernetes.DRADevice", fields)}};
    return made;
  }();
  return *environment;
}

void CheckExpression(const BuiltinCheck& check, const std::string& text, const std::string& path) {
  if (text.size() > kExpressionBytes) {
    return check.causes.push_back(TooLong(path, kExpressionBytes));
  }
  const auto program = cel::Compile(text, DeviceEnvironment());
  if (!program.ok()) {
    return check.Invalid(path, text, "compilation failed: " + program.error().message());
  }
  const cel::Type& type = *(*program)->type();
  // An attribute, whatever it is, has a size; what else is only known when it runs has none.
  const bool attribute = type.kind == cel::Kind::kDyn && type.max_elements >= 0;
  if (type.kind != cel::Kind::kBool && !attribute) {
    return check.Invalid(path, text,
                         "must evaluate to bool or the unknown type, not " + cel::DisplayCut(type));
  }
  if ((*program)->cost().max > kExpressionCost) {
    check.Forbidden(path, "too complex, exceeds cost limit");
  }
}

// Why the text is no UUID, however it is written; "" when it is one.
std::string UuidFault(std::string_view id) {
  constexpr std::size_t kLength = 36, kPlain = 32, kUrn = kLength + 9, kBraced = kLength + 2;
  constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};
  std::string lower(id.substr(0, 9));
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (id.size() == kUrn) {
    if (lower != "urn:uuid:") return "invalid urn prefix: " + Quoted(id.substr(0, 9));
    id.remove_prefix(9);
  } else if (id.size() == kBraced) {
    if (id.front() != '{' || id.back() != '}') return "invalid bracketed UUID format";
    id = id.substr(1, kLength);
  }
  if (id.size() != kLength && id.size() != kPlain) {
    return "invalid UUID length: " + std::to_string(id.size());
  }
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = id.size() == kLength && std::find(kDashes.begin(), kDashes.end(), i) != kDashes.end();
    if (dash ? id[i] != '-' : !IsHex(id[i])) return "invalid UUID format";
  }
  return "";
}

void CheckConditionNames(const BuiltinCheck& check, const Json& owner, const char* member,
                         const std::string& path) {
  const Json& names = ArrayAt(owner, {member});
  const std::string field = path + "." + member;
  if (!FitsIn(check, names, kConditions, field)) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string()) continue;
    AddInvalid(check.causes, ElementPath(field, i), names[i],
               CheckQualifiedName(names[i].get_ref<const std::string&>()));
  }
}

void CheckEffect(const BuiltinCheck& check, const std::string& effect, const std::string& path) {
  for (const char* known : {"NoExecute", "NoSchedule", "None"}) {
    if (effect == known) return;
  }
  check.causes.push_back(NotSupported(path, effect, {"NoExecute", "NoSchedule", "None"}));
}

void CheckKeyValue(const BuiltinCheck& check, const std::string& value, const std::string& path) {
  const std::string why = CheckLabelValue(value);
  if (!why.empty()) check.Invalid(path, value, why);
}

void CheckOneToleration(const BuiltinCheck& check, const Json& toleration, const std::string& path) {
  const std::string key = StringAt(toleration, {"key"}), value = StringAt(toleration, {"value"});
  const std::string how = StringAt(toleration, {"operator"});
  if (!key.empty()) AddInvalid(check.causes, path + ".key", key, CheckQualifiedName(key));
  if (how == "Exists") {
    if (!value.empty()) check.Invalid(path + ".value", value, "must be empty for operator `Exists`");
  } else if (how == "Equal") {
    CheckKeyValue(check, value, path + ".value");
  } else if (how.empty()) {
    check.Required(path + ".operator");
  } else {
    check.causes.push_back(NotSupported(path + ".operator", how, {"Equal", "Exists"}));
  }
  const std::string effect = StringAt(toleration, {"effect"});
  if (!effect.empty()) CheckEffect(check, effect, path + ".effect");
}

}  // namespace

bool FitsIn(const BuiltinCheck& check, const Json& list, std::size_t most, const std::string& path) {
  if (list.size() <= most) return true;
  check.causes.push_back(TooMany(path, list.size(), most));
  return false;
}

std::string NameOf(const Json& element) { return StringAt(element, {"name"}); }

void CheckDeviceDriver(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  if (name.empty()) return check.Required(path);
  CheckDriverName(check, name, path);
}

void CheckPoolName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  if (name.empty()) return check.Required(path);
  if (name.size() > kPoolBytes) check.causes.push_back(TooLong(path, kPoolBytes));
  std::size_t start = 0;
  while (start <= name.size() && !check.causes.full()) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string part = name.substr(start, end - start);
    AddInvalid(check.causes, path, part, CheckSubdomain(part));
    start = end + 1;
  }
}

void CheckAttributeName(const BuiltinCheck& check, const std::string& name, const std::string& path) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return CheckIdentifier(check, name, path);
  if (slash != name.rfind('/')) return;  // the original takes what has more of them
  const std::string domain = name.substr(0, slash), id = name.substr(slash + 1);
  if (domain.empty()) {
    check.Invalid(path, "", "the domain must not be empty");
  } else {
    CheckDriverName(check, domain, path);
  }
  if (id.empty()) return check.Invalid(path, "", "the name must not be empty");
  CheckIdentifier(check, id, path);
}

void CheckShareId(const BuiltinCheck& check, const std::string& id, const std::string& path) {
  constexpr std::size_t kLength = 36;
  const std::string fault = UuidFault(id);
  const bool lower = std::none_of(id.begin(), id.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!fault.empty()) {
    check.Invalid(path, id, "error validating uid: " + fault);
  } else if (id.size() != kLength || !lower) {
    check.Invalid(path, id,
                  "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` "
                  "with lowercase hexadecimal characters");
  }
}

void CheckRawObject(const BuiltinCheck& check, const Json* raw, const std::string& path, Size size) {
  if (raw == nullptr || raw->is_null()) return check.Required(path);
  if (size == Size::kBounded && DumpJson(*raw).size() > kRawBytes) {
    return check.causes.push_back(TooLong(path, kRawBytes));
  }
  if (!raw->is_object()) check.Invalid(path, "<value omitted>", "must be a valid JSON object");
}

void CheckDeviceSelectors(const BuiltinCheck& check, const Json& owner, const std::string& path) {
  const Json& selectors = ArrayAt(owner, {"selectors"});
  const std::string list = path + ".selectors";
  if (!FitsIn(check, selectors, kSelectors, list)) return;
  for (std::size_t i = 0; i < selectors.size() && !check.causes.full(); ++i) {
    const std::string field = ElementPath(list, i) + ".cel";
    if (Find(selectors[i], {"cel"}) == nullptr) {
      check.Required(field);
    } else {
      CheckExpression(check, StringAt(selectors[i], {"cel", "expression"}), field + ".expression");
    }
  }
}

void CheckDeviceConfig(const BuiltinCheck& check, const Json& config, const std::string& path,
                       Size size) {
  const std::string field = path + ".opaque";
  const Json* opaque = Find(config, {"opaque"});
  if (opaque == nullptr) return check.Required(field);
  CheckDeviceDriver(check, StringAt(*opaque, {"driver"}), field + ".driver");
  CheckRawObject(check, Find(*opaque, {"parameters"}), field + ".parameters", size);
}

void CheckBindingConditions(const BuiltinCheck& check, const Json& owner, const std::string& path) {
  const std::string met = path + ".bindingConditions", failed = path + ".bindingFailureConditions";
  CheckConditionNames(check, owner, "bindingConditions", path);
  CheckConditionNames(check, owner, "bindingFailureConditions", path);
  const std::vector<std::string> wanted = StringsAt(owner, {"bindingConditions"});
  const std::vector<std::string> unwanted = StringsAt(owner, {"bindingFailureConditions"});
  CheckUnique(check, wanted, met, [](const Json& name) { return name.get<std::string>(); });
  const std::set<std::string> known(wanted.begin(), wanted.end());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < unwanted.size() && !check.causes.full(); ++i) {
    const std::string field = ElementPath(failed, i);
    if (!seen.insert(unwanted[i]).second) {
      check.causes.push_back(DuplicateValue(field, Quoted(unwanted[i])));
    }
    if (known.contains(unwanted[i])) {
      check.Invalid(field, unwanted[i],
                    "bindingFailureConditions must not overlap with bindingConditions");
    }
  }
  const auto given = [&](const char* member) {
    const Json* list = Find(owner, {member});
    return list == nullptr ? Json() : *list;
  };
  if (wanted.empty() && !unwanted.empty()) {
    check.Invalid(met, given("bindingConditions"),
                  "bindingConditions are required to use bindingFailureConditions");
  }
  if (unwanted.empty() && !wanted.empty()) {
    check.Invalid(failed, given("bindingFailureConditions"),
                  "bindingFailureConditions are required to use bindingConditions");
  }
}

void CheckDeviceTolerations(const BuiltinCheck& check, const Json& owner, const std::string& path) {
  const Json& tolerations = ArrayAt(owner, {"tolerations"});
  for (std::size_t i = 0; i < tolerations.size() && !check.causes.full(); ++i) {
    CheckOneToleration(check, tolerations[i], ElementPath(path + ".tolerations", i));
  }
}

void CheckDeviceTaint(const BuiltinCheck& check, const Json& taint, const std::string& path) {
  const std::string key = StringAt(taint, {"key"}), effect = StringAt(taint, {"effect"});
  AddInvalid(check.causes, path + ".key", key, CheckQualifiedName(key));
  CheckKeyValue(check, StringAt(taint, {"value"}), path + ".value");
  if (effect.empty()) return check.Required(path + ".effect");
  CheckEffect(check, effect, path + ".effect");
}

}  // namespace mailroom::openapi
