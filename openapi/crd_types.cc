// The served versions of a definition as ResourceTypes, shared between equal definitions.
#include <mutex>
#include <unordered_map>

#include "openapi/catalog.h"
#include "openapi/columns.h"
#include "openapi/crd.h"
#include "openapi/json_path_expr.h"
#include "openapi/rules.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

// The value of a non-string column: the JSON value when its kind fits the column, else null.
Json TypedCell(const std::string& type, const Json& value) {
  if (type == "integer" && value.is_number()) {
    return value.is_number_float() ? Json(static_cast<std::int64_t>(value.get<double>())) : value;
  }
  if (type == "number" && value.is_number()) return value;
  if (type == "boolean" && value.is_boolean()) return value;
  if (type == "date" && value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.empty()) return "<unknown>";
    return ParseTime(text) < 0 ? Json("<invalid>") : Json(Age(text));
  }
  return nullptr;
}

Json StringCell(const Json& value) {
  if (value.is_null()) return nullptr;
  if (value.is_string()) return value;
  return DumpJson(value);
}

Column PathColumn(const Json& declared) {
  Column column;
  column.name = StringAt(declared, {"name"});
  column.type = StringAt(declared, {"type"});
  column.format = StringAt(declared, {"format"});
  column.description = StringAt(declared, {"description"});
  column.priority = static_cast<int>(IntAt(declared, {"priority"}));
  auto path = JsonPathExpr::Parse(StringAt(declared, {"jsonPath"}));
  if (!path.ok()) {
    column.cell = [](const Json&) { return Json(); };
    return column;
  }
  column.cell = [type = column.type, path = *path](const Json& object) -> Json {
    const Json* value = path.First(object);
    if (value == nullptr) return nullptr;
    return type == "string" ? StringCell(*value) : TypedCell(type, *value);
  };
  return column;
}

std::vector<Column> Columns(const Json& version) {
  std::vector<Column> columns;
  Column& name = columns.emplace_back();
  name.name = "Name";
  name.format = "name";
  name.description = "Name of the object, unique within its namespace.";
  name.cell = [](const Json& object) { return Json(StringAt(object, {"metadata", "name"})); };
  const Json* declared = Find(version, {"additionalPrinterColumns"});
  if (declared != nullptr && declared->is_array() && !declared->empty()) {
    for (const Json& column : *declared) columns.push_back(PathColumn(column));
    return columns;
  }
  columns.push_back(PathColumn({{"name", "Age"},
                                {"type", "date"},
                                {"description", "Time since the object was created."},
                                {"jsonPath", ".metadata.creationTimestamp"}}));
  return columns;
}

std::string WithoutDot(std::string path) {
  if (path.starts_with('.')) path.erase(0, 1);
  return path;
}

void AddSubresources(const Json& version, ResourceType& type) {
  const Json* declared = Find(version, {"subresources"});
  if (declared == nullptr) return;
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  if (const Json* scale = Find(*declared, {"scale"}); scale && scale->is_object()) {
    type.subresources.push_back({"scale", {"autoscaling", "v1", "Scale"}, verbs});
    type.scale = {WithoutDot(StringAt(*scale, {"specReplicasPath"})),
                  WithoutDot(StringAt(*scale, {"statusReplicasPath"})),
                  WithoutDot(StringAt(*scale, {"labelSelectorPath"}))};
  }
  if (const Json* status = Find(*declared, {"status"}); status && status->is_object()) {
    type.subresources.push_back({"status", type.gvk, verbs});
    type.has_status = true;
  }
}

// The names in force: those accepted, or the wished ones while nothing is accepted yet.
const Json& NamesOf(const Json& crd) {
  static const Json kNone = Json::object();
  const Json* accepted = Find(crd, {"status", "acceptedNames"});
  if (accepted != nullptr && !StringAt(*accepted, {"plural"}).empty()) return *accepted;
  const Json* wished = Find(crd, {"spec", "names"});
  return wished == nullptr ? kNone : *wished;
}

ResourceType CommonType(const Json& crd) {
  const Json& names = NamesOf(crd);
  ResourceType type;
  type.gvk.group = StringAt(crd, {"spec", "group"});
  type.gvk.kind = StringAt(names, {"kind"});
  type.plural = StringAt(names, {"plural"});
  type.singular = StringAt(names, {"singular"});
  type.list_kind = StringAt(names, {"listKind"});
  if (type.list_kind.empty()) type.list_kind = type.gvk.kind + "List";
  type.short_names = StringsAt(names, {"shortNames"});
  type.categories = StringsAt(names, {"categories"});
  type.namespaced = StringAt(crd, {"spec", "scope"}) == "Namespaced";
  type.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  // Of a definition that goes, nothing is announced that would make or change an object.
  if (IsTerminating(crd)) type.verbs = {"delete", "deletecollection", "get", "list", "watch"};
  type.stored_as = {type.gvk.group, type.plural};
  type.builtin = false;
  type.tracks_generation = true;
  type.unconditional_update = false;
  return type;
}

std::shared_ptr<const ConversionHook> HookOf(const Json& crd) {
  if (StringAt(crd, {"spec", "conversion", "strategy"}) != "Webhook") return nullptr;
  const Json* config = Find(crd, {"spec", "conversion", "webhook", "clientConfig"});
  if (config == nullptr) return nullptr;
  auto hook = std::make_shared<ConversionHook>();
  hook->endpoint = ParseWebhookEndpoint(*config);
  for (const std::string& version :
       StringsAt(crd, {"spec", "conversion", "webhook", "conversionReviewVersions"})) {
    if (version != "v1" && version != "v1beta1") continue;
    hook->review_version = version;
    break;
  }
  return hook;
}

// Takes the schema of an earlier version when it is the same: nothing has to be done then to an
// object that goes from one to the other.
bool ShareSchema(const Json& versions, const std::vector<ResourceType>& earlier, const Json& tree,
                 ResourceType& type) {
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    const Json* other = Find(versions[i], {"schema", "openAPIV3Schema"});
    if (other == nullptr || *other != tree) continue;
    type.schema = earlier[i].schema;
    type.schema_owner = earlier[i].schema_owner;
    type.rules = earlier[i].rules;
    return true;
  }
  return false;
}

// Names the best version there is instead, when one comes before it.
std::string DeprecationWarning(const GroupVersionKind& gvk, const Json& versions) {
  std::string best = gvk.version;
  for (const Json& version : versions) {
    const std::string name = StringAt(version, {"name"});
    const bool usable = BoolAt(version, {"served"}) && !BoolAt(version, {"deprecated"});
    if (usable && VersionLess(name, best)) best = name;
  }
  const std::string warning = gvk.ApiVersion() + " " + gvk.kind + " is deprecated";
  if (best == gvk.version) return warning;
  return warning + "; use " + GroupVersionKind{gvk.group, best, ""}.ApiVersion() + " " + gvk.kind;
}

Result<ResourceType> VersionType(ResourceType type, const Json& versions,
                                 const std::vector<ResourceType>& earlier) {
  const Json& version = versions[earlier.size()];
  type.gvk.version = StringAt(version, {"name"});
  type.served = BoolAt(version, {"served"});
  if (BoolAt(version, {"deprecated"})) {
    type.deprecation_warning = StringAt(version, {"deprecationWarning"});
    if (type.deprecation_warning.empty()) {
      type.deprecation_warning = DeprecationWarning(type.gvk, versions);
    }
  }
  AddSubresources(version, type);
  type.columns = Columns(version);
  if (const Json* fields = Find(version, {"selectableFields"}); fields && fields->is_array()) {
    for (const Json& field : *fields) {
      const std::string path = WithoutDot(StringAt(field, {"jsonPath"}));
      type.selectable_fields.push_back({path, {path}, ""});
    }
  }
  const Json* tree = Find(version, {"schema", "openAPIV3Schema"});
  if (tree == nullptr || ShareSchema(versions, earlier, *tree, type)) return type;
  auto set = std::make_shared<SchemaSet>();
  type.schema = TRY(RootSchemaFromOpenApi(*tree, *set));
  if (HasRules(*type.schema)) type.rules = std::make_shared<const Rules>(*type.schema);
  type.schema_owner = std::move(set);
  return type;
}

// Everything made of one definition; the types handed out share its lifetime.
struct Compiled {
  std::string text;
  std::vector<ResourceType> types;  // all versions
};

Result<std::shared_ptr<const Compiled>> Compile(const Json& crd, std::string text) {
  auto compiled = std::make_shared<Compiled>();
  compiled->text = std::move(text);
  ResourceType common = CommonType(crd);
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) {
    return BadRequest("spec.versions is missing");
  }
  for (const Json& version : *versions) {
    if (BoolAt(version, {"storage"})) common.storage_version = StringAt(version, {"name"});
  }
  common.conversion = HookOf(crd);
  common.versions = &compiled->types;
  compiled->types.reserve(versions->size());
  while (compiled->types.size() < versions->size()) {
    compiled->types.push_back(TRY(VersionType(common, *versions, compiled->types)));
  }
  return std::shared_ptr<const Compiled>(std::move(compiled));
}

// Living compilations by hash of their text; dead entries go when their hash is met again or
// when the table has doubled since the last sweep.
class CompiledTable {
 public:
  std::shared_ptr<const Compiled> Find(std::size_t hash, const std::string& text) {
    std::lock_guard lock(mutex_);
    return FindLocked(hash, text);
  }

  // The entry that is there already wins, so that equal definitions always share.
  std::shared_ptr<const Compiled> Add(std::size_t hash, std::shared_ptr<const Compiled> made) {
    std::lock_guard lock(mutex_);
    if (auto found = FindLocked(hash, made->text)) return found;
    if (table_.size() >= sweep_at_) {
      std::erase_if(table_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = std::max<std::size_t>(64, table_.size() * 2);
    }
    table_.emplace(hash, made);
    return made;
  }

 private:
  std::shared_ptr<const Compiled> FindLocked(std::size_t hash, const std::string& text) {
    auto [first, last] = table_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      auto living = at->second.lock();
      if (living && living->text == text) return living;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Compiled>> table_;
  std::size_t sweep_at_ = 64;
};

CompiledTable& Table() {
  static CompiledTable* table = new CompiledTable;
  return *table;
}

}  // namespace

Result<std::vector<ResourceTypePtr>> TypesOfCrd(const Json& crd) {
  const Json* spec = Find(crd, {"spec"});
  if (spec == nullptr || !spec->is_object()) return BadRequest("spec is missing");
  std::string text = DumpJson(*spec) + DumpJson(NamesOf(crd));
  if (IsTerminating(crd)) text += "terminating";
  const std::size_t hash = std::hash<std::string>()(text);
  std::shared_ptr<const Compiled> compiled = Table().Find(hash, text);
  if (compiled == nullptr) compiled = Table().Add(hash, TRY(Compile(crd, std::move(text))));
  std::vector<ResourceTypePtr> types;
  for (const ResourceType& type : compiled->types) {
    if (type.served) types.emplace_back(compiled, &type);
  }
  return types;
}

}  // namespace mailroom::openapi
