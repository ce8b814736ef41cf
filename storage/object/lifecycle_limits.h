// Bounds of the controllers that keep workspaces in order; the rest is in limits.h.
#pragma once

#include <chrono>
#include <cstddef>

namespace mailroom::limits {

using namespace std::chrono_literals;

inline constexpr std::size_t kGarbageWorkers = 4;   // deletions share a flush
inline constexpr std::size_t kFurnishWorkers = 2;   // what a new namespace is given
inline constexpr auto kEventAge = 3600s;            // an Event lives that long, as in Kubernetes
inline constexpr auto kSigningRequestAge = 3600s;   // decided ones, as kube-controller-manager
inline constexpr auto kPendingRequestAge = 86400s;  // undecided ones
inline constexpr auto kExpirySlack = 1s;            // expired objects are gathered this long

// Leadership among the hubs of one store. A dead leader is replaced within lease and one retry.
inline constexpr auto kLeaseDuration = 7s;
inline constexpr auto kLeaseRenewal = 4500ms;  // not renewed by then: the leader steps down
inline constexpr auto kLeaseRetry = 1s;

inline constexpr std::size_t kRememberedEvents = 4096;  // told before, to be counted up

inline constexpr std::size_t kArchiveBatch = 100;  // objects per transaction; etcd takes 128

// Mailboxes.
inline constexpr auto kHeartbeatStale = 100s;   // three heartbeats missed: not connected
inline constexpr auto kHeartbeatCopy = 55s;     // a heartbeat is shown to the minute
inline constexpr auto kFleetDelay = 1s;         // gathers changes of one mailbox
inline constexpr auto kDrainPatience = 600s;    // for a syncer to clean its cluster
inline constexpr std::size_t kFleetWorkers = 2;

}  // namespace mailroom::limits
