// How an inventory entry says what becomes of its cluster's content when it is deleted. Names that
// the mailbox controller, the translator and users agree on.
#pragma once

#include <string_view>

namespace mailroom::openapi {

// On a SyncTarget or ManagedCluster: `retain` (the default) leaves everything in the edge cluster
// as it is; `drain` has the syncer delete what it put there before the mailbox goes.
inline constexpr std::string_view kDeletionPolicyAnnotation =
    "mailbox.kubestellar.io/deletion-policy";
inline constexpr std::string_view kDrainPolicy = "drain";
// Holds a deleted entry with that policy until its cluster is clean or patience is at its end.
inline constexpr std::string_view kDrainFinalizer = "mailbox.kubestellar.io/drain";

}  // namespace mailroom::openapi
