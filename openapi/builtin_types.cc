// The grammar of builtin/types/: `jsonName: <number> <type> <flags>`.
//
//   number  protobuf field number, 0: not in protobuf
//   type    scalar, `Ref` (same file), `dir/version.Ref`, [T] list, {T} map, *T pointer,
//           ~T embedded (inline in JSON), enum@Name
//   flags   ! required, !- required but left out when empty, + optional but always written,
//           z left out when zero, l=map(k,..)|set|atomic, m=atomic|granular,
//           p=strategy(mergeKey), d=default
//   `$`     of the type itself: kind, atomic, union(discriminator)
#include <algorithm>
#include <set>

#include "openapi/builtin_facts.h"
#include "openapi/builtin_files.h"
#include "storage/object/json.h"

namespace mailroom::openapi {
namespace {

struct Scalar {
  std::string_view name;
  Type type;
  std::string_view format;
  Wire wire;
};

constexpr Scalar kScalars[] = {
    {"string", Type::kString, "", Wire::kString},
    {"bool", Type::kBoolean, "", Wire::kBool},
    {"int32", Type::kInteger, "int32", Wire::kInt32},
    {"int64", Type::kInteger, "int64", Wire::kInt64},
    {"float64", Type::kNumber, "double", Wire::kDouble},
    {"bytes", Type::kString, "byte", Wire::kBytes},
    {"Time", Type::kString, "date-time", Wire::kTime},
    {"MicroTime", Type::kString, "date-time", Wire::kMicroTime},
    {"Duration", Type::kString, "duration", Wire::kDuration},
    {"Quantity", Type::kString, "quantity", Wire::kQuantity},
    {"IntOrString", Type::kAny, "int-or-string", Wire::kIntOrString},
    {"RawExtension", Type::kObject, "", Wire::kRaw},
    {"FieldsV1", Type::kObject, "", Wire::kRaw},
    {"Object", Type::kObject, "", Wire::kRaw},
    {"JSON", Type::kAny, "", Wire::kRaw},
    {"JSONSchemaPropsOrBool", Type::kAny, "", Wire::kSchemaOrBool},
    {"JSONSchemaPropsOrArray", Type::kAny, "", Wire::kSchemaOrArray},
    {"JSONSchemaPropsOrStringArray", Type::kAny, "", Wire::kSchemaOrStrings},
};

// `map(port,protocol)` into the word and the list in parentheses.
struct Call {
  std::string_view word;
  std::string_view arguments;
};

Call ParseCall(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {text, {}};
  return {text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
}

std::string_view Unquote(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"') return text.substr(1, text.size() - 2);
  return text;
}

std::string HomeOf(std::string_view package) {
  const std::size_t last = package.rfind('/');
  return std::string(package.substr(package.rfind('/', last - 1) + 1));
}

class TypeLoader {
 public:
  TypeTable Load() {
    for (const EmbeddedFile& file : EmbeddedFiles()) {
      if (file.name.starts_with("builtin/types/")) files_.push_back(FactLines(file.text));
    }
    for (const auto& lines : files_) ReadHeader(lines);
    for (std::size_t i = 0; i < files_.size(); ++i) ReadTypes(i, files_[i]);
    for (auto& [name, node] : nodes_) Finish(name, *node);
    for (auto& [node, source] : copies_) CopyShape(*source, *node);
    for (auto& [name, node] : nodes_) table_.by_name.emplace(name, node);
    return std::move(table_);
  }

 private:
  Schema* New() { return table_.set->New(); }

  // Package, group, version and the enums, which other files may name.
  void ReadHeader(const std::vector<FactLine>& lines) {
    BuiltinPackage package;
    std::string_view section;
    for (const FactLine& line : lines) {
      if (line.indent == 0) {
        section = line.key;
        if (section == "package") package.package = line.value;
        if (section == "package") package.home = HomeOf(line.value);
        if (section == "group") package.group = Unquote(line.value);
        if (section == "version") package.version = line.value;
      } else if (section == "enums") {
        ReadEnum(package.home + "." + std::string(line.key), line.value);
      }
    }
    table_.packages.push_back(std::move(package));
  }

  void ReadEnum(std::string name, std::string_view values) {
    Schema* node = New();
    node->type = Type::kString;
    node->wire = Wire::kString;
    node->name = name;
    for (std::string_view value : SplitFact(values.substr(1, values.size() - 2), ',')) {
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      node->enum_values.emplace_back(std::string(Unquote(value)));
    }
    enums_.emplace(std::move(name), node);
  }

  void ReadTypes(std::size_t file, const std::vector<FactLine>& lines) {
    const std::string& home = table_.packages[file].home;
    std::string_view section;
    Schema* type = nullptr;
    for (const FactLine& line : lines) {
      if (line.indent == 0) {
        section = line.key;
      } else if (section == "types" && line.indent == 2) {
        type = Declare(home + "." + std::string(line.key));
        defined_.insert(type->name);
        if (std::string_view value = Unquote(line.value); value.starts_with("= ")) {
          *type = *Parse(home, value.substr(2));
          type->name = home + "." + std::string(line.key);
          type->wire = Wire::kItems;
        }
      } else if (section == "types") {
        ReadField(home, *type, line);
      }
    }
  }

  Schema* Declare(std::string name) {
    auto at = nodes_.find(name);
    if (at != nodes_.end()) return at->second;
    Schema* node = New();
    node->type = Type::kObject;
    node->wire = Wire::kMessage;
    node->name = name;
    node->is_object_meta = name == "meta/v1.ObjectMeta";
    nodes_.emplace(std::move(name), node);
    return node;
  }

  static std::string FullName(const std::string& home, std::string_view name) {
    if (name.find('/') != std::string_view::npos) return std::string(name);
    return home + "." + std::string(name);
  }

  const Schema* Parse(const std::string& home, std::string_view text) {
    if (text.starts_with('[')) {
      Schema* node = New();
      node->type = Type::kArray;
      node->items = Parse(home, text.substr(1, text.size() - 2));
      node->wire = node->items->wire;
      return node;
    }
    if (text.starts_with('{')) {
      Schema* node = New();
      node->type = Type::kObject;
      node->wire = Wire::kMap;
      node->additional = Parse(home, text.substr(1, text.size() - 2));
      return node;
    }
    if (text.starts_with("enum@")) {
      auto at = enums_.find(FullName(home, text.substr(5)));
      if (at == enums_.end()) BadFact(home, text);
      return at->second;
    }
    if (const Schema* scalar = FindScalar(text)) return scalar;
    return Declare(FullName(home, text));
  }

  const Schema* FindScalar(std::string_view name) {
    if (auto at = scalars_.find(name); at != scalars_.end()) return at->second;
    for (const Scalar& scalar : kScalars) {
      if (scalar.name != name) continue;
      Schema* node = New();
      node->type = scalar.type;
      node->format = scalar.format;
      node->wire = scalar.wire;
      if (name == "FieldsV1") node->name = "meta/v1.FieldsV1";  // told apart in documents
      node->int_or_string = scalar.wire == Wire::kIntOrString;
      node->preserve_unknown =
          scalar.type == Type::kObject || (scalar.type == Type::kAny && !node->int_or_string);
      if (name.starts_with("JSONSchemaPropsOr")) {
        node->items = Declare("apiextensions/v1.JSONSchemaProps");
      }
      scalars_.emplace(name, node);
      return node;
    }
    return nullptr;
  }

  void ReadHead(Schema& type, std::string_view value) {
    for (std::string_view word : SplitFact(value, ' ')) {
      const Call call = ParseCall(word);
      if (call.word == "kind") {
        for (const char* name : {"apiVersion", "kind"}) {
          Property& property = type.properties.emplace_back();
          property.name = name;
          property.schema = FindScalar("string");
        }
      } else if (call.word == "atomic") {
        type.map_type = MapType::kAtomic;
        type.map_type_given = true;
      } else if (call.word == "union") {
        type.union_by = std::string(call.arguments);
      } else {
        BadFact(type.name, value);
      }
    }
  }

  void ReadField(const std::string& home, Schema& type, const FactLine& line) {
    if (line.key == "$") return ReadHead(type, line.value);
    const std::vector<std::string_view> words = SplitFact(line.value, ' ');
    if (words.size() < 2) BadFact(type.name, line.value);
    Property property;
    property.name = line.key;
    property.number = std::stoi(std::string(words[0]));
    std::string_view text = words[1];
    const bool embedded = text.starts_with('~');
    if (embedded) text.remove_prefix(1);
    property.pointer = text.starts_with('*');
    if (property.pointer) text.remove_prefix(1);
    property.schema = Parse(home, text);
    for (std::size_t i = 2; i < words.size(); ++i) ReadFlag(property, words[i]);
    if (embedded) {
      property.name = property.name.substr(1);
      type.embeds.push_back(property);
      property.embedded = true;  // a placeholder until Finish puts the fields here
    }
    type.properties.push_back(std::move(property));
  }

  // A node of this field alone, since the flag holds for the field and not for its type.
  Schema* Own(Property& property) {
    Schema* node = New();
    if (property.schema->wire == Wire::kMessage && property.schema->type == Type::kObject) {
      copies_.emplace_back(node, property.schema);  // the type may not be complete yet
    } else {
      *node = *property.schema;
    }
    property.schema = node;
    return node;
  }

  void ReadFlag(Property& property, std::string_view flag) {
    if (flag == "!" || flag == "!-") {
      property.required = true;
      property.always = flag == "!";
    } else if (flag == "+") {
      property.always = true;
    } else if (flag == "z") {
      return;
    } else if (flag.starts_with("l=")) {
      const Call call = ParseCall(flag.substr(2));
      Schema* node = Own(property);
      node->list_type = call.word == "map"   ? ListType::kMap
                        : call.word == "set" ? ListType::kSet
                                             : ListType::kAtomic;
      node->list_type_given = true;
      for (std::string_view key : SplitFact(call.arguments, ',')) {
        node->list_map_keys.emplace_back(key);
      }
    } else if (flag.starts_with("m=")) {
      Schema* node = Own(property);
      node->map_type = flag == "m=atomic" ? MapType::kAtomic : MapType::kGranular;
      node->map_type_given = true;
    } else if (flag.starts_with("p=")) {
      const Call call = ParseCall(flag.substr(2));
      property.patch_strategy = call.word;
      property.patch_merge_key = call.arguments;
      for (std::string_view word : SplitFact(call.word, ',')) {
        property.patch_merge |= word == "merge";
        property.patch_retain_keys |= word == "retainKeys";
      }
    } else if (flag.starts_with("d=")) {
      Result<Json> value = ParseJson(flag.substr(2));
      if (!value.ok()) BadFact(property.name, flag);
      Own(property)->default_value = std::move(value).value();
    } else {
      BadFact(property.name, flag);
    }
  }

  // Replaces the placeholders of embedded types by their fields.
  void Finish(const std::string& name, Schema& type) {
    if (!defined_.contains(name)) BadFact(name, "type is named but not described");
    if (!finished_.insert(&type).second) return;
    std::vector<Property> flat;
    for (Property& property : type.properties) {
      if (!property.embedded) {
        flat.push_back(std::move(property));
        continue;
      }
      Schema& inner = *nodes_.at(property.schema->name);
      Finish(inner.name, inner);
      if (!type.union_by) type.union_by = inner.union_by;
      for (Property inherited : inner.properties) {
        inherited.embedded = true;
        flat.push_back(std::move(inherited));
      }
    }
    type.properties = std::move(flat);
    type.BuildIndex();
  }

  static void CopyShape(const Schema& source, Schema& node) {
    const bool map_type_given = node.map_type_given;
    const MapType map_type = node.map_type;
    std::optional<Json> default_value = std::move(node.default_value);
    node = source;
    node.default_value = std::move(default_value);
    if (!map_type_given) return;
    node.map_type_given = true;
    node.map_type = map_type;
  }

  TypeTable table_;
  std::vector<std::vector<FactLine>> files_;
  std::map<std::string, Schema*, std::less<>> nodes_;
  std::map<std::string, const Schema*, std::less<>> enums_;
  std::map<std::string, const Schema*, std::less<>> scalars_;
  std::set<std::string, std::less<>> defined_;
  std::set<const Schema*> finished_;
  std::vector<std::pair<Schema*, const Schema*>> copies_;
};

}  // namespace

TypeTable LoadBuiltinTypes() { return TypeLoader().Load(); }

}  // namespace mailroom::openapi
