#include "apiserver/json_patch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// The one answer for a well-formed patch that does not fit the object.
Status DoesNotApply() {
  return Status(Reason::kInvalid, "the server rejected our request due to an error in our request");
}

std::string_view JsonTypeName(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "array";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "bool";
    case Json::value_t::null:
      return "null";
    default:
      return "number";
  }
}

Status CannotUnmarshal(const Json& value, std::string_view go_type) {
  return BadRequest("json: cannot unmarshal " + std::string(JsonTypeName(value)) +
                    " into Go value of type " + std::string(go_type));
}

// A JSON pointer read step by step. Text before the first '/' is ignored, as kube-apiserver does.
class Pointer {
 public:
  static std::optional<Pointer> Parse(std::string_view text) {
    std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    Pointer pointer;
    pointer.rest_ = text.substr(slash + 1);
    return pointer;
  }

  bool AtLast() const { return rest_.find('/') == std::string_view::npos; }
  std::string Next() {
    std::size_t slash = rest_.find('/');
    std::string_view raw = rest_.substr(0, slash);
    rest_ = slash == std::string_view::npos ? std::string_view() : rest_.substr(slash + 1);
    return Unescape(raw);
  }

 private:
  static std::string Unescape(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '~' && i + 1 < raw.size() && (raw[i + 1] == '0' || raw[i + 1] == '1')) {
        out += raw[++i] == '0' ? '~' : '/';
      } else {
        out += raw[i];
      }
    }
    return out;
  }

  std::string_view rest_;
};

// The position `key` names in a list of `size`; negative counts from the end.
std::optional<std::size_t> IndexIn(std::string_view key, std::size_t size) {
  if (!key.empty() && key.front() == '+') key.remove_prefix(1);
  std::int64_t index = 0;
  auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || key.empty()) return std::nullopt;
  auto length = static_cast<std::int64_t>(size);
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// Levels of containers in `value`; a scalar has none.
std::size_t Depth(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t deepest = 0;
  for (const Json& child : value) deepest = std::max(deepest, Depth(child));
  return deepest + 1;
}

// The container holding the last step of a pointer, that step, and how many steps lead there.
struct Place {
  Json* container;
  std::string key;
  std::size_t steps;
};

Result<Place> Locate(Json& document, std::string_view path) {
  std::optional<Pointer> pointer = Pointer::Parse(path);
  if (!pointer) return DoesNotApply();
  Json* node = &document;
  std::size_t steps = 1;
  for (; !pointer->AtLast(); ++steps) {
    std::string step = pointer->Next();
    if (node->is_object()) {
      auto it = node->find(step);
      if (it == node->end()) return DoesNotApply();
      node = &*it;
    } else if (node->is_array()) {
      std::optional<std::size_t> index = IndexIn(step, node->size());
      if (!index) return DoesNotApply();
      node = &(*node)[*index];
    } else {
      return DoesNotApply();
    }
  }
  if (!node->is_structured()) return DoesNotApply();
  return Place{node, pointer->Next(), steps};
}

// The value at a place; a missing member of an object reads as null, as kube-apiserver reads it.
Result<Json*> Read(const Place& place, Json& missing) {
  Json& container = *place.container;
  if (container.is_object()) {
    auto it = container.find(place.key);
    return it == container.end() ? &missing : &*it;
  }
  std::optional<std::size_t> index = IndexIn(place.key, container.size());
  if (!index) return DoesNotApply();
  return &container[*index];
}

Result<void> Add(const Place& place, Json value) {
  Json& container = *place.container;
  if (container.is_object()) {
    container[place.key] = std::move(value);
    return Ok();
  }
  if (place.key == "-") {
    container.push_back(std::move(value));
    return Ok();
  }
  std::optional<std::size_t> index = IndexIn(place.key, container.size() + 1);
  if (!index) return DoesNotApply();
  container.insert(container.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return Ok();
}

Result<Json> Take(const Place& place) {
  Json& container = *place.container;
  if (container.is_object()) {
    auto it = container.find(place.key);
    if (it == container.end()) return DoesNotApply();
    Json taken = std::move(*it);
    container.erase(it);
    return taken;
  }
  std::optional<std::size_t> index = IndexIn(place.key, container.size());
  if (!index) return DoesNotApply();
  Json taken = std::move(container[*index]);
  container.erase(*index);
  return taken;
}

class Patcher {
 public:
  explicit Patcher(const Json& live) : document_(live) {}

  Result<void> Run(const Json& operation) {
    std::string kind = StringAt(operation, {"op"});
    const Json* path_node = Find(operation, {"path"});
    if (!path_node || !path_node->is_string()) return DoesNotApply();
    const std::string& path = path_node->get_ref<const std::string&>();
    const Json* value_node = Find(operation, {"value"});
    Json value = value_node ? *value_node : Json();
    if (kind == "add") return Put(path, std::move(value));
    if (kind == "remove") {
      Place place = TRY(Locate(document_, path));
      TRY(Take(place));
      return Ok();
    }
    if (kind == "replace") return Replace(path, std::move(value));
    if (kind == "test") return Test(path, value);
    const Json* from = Find(operation, {"from"});
    if (!from || !from->is_string()) return DoesNotApply();
    const std::string& source = from->get_ref<const std::string&>();
    if (kind == "move") {
      Place place = TRY(Locate(document_, source));
      Json moved = TRY(Take(place));
      return Put(path, std::move(moved));
    }
    if (kind == "copy") return Copy(source, path);
    return DoesNotApply();
  }

  Json Finish() && { return std::move(document_); }

 private:
  Result<void> Put(const std::string& path, Json value) {
    Place place = TRY(Locate(document_, path));
    TRY(CheckDepth(place, value));
    return Add(place, std::move(value));
  }

  // Operations that nest what earlier ones built could otherwise outgrow the stack of every
  // recursive walk.
  static Result<void> CheckDepth(const Place& place, const Json& value) {
    if (place.steps + Depth(value) > limits::kJsonDepth) return DoesNotApply();
    return Ok();
  }

  Result<void> Replace(const std::string& path, Json value) {
    if (path.empty()) {
      if (!value.is_structured()) return DoesNotApply();
      document_ = std::move(value);
      return Ok();
    }
    Place place = TRY(Locate(document_, path));
    TRY(CheckDepth(place, value));
    if (place.container->is_object()) return Add(place, std::move(value));
    Json missing;
    *TRY(Read(place, missing)) = std::move(value);
    return Ok();
  }

  Result<void> Test(const std::string& path, const Json& value) {
    Json missing;
    const Json* actual = &document_;
    if (!path.empty()) {
      Place place = TRY(Locate(document_, path));
      actual = TRY(Read(place, missing));
    }
    if (*actual != value) return DoesNotApply();
    return Ok();
  }

  Result<void> Copy(const std::string& from, const std::string& to) {
    Json missing;
    Place place = TRY(Locate(document_, from));
    Json copied = *TRY(Read(place, missing));
    copied_bytes_ += DumpJson(copied).size();
    if (copied_bytes_ > limits::kJsonPatchCopyBytes) return DoesNotApply();
    return Put(to, std::move(copied));
  }

  Json document_;
  std::size_t copied_bytes_ = 0;
};

// Nulls of a merge patch that meet nothing to delete are not stored.
void DropNullMembers(Json& value) {
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      if (it->is_null()) {
        it = value.erase(it);
      } else {
        DropNullMembers(*it);
        ++it;
      }
    }
  } else if (value.is_array()) {
    for (Json& element : value) DropNullMembers(element);
  }
}

void MergeInto(Json& target, const Json& patch) {
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(key);
      continue;
    }
    Json& slot = target[key];
    if (slot.is_object() && value.is_object()) {
      MergeInto(slot, value);
      continue;
    }
    bool replaces_object = slot.is_object();
    slot = value;
    if (!replaces_object) DropNullMembers(slot);
  }
}

}  // namespace

Result<Json> JsonPatch(const Json& live, const Json& operations) {
  if (operations.is_null()) return live;
  if (!operations.is_array()) return CannotUnmarshal(operations, "jsonpatch.Patch");
  for (const Json& operation : operations) {
    if (!operation.is_object()) return CannotUnmarshal(operation, "jsonpatch.Operation");
  }
  if (operations.size() > limits::kJsonPatchOperations) {
    return RequestTooLarge("The allowed maximum operations in a JSON patch is " +
                           std::to_string(limits::kJsonPatchOperations) + ", got " +
                           std::to_string(operations.size()));
  }
  Patcher patcher(live);
  for (const Json& operation : operations) TRY(patcher.Run(operation));
  return std::move(patcher).Finish();
}

Result<Json> MergePatch(const Json& live, const Json& patch) {
  if (patch.is_null()) return BadRequest("Invalid JSON Patch");
  if (!patch.is_object()) {
    Status status = CannotUnmarshal(patch, "map[string]interface {}");
    return BadRequest("error decoding patch: " + status.message());
  }
  Json merged = live.is_object() ? live : Json::object();
  MergeInto(merged, patch);
  return merged;
}

}  // namespace mailroom::apiserver
