#include "openapi/normalize.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "openapi/defaults.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {
namespace {

bool IsSchemaUnion(const Schema& schema) {
  return schema.type == Type::kAny &&
         (schema.wire == Wire::kSchemaOrBool || schema.wire == Wire::kSchemaOrArray ||
          schema.wire == Wire::kSchemaOrStrings);
}

class Pruner {
 public:
  // In the order found.
  std::vector<std::string> Take() && { return std::move(paths_).Take(); }
  // Of a custom resource its metadata is looked at first and that of resources within it last; what
  // was found each time is sorted.
  std::vector<std::string> TakeSorted() && {
    std::vector<std::string> out, own, within;
    for (std::string& path : std::move(paths_).Take()) {
      std::vector<std::string>& list =
          path.starts_with("metadata.") ? out : within_.contains(path) ? within : own;
      list.push_back(std::move(path));
    }
    for (std::vector<std::string>* list : {&out, &own, &within}) {
      std::sort(list->begin(), list->end());
    }
    out.insert(out.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    out.insert(out.end(), std::make_move_iterator(within.begin()),
               std::make_move_iterator(within.end()));
    return out;
  }

  // A null schema declares nothing: members of objects go, scalars stay.
  void Prune(const Schema* schema, Json& value) {
    if (schema != nullptr && IsSchemaUnion(*schema)) return PruneUnion(*schema, value);
    const bool keep = schema != nullptr && schema->preserve_unknown;
    if (value.is_object()) PruneMembers(schema, value, keep);
    if (value.is_array()) {
      PruneItems(schema == nullptr ? nullptr : schema->items, value, keep);
    }
  }

 private:
  // A kept list keeps the unknown members of its items, too.
  void PruneItems(const Schema* items, Json& list, bool keep) {
    if (keep && items == nullptr) return;
    const std::size_t length = path_.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      path_ += "[" + std::to_string(i) + "]";
      if (keep && list[i].is_object()) {
        PruneMembers(items, list[i], true);
      } else if (keep && list[i].is_array()) {
        PruneItems(items->items, list[i], true);
      } else {
        Prune(items, list[i]);
      }
      path_.resize(length);
    }
  }

  void PruneMembers(const Schema* schema, Json& object, bool keep) {
    const std::size_t length = path_.size();
    for (auto member = object.begin(); member != object.end();) {
      if (!path_.empty()) path_ += '.';
      path_ += member.key();
      const Property* property = schema == nullptr ? nullptr : schema->Find(member.key());
      bool erase = false;
      if (property != nullptr) {
        Prune(property->schema, *member);
      } else if (schema != nullptr && schema->additional != nullptr) {
        Prune(schema->additional, *member);
      } else if (!keep) {
        if (!paths_.full()) {
          std::string told = CutText(path_, limits::kProblemPathBytes);
          if (schema != nullptr && schema->is_object_meta) within_.insert(told);
          paths_.Add(std::move(told));
        }
        erase = true;
      }
      path_.resize(length);
      member = erase ? object.erase(member) : std::next(member);
    }
  }

  void PruneUnion(const Schema& schema, Json& value) {
    if (value.is_object()) return Prune(schema.items, value);
    if (value.is_array()) PruneItems(schema.items, value, false);
  }

  std::string path_;
  Problems paths_;
  std::unordered_set<std::string> within_;  // those of metadata
};

// What decoding a null into a list item or map value of a built-in type leaves there.
Json ZeroOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kString:
      return schema.wire == Wire::kQuantity ? "0" : "";
    case Type::kInteger:
      return 0;
    case Type::kBoolean:
      return false;
    case Type::kObject:
      return Json::object();
    default:
      return nullptr;
  }
}

void DropBuiltinNulls(const Schema& schema, Json& value) {
  if (schema.wire == Wire::kRaw && schema.type != Type::kArray) return;
  if (value.is_array() && schema.items != nullptr) {
    for (Json& item : value) {
      if (item.is_null()) item = ZeroOf(*schema.items);
      DropBuiltinNulls(*schema.items, item);
    }
    return;
  }
  if (!value.is_object()) return;
  if (IsSchemaUnion(schema)) return DropBuiltinNulls(*schema.items, value);
  for (auto member = value.begin(); member != value.end();) {
    const Property* property = schema.Find(member.key());
    if (property != nullptr && member->is_null()) {
      member = value.erase(member);
      continue;
    }
    const Schema* child = property != nullptr ? property->schema : schema.additional;
    if (child != nullptr) {
      if (member->is_null()) *member = ZeroOf(*child);
      DropBuiltinNulls(*child, *member);
    }
    ++member;
  }
}

void DropCustomNulls(const Schema* schema, Json& value) {
  if (schema == nullptr) return;
  if (schema->is_object_meta) return DropBuiltinNulls(*schema, value);
  if (value.is_array()) {
    for (Json& item : value) DropCustomNulls(schema->items, item);
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const Property* property = schema->Find(member.key());
    const Schema* child = property != nullptr ? property->schema : schema->additional;
    if (member->is_null() && child != nullptr && !child->nullable && !child->default_value) {
      member = value.erase(member);
      continue;
    }
    DropCustomNulls(child, *member);
    ++member;
  }
}

bool Lacks(const Json& value, const Schema& schema) { return value.is_null() && !schema.nullable; }

void DefaultCustom(const Schema* schema, Json& value) {
  if (schema == nullptr || schema->is_object_meta) return;
  if (value.is_array() && schema->items != nullptr) {
    for (Json& item : value) {
      if (Lacks(item, *schema->items) && schema->items->default_value) {
        item = *schema->items->default_value;
      }
      DefaultCustom(schema->items, item);
    }
  }
  if (!value.is_object()) return;
  for (const Property& property : schema->properties) {
    if (!property.schema->default_value) continue;
    auto member = value.find(property.name);
    if (member == value.end() || Lacks(*member, *property.schema)) {
      value[property.name] = *property.schema->default_value;
    }
  }
  for (auto& [name, member] : value.items()) {
    const Property* property = schema->Find(name);
    const Schema* child = property != nullptr ? property->schema : schema->additional;
    if (property == nullptr && child != nullptr && Lacks(member, *child) && child->default_value) {
      member = *child->default_value;
    }
    DefaultCustom(child, member);
  }
}

// Metadata of custom resources and of resources embedded in them takes the form that built-in
// metadata takes.
void SettleMetadata(const Schema* schema, Json& value) {
  if (schema == nullptr) return;
  if (schema->is_object_meta) return SettleShape(*schema, value);
  if (value.is_array()) {
    for (Json& item : value) SettleMetadata(schema->items, item);
  }
  if (!value.is_object()) return;
  for (auto& [name, member] : value.items()) {
    const Property* property = schema->Find(name);
    SettleMetadata(property != nullptr ? property->schema : schema->additional, member);
  }
}

}  // namespace

std::vector<std::string> PruneUnknown(const ResourceType& type, Json& object) {
  if (type.schema == nullptr) return {};
  Pruner pruner;
  pruner.Prune(type.schema, object);
  return type.builtin ? std::move(pruner).Take() : std::move(pruner).TakeSorted();
}

void DropNulls(const ResourceType& type, Json& object) {
  if (type.schema == nullptr) return;
  if (type.builtin) return DropBuiltinNulls(*type.schema, object);
  DropCustomNulls(type.schema, object);
}

void DropMetadataNulls(const ResourceType& type, Json& object) {
  const Property* metadata = type.schema == nullptr ? nullptr : type.schema->Find("metadata");
  auto member = object.find("metadata");
  if (metadata != nullptr && member != object.end()) DropBuiltinNulls(*metadata->schema, *member);
}

void ApplyDefaults(const ResourceType& type, Json& object) {
  if (type.schema == nullptr) return;
  if (!type.builtin) {
    DefaultCustom(type.schema, object);
    SettleMetadata(type.schema, object);
    return;
  }
  SettleShape(*type.schema, object);
  ApplyBuiltinDefaults(*type.schema, object);
}

}  // namespace mailroom::openapi
