#include "storage/object/object.h"

#include <algorithm>
#include <charconv>

#include "storage/object/json.h"
#include "storage/object/json_cursor.h"
#include "storage/object/json_path.h"

namespace mailroom {
namespace {

constexpr std::string_view kVersionMember = "\"resourceVersion\":\"";
constexpr std::size_t kUsualBytes = 2048;  // of an object

bool IsPlain(std::string_view raw) { return raw.find('\\') == std::string_view::npos; }

// From an object to the value of a member of it; false when there is none.
bool GoToMember(JsonCursor& cursor, std::string_view wanted) {
  std::string_view name, raw;
  if (!cursor.EnterObject()) return false;
  for (bool first = true; cursor.NextMember(name, first);) {
    if (name == wanted) return true;
    if (!cursor.Value(raw)) return false;
  }
  return false;
}

// From a list to its element at a position written in decimal.
bool GoToElement(JsonCursor& cursor, std::string_view position) {
  std::size_t left = 0;
  const auto [end, error] =
      std::from_chars(position.data(), position.data() + position.size(), left);
  if (error != std::errc() || end != position.data() + position.size()) return false;
  std::string_view raw;
  if (!cursor.EnterArray()) return false;
  for (bool first = true; cursor.NextElement(first); --left) {
    if (left == 0) return true;
    if (!cursor.Value(raw)) return false;
  }
  return false;
}

}  // namespace

// Fills an Object's views from its bytes.
struct ObjectReader {
  Object& object;

  std::string_view Keep(std::string_view raw) {
    if (IsPlain(raw)) return raw;
    // A reserved vector keeps the backing strings in place.
    if (object.unescaped_.capacity() == 0) object.unescaped_.reserve(64);
    if (object.unescaped_.size() == object.unescaped_.capacity()) return raw;
    return object.unescaped_.emplace_back(Unescape(raw));
  }

  bool ReadLabels(JsonCursor& cursor) {
    if (!cursor.EnterObject()) return false;
    std::string_view key, value;
    bool first = true;
    while (cursor.NextMember(key, first)) {
      if (!cursor.String(value)) return false;
      object.meta_.labels.emplace_back(Keep(key), Keep(value));
    }
    auto& labels = object.meta_.labels;
    if (!std::is_sorted(labels.begin(), labels.end())) std::sort(labels.begin(), labels.end());
    return true;
  }

  bool ReadMetadata(JsonCursor& cursor) {
    if (!cursor.EnterObject()) return false;
    std::string_view name, raw;
    bool first = true;
    Metadata& meta = object.meta_;
    while (cursor.NextMember(name, first)) {
      std::string_view* target = name == "name"                ? &meta.name
                                 : name == "namespace"         ? &meta.ns
                                 : name == "uid"               ? &meta.uid
                                 : name == "deletionTimestamp" ? &meta.deletion_timestamp
                                                               : nullptr;
      if (target != nullptr && cursor.Peek() == '"') {
        if (!cursor.String(raw)) return false;
        *target = Keep(raw);
      } else if (name == "labels" && cursor.Peek() == '{') {
        if (!ReadLabels(cursor)) return false;
      } else {
        if (!cursor.Value(raw)) return false;
        if (name == "ownerReferences") meta.has_owners = raw.size() > 2 && raw != "null";
        if (name == "finalizers") meta.has_finalizers = raw.size() > 2 && raw != "null";
      }
    }
    return true;
  }

  bool Read() {
    JsonCursor cursor(object.bytes_);
    if (!cursor.Expect("{\"apiVersion\":") || !cursor.String(object.api_version_)) return false;
    if (!cursor.Expect(",\"kind\":") || !cursor.String(object.kind_)) return false;
    if (!cursor.Expect(",")) return false;
    object.body_ = cursor.at();
    if (!cursor.Expect("\"metadata\":") || !ReadMetadata(cursor)) return false;
    object.meta_end_ = cursor.at();
    return object.bytes_.back() == '}';
  }
};

std::string Object::Encode(const Json& tree) {
  std::string out;
  out.reserve(kUsualBytes);
  const auto append = [&](std::string_view before, std::string_view member) {
    const auto it = tree.find(member);
    out += before;
    AppendQuoted(out, it != tree.end() && it->is_string() ? it->get_ref<const std::string&>()
                                                          : std::string_view());
  };
  append("{\"apiVersion\":", "apiVersion");
  append(",\"kind\":", "kind");
  // Appends the members of an object but those that are named.
  const auto members = [&](const Json& of, bool first, std::initializer_list<std::string_view> but) {
    for (const auto& [name, value] : of.get_ref<const Json::object_t&>()) {
      if (std::find(but.begin(), but.end(), name) != but.end()) continue;
      if (!std::exchange(first, false)) out += ',';
      AppendQuoted(out, name);
      out += ':';
      AppendJson(out, value);
    }
    out += '}';
  };
  out += ",\"metadata\":{";
  static const Json kUndescribed = Json::object();
  const auto metadata = tree.find("metadata");
  const bool described = metadata != tree.end() && metadata->is_object();
  members(described ? *metadata : kUndescribed, true, {"resourceVersion"});
  members(tree, false, {"apiVersion", "kind", "metadata"});
  return out;
}

Result<ObjectPtr> Object::Decode(std::string_view encoded, Revision revision) {
  auto bad = [] { return Internal("stored object is not of the canonical shape"); };
  JsonCursor cursor(encoded);
  std::string_view raw;
  if (!cursor.Expect("{\"apiVersion\":") || !cursor.String(raw) || !cursor.Expect(",\"kind\":") ||
      !cursor.String(raw) || !cursor.Expect(",\"metadata\":{")) {
    return bad();
  }
  const std::size_t splice = cursor.at();
  const auto object = std::make_shared<Object>(Passkey());
  const std::string version = revision.ToString();
  std::string& bytes = object->bytes_;
  bytes.reserve(encoded.size() + kVersionMember.size() + version.size() + 2);
  bytes.append(encoded.substr(0, splice));
  bytes.append(kVersionMember).append(version).append("\"");
  if (cursor.Peek() != '}') bytes += ',';
  bytes.append(encoded.substr(splice));
  object->revision_ = revision;
  if (!ObjectReader{*object}.Read()) return bad();
  object->meta_.labels.shrink_to_fit();
  return ObjectPtr(object);
}

ObjectPtr Object::Make(const Json& tree, Revision revision) {
  auto decoded = Decode(Encode(tree), revision);
  return decoded.ok() ? *decoded : nullptr;
}

std::string_view Object::metadata_bytes() const {
  constexpr std::size_t kName = std::string_view("\"metadata\":").size();
  return std::string_view(bytes_).substr(body_ + kName, meta_end_ - body_ - kName);
}

Json Object::ToJson() const {
  auto parsed = ParseJson(bytes_);
  return parsed.ok() ? std::move(*parsed) : Json();
}

ObjectPtr Object::AtRevision(Revision revision) const {
  const std::size_t start = body_ + std::string_view("\"metadata\":{").size();
  const std::size_t value = start + kVersionMember.size();
  const std::size_t end = bytes_.find('"', value) + 1;
  std::string encoded = bytes_.substr(0, start);
  std::size_t rest = end;
  if (bytes_[rest] == ',') ++rest;
  encoded.append(bytes_, rest);
  auto decoded = Decode(encoded, revision);
  return decoded.ok() ? *decoded : nullptr;
}

std::string Object::ScalarAt(std::string_view dotted_path) const {
  JsonCursor cursor(bytes_);
  std::string_view raw;
  while (true) {
    const std::size_t dot = dotted_path.find('.');
    const std::string_view step = dotted_path.substr(0, dot);
    if (!(cursor.Peek() == '[' ? GoToElement(cursor, step) : GoToMember(cursor, step))) return "";
    if (dot == std::string_view::npos) break;
    dotted_path.remove_prefix(dot + 1);
  }
  if (cursor.Peek() == '"') return cursor.String(raw) ? Unescape(raw) : "";
  if (cursor.Peek() == '{' || cursor.Peek() == '[' || !cursor.Value(raw) || raw == "null") return "";
  return std::string(raw);
}

}  // namespace mailroom
