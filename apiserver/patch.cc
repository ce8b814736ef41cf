#include "apiserver/commit.h"
#include "apiserver/implied.h"
#include "apiserver/kinds.h"
#include "apiserver/names.h"
#include "apiserver/patch_document.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

Result<void> CheckCustomKind(const Json& patched, const std::string& shown) {
  if (StringAt(patched, {"kind"}).empty()) {
    return InvalidPatch(shown, "Object 'Kind' is missing in '" + shown + "'");
  }
  if (StringAt(patched, {"apiVersion"}).empty()) {
    return Internal("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  }
  return Ok();  // the rest is looked at when all of it is
}

// A patch may name the kind and version of the object but not change them. Of a built-in the kind may
// be left out.
Result<void> CheckKind(const Call& call, Json& patched, const std::string& shown) {
  std::string kind = StringAt(patched, {"kind"});
  const std::string version = StringAt(patched, {"apiVersion"});
  const GroupVersionKind& expected = call.type->gvk;
  if (kind.empty() && call.type->builtin) patched["kind"] = kind = expected.kind;
  if (kind == expected.kind && version == expected.ApiVersion()) return Ok();
  if (!call.type->builtin) return CheckCustomKind(patched, shown);
  const std::string where = version.empty()
                                ? "the internal version of group " + Quoted(expected.group)
                                : "version " + Quoted(version);
  return InvalidPatch(shown, "no kind " + Quoted(kind) + " is registered for " + where +
                                 " in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
}

Result<Response> RunApply(Call& call, const WriteOptions& options) {
  ParsedJson sent = TRY(ReadApply(call, options, call.type->gvk));
  Json& config = sent.value;
  if (auto narrow = RulesOf(*call.type).narrow; narrow != nullptr) narrow(call, config);
  const Writer writer = WriterOf(call, options);
  TRY(call.hub.store.Freshen());
  if (Present(call, call.Key()) == nullptr) {
    if (!call.info.subresource.empty()) return call.NotFoundHere();
    Json created = TRY(Apply(*call.type, nullptr, config, writer, options.force));
    TRY(ReportDuplicates(call, options, sent.duplicates));
    if (const std::string uid = StringAt(config, {"metadata", "uid"}); !uid.empty()) {
      return Conflict(call.type->plural, call.type->gvk.group, call.info.name,
                      "uid mismatch: the provided object specified uid " + uid +
                          ", and no existing object was found");
    }
    TRY(CheckIdentity(call, created));
    auto outcome = Insert(call, options, {std::move(created), {}, true});
    if (outcome.ok()) return RenderObject(call, 201, outcome->object);
    if (outcome.error().reason() != Reason::kAlreadyExists) return std::move(outcome).error();
  }
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    Json merged = TRY(Apply(*call.type, &live, config, writer, options.force));
    TRY(ReportDuplicates(call, options, sent.duplicates));
    TRY(CheckIdentity(call, merged));
    return Draft{std::move(merged), {}, true};
  }));
  return RenderObject(call, 200, outcome.object);
}

}  // namespace

Result<Response> Patch(Call& call) {
  const PatchType type = TRY(PatchTypeOf(call));
  const WriteOptions options = TRY(ParseWriteOptions(call, "PatchOptions"));
  if (type == PatchType::kApply) return RunApply(call, options);
  if (call.info.query.Has("force")) {
    return Invalid("PatchOptions", "meta.k8s.io", "",
                   {ForbiddenValue("force", "may not be specified for non-apply patch")});
  }
  ParsedJson patch = TRY(ReadPatch(call, type));
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    PatchedTree made = TRY(PatchTree(type, call.type->schema, live, patch.value));
    if (type == PatchType::kStrategic) {
      // Goes by fields of the kind at hand, whatever it says about kinds.
      made.tree["apiVersion"] = call.type->gvk.ApiVersion();
      made.tree["kind"] = call.type->gvk.kind;
    }
    TRY(CheckKind(call, made.tree, made.shown));
    TRY(CheckIdentity(call, made.tree));
    return Draft{std::move(made.tree), patch.duplicates, false, std::move(made.shown),
                 type == PatchType::kStrategic};
  }));
  return RenderObject(call, 200, outcome.object);
}

}  // namespace mailroom::apiserver
