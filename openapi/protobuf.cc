#include "openapi/protobuf.h"

#include "openapi/builtin.h"
#include "openapi/protobuf_wire.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);

struct Form {
  const Schema* type = nullptr;
  bool list = false;  // {metadata: ListMeta = 1, items = 2} of `type`
};

// Objects of meta/v1 travel under any group version.
const Schema* TypeOf(const GroupVersionKind& gvk) {
  if (const Schema* type = BuiltinKind(gvk)) return type;
  return BuiltinType("meta/v1." + gvk.kind);
}

Form FormOf(const GroupVersionKind& gvk) {
  const Schema* type = TypeOf(gvk);
  bool list = false;
  if (type == nullptr && gvk.kind.ends_with("List")) {
    type = TypeOf({gvk.group, gvk.version, gvk.kind.substr(0, gvk.kind.size() - 4)});
    list = type != nullptr;
  }
  // Parts of kinds have no body of their own, and Tables have no protobuf form.
  if (type == nullptr || type->Find("kind") == nullptr || MessageFields(*type).empty()) return {};
  return {type, list};
}

GroupVersionKind ParseGvk(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version), std::string(kind)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1)),
          std::string(kind)};
}

Result<Json> DecodeList(const Schema& item, std::string_view raw) {
  Json list = {{"metadata", Json::object()}, {"items", Json::array()}};
  WireReader reader(raw);
  for (WireField field; reader.Next(field);) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 1) {
      list["metadata"] = TRY(DecodeMessage(*BuiltinType("meta/v1.ListMeta"), field.bytes));
    } else if (field.number == 2) {
      list["items"].push_back(TRY(DecodeMessage(item, field.bytes)));
    }
  }
  if (!reader.ok()) return BadRequest("the protobuf body is malformed: unexpected end");
  return list;
}

std::string TypeMeta(const Json& object) {
  std::string out;
  PutBytes(1, StringAt(object, {"apiVersion"}), out);
  PutBytes(2, StringAt(object, {"kind"}), out);
  return out;
}

// No encoding and no media type of its own.
constexpr std::string_view kEnvelopeEnd("\x1a\0\x22\0", 4);

Result<Form> EncodedForm(const Json& object) {
  const Form form = FormOf(ParseGvk(StringAt(object, {"apiVersion"}), StringAt(object, {"kind"})));
  if (form.type != nullptr) return form;
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, "
                "application/yaml, application/vnd.kubernetes.protobuf");
}

}  // namespace

bool IsProtobuf(std::string_view body) { return body.starts_with(kMagic); }

Result<ProtobufEnvelope> ReadProtobufEnvelope(std::string_view body) {
  if (!IsProtobuf(body)) {
    return BadRequest("the body is not a Kubernetes protobuf body: its magic bytes are missing");
  }
  if (body.size() == kMagic.size()) return BadRequest("empty body");
  ProtobufEnvelope envelope;
  WireReader reader(body.substr(kMagic.size()));
  for (WireField field; reader.Next(field);) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 2) envelope.raw = field.bytes;
    if (field.number == 3 && !field.bytes.empty()) {
      return BadRequest("encoded protobuf bodies are not supported");
    }
    if (field.number != 1) continue;
    WireReader type_meta(field.bytes);
    for (WireField part; type_meta.Next(part);) {
      if (part.type != WireType::kBytes) continue;
      if (part.number == 1) envelope.api_version = part.bytes;
      if (part.number == 2) envelope.kind = part.bytes;
    }
    if (!type_meta.ok()) return BadRequest("the protobuf body is malformed: unexpected end");
  }
  if (!reader.ok()) return BadRequest("the protobuf body is malformed: unexpected end");
  return envelope;
}

Result<Json> DecodeProtobuf(std::string_view body) { return DecodeProtobufAs(body, {}); }

Result<Json> DecodeProtobufAs(std::string_view body, const GroupVersionKind& gvk) {
  const ProtobufEnvelope envelope = TRY(ReadProtobufEnvelope(body));
  GroupVersionKind actual = ParseGvk(envelope.api_version, envelope.kind);
  if (actual.version.empty()) {
    actual.group = gvk.group;
    actual.version = gvk.version;
  }
  if (actual.kind.empty()) actual.kind = gvk.kind;
  const Form form = FormOf(actual);
  if (form.type == nullptr) {
    return BadRequest("no kind " + Quoted(actual.kind) + " is registered for version " +
                      Quoted(actual.ApiVersion()) + " in protobuf form");
  }
  Json object = TRY(form.list ? DecodeList(*form.type, envelope.raw)
                              : DecodeMessage(*form.type, envelope.raw));
  object["apiVersion"] = actual.ApiVersion();
  object["kind"] = actual.kind;
  return object;
}

bool HasProtobuf(const GroupVersionKind& gvk) { return FormOf(gvk).type != nullptr; }

Result<std::string> EncodeProtobuf(const Json& object) {
  const Form form = TRY(EncodedForm(object));
  if (form.list) {
    const ProtobufList list = TRY(ProtobufList::Of(object));
    std::string items;
    if (const Json* found = Find(object, {"items"}); found != nullptr && found->is_array()) {
      for (const Json& element : *found) list.Item(element, items);
    }
    return list.Head(items.size()) + items + list.Tail();
  }
  std::string body(kMagic);
  PutBytes(1, TypeMeta(object), body);
  PutBytes(2, EncodeMessage(*form.type, object), body);
  return body.append(kEnvelopeEnd);
}

ProtobufList::ProtobufList(const Schema& item, std::string type_meta, std::string metadata)
    : item_(&item), type_meta_(std::move(type_meta)), metadata_(std::move(metadata)) {}

Result<ProtobufList> ProtobufList::Of(const Json& frame) {
  static const Json kNone = Json::object();
  const Form form = TRY(EncodedForm(frame));
  if (!form.list) return Internal(StringAt(frame, {"kind"}) + " is no list");
  const Json* metadata = Find(frame, {"metadata"});
  std::string encoded;
  PutBytes(1,
           EncodeMessage(*BuiltinType("meta/v1.ListMeta"), metadata == nullptr ? kNone : *metadata),
           encoded);
  return ProtobufList(*form.type, TypeMeta(frame), std::move(encoded));
}

std::string ProtobufList::Head(std::uint64_t item_bytes) const {
  std::string head(kMagic);
  PutBytes(1, type_meta_, head);
  PutLength(2, metadata_.size() + item_bytes, head);
  return head + metadata_;
}

void ProtobufList::Item(const Json& item, std::string& out) const {
  PutBytes(2, EncodeMessage(*item_, item), out);
}

std::string ProtobufList::Tail() const { return std::string(kEnvelopeEnd); }

std::string ProtobufWatchFrame(std::string_view event_type, std::string_view object) {
  std::string extension, event;
  PutBytes(1, object, extension);
  PutBytes(1, event_type, event);
  PutBytes(2, extension, event);
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(event.size() >> shift & 0xff));
  }
  return frame + event;
}

}  // namespace mailroom::openapi
