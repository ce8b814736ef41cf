// The bounds of identity, access, audit and fairness, named, with their reasons; the second half
// of limits.h, apart from it because few files need these.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mailroom::limits {

using namespace std::chrono_literals;

inline constexpr std::size_t kRbacSnapshots = 4096;        // workspaces whose rules are kept parsed
inline constexpr std::size_t kSharedRules = 1024;          // rule texts known before a sweep

inline constexpr std::size_t kTokenBytes = 16 * 1024;      // of a bearer token
inline constexpr auto kDeletedTokenGrace = 60s;            // tokens bound to a deleted object
inline constexpr auto kTokenShortest = 600s;               // as kube-apiserver
inline constexpr auto kTokenLongest = std::chrono::seconds(std::int64_t{1} << 32);  // likewise
inline constexpr auto kTokenDefault = 3600s;
inline constexpr auto kBootstrapTokenAge = 24h;            // a join token is for today
inline constexpr auto kSyncerCertificate = 24h;            // renewed by the syncer at two thirds
inline constexpr auto kClientCertificate = 24h * 365;      // longest a request may ask for
inline constexpr auto kRequestCertificateShortest = 600s;  // as kube-apiserver
inline constexpr auto kSigningRequestKept = 3600s;         // an answered one, then deleted
inline constexpr auto kWatchRecheck = 15s;                 // may an open watch still be open
inline constexpr std::size_t kWatchesPerCredential = 4096;
inline constexpr auto kHostDecisionAge = 10s;              // remembered answers of a host cluster
inline constexpr std::size_t kHostDecisions = 10'000;

inline constexpr std::size_t kAuditQueueBytes = 64 * 1024 * 1024;  // waiting for the file
inline constexpr std::size_t kAuditFileBytes = 100 * 1024 * 1024;  // then a new file is begun
inline constexpr std::size_t kAuditFiles = 10;             // old ones kept

inline constexpr std::size_t kHeavyList = 500;             // objects; longer lists wait their turn
inline constexpr std::size_t kWorkspaceShare = 2;          // a workspace holds 1/2 of the workers
inline constexpr std::size_t kSealedPage = 500;            // values looked at per resealing step

}  // namespace mailroom::limits
