#include "apiserver/write_options.h"

#include <algorithm>

#include "apiserver/go_text.h"
#include "apiserver/negotiate.h"
#include "apiserver/router_error.h"
#include "openapi/builtin.h"
#include "openapi/protobuf.h"
#include "openapi/validate.h"
#include "storage/object/json_path.h"
#include "storage/object/key_faults.h"
#include "storage/object/limits.h"
#include "storage/object/problems.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kDeleteOptions = "DeleteOptions";

Result<bool> ParseDryRun(const std::vector<std::string>& values, std::string_view kind) {
  for (const std::string& value : values) {
    if (value != "All") {
      return Invalid(kind, "meta.k8s.io", "",
                     {UnsupportedValue("dryRun", DumpJson(Json(values)), {"All"})});
    }
  }
  return !values.empty();
}

Result<FieldValidation> ParseValidation(const std::string& text, std::string_view kind) {
  if (text.empty() || text == "Warn") return FieldValidation::kWarn;
  if (text == "Ignore") return FieldValidation::kIgnore;
  if (text == "Strict") return FieldValidation::kStrict;
  return Invalid(kind, "meta.k8s.io", "",
                 {UnsupportedValue("fieldValidation", Quoted(text), {"", "Ignore", "Strict", "Warn"})});
}

std::string_view MediaType(std::string_view header) {
  std::string_view type = header.substr(0, header.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return type;
}

// By Content-Type, of a body that may be protobuf or is of a kind that has no such form.
Result<Encoding> EncodingOf(const Call& call, bool has_protobuf) {
  const std::string_view type = MediaType(call.request.headers.Get("content-type"));
  if (type.empty() || type == "application/json") return Encoding::kJson;
  if (type == "application/yaml") return Encoding::kYaml;
  if (type == openapi::kProtobufMediaType &&
      (has_protobuf || !openapi::IsProtobuf(call.request.body))) {
    return Encoding::kProtobuf;
  }
  return Status(Reason::kUnsupportedMediaType,
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json, application/yaml, " +
                    std::string(openapi::kProtobufMediaType));
}

Result<Body> DecodeText(const Call& call, Encoding encoding, const GroupVersionKind& expected) {
  const std::string& text = call.request.body;
  switch (encoding) {
    case Encoding::kJson: {
      auto parsed = ParseJsonStrict(text);
      if (!parsed.ok()) {
        const std::string problem = JsonSyntaxProblem(text);
        return BadRequest("couldn't get version/kind; json parse error: " +
                          (problem.empty() ? parsed.error().message() : problem));
      }
      return Body{std::move(parsed->value), std::move(parsed->duplicates)};
    }
    case Encoding::kYaml: {
      ParsedJson parsed = TRY(ParseYamlStrict(text));
      return Body{std::move(parsed.value), std::move(parsed.duplicates)};
    }
    case Encoding::kProtobuf:
      if (!openapi::IsProtobuf(text)) {
        return BadRequest("provided data does not appear to be a protobuf message, expected prefix "
                          "[107 56 115 0]");
      }
      return Body{TRY(openapi::DecodeProtobufAs(text, expected)), {}};
  }
  return Internal("unknown body encoding");
}

// What the original says of a document that cannot even name its kind; "" when it can. Nothing at all
// is taken for an object without members.
std::string KindProblem(Json& tree) {
  if (tree.is_null()) tree = Json::object();
  const std::string problem = "couldn't get version/kind; json parse error: json: cannot unmarshal ";
  if (!tree.is_object()) {
    return problem + std::string(JsonKindName(tree)) +
           " into Go value of type struct { APIVersion string "
           "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
           "\"json:\\\"kind,omitempty\\\"\" }";
  }
  for (const char* member : {"apiVersion", "kind"}) {
    const Json* value = Find(tree, {member});
    if (value == nullptr || value->is_null() || value->is_string()) continue;
    return problem + std::string(JsonKindName(*value)) + " into Go struct field ." + member +
           " of type string";
  }
  return "";
}

Status CannotBeHandled(std::string_view kind, std::string_view version,
                       const GroupVersionKind& expected, const std::string& why) {
  return BadRequest(std::string(kind) + " in version " + Quoted(version) +
                    " cannot be handled as a " + expected.kind + ": " + why);
}

// What a body says it is, as far as it says so.
GroupVersionKind KindOf(const Json& tree, const GroupVersionKind& expected) {
  const std::string kind = StringAt(tree, {"kind"});
  const std::string version = StringAt(tree, {"apiVersion"});
  GroupVersionKind given = expected;
  if (!kind.empty()) given.kind = kind;
  if (!version.empty()) {
    const std::size_t slash = version.find('/');
    given.group = slash == std::string::npos ? "" : version.substr(0, slash);
    given.version = slash == std::string::npos ? version : version.substr(slash + 1);
  }
  return given;
}

// A kind of lists that no resource is of.
bool IsListKind(const Call& call, const GroupVersionKind& given) {
  if (!given.kind.ends_with("List")) return false;
  if (given == GroupVersionKind{"", "v1", "List"}) return true;
  for (const openapi::Group& group : call.workspace.catalog->groups()) {
    if (group.name != given.group) continue;
    for (const openapi::GroupVersion& version : group.versions) {
      if (version.version != given.version) continue;
      for (const openapi::ResourceTypePtr& type : version.resources) {
        if (type->list_kind == given.kind) return true;
      }
    }
  }
  return false;
}

// A built-in body that says it is something else than what the URL takes.
Result<void> CheckBuiltinKind(const Call& call, const GroupVersionKind& given,
                              const GroupVersionKind& expected) {
  if (given == expected) return Ok();
  if (given.version.find('/') != std::string::npos) {
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind +
                      "): unexpected GroupVersion string: " + given.ApiVersion() + " (" +
                      BodySummary(call.request.body) + ")");
  }
  const openapi::ResourceType* known = call.workspace.catalog->FindKind(given);
  if (known == nullptr && !IsListKind(call, given)) {
    return CannotBeHandled(given.kind, given.version, expected,
                           "no kind " + Quoted(given.kind) + " is registered for version " +
                               Quoted(given.ApiVersion()) +
                               " in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
  }
  if (known != nullptr && given.kind == expected.kind && given.group == expected.group) {
    return BadRequest("the API version in the data (" + given.ApiVersion() +
                      ") does not match the expected API version (" + expected.ApiVersion() + ")");
  }
  openapi::ResourceType target;
  target.gvk = expected;
  return CannotBeHandled(given.kind, given.version, expected,
                         "converting (" + given.version + "." + given.kind + ") to (" +
                             GoTypeName(target, expected.kind) + "): unknown conversion");
}

}  // namespace

Result<void> CheckSameKind(const GroupVersionKind& expected, const Json& object) {
  const std::string kind = StringAt(object, {"kind"});
  const std::string version = StringAt(object, {"apiVersion"});
  std::vector<Cause> causes;
  if (kind != expected.kind) {
    causes.push_back(InvalidValue("kind", Quoted(kind), "must be " + expected.kind));
  }
  if (version != expected.ApiVersion()) {
    causes.push_back(
        InvalidValue("apiVersion", Quoted(version), "must be " + expected.ApiVersion()));
  }
  if (causes.empty()) return Ok();
  const std::size_t slash = version.find('/');
  return Invalid(kind, slash == std::string::npos ? "" : version.substr(0, slash),
                 StringAt(object, {"metadata", "name"}), std::move(causes));
}

namespace {

Result<void> CheckCustomKind(const Call& call, const Json& tree, const GroupVersionKind& expected) {
  const std::string kind = StringAt(tree, {"kind"});
  const std::string version = StringAt(tree, {"apiVersion"});
  if (kind.empty()) {
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind +
                      "): Object 'Kind' is missing in '" + call.request.body + "' (" +
                      BodySummary(call.request.body) + ")");
  }
  if (std::count(version.begin(), version.end(), '/') > 1) {
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind +
                      "): unexpected GroupVersion string: " + version + " (" +
                      BodySummary(call.request.body) + ")");
  }
  if (version != expected.ApiVersion()) {
    return BadRequest("the API version in the data (" + version +
                      ") does not match the expected API version (" + expected.ApiVersion() + ")");
  }
  return Ok();
}

// The number of a well-formed document that no double can be, or "".
std::string NumberTooGreat(std::string_view problem) {
  const std::size_t at = problem.find("number overflow parsing '");
  if (at == std::string_view::npos) return "";
  const std::size_t start = problem.find('\'', at) + 1;
  return std::string(problem.substr(start, problem.find('\'', start) - start));
}

const openapi::ResourceType& DeleteOptionsType() {
  static const openapi::ResourceType type = [] {
    openapi::ResourceType out;
    out.gvk = {"meta.k8s.io", "v1", std::string(kDeleteOptions)};
    out.schema = openapi::BuiltinType("meta/v1.DeleteOptions");
    return out;
  }();
  return type;
}

}  // namespace

Result<WriteOptions> ParseWriteOptions(const Call& call, std::string_view kind) {
  // The media type is looked at before the options of a create, and after those of an update.
  if (call.info.verb == "create") TRY(BodyEncoding(call));
  const Query& query = call.info.query;
  WriteOptions options;
  options.dry_run = TRY(ParseDryRun(query.All("dryRun"), kind));
  options.field_manager = query.Get("fieldManager");
  if (options.field_manager.size() > limits::kFieldManagerBytes) {
    return Invalid(kind, "meta.k8s.io", "", {TooLong("fieldManager", limits::kFieldManagerBytes)});
  }
  for (const char& c : options.field_manager) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 || u == 0x7f) {
      return Invalid(kind, "meta.k8s.io", "",
                     {InvalidValue("fieldManager", Quoted(options.field_manager),
                                   "invalid character U+00" + std::string(1, "0123456789ABCDEF"[u >> 4]) +
                                       "0123456789ABCDEF"[u & 15] + " (at position " +
                                       std::to_string(&c - options.field_manager.data()) + ")")});
    }
  }
  options.validation = TRY(ParseValidation(query.Get("fieldValidation"), kind));
  options.force = query.Bool("force");
  return options;
}

Writer WriterOf(const Call& call, const WriteOptions& options) {
  Writer writer;
  writer.manager = options.field_manager;
  if (writer.manager.empty()) {
    const std::string_view agent = call.request.headers.Get("user-agent");
    writer.manager = agent.substr(0, std::min(agent.find('/'), limits::kFieldManagerBytes));
    if (writer.manager.empty()) writer.manager = "unknown";
  }
  writer.api_version = call.type->gvk.ApiVersion();
  writer.subresource = call.info.subresource;
  writer.now = FormatTime(call.hub.clock.Now());
  // Versions of built-in kinds stay; those of a definition come and go.
  if (call.type->builtin) return writer;
  const GroupVersionKind& gvk = call.type->gvk;
  for (const openapi::Group& group : call.workspace.catalog->groups()) {
    if (group.name != gvk.group) continue;
    for (const openapi::GroupVersion& version : group.versions) {
      if (call.workspace.catalog->Find(gvk.group, version.version, call.type->plural) != nullptr) {
        writer.served.push_back(GroupVersionKind{gvk.group, version.version, ""}.ApiVersion());
      }
    }
  }
  return writer;
}

Result<Encoding> BodyEncoding(const Call& call) {
  // A Scale is built in, also that of a custom resource.
  return EncodingOf(call, call.type->builtin || call.info.subresource == "scale");
}

Result<Body> DecodeBody(const Call& call, const GroupVersionKind& expected,
                        std::string_view older) {
  auto decoded = DecodeText(call, TRY(BodyEncoding(call)), expected);
  if (!decoded.ok()) {
    if (decoded.error().reason() != Reason::kBadRequest) return std::move(decoded).error();
    const std::string number = NumberTooGreat(decoded.error().message());
    if (!number.empty() && !call.type->builtin) {
      return CannotBeHandled(expected, "json: cannot unmarshal number " + number +
                                           " into Go value of type float64");
    }
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind +
                      "): " + decoded.error().message() + " (" + BodySummary(call.request.body) +
                      ")");
  }
  Body body = std::move(*decoded);
  if (const std::string problem = KindProblem(body.tree); !problem.empty()) {
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind +
                      "): " + problem + " (" + BodySummary(call.request.body) + ")");
  }
  if (!older.empty() && KindOf(body.tree, expected) ==
                            GroupVersionKind{expected.group, std::string(older), expected.kind}) {
    body.tree["apiVersion"] = expected.ApiVersion();
  }
  if (call.type->builtin || expected.group != call.type->gvk.group) {
    TRY(CheckBuiltinKind(call, KindOf(body.tree, expected), expected));
  } else {
    TRY(CheckCustomKind(call, body.tree, expected));
  }
  body.tree["apiVersion"] = expected.ApiVersion();
  // Of a custom resource it is looked at when all of it is.
  const bool custom = !call.type->builtin && expected.group == call.type->gvk.group;
  if (!custom) body.tree["kind"] = expected.kind;
  Json& metadata = body.tree["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) {
    const std::string where =
        call.type->builtin ? "struct field " + expected.kind + ".metadata" : "value";
    return CannotBeHandled(expected, "json: cannot unmarshal " +
                                         std::string(JsonKindName(metadata)) + " into Go " + where +
                                         " of type v1.ObjectMeta");
  }
  return body;
}

Status CannotBeHandled(const GroupVersionKind& kind, const std::string& why) {
  return CannotBeHandled(kind.kind, kind.version, kind, why);
}

namespace {

// A built-in's JSON is read field by field, so its problems are told in the order of the text.
bool IsReadInOrder(const Call& call) {
  if (!call.type->builtin || (call.request.method != "POST" && call.request.method != "PUT")) {
    return false;
  }
  const auto encoding = BodyEncoding(call);
  return encoding.ok() && *encoding == Encoding::kJson;
}

Problems FoundInOrder(const Call& call, const std::vector<std::string>& unknown,
                      const std::vector<std::string>& duplicates) {
  std::vector<KeyFault> faults;
  for (const std::string& path : duplicates) faults.push_back({path, true});
  for (const std::string& path : unknown) faults.push_back({path, false});
  if (faults.size() > 1) faults = InOrderOfText(call.request.body, std::move(faults));
  Problems found;
  for (const KeyFault& fault : faults) {
    found.Add((fault.duplicate ? "duplicate field " : "unknown field ") + Quoted(fault.path));
  }
  return found;
}

// Elsewhere problems of the text come first: they are found before its fields are looked at. Those of
// YAML are one error, or a warning for each line.
Problems FoundApart(const WriteOptions& options, const std::vector<std::string>& unknown,
                    const std::vector<std::string>& duplicates) {
  std::string lines;
  Problems found;
  for (const std::string& path : duplicates) {
    if (path.starts_with("line ") && options.validation == FieldValidation::kStrict) {
      lines += "\n  " + path;
      continue;
    }
    const bool worded = path.starts_with("line ") || path.starts_with("json patch ");
    found.Add(worded ? path : "duplicate field " + Quoted(path));
  }
  if (!lines.empty()) found.Add("yaml: unmarshal errors:" + lines);
  for (const std::string& path : unknown) found.Add("unknown field " + Quoted(path));
  return found;
}

}  // namespace

Result<void> ReportFields(Call& call, const WriteOptions& options, const GroupVersionKind& kind,
                          const std::vector<std::string>& unknown,
                          const std::vector<std::string>& duplicates,
                          const std::optional<std::string>& patch) {
  if (options.validation == FieldValidation::kIgnore) return Ok();
  if (unknown.empty() && duplicates.empty()) return Ok();
  Problems found = IsReadInOrder(call) ? FoundInOrder(call, unknown, duplicates)
                                       : FoundApart(options, unknown, duplicates);
  std::vector<std::string> problems = std::move(found).Take();
  if (options.validation == FieldValidation::kWarn) {
    for (std::string& problem : problems) call.Warn(std::move(problem));
    return Ok();
  }
  std::string joined;
  for (const std::string& problem : problems) joined += (joined.empty() ? "" : ", ") + problem;
  if (patch) return InvalidPatch(*patch, "strict decoding error: " + joined);
  return CannotBeHandled(kind, "strict decoding error: " + joined);
}

Status InvalidPatch(const std::string& patch, const std::string& why) {
  return Invalid("", "", "", {InvalidValue("patch", Quoted(patch), why)});
}

Result<DeleteRequest> ParseDelete(const Call& call) {
  Json options = Json::object();
  if (!call.request.body.empty()) {
    // Option objects are built in whatever the resource is.
    const openapi::ResourceType& type = DeleteOptionsType();
    Body body = TRY(DecodeText(call, TRY(EncodingOf(call, true)), type.gvk));
    options = std::move(body.tree);
    if (std::string problem = KindProblem(options); !problem.empty()) return BadRequest(problem);
    if (const std::string kind = StringAt(options, {"kind"});
        !kind.empty() && kind != kDeleteOptions) {
      const std::string version = StringAt(options, {"apiVersion"});
      return BadRequest("no kind " + Quoted(kind) + " is registered for version " +
                        Quoted(version.empty() ? "meta.k8s.io/v1" : version) +
                        " in scheme \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/"
                        "register.go:27\"");
    }
    // An option that is not understood must not be left out: what it asks for may be a dry run.
    if (auto problem = openapi::CheckBuiltinTypes(type, options)) return BadRequest(*problem);
  } else {
    const Query& query = call.info.query;
    if (query.Has("gracePeriodSeconds")) {
      options["gracePeriodSeconds"] = TRY(query.Int("gracePeriodSeconds"));
    }
    if (query.Has("orphanDependents")) options["orphanDependents"] = query.Bool("orphanDependents");
    if (query.Has("propagationPolicy")) options["propagationPolicy"] = query.Get("propagationPolicy");
    if (query.Has("dryRun")) options["dryRun"] = query.All("dryRun");
    for (const char* member : {"uid", "resourceVersion"}) {
      if (query.Has(member)) Set(options, {"preconditions", member}, query.Get(member));
    }
  }
  return DeleteRequestOf(options);
}

Result<DeleteRequest> DeleteRequestOf(const Json& options) {
  DeleteRequest request;
  request.dry_run = TRY(ParseDryRun(StringsAt(options, {"dryRun"}), kDeleteOptions));
  if (const Json* grace = Find(options, {"gracePeriodSeconds"}); grace && grace->is_number_integer()) {
    request.grace_seconds = grace->get<std::int64_t>();
  }
  request.uid = StringAt(options, {"preconditions", "uid"});
  request.resource_version = StringAt(options, {"preconditions", "resourceVersion"});
  request.propagation = StringAt(options, {"propagationPolicy"});
  const Json* orphan = Find(options, {"orphanDependents"});
  if (orphan != nullptr && orphan->is_boolean()) {
    if (!request.propagation.empty()) {
      return Invalid(kDeleteOptions, "meta.k8s.io", "",
                     {InvalidValue("propagationPolicy", Quoted(request.propagation),
                                   "orphanDependents and deletionPropagation cannot be both set")});
    }
    request.propagation = orphan->get<bool>() ? "Orphan" : "Background";
    request.orphans_refused = !orphan->get<bool>();
  }
  if (!request.propagation.empty() && request.propagation != "Background" &&
      request.propagation != "Foreground" && request.propagation != "Orphan") {
    return Invalid(kDeleteOptions, "meta.k8s.io", "",
                   {UnsupportedValue("propagationPolicy", Quoted(request.propagation),
                                        {"Foreground", "Background", "Orphan", "nil"})});
  }
  return request;
}

}  // namespace mailroom::apiserver
