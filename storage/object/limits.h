// Every bound of the system, named, with its reason. No other file invents a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mailroom::limits {

using namespace std::chrono_literals;

// Input.
inline constexpr std::size_t kBodyBytes = 3 * 1024 * 1024;  // kube-apiserver's body limit
inline constexpr std::size_t kStoredObjectBytes = 1536 * 1024;  // etcd's default request size
inline constexpr std::size_t kJsonDepth = 256;             // copy and dump recurse
inline constexpr std::size_t kYamlNodes = 200'000;         // bounded work per body
inline constexpr std::size_t kYamlDocuments = 1000;        // in one text
inline constexpr std::size_t kJsonPatchOperations = 10'000;  // as kube-apiserver
inline constexpr std::size_t kJsonPatchCopyBytes = 3 * 1024 * 1024;  // copies must not amplify
inline constexpr std::size_t kUpdateManagers = 10;         // Update entries kept apart
inline constexpr std::size_t kHeaderBytes = 1024 * 1024;   // as kube-apiserver
inline constexpr std::size_t kAnnotationBytes = 256 * 1024;  // all keys and values together
inline constexpr std::size_t kNameBytes = 253;
inline constexpr std::size_t kSegmentBytes = 4 * kNameBytes;  // of a key: roles are bounded by no rule
inline constexpr std::size_t kCompiledPatterns = 1024;     // patterns kept, all schemas
inline constexpr std::int64_t kPatternBytes = 2 * 1024 * 1024;  // memory one pattern may use
inline constexpr std::size_t kConfigBytes = 1024 * 1024;   // data of a ConfigMap or Secret
inline constexpr std::size_t kFieldManagerBytes = 128;
inline constexpr std::size_t kWarningCharacters = 4096;    // of one answer's warnings
inline constexpr std::size_t kWarningCutCharacters = 256;  // of each, past that
inline constexpr std::size_t kProblemsTold = 100;          // of one body; more are not looked for
inline constexpr std::size_t kProblemPathBytes = 1024;     // of a field's path, past that it is cut
inline constexpr std::size_t kProblemValueBytes = 4096;    // of a value shown in a message, likewise
inline constexpr std::size_t kTargetBytes = kHeaderBytes / 16;  // path and query of a request

// CEL and definitions. Costs are in CEL's units, the same as kube-apiserver's.
inline constexpr int kCelDepth = 250;                      // nesting of a text, as cel-go
inline constexpr int kCelTreeDepth = 600;                  // of the tree, macros expanded
inline constexpr std::size_t kCelTextRunes = 100'000;      // as cel-go
inline constexpr std::size_t kCelSnippetBytes = 16 * 1024;  // longer lines are not quoted in errors
inline constexpr std::size_t kCelIssues = 100;             // faults told of one expression
inline constexpr std::size_t kCelBytes = 32 * 1024 * 1024;  // memory one evaluation may fill
inline constexpr std::uint64_t kCelCallCost = 1'000'000;   // one evaluation
inline constexpr std::uint64_t kCelObjectCost = 10'000'000;  // all evaluations for one object
inline constexpr std::uint64_t kCelMatchCost = 2'500'000;  // match conditions of one webhook
inline constexpr std::uint64_t kCelRuleEstimate = 10'000'000;  // estimated, one rule
inline constexpr std::uint64_t kCelSchemaEstimate = 100'000'000;  // estimated, one definition
inline constexpr std::size_t kCelMessageBytes = 5 * 1024;  // made by a messageExpression
inline constexpr std::size_t kCelAnnotationBytes = 10 * 1024;  // made by an auditAnnotation
inline constexpr std::size_t kCelTypeParts = 500;          // of a type written out
inline constexpr std::size_t kCelTypeSteps = 10'000;       // of comparing two types
// Values may share parts: written out they can be exponentially larger than what they take.
inline constexpr std::size_t kCelValueSteps = 2'000'000;   // of one comparison or conversion
inline constexpr std::size_t kSchemaNodes = 100'000;       // of one definition's schemas
inline constexpr std::size_t kRecentDefinitions = 8;       // workspaces that changed theirs last
inline constexpr auto kConversionTimeout = 30s;            // one call, as kube-apiserver
inline constexpr std::size_t kConversionObjects = 500;     // sent in one call
inline constexpr std::size_t kConversionBytes = 4 * 1024 * 1024;  // the same in bytes
inline constexpr std::size_t kConvertedBytes = 32 * 1024 * 1024;  // kept for lists and watches
inline constexpr std::size_t kConversionThreads = 2;              // for watches
inline constexpr std::size_t kConversionQueue = 4096;             // batches of watches; then 429

// Lists and watches.
inline constexpr std::size_t kWatchQueueEvents = 4096;     // past this a slow watcher is ended
inline constexpr std::size_t kWatchQueueBytes = 8 * 1024 * 1024;  // the same in bytes of objects
inline constexpr std::size_t kStreamPendingBytes = 1024 * 1024;  // a reader's own, for kStreamEndStall
inline constexpr std::size_t kStreamPendingLeast = 64 * 1024;    // that may be asked for instead
inline constexpr std::size_t kHistoryEvents = 100'000;     // ring for watch resumption
inline constexpr auto kBookmarkInterval = 60s;             // as kube-apiserver
inline constexpr auto kWatchMinLifetime = 1800s;           // a watch without timeoutSeconds
inline constexpr auto kWatchLifetime = std::chrono::seconds(24h);  // the longest a client may ask for
inline constexpr auto kFreshnessWait = 3s;                 // wait for a resourceVersion to arrive
inline constexpr std::size_t kListPageMax = 10'000;
inline constexpr std::size_t kStreamedListBytes = 1024 * 1024;  // longer lists are never whole

// Writes.
inline constexpr int kCommitRetries = 32;                  // optimistic loops of one request
inline constexpr int kGenerateNameAttempts = 8;            // as kube-apiserver
inline constexpr std::size_t kCommitBatch = 1024;          // transactions per group commit
inline constexpr std::size_t kCommitQueue = 16'384;        // transactions waiting for the committer
inline constexpr std::size_t kTxnOperations = 4096;        // operations in one transaction
inline constexpr int kTxnChangesBits = 20;                 // 2^20 changes by one transaction
inline constexpr std::size_t kCommitBatchBytes = 16 * 1024 * 1024;  // flushed at once
inline constexpr std::size_t kCommitQueueBytes = 256 * 1024 * 1024;  // waiting for the committer
inline constexpr std::size_t kInlineDelivery = 8;          // txns told without a thread switch
inline constexpr std::size_t kUntoldBatches = 4;           // flushed, not yet told to watches

// Storage.
inline constexpr int kWalPages = 512;           // 4 MiB of log are copied to the file
inline constexpr int kWalPagesWaitedFor = 128;  // the writer may wait while these are copied
inline constexpr int kWalPagesAtMost = 16 * 1024;  // 128 MiB: the writer waits whatever it takes
inline constexpr int kDatabaseBusyMs = 30'000;             // a writer waits for such a copy
inline constexpr std::size_t kScanRows = 1000;             // rows read at once when replaying
inline constexpr std::size_t kPruneKeys = 2048;            // keys looked at per lock in compaction
inline constexpr std::size_t kLoadPage = 5000;             // objects per range at start-up
inline constexpr std::size_t kReplayEvents = 20'000;       // etcd replays about 6,500 a second
inline constexpr std::size_t kHistoryBytes = 128 * 1024 * 1024;  // old versions kept by the ring
inline constexpr std::size_t kHistoryGaps = 16;            // bridged failures remembered apart
inline constexpr std::size_t kFramedEvents = 4096;         // newest events that keep their frames
inline constexpr auto kHistoryTrim = 10s;                  // between looks for old events
inline constexpr std::size_t kTrimBytes = 8 * 1024 * 1024;  // worth asking the allocator for
inline constexpr std::size_t kThinnedLeast = 1000;         // elements a container must have had, and
inline constexpr std::size_t kThinnedMost = 50'000;        // may have left, to be put together anew
inline constexpr std::size_t kUndecodableLogged = 256;     // keys named in the log, then silence
inline constexpr auto kEtcdTimeout = 5s;                   // of one call; elections take 1-3 s
inline constexpr auto kEtcdAttempt = 2s;                   // of a read at one of several members
inline constexpr auto kEtcdTokenAge = 60s;                 // etcd's simple tokens live 300 s
inline constexpr std::size_t kEtcdMessageBytes = 64 * 1024 * 1024;  // one page or watch message
inline constexpr std::size_t kEtcdPage = 1000;             // keys per range, fewer when large
inline constexpr int kEtcdKeepaliveMs = 10'000;            // etcd refuses pings below 5 s
inline constexpr int kEtcdKeepaliveTimeoutMs = 5'000;
inline constexpr int kEtcdConnectMs = 2'000;               // to make a connection
inline constexpr int kEtcdReconnectFirstMs = 200;
inline constexpr int kEtcdReconnectLastMs = 3'000;
inline constexpr std::size_t kSealedPage = 500;            // values looked at per resealing step
inline constexpr auto kHistoryAge = 300s;                  // forgotten then, as kube-apiserver
inline constexpr auto kCompactionInterval = 60s;
inline constexpr auto kTrimAgain = kCompactionInterval + 15s;  // what goes with the forgotten is gone
inline constexpr int kAllocatorBlock = 1024 * 1024;        // larger ones are the system's own
inline constexpr int kAllocatorTop = 512 * 1024;           // kept free at the end of an arena
inline constexpr int kAllocatorArenas = 4;                 // each keeps holes of its own

// Server.
inline constexpr std::size_t kWorkers = 32;                // requests under way that may wait
inline constexpr std::size_t kCarriers = 2;                // threads that carry them, at least
inline constexpr std::size_t kResumedInTurn = 4;           // that go on for each new one that waits
inline constexpr std::size_t kFiberStack = 8 * 1024 * 1024;  // as a thread's; what is used counts
inline constexpr std::size_t kWorkerQueue = 4096;          // requests waiting; more is 429
inline constexpr auto kRequestTimeout = 60s;
inline constexpr std::size_t kPendingEvictions = 2000;     // not yet counted by a controller
inline constexpr auto kMutationTimeout = 34s;              // of one object, as kube-apiserver
inline constexpr auto kDrainGrace = 10s;                   // for requests under way at stop
inline constexpr auto kExitGrace = 20s;                    // for the whole stop, whatever hangs
inline constexpr auto kIdleConnection = 150s;
inline constexpr std::size_t kHttp2Streams = 250;
inline constexpr std::size_t kHttp2SpareStreams = 256;     // memory of closed ones, one loop
inline constexpr std::size_t kHttp2HeaderBytes = 256 * 1024;  // one request's header list
inline constexpr std::size_t kHttp2HeadersBytes = 2 * 1024 * 1024;  // arriving, one connection
inline constexpr std::size_t kHttp2Continuations = 16;     // frames of one list: 16 KiB each
inline constexpr std::size_t kHttp2BodyBytes = 16 * 1024 * 1024;  // bodies arriving, one connection
inline constexpr int kHttp2Window = 1024 * 1024;           // flow control, one stream
inline constexpr int kHttp2ConnectionWindow = 4 * 1024 * 1024;
inline constexpr std::size_t kHttp2Acks = 256;             // answers owed to pings and settings
inline constexpr double kHttp2ControlBurst = 500;          // frames that carry nothing
inline constexpr double kHttp2ControlRate = 50;            // of them per second
inline constexpr std::uint64_t kHttp2ResetBurst = 1000;    // streams a peer takes back
inline constexpr std::uint64_t kHttp2ResetRate = 33;       // of them per second
inline constexpr auto kHttp2PingAfter = 60s;               // silence of a peer with open streams
inline constexpr auto kHttp2PingWait = 15s;                // for its answer
inline constexpr auto kCollectorRetry = 500ms;             // contents held by finalizers
inline constexpr std::size_t kRememberedCatalogs = 256;    // discovery renderings kept
inline constexpr std::size_t kBodyReadBytes = 4 * kBodyBytes;  // HTTP/2: dropped after a 413
inline constexpr std::size_t kRequestBytes = 256 * 1024 * 1024;  // requests, until answered, all
inline constexpr std::size_t kConnections = 100'000;       // open at a time
inline constexpr std::size_t kPipelined = 128;             // HTTP/1.1 requests waiting in line
inline constexpr std::size_t kPipelinedBytes = 8 * 1024 * 1024;  // of them, one connection
inline constexpr auto kHandshake = 10s;                    // for TLS, from accept to finished
inline constexpr auto kCertificateCheck = 60s;             // between looks at certificate files
inline constexpr auto kTicketKeyAge = 12h;                 // resumption tickets live twice this
inline constexpr std::size_t kTicketChainBytes = 16 * 1024;  // intermediates kept in a ticket
inline constexpr std::size_t kPeerChain = 8;               // intermediates a peer may present
inline constexpr std::size_t kWriteBlock = 64 * 1024;      // asked from a body at a time
inline constexpr std::size_t kStreamBlock = 16'000;        // same, HTTP/1.1 streams: one TLS record
inline constexpr std::size_t kWriteTurn = 64 * 1024;       // written before others get a turn
inline constexpr std::size_t kGzipBytes = 128 * 1024;      // smaller bodies go out as they are
inline constexpr std::size_t kGzipQueue = 64;              // bodies waiting; more go uncompressed
inline constexpr auto kEventGather = 10ms;                 // events that follow another closely wait
inline constexpr auto kStreamStall = 30s;                  // reader takes nothing, stream is open
inline constexpr auto kStreamEndStall = 500ms;             // to catch up, or take the rest of a watch
inline constexpr auto kLinger = 5s;                        // for the peer to close after we did
inline constexpr auto kRequestArrival = 60s;               // a request may take to arrive, unless
inline constexpr std::size_t kRequestRate = 1024;          // it keeps coming at this, bytes/s
inline constexpr int kUnsentBytes = 128 * 1024;            // in the kernel, one connection

// Identity and rights.
inline constexpr std::size_t kRbacSnapshots = 4096;        // workspaces whose rules are kept parsed
inline constexpr std::size_t kSharedRules = 1024;          // rule texts known before a sweep
inline constexpr std::size_t kRuleProduct = 100'000;       // single rights that one grant spells out
inline constexpr std::size_t kRuleComparisons = 10'000'000;  // of them with rules that are held
inline constexpr std::size_t kRulesTold = 20;              // rights named in one refusal
inline constexpr std::size_t kRuleToldBytes = 1024;        // of each of them, on average
inline constexpr std::size_t kAggregatedRoles = 1000;      // ClusterRoles that gather others, a workspace
inline constexpr std::size_t kAggregationSteps = 1'000'000;  // of finding what they gather
inline constexpr std::size_t kAggregatedRuleBytes = 16 * 1024 * 1024;  // of all that they gather
inline constexpr std::size_t kTokenBytes = 16 * 1024;      // of a bearer token
inline constexpr auto kDeletedTokenGrace = 60s;            // tokens bound to a deleted object
inline constexpr auto kTokenShortest = 600s;               // as kube-apiserver
inline constexpr auto kTokenLongest = std::chrono::seconds(std::int64_t{1} << 32);  // likewise
inline constexpr auto kTokenDefault = 3600s;
inline constexpr auto kBootstrapTokenAge = 24h;            // a join token is for today
inline constexpr auto kSyncerCertificate = 24h;            // renewed by the syncer at two thirds
inline constexpr auto kClientCertificate = 24h * 365;      // longest a request may ask for
inline constexpr auto kRequestCertificateShortest = 600s;  // as kube-apiserver
inline constexpr std::size_t kRequestsOfOne = 8;           // signing requests under way, a token or syncer
inline constexpr auto kWatchRecheck = 15s;                 // may an open watch still be open
inline constexpr std::size_t kWatchesPerCredential = 1024;  // masters are not counted
inline constexpr auto kHostDecisionAge = 10s;              // remembered answers of a host cluster
inline constexpr std::size_t kHostDecisions = 10'000;
inline constexpr auto kHostRetry = 1s;                     // a silent host is not asked again
inline constexpr auto kHostOutage = 120s;                  // its last yes holds while it is silent
inline constexpr std::size_t kRecheckThreads = 4;          // ask it about open watches
inline constexpr std::size_t kRecheckQueue = 16'384;       // more are asked about in the next round

// Audit.
inline constexpr std::size_t kAuditQueueBytes = 64 * 1024 * 1024;  // waiting for the file
inline constexpr std::size_t kAuditFileBytes = 100 * 1024 * 1024;  // then a new file is begun
inline constexpr std::size_t kAuditFiles = 10;             // old ones kept
inline constexpr auto kAuditRetry = 1s;                    // between tries to open a file again

// Fairness between workspaces.
inline constexpr std::size_t kHeavyList = 500;             // objects; longer lists wait their turn
inline constexpr std::size_t kTermsUnderLock = 64;         // of a selector; lists ask longer ones beside the lock
inline constexpr std::size_t kWorkspaceShare = 2;          // a workspace holds 1/2 of the workers

// Admission, and calls to addresses that users wrote down.
inline constexpr std::size_t kOutgoingKept = 4;            // connections kept by one session
inline constexpr std::size_t kOutgoingSessions = 16;       // sessions kept for the next call
inline constexpr std::size_t kWebhookAnswerBytes = 8 * 1024 * 1024;  // a patch may hold an object
inline constexpr std::size_t kWebhookWaiters = 32;         // requests of one workspace in webhooks
inline constexpr std::size_t kAggregatedWaiters = 32;      // requests of one workspace, likewise
inline constexpr std::size_t kAggregatedPendingBytes = 1024 * 1024;  // read ahead of the client
inline constexpr std::size_t kAggregatedDocumentBytes = 1024 * 1024;  // discovery of a group
inline constexpr std::size_t kAggregatedApis = 100;        // APIServices that act, one workspace
inline constexpr std::size_t kAggregatedBytes = 8 * 1024 * 1024;  // their documents, one workspace
inline constexpr std::size_t kAggregatedConnections = 1024;  // to servers of other API groups
inline constexpr auto kAggregatedPieces = 500ms;           // a longer answer is passed on in pieces
inline constexpr auto kAggregatedProbe = 30s;              // between looks at such a server
inline constexpr auto kAggregatedProbeTimeout = 5s;
inline constexpr std::size_t kAggregatedProbers = 2;       // threads
inline constexpr std::size_t kBlockedWorkers = 128;        // threads that stand in for waiting ones
inline constexpr std::size_t kAdmissionWorkspaces = 4096;  // whose configurations are kept parsed
inline constexpr std::size_t kPolicyParams = 1000;         // objects one binding may select
inline constexpr std::size_t kCompiledExpressions = 4096;  // programs kept, all workspaces
inline constexpr auto kQuotaSettle = 50ms;                 // gathers changes before a recount
inline constexpr auto kQuotaResync = 300s;                 // every quota is counted again

// Controllers that keep workspaces in order.
inline constexpr std::size_t kGarbageWorkers = 4;          // deletions share a flush
inline constexpr std::size_t kFurnishWorkers = 2;          // what a new namespace is given
inline constexpr auto kEventAge = 3600s;  // an Event lives that long, as in Kubernetes
inline constexpr auto kSigningRequestAge = 3600s;  // decided ones, as kube-controller-manager
inline constexpr auto kPendingRequestAge = 86400s;         // undecided ones
inline constexpr auto kExpirySlack = 1s;                   // expired objects are gathered this long
inline constexpr std::size_t kRememberedEvents = 4096;     // told before, to be counted up
inline constexpr std::size_t kArchiveBatch = 100;  // objects per transaction; etcd takes 128

// Leadership among the hubs of one store. A dead leader is replaced within lease and one retry.
inline constexpr auto kLeaseDuration = 7s;
inline constexpr auto kLeaseRenewal = 4500ms;  // not renewed by then: the leader steps down
inline constexpr auto kLeaseRetry = 1s;

// Clients, controllers and the syncer.
inline constexpr auto kRetryFirst = 5ms;                   // exponential, per key
inline constexpr auto kRetryLast = 30s;
inline constexpr auto kLongestDelay = 24h;                 // of a key; looked at again then
inline constexpr auto kReconnectFirst = 200ms;
inline constexpr auto kReconnectLast = 30s;
inline constexpr std::size_t kClientResponseBytes = 256 * 1024 * 1024;
inline constexpr std::size_t kClientEventBytes = 16 * 1024 * 1024;
inline constexpr auto kClientConnect = 10s;
inline constexpr auto kClientTimeout = 40s;
inline constexpr auto kHeartbeat = 30s;
inline constexpr std::size_t kClientConnections = 256;     // an HTTP/1.1 watch pins one
inline constexpr auto kClientSilence = 45s;                // unacknowledged bytes: peer is gone
inline constexpr auto kTokenReread = 60s;                  // token files are rotated hourly
inline constexpr std::size_t kClientListPage = 500;        // as client-go
inline constexpr auto kWatchShortest = 300s;               // asked of the server, random between
inline constexpr auto kWatchLongest = 600s;                // the two, so that watches spread out
inline constexpr auto kCertificateWait = 120s;             // for the signer to answer a request
inline constexpr std::size_t kSyncerWorkers = 4;           // each holds one request at a time
inline constexpr std::size_t kReportErrors = 50;           // entries in a SyncerConfig's status
inline constexpr std::size_t kReportMessageBytes = 512;
inline constexpr auto kReportDelay = 500ms;                // gathers changes of one moment
inline constexpr auto kForeignCheck = 60s;                 // objects in the way tell no events
inline constexpr auto kWatchGrace = 30s;                   // past its time a watch is cut here

// Mailbox controller and translator.
inline constexpr auto kSyncedCheck = 50ms;                 // until the caches have been listed
inline constexpr auto kDependencyCheck = 1s;               // fallback; an event usually comes first
inline constexpr auto kLeftoverCheck = 30s;                // a namespace or CRD copy still in use
inline constexpr auto kBindingDelay = 200ms;               // gathers changes of one policy
inline constexpr std::size_t kMailboxWorkers = 4;          // as KubeStellar's concurrency
inline constexpr std::size_t kTranslatorWorkers = 4;       // writing copies
inline constexpr std::size_t kTranslatorSideWorkers = 2;   // configs, reported state
inline constexpr std::size_t kPolicyErrors = 20;           // texts in one status.errors

// The fleet.
inline constexpr auto kHeartbeatStale = 100s;              // three heartbeats missed: not connected
inline constexpr auto kHeartbeatCopy = 55s;                // a heartbeat is shown to the minute
inline constexpr auto kFleetDelay = 1s;                    // gathers changes of one mailbox
inline constexpr auto kDrainPatience = 600s;               // for a syncer to clean its cluster

}  // namespace mailroom::limits
