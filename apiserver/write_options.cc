#include "apiserver/write_options.h"

#include <algorithm>

#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

Result<bool> ParseDryRun(const std::vector<std::string>& values, std::string_view kind) {
  for (const std::string& value : values) {
    if (value != "All") {
      return Invalid(kind, "meta.k8s.io", "", {UnsupportedValue("dryRun", Quoted(value), {"All"})});
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

Result<Body> DecodeText(const Call& call) {
  const std::string& text = call.request.body;
  switch (TRY(BodyEncoding(call))) {
    case Encoding::kJson: {
      ParsedJson parsed = TRY(ParseJsonStrict(text));
      return Body{std::move(parsed.value), std::move(parsed.duplicates)};
    }
    case Encoding::kYaml: {
      ParsedJson parsed = TRY(ParseYamlStrict(text));
      return Body{std::move(parsed.value), std::move(parsed.duplicates)};
    }
    case Encoding::kProtobuf:
      return Body{TRY(openapi::DecodeProtobuf(text)), {}};
  }
  return Internal("unknown body encoding");
}

Result<Json> DecodeTree(const Call& call) {
  Body body = TRY(DecodeText(call));
  return std::move(body.tree);
}

std::string FirstBytes(std::string_view text) { return std::string(text.substr(0, 30)); }

}  // namespace

Result<WriteOptions> ParseWriteOptions(const Call& call, std::string_view kind) {
  const Query& query = call.info.query;
  WriteOptions options;
  options.dry_run = TRY(ParseDryRun(query.All("dryRun"), kind));
  options.field_manager = query.Get("fieldManager");
  if (options.field_manager.size() > limits::kFieldManagerBytes) {
    return Invalid(kind, "meta.k8s.io", "", {TooLong("fieldManager", limits::kFieldManagerBytes)});
  }
  for (char c : options.field_manager) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return Invalid(kind, "meta.k8s.io", "",
                     {InvalidValue("fieldManager", Quoted(options.field_manager),
                                   "should only contain printable characters")});
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
  return writer;
}

Result<Encoding> BodyEncoding(const Call& call) {
  const std::string_view type = MediaType(call.request.headers.Get("content-type"));
  if (type.empty() || type == "application/json") return Encoding::kJson;
  if (type == "application/yaml") return Encoding::kYaml;
  std::string accepted = "application/json, application/yaml";
  if (call.type->builtin) {
    if (type == openapi::kProtobufMediaType) return Encoding::kProtobuf;
    accepted += ", " + std::string(openapi::kProtobufMediaType);
  }
  return Status(Reason::kUnsupportedMediaType,
                "the body of the request was in an unknown format - accepted media types include: " +
                    accepted);
}

Result<Body> DecodeBody(const Call& call, const GroupVersionKind& expected) {
  auto decoded = DecodeText(call);
  if (!decoded.ok()) {
    if (decoded.error().reason() != Reason::kBadRequest) return std::move(decoded).error();
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind +
                      "): " + decoded.error().message() + " (" + FirstBytes(call.request.body) + ")");
  }
  Body body = std::move(*decoded);
  if (!body.tree.is_object()) {
    return BadRequest("the object provided is unrecognized (must be of type " + expected.kind + ")");
  }
  const std::string kind = StringAt(body.tree, {"kind"});
  const std::string version = StringAt(body.tree, {"apiVersion"});
  if (!call.type->builtin && (kind.empty() || version.empty())) {
    return BadRequest("Object 'Kind' is missing in '" + FirstBytes(call.request.body) + "'");
  }
  if (!version.empty() && version != expected.ApiVersion()) {
    return BadRequest("the API version in the data (" + version +
                      ") does not match the expected API version (" + expected.ApiVersion() + ")");
  }
  if (!kind.empty() && kind != expected.kind) {
    return BadRequest(kind + " in version " + Quoted(expected.version) +
                      " cannot be handled as a " + expected.kind +
                      ": no kind " + Quoted(kind) + " is registered for version " +
                      Quoted(expected.ApiVersion()));
  }
  body.tree["apiVersion"] = expected.ApiVersion();
  body.tree["kind"] = expected.kind;
  Json& metadata = body.tree["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) {
    return BadRequest("json: cannot unmarshal " + std::string(metadata.type_name()) +
                      " into Go struct field " + expected.kind +
                      ".metadata of type v1.ObjectMeta");
  }
  return body;
}

Result<void> ReportFields(Call& call, const WriteOptions& options,
                          const std::vector<std::string>& unknown,
                          const std::vector<std::string>& duplicates) {
  std::vector<std::string> problems;
  for (const std::string& path : unknown) problems.push_back("unknown field " + Quoted(path));
  for (const std::string& path : duplicates) {
    const bool yaml = path.starts_with("line ");
    problems.push_back(yaml ? path : "duplicate field " + Quoted(path));
  }
  if (problems.empty() || options.validation == FieldValidation::kIgnore) return Ok();
  if (options.validation == FieldValidation::kWarn) {
    for (std::string& problem : problems) call.Warn(std::move(problem));
    return Ok();
  }
  std::string joined;
  for (const std::string& problem : problems) joined += (joined.empty() ? "" : ", ") + problem;
  const std::string& kind = call.type->gvk.kind;
  return BadRequest(kind + " in version " + Quoted(call.type->gvk.version) +
                    " cannot be handled as a " + kind + ": strict decoding error: " + joined);
}

Result<DeleteRequest> ParseDelete(const Call& call) {
  constexpr std::string_view kKind = "DeleteOptions";
  DeleteRequest request;
  Json options = Json::object();
  if (!call.request.body.empty()) {
    // Option objects are built-in whatever the resource is, so their protobuf form is always read.
    auto decoded = openapi::IsProtobuf(call.request.body)
                       ? openapi::DecodeProtobuf(call.request.body)
                       : DecodeTree(call);
    if (!decoded.ok()) return std::move(decoded).error();
    options = std::move(*decoded);
    if (!options.is_object()) return BadRequest("the body must be a DeleteOptions object");
  } else {
    const Query& query = call.info.query;
    if (query.Has("gracePeriodSeconds")) {
      options["gracePeriodSeconds"] = TRY(query.Int("gracePeriodSeconds"));
    }
    if (query.Has("orphanDependents")) options["orphanDependents"] = query.Bool("orphanDependents");
    if (query.Has("propagationPolicy")) options["propagationPolicy"] = query.Get("propagationPolicy");
    if (query.Has("dryRun")) options["dryRun"] = query.All("dryRun");
  }
  request.dry_run = TRY(ParseDryRun(StringsAt(options, {"dryRun"}), kKind));
  if (const Json* grace = Find(options, {"gracePeriodSeconds"}); grace && grace->is_number_integer()) {
    request.grace_seconds = grace->get<std::int64_t>();
  }
  request.uid = StringAt(options, {"preconditions", "uid"});
  request.resource_version = StringAt(options, {"preconditions", "resourceVersion"});
  request.propagation = StringAt(options, {"propagationPolicy"});
  const Json* orphan = Find(options, {"orphanDependents"});
  if (orphan != nullptr && orphan->is_boolean()) {
    if (!request.propagation.empty()) {
      return Invalid(kKind, "meta.k8s.io", "",
                     {InvalidValue("propagationPolicy", Quoted(request.propagation),
                                   "orphanDependents and deletionPropagation cannot be both set")});
    }
    request.propagation = orphan->get<bool>() ? "Orphan" : "Background";
  }
  if (!request.propagation.empty() && request.propagation != "Background" &&
      request.propagation != "Foreground" && request.propagation != "Orphan") {
    return Invalid(kKind, "meta.k8s.io", "",
                   {UnsupportedValue("propagationPolicy", Quoted(request.propagation),
                                     {"Background", "Foreground", "Orphan"})});
  }
  return request;
}

}  // namespace mailroom::apiserver
