#include "apiserver/strategic_merge.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/apply_shape.h"
#include "apiserver/apply_typecheck.h"

namespace mailroom::apiserver {

using openapi::Property;
using openapi::Schema;

namespace {

constexpr const char* kPatch = "$patch";
constexpr const char* kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFrom = "$deleteFromPrimitiveList";
constexpr std::string_view kElementOrder = "$setElementOrder";

// Errors that kube-apiserver passes on unclassified.
Status Plain(std::string message) { return Status(Reason::kUnknown, std::move(message)); }

Status BadFormat(std::string_view what) {
  return BadRequest("invalid patch format of " + std::string(what));
}

Status NoMergeKey(const Json& item, const std::string& key) {
  return Plain("map: " + GoText(item) + " does not contain declared merge key: " + key);
}

Status BadPatchType(const Json& directive, const Json& map) {
  return Plain("unknown patch type: " + GoText(directive) + " in map: " + GoText(map));
}

std::string_view GoKind(const Json& value) {
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_null()) return "%!s(<nil>)";
  return value.is_number_float() ? "float64" : "int64";
}

Status BadArgument(std::string_view expected, const Json& actual) {
  return Plain("expected a " + std::string(expected) + ", but received a " +
               std::string(GoKind(actual)));
}

bool IsDirective(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kDeleteFrom) ||
         key.starts_with(kElementOrder);
}

// The field a `$prefix/field` key speaks about.
Result<std::string> FieldOf(const std::string& key, std::string_view prefix,
                            std::string_view format) {
  if (key.size() <= prefix.size() || key[prefix.size()] != '/') return BadFormat(format);
  return key.substr(prefix.size() + 1);
}

// How one field of a map merges.
struct FieldRule {
  const Schema* schema = nullptr;  // of the value; of the items for a list
  bool merge = false;
  bool replace_map = false;
  std::string merge_key;
};

FieldRule RuleOf(const Schema* schema, std::string_view field) {
  FieldRule rule;
  rule.schema = MemberOf(schema, field).schema;
  if (rule.schema && rule.schema->type == openapi::Type::kArray) rule.schema = rule.schema->items;
  const Property* property = schema ? schema->Find(field) : nullptr;
  if (!property) return rule;
  rule.merge = property->patch_merge;
  rule.replace_map = property->patch_strategy.starts_with("replace");
  rule.merge_key = property->patch_merge_key;
  return rule;
}

// Prepares a patch value that meets nothing: directives and nulls in it have nothing to act on.
// False when the value itself was a directive.
bool Settle(Json& value) {
  if (value.is_object()) {
    if (value.contains(kPatch)) return false;
    for (auto it = value.begin(); it != value.end();) {
      const bool keep = !it->is_null() && !IsDirective(it.key()) && Settle(*it);
      it = keep ? std::next(it) : value.erase(it);
    }
  } else if (value.is_array()) {
    auto& items = value.get_ref<Json::array_t&>();
    std::erase_if(items, [](Json& item) { return !Settle(item); });
  }
  return true;
}

void PutSettled(Json value, const std::string& key, Json& target) {
  if (Settle(value)) {
    target[key] = std::move(value);
  } else {
    target.erase(key);
  }
}

// What tells the items of a list apart: the merge key's value, or the scalar itself.
class ItemKeys {
 public:
  explicit ItemKeys(const std::string& merge_key) : merge_key_(merge_key) {}

  Result<std::string> Of(const Json& item) const {
    if (merge_key_.empty()) return DumpJson(item);
    if (!item.is_object()) return BadArgument("map[string]interface {}", item);
    auto it = item.find(merge_key_);
    if (it == item.end()) return NoMergeKey(item, merge_key_);
    return DumpJson(*it);
  }

  // Position of the first item of each key.
  Result<std::unordered_map<std::string, std::size_t>> Positions(const Json& list) const {
    std::unordered_map<std::string, std::size_t> out;
    for (std::size_t i = 0; i < list.size(); ++i) out.emplace(TRY(Of(list[i])), i);
    return out;
  }

 private:
  const std::string& merge_key_;
};

// All elements of both lists must be of one kind, and not lists.
Result<void> CheckElements(const Json& original, const Json& patch) {
  const Json* first = nullptr;
  for (const Json* list : {&original, &patch}) {
    for (const Json& item : *list) {
      if (item.is_array()) {
        return Status(Reason::kInvalid,
                      "the server rejected our request due to an error in our request");
      }
      if (!first) first = &item;
      const bool same = item.is_number() ? first->is_number() : item.type() == first->type();
      if (!same || item.is_null()) {
        return Plain("list element types are not identical: [" + GoText(original) + " " +
                     GoText(patch) + "]");
      }
    }
  }
  return Ok();
}

// Final order: items of `wanted` in that order, the others where they stood in `live`, as far as
// both can be had. Every item is in one of the two.
//
//   live a b c d   wanted c n a   ->   b c n a d
//
Result<Json> Arrange(Json merged, const Json& wanted, const Json& live, const std::string& key) {
  struct Slot {
    Json* item;
    std::size_t wanted;
    std::size_t live;
  };
  constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  const ItemKeys keys(key);
  const auto wanted_at = TRY(keys.Positions(wanted));
  const auto live_at = TRY(keys.Positions(live));
  std::vector<Slot> chosen;
  std::vector<Slot> others;
  for (Json& item : merged) {
    const std::string text = TRY(keys.Of(item));
    auto w = wanted_at.find(text);
    auto l = live_at.find(text);
    Slot slot{&item, w == wanted_at.end() ? kAbsent : w->second,
              l == live_at.end() ? kAbsent : l->second};
    (slot.wanted == kAbsent ? others : chosen).push_back(slot);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Slot& a, const Slot& b) { return a.wanted < b.wanted; });
  std::stable_sort(others.begin(), others.end(),
                   [](const Slot& a, const Slot& b) { return a.live < b.live; });
  Json::array_t out;
  out.reserve(merged.size());
  auto c = chosen.begin();
  auto o = others.begin();
  while (c != chosen.end() || o != others.end()) {
    const bool other = c == chosen.end() || (o != others.end() && o->live != kAbsent &&
                                             c->live != kAbsent && o->live < c->live);
    out.push_back(std::move(*(other ? o++ : c++)->item));
  }
  return Json(std::move(out));
}

Result<Json> MergeMap(Json original, Json patch, const Schema* schema);

// Takes `$patch` elements out of a list patch: deletions are carried out, `replace` empties the
// original.
Result<void> ObeyListDirectives(const std::string& merge_key, Json& original, Json& patch) {
  Json::array_t plain;
  bool replace = false;
  std::unordered_set<std::string> doomed;
  const ItemKeys keys(merge_key);
  for (Json& item : patch) {
    auto directive = item.find(kPatch);
    if (directive == item.end()) {
      plain.push_back(std::move(item));
    } else if (*directive == "delete") {
      doomed.insert(TRY(keys.Of(item)));
    } else if (*directive == "replace") {
      replace = true;
    } else if (*directive == "merge") {
      return Plain("merging lists cannot yet be specified in the patch");
    } else {
      return BadPatchType(*directive, item);
    }
  }
  patch = Json(std::move(plain));
  if (replace) {
    Settle(patch);
    original = std::exchange(patch, Json::array());
  } else if (!doomed.empty()) {
    auto& items = original.get_ref<Json::array_t&>();
    std::erase_if(items, [&](const Json& item) {
      auto it = item.find(merge_key);
      return it != item.end() && doomed.contains(DumpJson(*it));
    });
  }
  return Ok();
}

// An item reduced to its merge key, which is all that ordering looks at.
Result<Json> KeyOnly(const Json& item, const std::string& merge_key) {
  auto it = item.find(merge_key);
  if (it == item.end()) return NoMergeKey(item, merge_key);
  Json out = Json::object();
  out[merge_key] = *it;
  return out;
}

Result<Json> MergeKeyed(Json original, Json patch, const FieldRule& rule) {
  if (rule.merge_key.empty()) return Plain("cannot merge lists without merge key for struct");
  TRY(ObeyListDirectives(rule.merge_key, original, patch));
  const ItemKeys keys(rule.merge_key);
  Json order = Json::array();
  Json live = Json::array();
  for (const Json& item : original) live.push_back(TRY(KeyOnly(item, rule.merge_key)));
  std::unordered_map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < original.size(); ++i) at.emplace(TRY(keys.Of(original[i])), i);
  for (Json& item : patch) {
    const std::string text = TRY(keys.Of(item));
    order.push_back(TRY(KeyOnly(item, rule.merge_key)));
    auto [it, added] = at.emplace(text, original.size());
    if (added) {
      Settle(item);
      original.push_back(std::move(item));
    } else {
      Json& target = original[it->second];
      target = TRY(MergeMap(std::move(target), std::move(item), rule.schema));
    }
  }
  return Arrange(std::move(original), order, live, rule.merge_key);
}

Result<Json> MergeScalars(const Json& original, const Json& patch) {
  Json merged = Json::array();
  std::unordered_set<std::string> seen;
  for (const Json* list : {&original, &patch}) {
    for (const Json& item : *list) {
      if (seen.insert(DumpJson(item)).second) merged.push_back(item);
    }
  }
  return Arrange(std::move(merged), patch, original, "");
}

Json WithoutScalars(const Json& original, const Json& doomed) {
  std::unordered_set<std::string> gone;
  for (const Json& item : doomed) gone.insert(DumpJson(item));
  Json out = Json::array();
  for (const Json& item : original) {
    if (!gone.contains(DumpJson(item))) out.push_back(item);
  }
  return out;
}

Result<Json> MergeList(Json original, Json patch, const FieldRule& rule) {
  if (!rule.merge) {
    Settle(patch);
    return patch;
  }
  if (original.empty() && patch.empty()) return original;
  TRY(CheckElements(original, patch));
  const bool maps = (original.empty() ? patch : original)[0].is_object();
  return maps ? MergeKeyed(std::move(original), std::move(patch), rule)
              : MergeScalars(original, patch);
}

// Drops the members of the original that `$retainKeys` does not list; the patch may not set any
// other.
Result<void> RetainKeys(Json& original, Json& patch) {
  auto directive = patch.find(kRetainKeys);
  if (directive == patch.end()) return Ok();
  if (!directive->is_array()) return BadFormat("retainKeys");
  std::unordered_set<std::string> kept;
  for (const Json& key : *directive) {
    if (key.is_string()) kept.insert(key.get<std::string>());
  }
  patch.erase(directive);
  for (const auto& [key, value] : patch.items()) {
    const bool exempt =
        value.is_null() || key.starts_with(kDeleteFrom) || key.starts_with(kElementOrder);
    if (!exempt && !kept.contains(key)) return BadFormat("retainKeys");
  }
  auto& members = original.get_ref<Json::object_t&>();
  std::erase_if(members, [&](const auto& member) { return !kept.contains(member.first); });
  return Ok();
}

// The items of a list patch must appear in its `$setElementOrder` in the same order.
Result<void> CheckOrder(const Json& patch, const Json& order, const std::string& merge_key) {
  if (patch.empty() || order.empty()) return Ok();
  const ItemKeys keys(merge_key);
  std::size_t at = 0;
  for (const Json& item : patch) {
    if (item.is_object() && item.contains(kPatch)) continue;
    const std::string wanted = TRY(keys.Of(item));
    while (at < order.size() && TRY(keys.Of(order[at])) != wanted) ++at;
    if (at++ == order.size()) {
      return Plain("The order in patch list:\n" + GoText(patch) + "\n doesn't match " +
                   std::string(kElementOrder) + " list:\n" + GoText(order) + "\n");
    }
  }
  return Ok();
}

// The live order that `$setElementOrder` arranges by: items that the patch deletes give their
// places, counted from the end, to items that it adds.
Result<Json> OrderAfter(const Json& live, const Json& patch, const std::string& merge_key) {
  if (merge_key.empty()) return live;
  const ItemKeys keys(merge_key);
  std::unordered_set<std::string> doomed;
  for (const Json& item : patch) {
    auto directive = item.is_object() ? item.find(kPatch) : item.end();
    if (directive == item.end()) continue;
    if (*directive == "replace") return live;
    doomed.insert(TRY(keys.Of(item)));
  }
  Json order = Json::array();
  std::unordered_set<std::string> present;
  for (const Json& item : live) {
    std::string key = TRY(keys.Of(item));
    if (doomed.contains(key)) continue;
    present.insert(std::move(key));
    order.push_back(item);
  }
  for (const Json& item : patch) {
    if (order.size() == live.size()) break;
    if (item.contains(kPatch)) continue;
    if (present.insert(TRY(keys.Of(item))).second) order.push_back(item);
  }
  return order;
}

// Carries out every `$setElementOrder/<field>` together with the patch of that field.
Result<void> OrderLists(const Schema* schema, Json& original, Json& patch) {
  std::vector<std::string> directives;
  for (const auto& [key, value] : patch.items()) {
    if (key.starts_with(kElementOrder)) directives.push_back(key);
  }
  for (const std::string& key : directives) {
    const Json order = std::move(patch[key]);
    patch.erase(key);
    if (!order.is_array()) return BadArgument("[]interface {}", order);
    const std::string field = TRY(FieldOf(key, kElementOrder, "setElementOrder list"));
    const FieldRule rule = RuleOf(schema, field);
    auto live = original.find(field);
    auto change = patch.find(field);
    if (live != original.end() && !live->is_array()) return BadArgument("[]interface {}", *live);
    if (change != patch.end() && !change->is_array()) {
      return BadArgument("[]interface {}", *change);
    }
    if (change != patch.end()) TRY(CheckOrder(*change, order, rule.merge_key));
    if (live == original.end() && change == patch.end()) continue;
    Json before = live == original.end() ? Json::array() : *live;
    Json merged = before;
    bool elements = !before.empty();
    if (change != patch.end()) {
      merged = std::move(*change);
      patch.erase(change);
      elements |= !merged.empty();
      if (live == original.end()) {
        Settle(merged);
      } else {
        before = TRY(OrderAfter(before, merged, rule.merge_key));
        merged = TRY(MergeList(std::move(*live), std::move(merged), rule));
      }
    }
    if (!elements) return Plain("no elements in any of the given slices");
    original[field] = TRY(Arrange(std::move(merged), order, before, rule.merge_key));
  }
  return Ok();
}

Result<Json> MergeMap(Json original, Json patch, const Schema* schema) {
  if (auto directive = patch.find(kPatch); directive != patch.end()) {
    if (*directive == "delete") return Json::object();
    if (*directive != "replace") return BadPatchType(*directive, patch);
    patch.erase(directive);
    Settle(patch);
    return patch;
  }
  TRY(RetainKeys(original, patch));
  TRY(OrderLists(schema, original, patch));
  for (auto& [key, value] : patch.get_ref<Json::object_t&>()) {
    if (key.starts_with(kDeleteFrom)) {
      const std::string field = TRY(FieldOf(key, kDeleteFrom, "primitive list"));
      auto list = original.find(field);
      if (list == original.end()) continue;
      if (value.is_null()) {
        original.erase(list);
      } else if (value.is_array() && list->is_array()) {
        TRY(CheckElements(*list, value));
        *list = WithoutScalars(*list, value);
      }
      continue;
    }
    if (value.is_null()) {
      original.erase(key);
      continue;
    }
    auto current = original.find(key);
    if (current == original.end()) {
      PutSettled(std::move(value), key, original);
      continue;
    }
    const FieldRule rule = RuleOf(schema, key);
    if (current->is_object() && value.is_object() && !rule.replace_map) {
      *current = TRY(MergeMap(std::move(*current), std::move(value), rule.schema));
    } else if (current->is_array() && value.is_array()) {
      *current = TRY(MergeList(std::move(*current), std::move(value), rule));
    } else {
      PutSettled(std::move(value), key, original);
    }
  }
  return original;
}

}  // namespace

Result<Json> StrategicMerge(const Schema* schema, const Json& live, const Json& patch) {
  if (!patch.is_object()) return BadRequest("invalid JSON document");
  return MergeMap(live.is_object() ? live : Json::object(), patch, schema);
}

}  // namespace mailroom::apiserver
