#include "apiserver/claims.h"

#include <algorithm>

#include "openapi/catalog.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kOld = "dataSource";
constexpr const char* kNew = "dataSourceRef";

bool Has(const Json* spec, const char* member) {
  const Json* found = spec == nullptr ? nullptr : Find(*spec, {member});
  return found != nullptr && found->is_object();
}

// A claim or a snapshot, the sources that were there from the beginning.
bool IsClassic(const Json& source) {
  const std::string kind = StringAt(source, {"kind"}), group = StringAt(source, {"apiGroup"});
  return (kind == "PersistentVolumeClaim" && group.empty()) ||
         (kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io");
}

void Mirror(Json& spec) {
  if (Has(&spec, kOld) && !Has(&spec, kNew)) {
    const Json source = spec[kOld];
    spec[kNew] = source;
  } else if (Has(&spec, kNew) && !Has(&spec, kOld)) {
    Json source = spec[kNew];
    if (!StringAt(source, {"namespace"}).empty()) return;
    source.erase("namespace");
    spec[kOld] = source;
  }
}

// Sources stored without a group do not say either that they have none.
void KeepShape(const Json& before, Json* source) {
  if (source == nullptr || !source->is_object() || before.contains("apiGroup")) return;
  if (source->value("apiGroup", Json(false)).is_null()) source->erase("apiGroup");
}

}  // namespace

void FillClaim(Call& call, Json& object, const Json* live) {
  Json* spec = Find(object, {"spec"});
  if (spec == nullptr || !spec->is_object() || call.info.subresource == "status") return;
  const Json* before = live == nullptr ? nullptr : Find(*live, {"spec"});
  const bool acted_on = openapi::PolicyIsLive(call.workspace.type);
  // A feature that is off here; where claims are payload, the cluster they go to may have it.
  if (acted_on && !StringAt(*spec, {kNew, "namespace"}).empty() && !Has(before, kNew)) spec->erase(kNew);
  if (!Has(before, kOld) && !Has(before, kNew) && !Has(spec, kNew) && Has(spec, kOld) &&
      !IsClassic((*spec)[kOld])) {
    spec->erase(kOld);
  }
  if (acted_on) Mirror(*spec);
  if (before == nullptr) return;
  // A claim stored with one of the two stays so, for its spec may not change.
  Json mirrored = *before;
  Mirror(mirrored);
  for (const char* member : {kOld, kNew}) {
    if (Has(before, member)) KeepShape((*before)[member], Find(*spec, {member}));
    if (Has(before, member) || !Has(&mirrored, member) || !Has(spec, member)) continue;
    if (mirrored[member] == (*spec)[member]) spec->erase(member);
  }
}

void FillClaimTemplates(Call&, Json& object, const Json* live) {
  Json* claims = Find(object, {"spec", "volumeClaimTemplates"});
  const Json* before = live == nullptr ? nullptr : Find(*live, {"spec", "volumeClaimTemplates"});
  if (claims == nullptr || before == nullptr || !claims->is_array() || !before->is_array()) return;
  for (std::size_t i = 0; i < std::min(claims->size(), before->size()); ++i) {
    for (const char* member : {kOld, kNew}) {
      const Json* kept = Find((*before)[i], {"spec", member});
      if (kept != nullptr) KeepShape(*kept, Find((*claims)[i], {"spec", member}));
    }
  }
}

}  // namespace mailroom::apiserver
