#include "openapi/validate_conditions.h"

#include <algorithm>
#include <set>

#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kReasonBytes = 1024;
constexpr std::size_t kMessageBytes = 32 * 1024;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsReason(const std::string& text) {
  auto inner = [](char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == ',' || c == ':'; };
  return IsLetter(text.front()) && text.back() != ',' && text.back() != ':' &&
         std::all_of(text.begin(), text.end(), inner);
}

void CheckCondition(const BuiltinCheck& check, const Json& condition, const std::string& path) {
  const std::string type = StringAt(condition, {"type"}), status = StringAt(condition, {"status"});
  AddInvalid(check.causes, path + ".type", type, CheckQualifiedName(type));
  if (status != "True" && status != "False" && status != "Unknown") {
    check.causes.push_back(NotSupported(path + ".status", status, {"False", "True", "Unknown"}));
  }
  const std::int64_t generation = IntAt(condition, {"observedGeneration"});
  if (generation < 0) {
    check.Invalid(path + ".observedGeneration", generation,
                  "must be greater than or equal to zero");
  }
  if (StringAt(condition, {"lastTransitionTime"}).empty()) {
    check.Required(path + ".lastTransitionTime");
  }
  const std::string reason = StringAt(condition, {"reason"});
  if (reason.empty()) {
    check.Required(path + ".reason");
  } else if (!IsReason(reason)) {
    check.Invalid(path + ".reason", reason,
                  "a condition reason must start with alphabetic character, optionally followed "
                  "by a string of alphanumeric characters or '_,:', and must end with an "
                  "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                  "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  }
  if (reason.size() > kReasonBytes) check.causes.push_back(TooLong(path + ".reason", kReasonBytes));
  if (StringAt(condition, {"message"}).size() > kMessageBytes) {
    check.causes.push_back(TooLong(path + ".message", kMessageBytes));
  }
}

}  // namespace

void CheckConditions(const BuiltinCheck& check, const Json& conditions, const std::string& path) {
  std::set<std::string> types;
  for (std::size_t i = 0; i < conditions.size() && !check.causes.full(); ++i) {
    const std::string field = ElementPath(path, i);
    const std::string type = StringAt(conditions[i], {"type"});
    if (!types.insert(type).second) {
      check.causes.push_back(DuplicateValue(field + ".type", Quoted(type)));
    }
    CheckCondition(check, conditions[i], field);
  }
}

}  // namespace mailroom::openapi
