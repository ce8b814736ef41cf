// PersistentVolumeClaims, and what they share with volumes.
#include <algorithm>
#include <array>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_causes.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

// The group and kind a claim may be filled from. Old claims keep groups that are no names.
void CheckSourceRef(const BuiltinCheck& check, const Json& ref, const Json* before,
                    const std::string& path) {
  const std::string group = StringAt(ref, {"apiGroup"}), kind = StringAt(ref, {"kind"});
  if (kind.empty()) {
    Untell(check.causes, path + ".kind");
    check.Required(path + ".kind");
  }
  if (group.empty() && kind != "PersistentVolumeClaim") {
    check.Invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  const std::string old_group = before == nullptr ? "" : StringAt(*before, {"apiGroup"});
  const bool kept = !old_group.empty() && !CheckSubdomain(old_group).empty();
  if (!group.empty() && !kept) {
    AddInvalid(check.causes, path + ".apiGroup", group, CheckSubdomain(group));
  }
  const std::string home = StringAt(ref, {"namespace"});
  if (!home.empty()) AddInvalid(check.causes, path + ".namespace", home, CheckLabel(home));
}

void CheckSources(const BuiltinCheck& check, const Json& spec, const std::string& path) {
  const Json* source = Find(spec, {"dataSource"});
  const Json* ref = Find(spec, {"dataSourceRef"});
  const auto before = [&](const char* member) {
    return check.old == nullptr ? nullptr : Find(*check.old, {"spec", member});
  };
  if (source != nullptr) CheckSourceRef(check, *source, before("dataSource"), path + ".dataSource");
  if (ref != nullptr) CheckSourceRef(check, *ref, before("dataSourceRef"), path + ".dataSourceRef");
  if (source == nullptr || ref == nullptr) return;
  const auto refuse = [&](const char* text) {
    check.Invalid(path, Json::object(), text);
  };
  if (!StringAt(*ref, {"namespace"}).empty()) {
    return refuse("may not be specified when dataSourceRef.namespace is specified");
  }
  for (const char* member : {"apiGroup", "kind", "name"}) {
    if (StringAt(*source, {member}) != StringAt(*ref, {member})) return refuse("must match dataSourceRef");
  }
}

void CheckRequest(const BuiltinCheck& check, const Json& spec, const std::string& path) {
  const std::string field = path + ".resources[storage]";
  const Json* size = Find(spec, {"resources", "requests", "storage"});
  if (size == nullptr) return check.Required(field);
  const std::string amount = size->is_string() ? size->get<std::string>() : size->dump();
  if (CompareQuantities(amount, "0") <= 0) {
    check.Invalid(field, CanonicalQuantity(amount), "must be greater than zero");
  }
}

// The annotation that named the class before there was a member for it: once set, it and the
// member may be exchanged for each other, and a class may be given to a claim that has none.
void SettleClass(const BuiltinCheck& check, Json& now, const Json& before) {
  const auto annotation = [&](const Json& claim) {
    return Find(claim, {"metadata", "annotations", kClassAnnotation});
  };
  const Json* mark = annotation(check.object);
  const Json* old_mark = annotation(*check.old);
  const Json* name = Find(now, {"storageClassName"});
  const bool given = name != nullptr && Find(before, {"storageClassName"}) == nullptr;
  const bool same = given && old_mark != nullptr && *name == *old_mark;
  if (!same || (mark != nullptr && *mark != *old_mark)) {
    const std::string text = mark == nullptr ? "" : mark->get<std::string>();
    if (text != (old_mark == nullptr ? "" : old_mark->get<std::string>())) {
      check.Invalid(MemberPath("metadata.annotations", kClassAnnotation), text,
                    "field is immutable");
    }
  }
  if (given && (old_mark == nullptr || same)) Erase(now, {"storageClassName"});
}

void CheckSize(const BuiltinCheck& check) {
  const auto size = [](const Json& claim, Path path) {
    const std::string text = StringAt(claim, path);
    return text.empty() ? std::string("0") : text;
  };
  const std::string now = size(check.object, {"spec", "resources", "requests", "storage"});
  const std::string before = size(*check.old, {"spec", "resources", "requests", "storage"});
  if (CompareQuantities(now, before) < 0 &&
      CompareQuantities(now, size(*check.old, {"status", "capacity", "storage"})) <= 0) {
    check.Forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
  }
}

// Sources that the server has always dropped from claims without a word, and those in other
// namespaces, are not looked at.
Json WithoutIgnored(const BuiltinCheck& check, const Json& spec, const Json* old_spec) {
  Json out = spec;
  const bool had_ref = old_spec != nullptr && old_spec->contains("dataSourceRef");
  const bool had_source = old_spec != nullptr && old_spec->contains("dataSource");
  if (!had_ref && !StringAt(spec, {"dataSourceRef", "namespace"}).empty()) {
    out.erase("dataSourceRef");
  }
  const std::string kind = StringAt(spec, {"dataSource", "kind"});
  const std::string group = StringAt(spec, {"dataSource", "apiGroup"});
  const bool known = (kind == "PersistentVolumeClaim" && group.empty()) ||
                     (kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io");
  if (!known && !had_source && !had_ref && !out.contains("dataSourceRef")) out.erase("dataSource");
  for (const char* member : {"dataSource", "dataSourceRef"}) {
    if (out.contains(member)) continue;
    for (const char* name : {".name", ".kind"}) Untell(check.causes, std::string("spec.") + member + name);
  }
  return out;
}

// An amount that is only written in another way is as it was.
void TakeEqualAmounts(const Json& before, Json& now) {
  for (const char* list : {"requests", "limits"}) {
    Json* amounts = Find(now, {"resources", list});
    if (amounts == nullptr || !amounts->is_object()) continue;
    for (auto& [name, amount] : amounts->items()) {
      const std::string old = StringAt(before, {"resources", list, name});
      const auto now_millis = QuantityMillis(StringAt(*amounts, {name})), millis = QuantityMillis(old);
      if (millis && now_millis == millis) amount = old;
    }
  }
}

void CheckClaimChange(const BuiltinCheck& check, const Json& spec, const Json& old_spec) {
  Json now = spec, before = old_spec;
  if (StringAt(before, {"volumeName"}).empty()) {
    Erase(now, {"volumeName"});
    Erase(before, {"volumeName"});
  }
  SettleClass(check, now, before);
  TakeEqualAmounts(before, now);
  if (StringAt(check.object, {"status", "phase"}) == "Bound") {
    for (Json* one : {&now, &before}) {
      Erase(*one, {"resources", "requests", "storage"});
      Erase(*one, {"volumeAttributesClassName"});
    }
  }
  if (now != before) {
    check.Forbidden("spec",
                    "spec is immutable after creation except resources.requests and "
                    "volumeAttributesClassName for bound claims");
  }
  CheckSize(check);
  CheckImmutable(check.causes, "volumeMode", Find(spec, {"volumeMode"}), Find(old_spec, {"volumeMode"}));
  if (Find(*check.old, {"status", "currentVolumeAttributesClassName"}) == nullptr) return;
  const Json* attributes = Find(spec, {"volumeAttributesClassName"});
  const Json* old_attributes = Find(old_spec, {"volumeAttributesClassName"});
  const std::string field = "spec.volumeAttributesClassName";
  if (attributes == nullptr && old_attributes != nullptr) {
    check.Forbidden(field,
                    "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil");
  } else if (attributes != nullptr && *attributes == "" &&
             (old_attributes == nullptr || *old_attributes != "")) {
    check.Forbidden(field,
                    "update to empty string is forbidden when "
                    "status.currentVolumeAttributesClassName is not nil");
  }
}

}  // namespace

void CheckAccessModes(const BuiltinCheck& check, const Json& spec, const std::string& path) {
  static constexpr std::array<std::string_view, 3> kShared = {"ReadOnlyMany", "ReadWriteMany",
                                                              "ReadWriteOnce"};
  const std::string field = path + ".accessModes";
  TellAtList(check.causes, field);
  bool single = false, shared = false;
  for (const std::string& mode : StringsAt(spec, {"accessModes"})) {
    single |= mode == "ReadWriteOncePod";
    shared |= std::find(kShared.begin(), kShared.end(), mode) != kShared.end();
  }
  if (single && shared) {
    check.Forbidden(field, "may not use ReadWriteOncePod with other access modes");
  }
}

void CheckClaimSpec(const BuiltinCheck& check, const Json& spec, const std::string& path) {
  if (ArrayAt(spec, {"accessModes"}).empty()) {
    check.Required(path + ".accessModes", "at least 1 access mode is required");
  }
  if (const Json* selector = Find(spec, {"selector"})) {
    // Templates are not compared with what was stored.
    CheckSelector(check, *selector, path + ".selector",
                  path == "spec" ? SelectorRule(check) : SelectorValues::kChecked);
  }
  CheckAccessModes(check, spec, path);
  CheckRequest(check, spec, path);
  const auto check_class = [&](const char* member) {
    const std::string name = StringAt(spec, {member});
    if (!name.empty()) AddInvalid(check.causes, path + "." + member, name, CheckSubdomain(name));
  };
  check_class("storageClassName");
  const Json* mode = Find(spec, {"volumeMode"});
  if (mode != nullptr && *mode == "") {
    Untell(check.causes, path + ".volumeMode");  // it comes here
    check.causes.push_back(NotSupported(path + ".volumeMode", *mode, {"Block", "Filesystem"}));
  }
  CheckSources(check, spec, path);
  check_class("volumeAttributesClassName");
}

void CheckVolumeClaim(const BuiltinCheck& check) {
  static const Json kNone = Json::object();
  if (check.subresource == "status") return;
  const Json* given = Find(check.object, {"spec"});
  const Json& spec = given == nullptr ? kNone : *given;
  const Json* old_spec = check.old == nullptr ? nullptr : Find(*check.old, {"spec"});
  CheckClaimSpec(check, WithoutIgnored(check, spec, old_spec), "spec");
  if (old_spec != nullptr) CheckClaimChange(check, spec, *old_spec);
}

}  // namespace mailroom::openapi
