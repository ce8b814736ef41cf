#include "apiserver/admission/quota.h"

#include <algorithm>

#include "apiserver/admission/quota_usage.h"
#include "openapi/normalize_quantity.h"

namespace mailroom::admission {
namespace {

ResourceList Masked(const ResourceList& list, const std::vector<std::string>& names) {
  ResourceList out;
  for (const std::string& name : names) {
    if (auto it = list.find(name); it != list.end()) out.insert(*it);
  }
  return out;
}

std::vector<std::string> NamesOf(const ResourceList& list) {
  std::vector<std::string> out;
  for (const auto& [name, value] : list) out.push_back(name);
  return out;
}

std::string Comma(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

void DropZeros(ResourceList& list) {
  std::erase_if(list, [](const auto& entry) {
    return openapi::CompareQuantities(entry.second, "0") == 0;
  });
}

// status.used after the write, or nothing when the quota is not concerned.
Result<std::optional<ResourceList>> UsedAfter(const Attributes& attributes, const Json& object,
                                              const Json& quota, std::int64_t now) {
  const openapi::ResourceType& type = *attributes.type;
  const ResourceList hard = ListAt(quota, {"status", "hard"});
  const std::vector<std::string> counted = CountedAs(type, hard);
  const auto scopes = ScopesOf(quota);
  if (counted.empty() || !InScopes(type, scopes, object)) return std::optional<ResourceList>();
  const std::string name = StringAt(quota, {"metadata", "name"});
  if (const std::string missing = MissingRequirements(type, counted, object); !missing.empty()) {
    return Refuse(attributes, "failed quota: " + name + ": " + missing);
  }
  ResourceList used = ListAt(quota, {"status", "used"});
  if (Masked(used, counted).size() < counted.size()) {
    return Refuse(attributes,
                  "status unknown for quota: " + name + ", resources: " + Comma(counted));
  }
  ResourceList delta = UsageOf(type, object, now);
  for (const auto& [resource, amount] : delta) {
    if (openapi::CompareQuantities(amount, "0") < 0) {
      return Refuse(attributes, "quota usage is negative for resource(s): " + resource);
    }
  }
  if (attributes.old != nullptr && InScopes(type, scopes, *attributes.old)) {
    delta = Less(delta, UsageOf(type, *attributes.old, now));
  }
  DropZeros(delta);
  delta = Masked(delta, NamesOf(hard));
  if (delta.empty()) return std::optional<ResourceList>();
  const ResourceList before = used;
  Add(used, delta);
  if (attributes.subresource == "status") return std::optional<ResourceList>(std::move(used));
  std::vector<std::string> exceeded;
  for (const auto& [resource, amount] : delta) {
    if (openapi::CompareQuantities(used[resource], hard.at(resource)) > 0) {
      exceeded.push_back(resource);
    }
  }
  if (!exceeded.empty()) {
    return Refuse(attributes, "exceeded quota: " + name +
                                  ", requested: " + Printed(Masked(delta, exceeded)) +
                                  ", used: " + Printed(Masked(before, exceeded)) +
                                  ", limited: " + Printed(Masked(hard, exceeded)));
  }
  return std::optional<ResourceList>(std::move(used));
}

}  // namespace

Result<bool> ChargeQuotas(const storage::CachedStore& store, const Attributes& attributes,
                          const Json& object, std::int64_t now, storage::Txn& txn) {
  if (!MayCharge(attributes, object)) return false;
  auto quotas = TRY(store.List({.scope = {attributes.workspace, kQuotas, attributes.ns}}));
  bool charged = false;
  for (const storage::Entry& entry : quotas.entries) {
    Json quota = entry.object->ToJson();
    auto used = TRY(UsedAfter(attributes, object, quota, now));
    if (!used) continue;
    Set(quota, {"status", "used"}, ListJson(*used));
    const ResourceKey key{attributes.workspace, kQuotas, attributes.ns,
                          std::string(entry.object->meta().name)};
    storage::Operation put;
    put.key = key.ToStoreKey();
    put.value = std::make_shared<const std::string>(Object::Encode(quota));
    txn.compares.push_back({put.key, entry.object->revision()});
    txn.operations.push_back(std::move(put));
    charged = true;
  }
  return charged;
}

Json CountQuota(const storage::CachedStore& store, const Workspace& workspace,
                const openapi::Catalog& catalog, const Json& quota, std::int64_t now) {
  const ResourceList hard = ListAt(quota, {"spec", "hard"});
  const auto scopes = ScopesOf(quota);
  const std::string ns = StringAt(quota, {"metadata", "namespace"});
  ResourceList used;
  for (const openapi::ResourceTypePtr& type : catalog.Preferred()) {
    if (!IsCounted(*type)) continue;
    const std::vector<std::string> counted = CountedAs(*type, hard);
    if (counted.empty()) continue;
    for (const std::string& name : counted) used.emplace(name, "0");
    auto list = store.List({.scope = {workspace, type->stored_as, ns}});
    if (!list.ok()) continue;
    if (IsCountedByNumber(*type)) {
      // The rest of the objects do not matter; nothing of this kind is in a scope.
      if (!scopes.empty()) continue;
      const std::string number = std::to_string(list->entries.size());
      for (const std::string& name : counted) used[name] = openapi::AddQuantities("0", number);
      continue;
    }
    for (const storage::Entry& entry : list->entries) {
      const Json object = entry.object->ToJson();
      if (InScopes(*type, scopes, object)) Add(used, Masked(UsageOf(*type, object, now), counted));
    }
  }
  Json status = Json::object();
  status["hard"] = ListJson(hard);
  status["used"] = ListJson(used);
  return status;
}

}  // namespace mailroom::admission
