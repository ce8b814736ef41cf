// Every bound of the system, named, with its reason. No other file invents a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mailroom::limits {

using namespace std::chrono_literals;

// Input.
inline constexpr std::size_t kBodyBytes = 3 * 1024 * 1024;         // kube-apiserver's body limit
inline constexpr std::size_t kStoredObjectBytes = 1536 * 1024;     // etcd's default request size
inline constexpr std::size_t kJsonDepth = 256;                     // copy and dump recurse
inline constexpr std::size_t kYamlNodes = 200'000;                 // bounded work per body
inline constexpr std::size_t kJsonPatchOperations = 10'000;        // as kube-apiserver
inline constexpr std::size_t kHeaderBytes = 1024 * 1024;           // as kube-apiserver
inline constexpr std::size_t kAnnotationBytes = 256 * 1024;        // all keys and values together
inline constexpr std::size_t kNameBytes = 253;
inline constexpr std::size_t kFieldManagerBytes = 128;

// Lists and watches.
inline constexpr std::size_t kWatchQueueEvents = 4096;     // past this a slow watcher is ended
inline constexpr std::size_t kStreamPendingBytes = 1024 * 1024;  // handed to a socket, not sent
inline constexpr std::size_t kHistoryEvents = 100'000;     // ring for watch resumption
inline constexpr auto kBookmarkInterval = 60s;             // as kube-apiserver
inline constexpr auto kWatchMinLifetime = 1800s;           // a watch without timeoutSeconds
inline constexpr auto kFreshnessWait = 3s;                 // wait for a resourceVersion to arrive
inline constexpr std::size_t kListPageMax = 10'000;

// Writes.
inline constexpr int kCommitRetries = 32;                  // optimistic loops of one request
inline constexpr int kGenerateNameAttempts = 8;            // as kube-apiserver
inline constexpr std::size_t kCommitBatch = 1024;          // transactions per group commit
inline constexpr std::size_t kCommitQueue = 16'384;        // transactions waiting for the committer
inline constexpr std::size_t kTxnOperations = 4096;        // operations in one transaction

// Server.
inline constexpr std::size_t kWorkers = 16;                // threads that may block
inline constexpr std::size_t kWorkerQueue = 4096;          // requests waiting; more is 429
inline constexpr auto kRequestTimeout = 60s;
inline constexpr auto kIdleConnection = 150s;
inline constexpr std::size_t kHttp2Streams = 250;

// Controllers and the syncer.
inline constexpr auto kRetryFirst = 5ms;                   // exponential, per key
inline constexpr auto kRetryLast = 30s;
inline constexpr auto kReconnectFirst = 200ms;
inline constexpr auto kReconnectLast = 30s;
inline constexpr std::size_t kClientResponseBytes = 256 * 1024 * 1024;
inline constexpr std::size_t kClientEventBytes = 16 * 1024 * 1024;
inline constexpr auto kClientConnect = 10s;
inline constexpr auto kClientTimeout = 40s;
inline constexpr auto kHeartbeat = 30s;

}  // namespace mailroom::limits
