#include "apiserver/render.h"

#include "apiserver/convert.h"
#include "apiserver/list_body.h"
#include "apiserver/table.h"
#include "openapi/protobuf.h"
#include "storage/object/json_cursor.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kWorkspaceAnnotation = "mailbox.kubestellar.io/workspace";

// Adds an annotation to the metadata of canonical object bytes.
std::string Annotate(std::string_view bytes, std::string_view value) {
  const std::string member =
      "\"" + std::string(kWorkspaceAnnotation) + "\":" + JsonQuote(value);
  JsonCursor cursor(bytes);
  std::string_view name, raw;
  bool first = true;
  if (!cursor.EnterObject()) return std::string(bytes);
  while (cursor.NextMember(name, first) && name != "metadata") {
    if (!cursor.Value(raw)) return std::string(bytes);
  }
  const std::size_t metadata = cursor.at() + 1;
  first = true;
  if (!cursor.EnterObject()) return std::string(bytes);
  while (cursor.NextMember(name, first)) {
    if (name == "annotations" && cursor.Peek() == '{') {
      const std::size_t at = cursor.at() + 1;
      std::string out(bytes.substr(0, at));
      out += member;
      if (bytes[at] != '}') out += ',';
      return out.append(bytes.substr(at));
    }
    if (!cursor.Value(raw)) return std::string(bytes);
  }
  std::string out(bytes.substr(0, metadata));
  out += "\"annotations\":{" + member + "}";
  if (bytes[metadata] != '}') out += ',';
  return out.append(bytes.substr(metadata));
}

Response WithBody(int code, std::string_view content_type, std::string body) {
  Response response;
  response.code = code;
  response.headers.Add("content-type", std::string(content_type));
  response.Append(std::move(body));
  return response;
}

Result<Response> Finish(const Accepted& accepted, int code, std::string json) {
  if (accepted.media == Media::kJson && !accepted.pretty) return JsonResponse(code, std::move(json));
  const Json tree = TRY(ParseJson(json));
  switch (accepted.media) {
    case Media::kYaml: return WithBody(code, "application/yaml", DumpYaml(tree));
    case Media::kProtobuf:
      return WithBody(code, openapi::kProtobufMediaType, TRY(openapi::EncodeProtobuf(tree)));
    case Media::kJson: break;
  }
  return JsonResponse(code, DumpJsonPretty(tree));
}

// One object in the accepted form. A dry run's new object has no revision, so none is shown.
Result<std::string> SingleText(const Call& call, const Accepted& accepted, const Object& object) {
  const bool stored = object.revision() != Revision();
  std::string bytes = ServedBytes(*call.type, object, nullptr);
  if (accepted.form == Form::kObject && stored) return bytes;
  Json tree = TRY(ParseJson(bytes));
  if (!stored) Erase(tree, {"metadata", "resourceVersion"});
  if (accepted.form == Form::kObject) return DumpJson(tree);
  if (accepted.form == Form::kPartial) {
    return DumpJson(PartialMetadata(tree, accepted.meta_version));
  }
  const std::string include = TRY(IncludeObject(call.info.query));
  Json table = MakeTable(*call.type, {tree}, accepted.meta_version, include, true);
  if (stored) Set(table, {"metadata", "resourceVersion"}, object.revision().ToString());
  return DumpJson(table);
}

}  // namespace

Response JsonResponse(int code, std::string body) {
  Response response;
  response.code = code;
  response.headers.Add("content-type", "application/json");
  body += '\n';
  response.Append(std::move(body));
  return response;
}

Response TextResponse(int code, std::string body) {
  Response response;
  response.code = code;
  response.headers.Add("content-type", "text/plain; charset=utf-8");
  response.headers.Add("x-content-type-options", "nosniff");
  response.Append(std::move(body));
  return response;
}

Response RenderError(const Status& status) {
  Response response = JsonResponse(status.code(), status.ToJson());
  if (status.details().retry_after_seconds > 0) {
    response.headers.Add("retry-after", std::to_string(status.details().retry_after_seconds));
  }
  if (status.code() == 403) response.headers.Add("x-content-type-options", "nosniff");
  return response;
}

Response RenderError(const Request& request, const Status& status) {
  Response plain = RenderError(status);
  const Accepted accepted = NegotiateError(request);
  if (accepted.media == Media::kJson && !accepted.pretty) return plain;
  auto response = Finish(accepted, status.code(), status.ToJson());
  if (!response.ok()) return plain;
  plain.headers.Set("content-type", std::string(response->headers.Get("content-type")));
  response->headers = std::move(plain.headers);
  return std::move(*response);
}

Response RenderDeleted(const Call& call, std::string_view name, std::string_view uid) {
  std::string body =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":)" +
      JsonQuote(name);
  if (!call.type->gvk.group.empty()) body += ",\"group\":" + JsonQuote(call.type->gvk.group);
  body += ",\"kind\":" + JsonQuote(call.type->plural);
  if (!uid.empty()) body += ",\"uid\":" + JsonQuote(uid);
  body += "}}";
  const auto accepted = NegotiateDeleted(call.request, call.info.query, *call.type);
  auto response = Finish(accepted.ok() ? *accepted : Accepted(), 200, body);
  return response.ok() ? std::move(*response) : JsonResponse(200, body);
}

bool ServedAsStored(const openapi::ResourceType& type, const Object& object) {
  return object.api_version() == type.gvk.ApiVersion();
}

std::string ServedBytes(const openapi::ResourceType& type, const Object& object,
                        const Workspace* annotate) {
  std::string bytes = ServedAsStored(type, object) ? std::string(object.bytes())
                                                   : ConvertToServed(type, object);
  return annotate == nullptr ? bytes : Annotate(bytes, annotate->name());
}

Result<Response> RenderObject(const Call& call, int code, const ObjectPtr& object) {
  const Accepted accepted = TRY(Negotiate(call.request, call.info.query, *call.type, Shape::kSingle));
  const ObjectPtr served = TRY(Settler(call)(object));
  return Finish(accepted, code, TRY(SingleText(call, accepted, *served)));
}

Result<Response> RenderTree(const Call& call, const openapi::ResourceType& type, int code,
                            const Json& tree) {
  const Accepted accepted = TRY(Negotiate(call.request, call.info.query, *call.type, Shape::kSingle));
  if (accepted.form == Form::kTable && tree.contains("metadata")) {
    const std::string include = TRY(IncludeObject(call.info.query));
    Json table = MakeTable(type, {tree}, accepted.meta_version, include, true);
    const std::string revision = StringAt(tree, {"metadata", "resourceVersion"});
    if (!revision.empty()) Set(table, {"metadata", "resourceVersion"}, revision);
    return Finish(accepted, code, DumpJson(table));
  }
  if (accepted.form == Form::kPartial) {
    return Finish(accepted, code, DumpJson(PartialMetadata(tree, accepted.meta_version)));
  }
  return Finish(accepted, code, DumpJson(tree));
}

Result<Response> RenderList(const Call& call, ListPage page) {
  const Accepted accepted = TRY(Negotiate(call.request, call.info.query, *call.type, Shape::kList));
  if (StreamsList(page)) return StreamList(call, accepted, std::move(page));
  const bool all = call.info.all_workspaces;
  const openapi::ResourceType& type = *call.type;
  if (accepted.form == Form::kObject) {
    std::string out = "{\"kind\":" + JsonQuote(type.list_kind) +
                      ",\"apiVersion\":" + JsonQuote(type.gvk.ApiVersion()) + "," +
                      ListMetadata(page, !call.type->builtin) + ",\"items\":[";
    constexpr std::string_view kEnd = "]}";
    std::size_t size = out.size() + kEnd.size() + 1;  // and the end of the line
    for (const storage::Entry& entry : page.entries) size += entry.object->bytes().size() + 1;
    out.reserve(size);
    const char* comma = "";
    for (const storage::Entry& entry : page.entries) {
      out += comma;
      comma = ",";
      AppendListItem(out, type, all, entry);
    }
    out += kEnd;
    return Finish(accepted, 200, std::move(out));
  }
  std::vector<Json> trees;
  trees.reserve(page.entries.size());
  for (const storage::Entry& entry : page.entries) {
    auto tree = ParseJson(ServedBytes(type, *entry.object, all ? entry.workspace.get() : nullptr));
    if (tree.ok()) trees.push_back(std::move(*tree));
  }
  Json out;
  if (accepted.form == Form::kTable) {
    const std::string include = TRY(IncludeObject(call.info.query));
    out = MakeTable(type, trees, accepted.meta_version, include, true);
  } else {
    out = {{"kind", "PartialObjectMetadataList"},
           {"apiVersion", "meta.k8s.io/" + accepted.meta_version},
           {"items", Json::array()}};
    for (const Json& tree : trees) {
      Find(out, {"items"})->push_back(PartialMetadata(tree, accepted.meta_version));
    }
  }
  const Json metadata = TRY(ParseJson("{" + ListMetadata(page) + "}"));
  Set(out, {"metadata"}, *Find(metadata, {"metadata"}));
  return Finish(accepted, 200, DumpJson(out));
}

FrameEncoder::FrameEncoder(const Call& call, Accepted accepted)
    : type_(call.type), settle_(call), all_workspaces_(call.info.all_workspaces), accepted_(std::move(accepted)),
      include_object_(call.info.query.Get("includeObject")) {}

std::string FrameEncoder::TableText(const Json& object) {
  const std::string_view include = include_object_.empty() ? "Metadata"
                                                           : std::string_view(include_object_);
  Json table = MakeTable(*type_, {object}, accepted_.meta_version, include, !columns_sent_);
  Set(table, {"metadata", "resourceVersion"}, StringAt(object, {"metadata", "resourceVersion"}));
  columns_sent_ = true;
  return DumpJson(table);
}

std::string FrameEncoder::ObjectText(const Object& object, const Workspace* workspace) {
  std::string bytes = ServedBytes(*type_, object, all_workspaces_ ? workspace : nullptr);
  if (accepted_.form == Form::kObject) return bytes;
  auto tree = ParseJson(bytes);
  if (!tree.ok()) return bytes;
  if (accepted_.form == Form::kTable) return TableText(*tree);
  return DumpJson(PartialMetadata(*tree, accepted_.meta_version));
}

SharedBytes FrameEncoder::Encode(storage::EventType shown, const storage::EventPtr& event) {
  ObjectPtr object = event->Shown(shown);
  const Object* stored = object.get();
  if (!settle_.asks()) object = settle_.Now(std::move(object));
  if (object.get() == stored && accepted_.media == Media::kJson && accepted_.form == Form::kObject && !all_workspaces_ &&
      ServedAsStored(*type_, *object)) {
    return event->Frame(shown);
  }
  const Workspace workspace = event->key().workspace;
  return Frame(shown, ObjectText(*object, &workspace));
}

SharedBytes FrameEncoder::EncodeInitial(const storage::Entry& entry) {
  return Frame(storage::EventType::kAdded, ObjectText(*settle_.Now(entry.object), entry.workspace.get()));
}

ObjectPtr FrameEncoder::Whole(ObjectPtr object) const {
  object = settle_.Now(std::move(object));
  if (ServedAsStored(*type_, *object)) return object;
  auto tree = ParseJson(ServedBytes(*type_, *object, nullptr));
  return tree.ok() ? Object::Make(*tree, object->revision()) : object;
}

SharedBytes FrameEncoder::EncodeBookmark(Revision revision, bool end_of_initial) {
  Json object = {{"kind", type_->gvk.kind},
                 {"apiVersion", type_->gvk.ApiVersion()},
                 {"metadata", {{"resourceVersion", revision.ToString()},
                               {"creationTimestamp", nullptr}}}};
  if (end_of_initial) {
    Set(object, {"metadata", "annotations", "k8s.io/initial-events-end"}, "true");
  }
  if (accepted_.form == Form::kTable) {
    // Cells of an object that has only metadata mean nothing; the row carries the revision.
    Json table = MakeTable(*type_, {}, accepted_.meta_version, "Metadata", !columns_sent_);
    columns_sent_ = true;
    Json row = {{"cells", Json::array()}, {"object", PartialMetadata(object, accepted_.meta_version)}};
    Find(table, {"rows"})->push_back(std::move(row));
    Set(table, {"metadata", "resourceVersion"}, revision.ToString());
    return Frame(storage::EventType::kBookmark, DumpJson(table));
  }
  if (accepted_.form == Form::kPartial) object = PartialMetadata(object, accepted_.meta_version);
  return Frame(storage::EventType::kBookmark, DumpJson(object));
}

SharedBytes FrameEncoder::Frame(storage::EventType shown, const std::string& object) const {
  if (accepted_.media != Media::kProtobuf) return storage::EncodeFrame(shown, object);
  auto tree = ParseJson(object);
  auto body = tree.ok() ? openapi::EncodeProtobuf(*tree) : Result<std::string>(tree.error());
  if (!body.ok()) return EncodeError(body.error(), Media::kProtobuf);
  return std::make_shared<const std::string>(
      openapi::ProtobufWatchFrame(storage::EventTypeText(shown), *body));
}

SharedBytes FrameEncoder::EncodeError(const Status& status, Media media) {
  if (media == Media::kProtobuf) {
    auto tree = ParseJson(status.ToJson());
    auto body = tree.ok() ? openapi::EncodeProtobuf(*tree) : Result<std::string>(tree.error());
    if (body.ok()) {
      return std::make_shared<const std::string>(openapi::ProtobufWatchFrame("ERROR", *body));
    }
  }
  return std::make_shared<const std::string>("{\"type\":\"ERROR\",\"object\":" + status.ToJson() +
                                             "}\n");
}

}  // namespace mailroom::apiserver
