// How a list stands in a document that is written item by item: what comes before its items,
// between them and after them, in each media type. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "apiserver/negotiate.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

struct ListForm {
  std::string content_type;
  // Given the bytes of all items together, which only protobuf wants to know (`sized`).
  std::function<std::string(std::uint64_t item_bytes)> head;
  bool sized = false;
  std::function<void(std::string& out, const Json& item)> item;
  std::string separator;
  std::string tail;
};

// YAML, protobuf or indented JSON: the document that would come of putting the items into
// `frame`, an object of everything else, as member `items`. NotAcceptable when the kind of the
// list has no protobuf form.
Result<ListForm> MakeListForm(const Accepted& accepted, const Json& frame, std::string_view items);

}  // namespace mailroom::apiserver
