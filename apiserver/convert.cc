#include "apiserver/convert.h"

#include <array>

#include "apiserver/conversions.h"
#include "apiserver/convert_autoscaler.h"
#include "openapi/normalize.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

struct Renamed {
  const char* core;
  const char* events;
};
// Members of core/v1 and events.k8s.io/v1 Events that differ only in name.
constexpr std::array<Renamed, 7> kEventMembers = {{{"involvedObject", "regarding"},
                                                   {"message", "note"},
                                                   {"reportingComponent", "reportingController"},
                                                   {"source", "deprecatedSource"},
                                                   {"firstTimestamp", "deprecatedFirstTimestamp"},
                                                   {"lastTimestamp", "deprecatedLastTimestamp"},
                                                   {"count", "deprecatedCount"}}};

void Rename(Json& object, const char* from, const char* to) {
  auto it = object.find(from);
  if (it == object.end()) return;
  Json value = std::move(*it);
  object.erase(it);
  object[to] = std::move(value);
}

bool IsEvents(const openapi::ResourceType& type) { return type.gvk.group == "events.k8s.io"; }
bool IsHpaV1(const openapi::ResourceType& type) {
  return type.gvk.group == "autoscaling" && type.gvk.version == "v1" &&
         type.plural == "horizontalpodautoscalers";
}

std::string StoredApiVersion(const openapi::ResourceType& type) {
  if (IsEvents(type)) return "v1";
  return GroupVersionKind{type.gvk.group, type.storage_version, ""}.ApiVersion();
}

}  // namespace

void ToStored(const openapi::ResourceType& type, Json& object) {
  if (IsEvents(type)) {
    for (const Renamed& member : kEventMembers) Rename(object, member.events, member.core);
  }
  if (IsHpaV1(type)) AutoscalerToV2(object);
  object["apiVersion"] = StoredApiVersion(type);
}

void FromStored(const openapi::ResourceType& type, Json& object) {
  if (IsEvents(type)) {
    for (const Renamed& member : kEventMembers) Rename(object, member.core, member.events);
    for (const char* member : {"reportingController", "reportingInstance"}) {
      if (StringAt(object, {member}).empty()) object.erase(member);
    }
  }
  if (IsHpaV1(type)) AutoscalerToV1(object);
  object["apiVersion"] = type.gvk.ApiVersion();
}

std::string ConvertToServed(const openapi::ResourceType& type, const Object& object) {
  if (!IsEvents(type) && !IsHpaV1(type)) {
    std::string out = "{\"apiVersion\":" + JsonQuote(type.gvk.ApiVersion()) +
                      ",\"kind\":" + JsonQuote(object.kind()) + ",";
    return out.append(object.bytes_after_kind());
  }
  Json tree = object.ToJson();
  FromStored(type, tree);
  const ObjectPtr served = Object::Make(tree, object.revision());
  return served ? std::string(served->bytes()) : DumpJson(tree);
}

Result<Json> ConvertTo(const Call& call, const openapi::ResourceType& to, Json object) {
  const std::string api = StringAt(object, {"apiVersion"});
  if (api == to.gvk.ApiVersion()) return object;
  if (to.builtin) {
    const std::size_t slash = api.find('/');
    const GroupVersionKind from{slash == std::string::npos ? "" : api.substr(0, slash),
                                slash == std::string::npos ? api : api.substr(slash + 1),
                                to.gvk.kind};
    const openapi::ResourceType* type = call.workspace.catalog->FindKind(from);
    if (type != nullptr) ToStored(*type, object);
    FromStored(to, object);
    return object;
  }
  if (to.conversion != nullptr && call.hub.conversions != nullptr) {
    auto converted =
        TRY(call.hub.conversions->Convert(call.info.workspace, to, {std::move(object)}));
    return std::move(converted.front());
  }
  const openapi::ResourceType* from = to.FindVersion(api);
  object["apiVersion"] = to.gvk.ApiVersion();
  if (from != nullptr && from->schema != to.schema) openapi::PruneUnknown(to, object);
  return object;
}

bool HasStoredForm(const Call& call, const Json& object) {
  const openapi::ResourceType& type = *call.type;
  if (!type.builtin) {
    const openapi::ResourceType* storage = type.FindVersion(type.storage_version);
    return storage == nullptr || storage->gvk == type.gvk;
  }
  return !IsEvents(type) && !IsHpaV1(type) &&
         StringAt(object, {"apiVersion"}) == StoredApiVersion(type);
}

Result<Json> Stored(const Call& call, Json object) {
  if (HasStoredForm(call, object)) return object;
  const openapi::ResourceType& type = *call.type;
  if (!type.builtin) {
    const openapi::ResourceType* storage = type.FindVersion(type.storage_version);
    Json stored = TRY(ConvertTo(call, *storage, std::move(object)));
    // Every read would fill these in.
    if (storage->schema != type.schema) openapi::ApplyDefaults(*storage, stored);
    return stored;
  }
  ToStored(type, object);
  return object;
}

}  // namespace mailroom::apiserver
