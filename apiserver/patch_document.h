// What patches share, whatever is patched: their kinds, their documents, and what they make of a
// tree.
#pragma once

#include <string>

#include "apiserver/write_options.h"

namespace mailroom::apiserver {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

// By Content-Type; UnsupportedMediaType when it is none of ours.
Result<PatchType> PatchTypeOf(const Call& call);

// The document of a patch that is not an apply.
Result<ParsedJson> ReadPatch(const Call& call, PatchType type);

struct PatchedTree {
  Json tree;          // an object
  std::string shown;  // the patch, as errors about its result print it
};
Result<PatchedTree> PatchTree(PatchType type, const openapi::Schema* schema, const Json& live,
                              const Json& patch);

// The configuration of an apply, which must be of the expected kind, and the keys it gives twice.
Result<ParsedJson> ReadApply(Call& call, const WriteOptions& options, const GroupVersionKind& expected);

// Keys given twice in an applied configuration: an error, a warning or nothing. What is wrong with its
// fields is told before.
Result<void> ReportDuplicates(Call& call, const WriteOptions& options,
                              const std::vector<std::string>& duplicates);

}  // namespace mailroom::apiserver
