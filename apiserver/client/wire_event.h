// What a Kubernetes server sends to a list or watch, decoded: pages of a list, and the lines of a
// watch's body however the transport cut them. Pure; owned by one informer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/client/informer.h"
#include "storage/object/result.h"

namespace mailroom::client {

using Item = std::pair<ObjectKey, ObjectPtr>;

// How objects of one informer are read.
struct ItemShape {
  std::string api_version;      // for list items that do not carry their own
  std::string kind;             // learned from the list
  bool all_workspaces = false;  // take the key's workspace from the annotation
};

// InternalError when `tree` is not an object with a name, or its labels are no texts.
Result<Item> DecodeItem(Json tree, const ItemShape& shape);

struct ListPage {
  std::vector<Item> items;
  std::string resource_version;
  std::string continue_token;
};

// Also notes the kind of the items in `shape`.
Result<ListPage> DecodePage(std::string_view body, ItemShape& shape);

struct WireEvent {
  enum class Type { kSet, kDeleted, kBookmark, kError };
  Type type = Type::kBookmark;
  Item item;                     // of kSet and kDeleted
  std::string resource_version;  // "" for kError
  bool initial_end = false;      // of kBookmark: everything that was there has been sent
  std::optional<Status> error;   // of kError: why the server ends the watch
};

// InternalError or BadRequest when the line is not a watch event.
Result<WireEvent> DecodeEvent(std::string_view line, const ItemShape& shape);

// Cuts a byte stream into lines.
class LineBuffer {
 public:
  void Feed(std::string_view piece);
  // The next complete line that is not empty, without its end; false when there is none yet. The
  // view is valid until the next call of Feed or Next.
  bool Next(std::string_view& line);
  // Bytes of the line that is still incomplete.
  std::size_t pending() const { return buffer_.size() - start_; }

 private:
  std::string buffer_;
  std::size_t start_ = 0;    // first byte not yet returned
  std::size_t scanned_ = 0;  // no line end lies between start_ and here
};

}  // namespace mailroom::client
