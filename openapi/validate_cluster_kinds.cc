#include "openapi/validate_cluster_kinds.h"

#include <initializer_list>
#include <set>

#include "openapi/builtin.h"
#include "openapi/validate.h"
#include "openapi/validate_addresses.h"
#include "openapi/validate_causes.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_schema.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kFixed = "field is immutable";

bool IsSame(const Json* a, const Json* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// Members that must be there, and could be parts of a path.
void CheckNamed(const BuiltinCheck& check, const Json& owner, const std::string& path,
                std::initializer_list<const char*> members) {
  for (const char* member : members) {
    const std::string text = StringAt(owner, {member}), field = path + "." + member;
    if (text.empty()) {
      check.Required(field);
    } else {
      AddInvalid(check.causes, field, text, CheckPathSegment(text));
    }
  }
}

void CheckRuntimeTolerations(const BuiltinCheck& check) {
  const std::string list = "scheduling.tolerations";
  const Schema& type = *BuiltinType("core/v1.Toleration");
  const Json& tolerations = ArrayAt(check.object, {"scheduling", "tolerations"});
  CheckTolerations(check, tolerations, list, false);
  std::set<Json> known;
  for (std::size_t i = 0; i < tolerations.size() && !check.causes.full(); ++i) {
    Json key = Json::array();
    for (const char* member : {"key", "operator", "value", "effect"}) {
      key.push_back(StringAt(tolerations[i], {member}));
    }
    if (known.insert(std::move(key)).second) continue;
    check.causes.push_back(DuplicateValue(ElementPath(list, i), InternalText(type, &tolerations[i])));
  }
}

}  // namespace

void CheckPrefixedPath(const BuiltinCheck& check, const std::string& text, const std::string& field) {
  if (text.empty()) return check.Required(field);
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return check.Invalid(field, text, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  const std::string home = text.substr(0, slash), path = text.substr(slash + 1);
  AddInvalid(check.causes, field, home, CheckSubdomain(home));
  if (MatchesPattern("^[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+$", path)) return;
  check.Invalid(field, path,
                "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
}

void CheckRevision(const BuiltinCheck& check) {
  check.NonNegative({"revision"});
  const Json* data = Find(check.object, {"data"});
  if (check.old != nullptr) {
    if (!IsSame(data, Find(*check.old, {"data"}))) {
      Untell(check.causes, "data");
      check.Invalid("data", data == nullptr ? Json() : *data, kFixed);
    }
  } else if (data == nullptr || data->is_null()) {
    Untell(check.causes, "data");
    check.Required("data", "data is mandatory");
  } else if (!data->is_object()) {
    check.Required("data", "data must be a valid JSON object");
  }
}

void CheckRuntimeClass(const BuiltinCheck& check) {
  const std::string handler = StringAt(check.object, {"handler"});
  if (handler.empty()) {
    check.Required("handler");
  } else {
    AddInvalid(check.causes, "handler", handler, CheckLabel(handler));
  }
  if (const Json* fixed = Find(check.object, {"overhead", "podFixed"})) {
    CheckAmounts({check, PodCheck::kNoSpec, ""}, {{"limits", *fixed}}, "overhead");
  }
  if (const Json* labels = Find(check.object, {"scheduling", "nodeSelector"})) {
    check.causes.Add(ValidateLabels(labels, "scheduling.nodeSelector"));
  }
  CheckRuntimeTolerations(check);
  check.Immutable({"handler"});
}

void CheckIngressClass(const BuiltinCheck& check) {
  constexpr std::size_t kLongest = 250;
  const std::string controller = StringAt(check.object, {"spec", "controller"});
  check.Immutable({"spec", "controller"});
  if (controller.size() > kLongest) check.causes.push_back(TooLong("spec.controller", kLongest));
  CheckPrefixedPath(check, controller, "spec.controller");
  const Json* found = Find(check.object, {"spec", "parameters"});
  if (found == nullptr) return;
  const std::string field = "spec.parameters";
  const auto text = [&](const char* member) { return StringAt(*found, {member}); };
  if (Find(*found, {"apiGroup"}) != nullptr) {
    AddInvalid(check.causes, field + ".apiGroup", text("apiGroup"), CheckSubdomain(text("apiGroup")));
  }
  CheckNamed(check, *found, field, {"kind", "name"});
  const Json* scope = Find(*found, {"scope"});
  const Json* home = Find(*found, {"namespace"});
  const std::string reach = text("scope");
  if (scope == nullptr) {
    check.Required(field + ".scope");
  } else if (reach != "Cluster" && reach != "Namespace") {
    check.causes.push_back(NotSupported(field + ".scope", reach, {"Cluster", "Namespace"}));
  } else if (reach == "Namespace" && home == nullptr) {
    check.Required(field + ".namespace", "`parameters.scope` is set to 'Namespace'");
  } else if (reach == "Namespace") {
    AddInvalid(check.causes, field + ".namespace", text("namespace"), CheckLabel(text("namespace")));
  } else if (reach == "Cluster" && home != nullptr) {
    check.Forbidden(field + ".namespace", "`parameters.scope` is set to 'Cluster'");
  }
}

void CheckIpObject(const BuiltinCheck& check) {
  const Json* parent = Find(check.object, {"spec", "parentRef"});
  const std::string field = "spec.parentRef";
  if (parent == nullptr) {
    check.Required(field);
  } else {
    const std::string group = StringAt(*parent, {"group"}), home = StringAt(*parent, {"namespace"});
    if (!group.empty()) AddInvalid(check.causes, field + ".group", group, CheckSubdomain(group));
    CheckNamed(check, *parent, field, {"resource", "name"});
    AddInvalid(check.causes, field + ".namespace", home, CheckPathSegment(home));
  }
  CheckInternalImmutable(check, {"spec", "parentRef"}, "networking/v1.ParentReference");
}

void CheckServiceRange(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  const std::string field = "spec.cidrs";
  const Json& ranges = ArrayAt(check.object, {"spec", "cidrs"});
  if (check.old != nullptr) {
    const Json& before = ArrayAt(*check.old, {"spec", "cidrs"});
    const bool grown = before.size() == 1 && ranges.size() == 2;
    if (!grown && before.size() != ranges.size()) return check.Invalid(field, ranges, kFixed);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != ranges[i]) check.Invalid(ElementPath(field, i), ranges[i], kFixed);
    }
    if (!grown) return;
  }
  if (ranges.empty()) return check.Required(field, "at least one CIDR required");
  if (ranges.size() > 2) {
    return InvalidInternal(check, field, "networking/v1.ServiceCIDRSpec", Find(check.object, {"spec"}),
                           "may only hold up to 2 values");
  }
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string text = ranges[i].is_string() ? ranges[i].get<std::string>() : "";
    const auto range = ParseRange(text);
    if (range) sizes.push_back(range->address.size);
    const Complaints complaints = CheckCidr(text);
    AddInvalid(check.causes, ElementPath(field, i), text, complaints);
    if (!range || !complaints.empty()) continue;
    const std::string form = range->address.Text() + "/" + std::to_string(range->bits);
    if (form != text) {
      check.Invalid(ElementPath(field, i), text, "must be in canonical form (" + Quoted(form) + ")");
    }
  }
  if (sizes.size() == 2 && sizes[0] == sizes[1]) {
    check.Invalid(field, ranges,
                  "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                  "2001:db8::/64");
  }
}

}  // namespace mailroom::openapi
