// The bounds of admission and of calls to addresses that users wrote down, beside the rest in
// limits.h: these are read by few files, that one by nearly all.
#pragma once

#include "storage/object/limits.h"

namespace mailroom::limits {

// Admission.
inline constexpr std::size_t kOutgoingKept = 4;            // connections kept by one session
inline constexpr std::size_t kOutgoingSessions = 16;       // sessions kept for the next call
inline constexpr std::size_t kWebhookAnswerBytes = 8 * 1024 * 1024;  // a patch may hold an object
inline constexpr std::size_t kWebhookWaiters = 32;         // requests of one workspace in webhooks
inline constexpr std::size_t kBlockedWorkers = 128;        // threads that stand in for waiting ones
inline constexpr std::size_t kWarningBytes = 4096;         // all warnings of a request; then each
inline constexpr std::size_t kWarningShort = 256;          // is cut to this, as kube-apiserver
inline constexpr std::size_t kAdmissionWorkspaces = 4096;  // whose configurations are kept parsed
inline constexpr std::size_t kPolicyParams = 1000;         // objects one binding may select
inline constexpr std::size_t kCompiledExpressions = 4096;  // programs kept, all workspaces
inline constexpr auto kQuotaSettle = 50ms;                 // gathers changes before a recount
inline constexpr auto kQuotaResync = 300s;                 // every quota is counted again

}  // namespace mailroom::limits
