// Names that the hub's parts agree on without knowing each other: groups, kinds, labels,
// annotations, and the name of a mailbox. Constants and pure functions only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mailroom::openapi {

inline constexpr std::string_view kRootWorkspace = "root";
inline constexpr std::string_view kAllWorkspaces = "*";

inline constexpr std::string_view kMailboxApi = "mailbox.kubestellar.io/v1alpha1";
inline constexpr std::string_view kEdgeApi = "edge.kubestellar.io/v2alpha1";
inline constexpr std::string_view kControlApi = "control.kubestellar.io/v1alpha1";
inline constexpr std::string_view kManagedClusterApi = "cluster.open-cluster-management.io/v1";

// On a mailbox workspace and its Mailbox: the name of the inventory entry it stands for.
inline constexpr std::string_view kSyncTargetNameAnnotation =
    "edge.kubestellar.io/sync-target-name";
// On every copy the translator keeps in a mailbox.
inline constexpr std::string_view kProjectedLabel = "edge.kubestellar.io/projected";
inline constexpr std::string_view kProjectedValue = "yes";
// On a copy: the workload description workspace it comes from.
inline constexpr std::string_view kSourceAnnotation = "mailbox.kubestellar.io/source";
// On a Namespace copy that somebody else had made before the translator needed it.
inline constexpr std::string_view kAdoptedAnnotation = "mailbox.kubestellar.io/adopted";
// "false": create the object in the cluster, then leave it alone.
inline constexpr std::string_view kOverwriteAnnotation = "edge.kubestellar.io/downsync-overwrite";
// "true" on a source object: its status was brought back from an edge cluster.
inline constexpr std::string_view kSingletonStatusLabel =
    "managed-by.kubestellar.io/singletonstatus";
// The translator's SyncerConfig in each mailbox.
inline constexpr std::string_view kSyncerConfigName = "the-one";

struct MailboxName {
  std::string inventory;  // workspace holding the inventory entry
  std::string uid;        // of the entry
};

inline constexpr std::string_view kMailboxInfix = "-mb-";

// `<inventory workspace>-mb-<UID>`: identity is the UID, so an entry that is deleted and made
// again under its old name gets a new mailbox.
inline std::string MailboxNameOf(std::string_view inventory, std::string_view uid) {
  std::string name(inventory);
  name += kMailboxInfix;
  name += uid;
  return name;
}

// Nothing when `name` is not a mailbox's. A UID cannot contain the infix, so the last one counts.
inline std::optional<MailboxName> ParseMailboxName(std::string_view name) {
  const std::size_t at = name.rfind(kMailboxInfix);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view uid = name.substr(at + kMailboxInfix.size());
  if (uid.empty()) return std::nullopt;
  return MailboxName{std::string(name.substr(0, at)), std::string(uid)};
}

}  // namespace mailroom::openapi
