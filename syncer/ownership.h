// Whose a WEC object is. The syncer marks what it makes with the mailbox's identity and the
// object's own, because controllers copy annotations to objects they derive and because several
// syncers may serve one WEC. Pure.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/ids.h"
#include "storage/object/json_fwd.h"

namespace mailroom::syncer {

// `<Kind>/<namespace>/<name>` of the object itself; a derived object carries another's.
inline constexpr std::string_view kDownsyncedAnnotation = "edge.kubestellar.io/downsynced";
inline constexpr std::string_view kOwnerAnnotation = "mailbox.kubestellar.io/owner";
// Where that mailbox is served; a new incarnation at the same place may take objects over.
inline constexpr std::string_view kOwnerUrlAnnotation = "mailbox.kubestellar.io/owner-url";
// `deployments.apps`: some servers show one object under several groups.
inline constexpr std::string_view kResourceAnnotation = "mailbox.kubestellar.io/resource";
// Fingerprint of what was applied last, so that a removal at the source is noticed.
inline constexpr std::string_view kAppliedAnnotation = "mailbox.kubestellar.io/applied";
// On a mailbox copy, "true": take over an object of this name that somebody else made.
inline constexpr std::string_view kAdoptAnnotation = "mailbox.kubestellar.io/adopt";
inline constexpr std::string_view kSyncedLabel = "mailbox.kubestellar.io/synced";

// The mailbox whose copies this syncer applies.
struct Identity {
  std::string uid;  // of the mailbox's kube-system namespace: one per incarnation
  std::string url;
  // Value of kSyncedLabel: the first 12 hex digits of the uid's SHA-256.
  std::string LabelValue() const;
  std::string LabelSelector() const;
};

enum class Owner {
  kOurs,
  kFormerSelf,  // an earlier incarnation of the mailbox at the same URL
  kOtherMailbox,
  kNobody,  // not a syncer's, or derived from a syncer's object
};

// `resource` is where the object was found.
Owner OwnerOf(const Json& object, const GroupResource& resource, const Identity& identity);

// `<Kind>/<namespace>/<name>`.
std::string SelfName(const Json& object);

}  // namespace mailroom::syncer
