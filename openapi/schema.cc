#include "openapi/schema.h"

#include <algorithm>
#include <numeric>

namespace mailroom::openapi {

std::string_view TypeText(Type type) {
  switch (type) {
    case Type::kObject: return "object";
    case Type::kArray: return "array";
    case Type::kString: return "string";
    case Type::kInteger: return "integer";
    case Type::kNumber: return "number";
    case Type::kBoolean: return "boolean";
    case Type::kAny: return "";
  }
  return "";
}

const Property* Schema::Find(std::string_view member) const {
  auto at = std::lower_bound(index.begin(), index.end(), member,
                             [this](std::uint32_t position, std::string_view wanted) {
                               return properties[position].name < wanted;
                             });
  if (at == index.end() || properties[*at].name != member) return nullptr;
  return &properties[*at];
}

void Schema::BuildIndex() {
  index.resize(properties.size());
  std::iota(index.begin(), index.end(), 0U);
  std::sort(index.begin(), index.end(), [this](std::uint32_t a, std::uint32_t b) {
    return properties[a].name < properties[b].name;
  });
}

}  // namespace mailroom::openapi
