#include "openapi/validate_custom.h"

#include <algorithm>
#include <limits>

#include "openapi/rules.h"
#include "openapi/validate.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string Joined(const Complaints& complaints) {
  std::string out;
  for (const std::string& complaint : complaints) out += (out.empty() ? "" : ",") + complaint;
  return out;
}

// Why text is no apiVersion or kind of an embedded resource; "" when it is one.
std::string ApiVersionFault(const std::string& text) {
  if (text.empty()) return "must not be empty";
  if (std::count(text.begin(), text.end(), '/') <= 1) return "";
  return "unexpected GroupVersion string: " + text;
}

std::string KindFault(const std::string& text) {
  if (text.empty()) return "must not be empty";
  const Complaints complaints = Check1035Label(LowerCase(text));
  if (complaints.empty()) return "";
  return "may have mixed case, but should otherwise match: " + Joined(complaints);
}

// Resources inside custom resources carry their own identity. That its parts have the right types
// is known by now.
void CheckIdentity(const Json& value, const std::string& path, Causes& causes) {
  struct Part {
    const char* name;
    std::string (*fault)(const std::string&);
  };
  constexpr Part kParts[] = {{"apiVersion", ApiVersionFault}, {"kind", KindFault}};
  for (const Part& part : kParts) {
    if (!value.contains(part.name)) causes.push_back(RequiredValue(MemberPath(path, part.name)));
  }
  for (const Part& part : kParts) {
    if (!value.contains(part.name)) continue;
    const std::string text = StringAt(value, {part.name});
    if (const std::string fault = part.fault(text); !fault.empty()) {
      causes.push_back(InvalidValue(MemberPath(path, part.name), Quoted(text), fault));
    }
  }
  causes.Add(ValidateEmbeddedMetadata(value, path));
}

void CheckEmbedded(const Schema& schema, const Json& value, const std::string& path,
                   Causes& causes) {
  if (causes.full()) return;
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      CheckEmbedded(*schema.items, value[i], ElementPath(path, i), causes);
    }
  }
  if (!value.is_object() || schema.is_object_meta) return;
  if (schema.embedded_resource) CheckIdentity(value, path, causes);
  for (const auto& [name, member] : value.items()) {
    if (!member.is_structured()) continue;
    if (const Property* property = schema.Find(name)) {
      CheckEmbedded(*property->schema, member, MemberPath(path, name), causes);
    } else if (schema.additional != nullptr) {
      CheckEmbedded(*schema.additional, member, EntryPath(path, name), causes);
    }
  }
}

// How Go names the type of a value that came out of JSON.
std::string_view GoType(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_number()) return IsFloat(value) ? "float64" : "int64";
  return value.is_array() ? "[]interface {}" : "map[string]interface {}";
}

// How Go prints it.
std::string GoText(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return Rendered(value);
  std::string out;
  for (const auto& [name, part] : value.items()) {
    out += (out.empty() ? "" : " ") + (value.is_object() ? name + ":" : "") + GoText(part);
  }
  return (value.is_object() ? "map[" : "[") + out + "]";
}

// Why the value at a dotted path cannot be read as `wanted`; "" when it can, or is not there.
std::string AccessFault(const Json& object, const std::string& dotted, std::string_view wanted) {
  const Json* at = &object;
  std::string path;
  auto fault = [&](std::string_view expected) {
    return path + " accessor error: " + CutText(GoText(*at), limits::kProblemValueBytes) +
           " is of the type " + std::string(GoType(*at)) + ", expected " + std::string(expected);
  };
  for (const std::string& step : SplitDotted(dotted)) {
    if (at->is_null()) return "";
    path += "." + step;
    if (!at->is_object()) return fault("map[string]interface{}");
    const auto member = at->find(step);
    if (member == at->end()) return "";
    at = &*member;
  }
  return GoType(*at) == wanted ? "" : fault(wanted);
}

// Replicas that the scale subresource could not show.
void CheckReplicas(const Json& object, const std::string& dotted, Causes& causes) {
  const std::string field = "." + dotted;
  if (const std::string fault = AccessFault(object, dotted, "int64"); !fault.empty()) {
    causes.push_back(InvalidValue(field, "0", fault));
    return;
  }
  const Json* found = FindDotted(object, dotted);
  const std::int64_t replicas =
      found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (replicas < 0) {
    causes.push_back(
        InvalidValue(field, std::to_string(replicas), "should be a non-negative integer"));
  } else if (replicas > kMost) {
    causes.push_back(InvalidValue(field, std::to_string(replicas),
                                  "should be less than or equal to " + std::to_string(kMost)));
  }
}

void CheckScaleStatus(const ResourceType& type, const Json& object, Causes& causes) {
  if (type.FindSubresource("scale") == nullptr) return;
  CheckReplicas(object, type.scale.status_replicas, causes);
  const std::string& selector = type.scale.label_selector;
  if (selector.empty()) return;
  if (const std::string fault = AccessFault(object, selector, "string"); !fault.empty()) {
    causes.push_back(InvalidValue("." + selector, "\"\"", fault));
  }
}

// Rules may rely on the types and bounds of the schema.
bool BlocksRules(const Cause& cause) {
  for (const char* reason : {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong",
                             "FieldValueTooMany", "FieldValueTypeInvalid"}) {
    if (cause.reason == reason) return true;
  }
  return false;
}

// What is checked last: lists, unless they had faults before, and rules.
void CheckWhole(const ResourceType& type, const Json& object, const Json* old, Causes& causes) {
  if (old == nullptr || CheckLists(*type.schema, *old, "").empty()) {
    causes.Add(CheckLists(*type.schema, object, ""));
  }
  if (type.rules == nullptr) return;
  if (causes.full() || std::any_of(causes.begin(), causes.end(), BlocksRules)) {
    causes.push_back(InvalidValue("<nil>", "null",
                                  "some validation rules were not checked because the object was "
                                  "invalid; correct the existing errors to complete validation"));
    return;
  }
  causes.Add(type.rules->Check(object, old));
}

}  // namespace

Causes ValidateCustom(const ResourceType& type, const Json& object, const Json* old) {
  Causes causes = CheckSchema(*type.schema, object, old, "");
  if (type.FindSubresource("scale") != nullptr) {
    CheckReplicas(object, type.scale.spec_replicas, causes);
    CheckScaleStatus(type, object, causes);
  }
  CheckEmbedded(*type.schema, object, "", causes);
  CheckWhole(type, object, old, causes);
  return causes;
}

Causes ValidateCustomStatus(const ResourceType& type, const Json& object, const Json& old) {
  Causes causes;
  const Property* property = type.schema->Find("status");
  const Json* status = Find(object, {"status"});
  if (property != nullptr && status != nullptr) {
    // Its details speak of the status as if it were the whole.
    causes.Add(CheckSchema(*property->schema, *status, Find(old, {"status"}), ""));
    for (Cause& cause : causes) {
      cause.field = cause.field == "<nil>" ? "status" : MemberPath("status", cause.field);
    }
  }
  CheckScaleStatus(type, object, causes);
  CheckWhole(type, object, &old, causes);
  return causes;
}

}  // namespace mailroom::openapi
