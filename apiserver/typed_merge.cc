#include "apiserver/typed_merge.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/apply_shape.h"
#include "apiserver/field_compare.h"

namespace mailroom::apiserver {

using openapi::Schema;

namespace {

const FieldSet kNothing;

// The elements of a list by position; "" where an item has none.
std::vector<std::string> Elements(const Schema& schema, const Json& list) {
  std::vector<std::string> out(list.size());
  std::string error;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!ItemElement(schema, list[i], out[i], error)) out[i].clear();
  }
  return out;
}

// Merges two granular lists. The walk keeps live order, except that shared items follow the
// order of the configuration:
//
//   live a b c x d   config d a n   ->   b c x d a n
//
class ListMerge {
 public:
  ListMerge(const Schema& schema, const Json& config, Json& live)
      : schema_(schema),
        config_(config),
        live_(live),
        left_(Elements(schema, live)),
        right_(Elements(schema, config)),
        done_(right_.size(), false) {
    for (std::size_t i = 0; i < right_.size(); ++i) in_right_.emplace(right_[i], i);
    for (std::size_t i = 0; i < left_.size(); ++i) {
      auto [it, fresh] = in_left_.emplace(left_[i], i);
      if (!fresh) it->second = kRepeated;
    }
    for (const std::string& element : right_) {
      if (in_left_.contains(element)) shared_.push_back(&element);
    }
  }

  Json Run() && {
    Json::array_t out;
    out.reserve(std::max(left_.size(), right_.size()));
    std::size_t l = 0;
    std::size_t r = 0;
    while (l < left_.size() || r < right_.size()) {
      if (l < left_.size() && r < right_.size()) {
        if (left_[l] == right_[r]) {
          ++l;
          out.push_back(Take(r++));
          continue;
        }
        if (InRight(left_[l]) && WaitsForOther(left_[l])) {
          ++l;
          continue;
        }
      }
      if (l < left_.size()) {
        auto it = in_right_.find(left_[l]);
        if (left_[l].empty() || it == in_right_.end()) {
          out.push_back(std::move(live_[l++]));
          continue;
        }
        if (done_[it->second]) ++l;
      }
      if (r < right_.size()) out.push_back(Take(r++));
    }
    return Json(std::move(out));
  }

 private:
  static constexpr std::size_t kRepeated = static_cast<std::size_t>(-1);

  bool InRight(const std::string& element) const { return in_right_.contains(element); }

  bool WaitsForOther(const std::string& element) const {
    return next_shared_ < shared_.size() && *shared_[next_shared_] != element;
  }

  Json Take(std::size_t r) {
    done_[r] = true;
    const std::string& element = right_[r];
    if (next_shared_ < shared_.size() && *shared_[next_shared_] == element) ++next_shared_;
    auto it = in_left_.find(element);
    if (it == in_left_.end() || it->second == kRepeated) return config_[r];
    Json item = std::move(live_[it->second]);
    MergeConfig(schema_.items, config_[r], kNothing, item);
    return item;
  }

  const Schema& schema_;
  const Json& config_;
  Json& live_;
  std::vector<std::string> left_;
  std::vector<std::string> right_;
  std::unordered_map<std::string_view, std::size_t> in_left_;
  std::unordered_map<std::string_view, std::size_t> in_right_;
  std::vector<const std::string*> shared_;
  std::size_t next_shared_ = 0;
  std::vector<bool> done_;
};

void MergeMaps(const Schema* schema, const Json& config, const FieldSet& skip, Json& target) {
  if (!target.is_object()) target = Json::object();
  auto& members = target.get_ref<Json::object_t&>();
  for (const auto& [name, value] : config.items()) {
    const FieldSet* below = skip.children.empty() ? nullptr : skip.Find(NameElement(name));
    if (below && below->member) continue;
    auto it = members.find(name);
    if (it == members.end()) {
      it = members.emplace(name, below ? Json::object() : value).first;
      if (!below) continue;
    }
    MergeConfig(MemberOf(schema, name).schema, value, below ? *below : kNothing, it->second);
  }
}

const Json* MemberValue(const Json* map, const std::string& name) {
  if (!map || !map->is_object()) return nullptr;
  auto it = map->find(name);
  return it == map->end() ? nullptr : &*it;
}

void RemoveFromMap(const Schema* schema, const FieldSet& fields, Json& value) {
  for (const FieldSet::Child& child : fields.children) {
    if (!child.element.starts_with("f:")) continue;
    const std::string name = child.element.substr(2);
    auto it = value.find(name);
    if (it == value.end()) continue;
    if (child.set.member) {
      value.erase(it);
      continue;
    }
    RemoveFields(MemberOf(schema, name).schema, child.set, *it);
    if (it->is_structured() && it->empty()) *it = nullptr;
  }
}

void RemoveFromList(const Schema& schema, const FieldSet& fields, Json& value) {
  Json::array_t kept;
  kept.reserve(value.size());
  std::string element;
  std::string error;
  for (Json& item : value) {
    const FieldSet* below =
        ItemElement(schema, item, element, error) ? fields.Find(element) : nullptr;
    if (below && below->member) continue;
    if (below) {
      RemoveFields(schema.items, *below, item);
      if (item.is_structured() && item.empty()) item = nullptr;
    }
    kept.push_back(std::move(item));
  }
  value = Json(std::move(kept));
}

const Schema* SchemaBelow(const Schema* schema, const std::string& element) {
  if (element.starts_with("f:"))
    return MemberOf(schema, std::string_view(element).substr(2)).schema;
  return schema && element.starts_with("k:") ? schema->items : nullptr;
}

}  // namespace

void MergeConfig(const Schema* schema, const Json& config, const FieldSet& skip, Json& target) {
  const Shape shape = ShapeOf(schema, config);
  if (shape == Shape::kLeaf) {
    target = config;
    return;
  }
  const bool map = shape == Shape::kMap;
  const bool usable = map ? target.is_object() : target.is_array();
  if (config.empty() || (map ? !config.is_object() : !config.is_array())) {
    if (!usable || target.empty()) target = config;
    return;
  }
  if (map) {
    MergeMaps(schema, config, skip, target);
  } else if (!usable) {
    target = config;
  } else if (config != target) {
    target = ListMerge(*schema, config, target).Run();
  }
}

void RemoveFields(const Schema* schema, const FieldSet& fields, Json& value) {
  if (value.is_object() && ShapeOf(schema, value) == Shape::kMap) {
    RemoveFromMap(schema, fields, value);
  } else if (value.is_array() && ShapeOf(schema, value) != Shape::kLeaf) {
    RemoveFromList(*schema, fields, value);
  }
}

void AddNamedParents(const Schema* schema, FieldSet& set) {
  for (FieldSet::Child& child : set.children) {
    if (child.set.children.empty()) continue;
    if (child.element.starts_with("f:") &&
        MemberOf(schema, std::string_view(child.element).substr(2)).declared) {
      child.set.member = true;
    }
    AddNamedParents(SchemaBelow(schema, child.element), child.set);
  }
}

bool DropMissing(const Schema* schema, const Json& value, FieldSet& set) {
  bool dropped = false;
  std::optional<ListIndex> items;
  if (schema && value.is_array() && ShapeOf(schema, value) != Shape::kLeaf) {
    items.emplace(*schema, value);
  }
  auto missing = [&](FieldSet::Child& child) {
    const Json* below = nullptr;
    if (child.element.starts_with("f:")) {
      below = MemberValue(&value, child.element.substr(2));
      if (!below && MemberOf(schema, std::string_view(child.element).substr(2)).declared) {
        return false;
      }
    } else if (items) {
      const ListIndex::Item* item = items->Find(child.element);
      below = item ? item->value : nullptr;
    }
    if (!below) return true;
    dropped |= DropMissing(SchemaBelow(schema, child.element), *below, child.set);
    return child.set.Empty();
  };
  dropped |= std::erase_if(set.children, missing) > 0;
  return dropped;
}

bool FollowAtomic(const Schema* schema, FieldSet& set) {
  bool changed = false;
  for (FieldSet::Child& child : set.children) {
    if (child.set.children.empty()) continue;
    const Schema* below = SchemaBelow(schema, child.element);
    if (!below) continue;
    const bool array = below->type == openapi::Type::kArray;
    const bool object = below->type == openapi::Type::kObject;
    if ((array || object) && ShapeOf(below, Json()) == Shape::kLeaf) {
      child.set.children.clear();
      child.set.member = true;
      changed = true;
    } else {
      changed |= FollowAtomic(below, child.set);
    }
  }
  return changed;
}

}  // namespace mailroom::apiserver
