// The items of a granular list by path element. Shared by field sets, comparison and merging;
// holds pointers into the list it was made of.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "openapi/schema.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

class ListIndex {
 public:
  struct Item {
    std::string element;
    const Json* value;      // the first item of this element
    bool repeated = false;  // several items share the element
    std::vector<Json> all;  // those items, when repeated
  };

  // Items that have no element (a key is missing) are left out.
  ListIndex(const openapi::Schema& schema, const Json& list);

  // One entry per element, in list order.
  const std::vector<Item>& items() const { return items_; }
  const Item* Find(const std::string& element) const;

 private:
  static constexpr std::size_t kScanLimit = 16;  // below this a scan beats hashing

  void Remember(std::size_t at);

  std::vector<Item> items_;
  std::unordered_map<std::string, std::size_t> by_element_;
};

}  // namespace mailroom::apiserver
