#include <algorithm>
#include <set>

#include "openapi/builtin_facts.h"
#include "openapi/builtin_files.h"
#include "openapi/columns.h"
#include "storage/object/status.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kAllVerbs = "create,delete,deletecollection,get,list,patch,update,watch";
constexpr std::string_view kSubresourceVerbs = "get,patch,update";

std::vector<std::string> Words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (std::string_view word : SplitFact(text, separator)) words.emplace_back(word);
  return words;
}

// `apps/v1`, or `v1` for core.
std::pair<std::string, std::string> GroupAndVersion(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

// behaviour.yaml: section -> `plural.group` -> value.
using Behaviour = std::map<std::string_view, std::map<std::string_view, std::string_view>>;

Behaviour LoadBehaviour() {
  Behaviour behaviour;
  std::string_view section;
  for (const FactLine& line : FactLines(EmbeddedText("builtin/behaviour.yaml"))) {
    if (line.indent == 0) {
      section = line.key;
    } else if (line.key.empty()) {
      behaviour[section].emplace(line.value, "");
    } else {
      behaviour[section].emplace(line.key, line.value);
    }
  }
  return behaviour;
}

// `scale:Scale@autoscaling/v1(get,update)`.
Subresource ParseSubresource(std::string_view text, const GroupVersionKind& parent) {
  Subresource sub;
  sub.kind = parent;
  std::string_view verbs = kSubresourceVerbs;
  if (const std::size_t open = text.find('('); open != std::string_view::npos) {
    verbs = text.substr(open + 1, text.size() - open - 2);
    text = text.substr(0, open);
  }
  sub.verbs = Words(verbs, ',');
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    std::tie(sub.kind.group, sub.kind.version) = GroupAndVersion(text.substr(at + 1));
    text = text.substr(0, at);
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) sub.kind.kind = text.substr(colon + 1);
  sub.name = text.substr(0, colon);
  return sub;
}

// `status.successful=status.succeeded?0`: the name, where it is kept unless under that name (several
// places with `|` between them), what an object without it says unless nothing.
SelectableField ParseSelectable(std::string_view text) {
  SelectableField field;
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    field.absent = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  const std::size_t equals = text.find('=');
  field.name = text.substr(0, equals);
  field.paths = equals == std::string_view::npos ? std::vector<std::string>{field.name}
                                                 : Words(text.substr(equals + 1), '|');
  return field;
}

void ApplyBehaviour(const Behaviour& behaviour, ResourceType& type) {
  const std::string id = Qualified(type.plural, type.gvk.group);
  auto find = [&](std::string_view section) -> const std::string_view* {
    const auto& entries = behaviour.at(section);
    auto at = entries.find(id);
    return at == entries.end() ? nullptr : &at->second;
  };
  type.tracks_generation = find("tracks-generation") != nullptr;
  type.unconditional_update = find("needs-resource-version") == nullptr;
  type.create_on_update = find("creates-on-update") != nullptr;
  type.returns_deleted = find("returns-deleted") != nullptr;
  type.orphan_by_default = find("orphans-by-default") != nullptr;
  type.stored = find("not-stored") == nullptr;
  if (const auto* fields = find("selectable-fields")) {
    for (const std::string& word : Words(*fields, ' ')) {
      type.selectable_fields.push_back(ParseSelectable(word));
    }
  }
  if (const auto* text = find("deprecated")) type.deprecation_warning = *text;
  type.stored_as = type.group_resource();
  type.storage_version = type.gvk.version;
  if (const auto* where = find("stored-as")) {
    const std::vector<std::string> words = Words(*where, ' ');
    const std::size_t dot = words[0].find('.');
    type.stored_as.resource = words[0].substr(0, dot);
    type.stored_as.group = dot == std::string::npos ? "" : words[0].substr(dot + 1);
    type.storage_version = words[1];
  }
}

ResourceTypePtr ParseResource(std::string_view group_version, const FactLine& line,
                              const Behaviour& behaviour, const TypeTable& types) {
  auto type = std::make_shared<ResourceType>();
  std::tie(type->gvk.group, type->gvk.version) = GroupAndVersion(group_version);
  type->gvk.kind = line.key;
  type->list_kind = type->gvk.kind + "List";
  type->singular = type->gvk.kind;
  std::transform(type->singular.begin(), type->singular.end(), type->singular.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::vector<std::string_view> words = SplitFact(line.value, ' ');
  if (words.size() < 2) BadFact(group_version, line.key);
  type->plural = words[0];
  type->namespaced = words[1] == "namespaced";
  type->verbs = Words(kAllVerbs, ',');
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string_view key = words[i].substr(0, equals), value = words[i].substr(equals + 1);
    if (key == "short") {
      type->short_names = Words(value, ',');
    } else if (key == "cat") {
      type->categories = Words(value, ',');
    } else if (key == "verbs") {
      type->verbs = Words(value, ',');
    } else if (key == "sub") {
      for (std::string_view sub : SplitFact(value, ';')) {
        type->subresources.push_back(ParseSubresource(sub, type->gvk));
      }
    } else {
      BadFact(line.key, words[i]);
    }
  }
  type->has_status = type->FindSubresource("status") != nullptr;
  ApplyBehaviour(behaviour, *type);
  for (const BuiltinPackage& package : types.packages) {
    if (package.group != type->gvk.group || package.version != type->gvk.version) continue;
    auto at = types.by_name.find(package.home + "." + type->gvk.kind);
    if (at != types.by_name.end()) type->schema = at->second;
  }
  if (type->schema == nullptr) BadFact(group_version, line.key);
  type->schema_owner = types.set;
  // Reviews and bindings cannot be shown as a table.
  if (type->HasVerb("get")) type->columns = BuiltinColumns(type->gvk);
  return type;
}

}  // namespace

const std::map<GroupResource, std::vector<std::string>>& StatusKeeps() {
  static const std::map<GroupResource, std::vector<std::string>> keeps = [] {
    std::map<GroupResource, std::vector<std::string>> out;
    const Behaviour behaviour = LoadBehaviour();
    for (const auto& [id, members] : behaviour.at("status-keeps")) {
      const std::size_t dot = std::min(id.find('.'), id.size());
      const std::string group(id.substr(std::min(dot + 1, id.size())));
      out[{group, std::string(id.substr(0, dot))}] = Words(members, ' ');
    }
    return out;
  }();
  return keeps;
}

std::vector<ResourceTypePtr> LoadBuiltinResources(const TypeTable& types) {
  const Behaviour behaviour = LoadBehaviour();
  std::vector<ResourceTypePtr> resources;
  std::string_view group_version;
  std::set<std::string> known;
  for (const FactLine& line : FactLines(EmbeddedText("builtin/resources.yaml"))) {
    if (line.indent == 0) {
      group_version = line.key;
      continue;
    }
    resources.push_back(ParseResource(group_version, line, behaviour, types));
    known.insert(Qualified(resources.back()->plural, resources.back()->gvk.group));
  }
  for (const auto& [section, entries] : behaviour) {
    for (const auto& [id, value] : entries) {
      if (!known.contains(std::string(id))) BadFact(section, id);
    }
  }
  return resources;
}

}  // namespace mailroom::openapi
