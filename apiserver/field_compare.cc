// Walks of one object (which fields it sets) and of two (which fields differ). Results are built
// bottom-up so that a path element is spelled only when something below it is kept.
#include "apiserver/field_compare.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/apply_shape.h"
#include "apiserver/field_set.h"

namespace mailroom::apiserver {

using openapi::Schema;

namespace {

FieldSet Fields(const Schema* schema, const Json& value);

void MapFields(const Schema* schema, const Json& value, FieldSet& out) {
  out.children.reserve(value.size());
  for (const auto& [name, member] : value.items()) {
    const MemberType type = MemberOf(schema, name);
    FieldSet below = Fields(type.schema, member);
    const bool empty = member.is_null() || (member.is_object() && member.empty());
    if (empty || !type.declared) below.member = true;
    out.Attach(NameElement(name), std::move(below));
  }
}

// Items with a repeated key are owned as one lump: there is no telling them apart.
void ListFields(const Schema& schema, const Json& list, FieldSet& out) {
  const ListIndex index(schema, list);
  out.children.reserve(index.items().size());
  for (const ListIndex::Item& item : index.items()) {
    FieldSet below;
    if (!item.repeated) below = Fields(schema.items, *item.value);
    below.member = true;
    out.Append(item.element, std::move(below));
  }
  out.Sort();
}

// The set below `value`; `member` is set when the value is a leaf itself.
FieldSet Fields(const Schema* schema, const Json& value) {
  FieldSet out;
  switch (ShapeOf(schema, value)) {
    case Shape::kLeaf:
      out.member = true;
      break;
    case Shape::kMap:
      if (value.is_object()) MapFields(schema, value, out);
      break;
    case Shape::kSet:
    case Shape::kKeyedList:
      if (value.is_array()) ListFields(*schema, value, out);
      break;
  }
  return out;
}

class Comparison {
 public:
  // Either side may be missing, not both.
  static FieldChanges Run(const Schema* schema, const Json* before, const Json* after) {
    FieldChanges out;
    const Shape now = ShapeOf(schema, after ? *after : *before);
    const Shape then = before ? ShapeOf(schema, *before) : now;
    bool leaf = false;
    if (before && after && then != now) Visit(then, schema, before, after, out);
    leaf = Visit(now, schema, before, after, out);
    if (!leaf && !before) out.added.member = true;
    if (!leaf && !after) out.removed.member = true;
    return out;
  }

 private:
  static bool IsEmpty(const Json* value) { return !value || value->empty(); }

  // True when the place was compared as a leaf.
  static bool Visit(Shape shape, const Schema* schema, const Json* before, const Json* after,
                    FieldChanges& out) {
    const bool map = shape == Shape::kMap;
    const Json* left =
        before && (map ? before->is_object() : before->is_array()) ? before : nullptr;
    const Json* right = after && (map ? after->is_object() : after->is_array()) ? after : nullptr;
    if (shape == Shape::kLeaf || (IsEmpty(left) && IsEmpty(right))) {
      Leaf(before, after, out);
      return true;
    }
    map ? Maps(schema, left, right, out) : Lists(*schema, left, right, out);
    return false;
  }

  static void Leaf(const Json* before, const Json* after, FieldChanges& out) {
    if (!before) {
      out.added.member = true;
    } else if (!after) {
      out.removed.member = true;
    } else if (*before != *after) {
      out.modified.member = true;
    }
  }

  static void Keep(std::string element, FieldChanges below, FieldChanges& out) {
    out.added.Append(element, std::move(below.added));
    out.modified.Append(element, std::move(below.modified));
    out.removed.Append(std::move(element), std::move(below.removed));
  }

  static void Maps(const Schema* schema, const Json* before, const Json* after, FieldChanges& out) {
    static const Json::object_t kNone;
    const auto& left = before ? before->get_ref<const Json::object_t&>() : kNone;
    const auto& right = after ? after->get_ref<const Json::object_t&>() : kNone;
    auto l = left.begin();
    auto r = right.begin();
    while (l != left.end() || r != right.end()) {
      int order = l == left.end() ? 1 : r == right.end() ? -1 : l->first.compare(r->first);
      const Json* old_value = order <= 0 ? &l->second : nullptr;
      const Json* new_value = order >= 0 ? &r->second : nullptr;
      const std::string& name = order <= 0 ? l->first : r->first;
      FieldChanges below = Run(MemberOf(schema, name).schema, old_value, new_value);
      if (!below.Empty()) Keep(NameElement(name), std::move(below), out);
      if (order <= 0) ++l;
      if (order >= 0) ++r;
    }
  }

  static void Lists(const Schema& schema, const Json* before, const Json* after,
                    FieldChanges& out) {
    static const Json kNone = Json::array();
    if (before && after && *before == *after) return;
    const ListIndex left(schema, before ? *before : kNone);
    const ListIndex right(schema, after ? *after : kNone);
    for (const ListIndex::Item& item : left.items()) {
      Item(schema, item.element, &item, right.Find(item.element), out);
    }
    for (const ListIndex::Item& item : right.items()) {
      if (!left.Find(item.element)) Item(schema, item.element, nullptr, &item, out);
    }
    out.added.Sort();
    out.modified.Sort();
    out.removed.Sort();
  }

  // Items with a repeated key are compared as one lump: there is no telling them apart.
  static void Item(const Schema& schema, const std::string& element, const ListIndex::Item* before,
                   const ListIndex::Item* after, FieldChanges& out) {
    const bool lump_before = before && before->repeated;
    const bool lump_after = after && after->repeated;
    FieldChanges below;
    if (lump_before && lump_after) {
      below.modified.member = before->all != after->all;
    } else if (lump_before) {
      if (after) below = Run(schema.items, nullptr, after->value);
      below.removed.member = true;
    } else if (lump_after) {
      if (before) below = Run(schema.items, before->value, nullptr);
      below.added.member = true;
    } else {
      below = Run(schema.items, before ? before->value : nullptr, after ? after->value : nullptr);
    }
    if (!below.Empty()) Keep(element, std::move(below), out);
  }
};

}  // namespace

ListIndex::ListIndex(const Schema& schema, const Json& list) {
  items_.reserve(list.size());
  std::string element;
  std::string error;
  for (const Json& value : list) {
    if (!ItemElement(schema, value, element, error)) continue;
    if (Item* known = const_cast<Item*>(Find(element))) {
      if (!known->repeated) known->all.push_back(*known->value);
      known->repeated = true;
      known->all.push_back(value);
      continue;
    }
    items_.push_back({element, &value, false, {}});
    if (items_.size() > kScanLimit) Remember(items_.size() - 1);
  }
}

const ListIndex::Item* ListIndex::Find(const std::string& element) const {
  if (items_.size() <= kScanLimit) {
    for (const Item& item : items_) {
      if (item.element == element) return &item;
    }
    return nullptr;
  }
  auto it = by_element_.find(element);
  return it == by_element_.end() ? nullptr : &items_[it->second];
}

void ListIndex::Remember(std::size_t at) {
  if (by_element_.empty()) {
    for (std::size_t i = 0; i < at; ++i) by_element_.emplace(items_[i].element, i);
  }
  by_element_.emplace(items_[at].element, at);
}

FieldSet FieldsOf(const Schema* schema, const Json& value) {
  FieldSet out = Fields(schema, value);
  out.member = false;
  return out;
}

FieldChanges CompareFields(const Schema* schema, const Json& before, const Json& after) {
  FieldChanges out = Comparison::Run(schema, &before, &after);
  out.added.member = out.modified.member = out.removed.member = false;
  return out;
}

}  // namespace mailroom::apiserver
