// Options of get, list and watch, read and checked as kube-apiserver does.
#pragma once

#include <optional>
#include <string>

#include "apiserver/call.h"
#include "storage/object/selector.h"

namespace mailroom::apiserver {

enum class Match { kUnset, kExact, kNotOlderThan };

struct ReadOptions {
  LabelSelector labels;
  FieldSelector fields;
  std::size_t limit = 0;
  std::string continue_token;
  std::optional<Revision> resource_version;  // absent: unset; 0: any state
  Match match = Match::kUnset;
  bool bookmarks = false;
  std::optional<bool> send_initial;
  std::int64_t timeout_seconds = 0;
};

Result<ReadOptions> ParseListOptions(const Call& call);
Result<ReadOptions> ParseWatchOptions(const Call& call);
// resourceVersion of a GET.
Result<std::optional<Revision>> ParseGetRevision(const Call& call);

// Selectors (and the name in the URL) as a cache filter; empty when they select everything.
storage::Filter FilterOf(const Call& call, const ReadOptions& options);
// The same without the label selector.
storage::Filter FilterBeside(const Call& call, const ReadOptions& options);

// Continue tokens: a revision (0: the newest) and the key after which to go on.
struct ContinueAt {
  std::optional<Revision> revision;
  std::string start_after;
};
std::string EncodeContinue(const ContinueAt& at);
Result<ContinueAt> DecodeContinue(std::string_view token);

}  // namespace mailroom::apiserver
