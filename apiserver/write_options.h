// Options and bodies of writes, read and checked as kube-apiserver does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/apply.h"
#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

enum class FieldValidation { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;  // as given; "" when absent
  FieldValidation validation = FieldValidation::kWarn;
  bool force = false;         // apply only
};

// `kind` names the options object in errors: CreateOptions, UpdateOptions, PatchOptions.
Result<WriteOptions> ParseWriteOptions(const Call& call, std::string_view kind);
// Who writes, for managedFields: the given manager, else the product of the User-Agent.
Writer WriterOf(const Call& call, const WriteOptions& options);

enum class Encoding { kJson, kYaml, kProtobuf };
// By Content-Type; UnsupportedMediaType when it is none of ours.
Result<Encoding> BodyEncoding(const Call& call);

// A custom resource must be of the kind and version that the URL takes: Invalid, in its own terms.
Result<void> CheckSameKind(const GroupVersionKind& expected, const Json& object);

struct Body {
  Json tree;
  std::vector<std::string> duplicates;  // problems of the text, for fieldValidation
};
// Decodes the request body as an object of the call's type (or, for a subresource, of its own
// kind), checking apiVersion and kind. A body in the `older` version of that kind is taken, too.
Result<Body> DecodeBody(const Call& call, const GroupVersionKind& expected,
                        std::string_view older = "");

// Reports unknown and duplicate fields by the chosen validation: an error, warnings, or nothing.
Result<void> ReportFields(Call& call, const WriteOptions& options, const GroupVersionKind& kind,
                          const std::vector<std::string>& unknown,
                          const std::vector<std::string>& duplicates,
                          const std::optional<std::string>& patch = std::nullopt);
// 400: a body of the right kind that is no such object.
Status CannotBeHandled(const GroupVersionKind& kind, const std::string& why);
// 422 about what a patch made of an object; `patch` as errors print it.
Status InvalidPatch(const std::string& patch, const std::string& why);

struct DeleteRequest {
  bool dry_run = false;
  std::optional<std::int64_t> grace_seconds;
  std::string propagation;  // "", Background, Foreground, Orphan
  bool orphans_refused = false;  // by the old orphanDependents: false
  std::string uid, resource_version;  // preconditions
};
Result<DeleteRequest> ParseDelete(const Call& call);
// The same of a DeleteOptions object.
Result<DeleteRequest> DeleteRequestOf(const Json& options);

}  // namespace mailroom::apiserver
