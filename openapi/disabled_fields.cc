#include "openapi/disabled_fields.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

struct Disabled {
  std::string_view type, member;
};

constexpr std::array<Disabled, 15> kDisabled = {{
    {"core/v1.Lifecycle", "stopSignal"},                          // ContainerStopSignals
    {"core/v1.PodSpec", "schedulingGroup"},                       // GenericWorkload
    {"core/v1.VolumeProjection", "clusterTrustBundle"},           // ClusterTrustBundleProjection
    {"core/v1.VolumeProjection", "podCertificate"},               // PodCertificateRequest
    {"apps/v1.RollingUpdateStatefulSetStrategy", "maxUnavailable"},  // MaxUnavailableStatefulSet
    {"coordination/v1.LeaseSpec", "strategy"},                    // CoordinatedLeaderElection
    {"coordination/v1.LeaseSpec", "preferredHolder"},             // the same
    {"resource/v1.DeviceAttribute", "ints"},                      // DRAListTypeAttributes
    {"resource/v1.DeviceAttribute", "bools"},                     // the same
    {"resource/v1.DeviceAttribute", "strings"},                   // the same
    {"resource/v1.DeviceAttribute", "versions"},                  // the same
    {"resource/v1.Device", "nodeAllocatableResourceMappings"},    // DRANodeAllocatableResources
    {"storage/v1.CSIDriverSpec", "preventPodSchedulingIfMissing"},   // VolumeLimitScaling
    {"core/v1.NodeSpec", "configSource"},                         // removed in 1.24
    {"core/v1.NodeStatus", "config"},                             // the same
}};
using Rows = std::bitset<kDisabled.size()>;

// Kinds that can have one of them.
constexpr std::array<std::string_view, 13> kKinds = {
    "Pod", "PodTemplate", "ReplicationController", "Deployment", "ReplicaSet", "DaemonSet",
    "StatefulSet", "Job", "CronJob", "Lease", "Node", "ResourceSlice", "CSIDriver"};

class Search {
 public:
  explicit Search(Rows kept) : kept_(kept) {}
  const Rows& found() const { return found_; }

  // Notes which rows there are.
  void Note(const Schema& schema, const Json& value) {
    Each(schema, value, [&](const Schema& child, const Json& member) { Note(child, member); });
    if (!value.is_object()) return;
    for (std::size_t row = 0; row < kDisabled.size(); ++row) {
      if (Is(row, schema) && value.contains(kDisabled[row].member)) found_.set(row);
    }
  }

  // Erases those that are not kept, and a lifecycle of which nothing is left.
  void Drop(const Schema& schema, Json& value) {
    Each(schema, value, [&](const Schema& child, Json& member) { Drop(child, member); });
    if (!value.is_object()) return;
    for (std::size_t row = 0; row < kDisabled.size(); ++row) {
      if (!kept_.test(row) && Is(row, schema)) value.erase(std::string(kDisabled[row].member));
    }
    if (!kept_.test(0) && schema.name == "core/v1.Container") {
      const Json* lifecycle = Find(value, {"lifecycle"});
      if (lifecycle != nullptr && lifecycle->empty()) value.erase("lifecycle");
    }
  }

 private:
  static bool Is(std::size_t row, const Schema& schema) { return kDisabled[row].type == schema.name; }

  template <typename Value, typename Visit>
  static void Each(const Schema& schema, Value& value, Visit visit) {
    if (value.is_array() && schema.items != nullptr) {
      for (auto& item : value) visit(*schema.items, item);
    } else if (value.is_object() && schema.type == Type::kObject && schema.wire != Wire::kRaw) {
      for (auto member = value.begin(); member != value.end(); ++member) {
        if (!member->is_structured()) continue;
        const Property* property = schema.Find(member.key());
        const Schema* child = property != nullptr ? property->schema : schema.additional;
        if (child != nullptr) visit(*child, *member);
      }
    }
  }

  Rows kept_, found_;
};

// Labels of nodes are no longer written beside an endpoint.
void DropTopology(Json& slice, const Json* live) {
  Json* endpoints = Find(slice, {"endpoints"});
  const Json* before = live == nullptr ? nullptr : Find(*live, {"endpoints"});
  if (endpoints == nullptr || !endpoints->is_array()) return;
  if (before != nullptr && *before == *endpoints) return;
  for (Json& endpoint : *endpoints) {
    if (endpoint.is_object()) endpoint.erase("deprecatedTopology");
  }
}

// Of the secrets of an account only their names are kept.
void DropSecretDetails(Json& account) {
  Json* secrets = Find(account, {"secrets"});
  if (secrets == nullptr || !secrets->is_array()) return;
  for (Json& secret : *secrets) {
    const std::string name = StringAt(secret, {"name"});
    secret = name.empty() ? Json::object() : Json{{"name", name}};
  }
}

}  // namespace

void DropDisabled(const ResourceType& type, Json& object, const Json* live) {
  if (!type.builtin || type.schema == nullptr) return;
  if (type.gvk.kind == "EndpointSlice") return DropTopology(object, live);
  if (type.gvk.kind == "ServiceAccount") return DropSecretDetails(object);
  if (std::find(kKinds.begin(), kKinds.end(), type.gvk.kind) == kKinds.end()) return;
  Search there{Rows()};
  there.Note(*type.schema, object);
  if (there.found().none()) return;
  Search before{Rows()};
  if (live != nullptr) before.Note(*type.schema, *live);
  Search(before.found()).Drop(*type.schema, object);
}

}  // namespace mailroom::openapi
