// The work keys of the syncer. An object's lane is its resource, so one busy resource does not
// starve the others; lanes that begin with a colon are the syncer's own errands.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/client/work_queue.h"
#include "storage/object/ids.h"
#include "storage/object/status.h"

namespace mailroom::syncer {

inline constexpr std::string_view kConfigLane = ":config";      // SyncerConfigs changed
inline constexpr std::string_view kResourceLane = ":resource";  // id: lane of a resource
inline constexpr std::string_view kCrdLane = ":crd";            // id: a CRD's name
inline constexpr std::string_view kReportLane = ":report";
inline constexpr std::string_view kSweepLane = ":sweep";  // find what was synced before

inline const GroupResource kNamespaces{"", "namespaces"};
inline const GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};

// One object, on either side.
struct Place {
  GroupResource resource;
  std::string ns;
  std::string name;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// `deployments.apps`; a plural has no dot, so the first one divides.
inline std::string LaneOf(const GroupResource& resource) {
  return Qualified(resource.resource, resource.group);
}

inline GroupResource ResourceOf(std::string_view lane) {
  const std::size_t dot = lane.find('.');
  if (dot == std::string_view::npos) return {"", std::string(lane)};
  return {std::string(lane.substr(dot + 1)), std::string(lane.substr(0, dot))};
}

inline client::WorkKey KeyOf(const Place& place) {
  return {LaneOf(place.resource), place.ns + "/" + place.name};
}

inline Place PlaceOf(const client::WorkKey& key) {
  const std::size_t slash = key.id.find('/');
  return {ResourceOf(key.lane), key.id.substr(0, slash), key.id.substr(slash + 1)};
}

inline client::WorkKey Errand(std::string_view lane, std::string id = "") {
  return {std::string(lane), std::move(id)};
}

}  // namespace mailroom::syncer
