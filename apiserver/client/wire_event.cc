#include "apiserver/client/wire_event.h"

#include <absl/strings/numbers.h>

#include "storage/object/json_path.h"

namespace mailroom::client {
namespace {

constexpr std::string_view kWorkspaceAnnotation = "mailbox.kubestellar.io/workspace";

// An informer over all workspaces caches what a client of the one workspace would see.
std::string TakeWorkspace(Json& tree) {
  std::string workspace = StringAt(tree, {"metadata", "annotations", kWorkspaceAnnotation});
  Erase(tree, {"metadata", "annotations", kWorkspaceAnnotation});
  if (const Json* rest = Find(tree, {"metadata", "annotations"});
      rest != nullptr && rest->empty()) {
    Erase(tree, {"metadata", "annotations"});
  }
  return workspace;
}

Revision RevisionOf(const Json& tree) {
  std::uint64_t value = 0;
  // An opaque version that is no number only loses the comparison of revisions, also when it
  // begins with one.
  const bool number = absl::SimpleAtoi(StringAt(tree, {"metadata", "resourceVersion"}), &value);
  return number ? Revision(value) : Revision();
}

}  // namespace

Result<Item> DecodeItem(Json tree, const ItemShape& shape) {
  const Json* metadata = Find(tree, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return Internal("an item has no metadata");
  if (StringAt(tree, {"apiVersion"}).empty()) Set(tree, {"apiVersion"}, shape.api_version);
  if (StringAt(tree, {"kind"}).empty()) Set(tree, {"kind"}, shape.kind);
  ObjectKey key;
  if (shape.all_workspaces) key.workspace = TakeWorkspace(tree);
  key.ns = StringAt(tree, {"metadata", "namespace"});
  key.name = StringAt(tree, {"metadata", "name"});
  if (key.name.empty()) return Internal("an item has no name");
  ObjectPtr object = Object::Make(tree, RevisionOf(tree));
  // Taken for an item, nothing would be taken for a deletion.
  if (object == nullptr) return Internal("an item's metadata is not of the shape of metadata");
  return Item(std::move(key), std::move(object));
}

Result<ListPage> DecodePage(std::string_view body, ItemShape& shape) {
  Json tree = TRY(ParseJson(body));
  std::string kind = StringAt(tree, {"kind"});
  if (!kind.ends_with("List")) return Internal("the answer is not a list but a " + kind);
  kind.resize(kind.size() - 4);
  shape.kind = std::move(kind);
  ListPage page;
  page.resource_version = StringAt(tree, {"metadata", "resourceVersion"});
  page.continue_token = StringAt(tree, {"metadata", "continue"});
  if (Json* items = Find(tree, {"items"}); items != nullptr && items->is_array()) {
    page.items.reserve(items->size());
    for (Json& item : *items) page.items.push_back(TRY(DecodeItem(std::move(item), shape)));
  }
  return page;
}

Result<WireEvent> DecodeEvent(std::string_view line, const ItemShape& shape) {
  Json tree = TRY(ParseJson(line));
  const std::string type = StringAt(tree, {"type"});
  Json* object = Find(tree, {"object"});
  if (object == nullptr || !object->is_object()) return Internal("a watch event has no object");
  WireEvent event;
  if (type == "ERROR") {
    const std::int64_t code = IntAt(*object, {"code"}, 500);
    event.type = WireEvent::Type::kError;
    event.error = Status::FromBody(static_cast<int>(code), DumpJson(*object));
    return event;
  }
  event.resource_version = StringAt(*object, {"metadata", "resourceVersion"});
  if (type == "BOOKMARK") {
    event.type = WireEvent::Type::kBookmark;
    event.initial_end = StringAt(*object, {"metadata", "annotations",
                                           "k8s.io/initial-events-end"}) == "true";
    return event;
  }
  if (type == "DELETED") {
    event.type = WireEvent::Type::kDeleted;
  } else if (type == "ADDED" || type == "MODIFIED") {
    event.type = WireEvent::Type::kSet;
  } else {
    return Internal("unknown watch event type \"" + type + "\"");
  }
  event.item = TRY(DecodeItem(std::move(*object), shape));
  return event;
}

void LineBuffer::Feed(std::string_view piece) {
  if (start_ > 0) {
    buffer_.erase(0, start_);
    scanned_ -= start_;
    start_ = 0;
  }
  // A single large event must not keep its memory for the life of the watch.
  if (buffer_.empty() && buffer_.capacity() > 64 * 1024) buffer_ = std::string();
  buffer_ += piece;
}

bool LineBuffer::Next(std::string_view& line) {
  for (;;) {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      return false;
    }
    line = std::string_view(buffer_).substr(start_, end - start_);
    start_ = scanned_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) return true;
  }
}

}  // namespace mailroom::client
