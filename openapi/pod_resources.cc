#include "openapi/pod_resources.h"

#include "openapi/normalize_quantity.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

bool IsHugePages(const std::string& name) { return name.starts_with("hugepages-"); }
bool MayOvercommit(const std::string& name) { return name == "cpu" || name == "memory"; }
bool IsOfPods(const std::string& name) { return MayOvercommit(name) || IsHugePages(name); }

const Json& AmountsOf(const Json& owner, std::string_view list) {
  static const Json kNone = Json::object();
  const Json* found = Find(owner, {"resources", list});
  return found != nullptr && found->is_object() ? *found : kNone;
}

template <typename Combine>
void Merge(Json& into, const Json& amounts, Combine combine) {
  for (const auto& [name, amount] : amounts.items()) {
    if (!amount.is_string()) continue;
    const std::string text = amount;
    into[name] = into.contains(name) ? combine(StringAt(into, {name}), text) : text;
  }
}

void Add(Json& into, const Json& amounts) {
  Merge(into, amounts, [](const std::string& a, const std::string& b) { return AddQuantities(a, b); });
}

// Only to what `into` has.
void AddKnown(Json& into, const Json& amounts) {
  for (auto& [name, amount] : into.items()) {
    const auto more = amounts.find(name);
    if (more == amounts.end() || !amount.is_string()) continue;
    amount = AddQuantities(amount.get<std::string>(), more->get<std::string>());
  }
}

void RaiseTo(Json& into, const Json& amounts) {
  Merge(into, amounts,
        [](const std::string& a, const std::string& b) { return CompareQuantities(b, a) > 0 ? b : a; });
}

// Names in `from` that pass and that `to` lacks.
template <typename Test>
void FillMissing(const Json& from, Json& to, Test test) {
  for (const auto& [name, amount] : from.items()) {
    if (test(name) && !to.contains(name)) to[name] = amount;
  }
}

}  // namespace

Json ContainerAmounts(const Json& spec, std::string_view list) {
  Json together = Json::object(), sidecars = Json::object(), before = Json::object();
  const Json* containers = Find(spec, {"containers"});
  if (containers != nullptr && containers->is_array()) {
    for (const Json& container : *containers) Add(together, AmountsOf(container, list));
  }
  const Json* first = Find(spec, {"initContainers"});
  if (first != nullptr && first->is_array()) {
    for (const Json& container : *first) {
      // Beside a container run the sidecars before it. What only those need is in the sum of all.
      Json running = AmountsOf(container, list);
      AddKnown(running, sidecars);
      RaiseTo(before, running);
      if (StringAt(container, {"restartPolicy"}) != "Always") continue;
      Add(together, AmountsOf(container, list));
      Add(sidecars, AmountsOf(container, list));
    }
  }
  RaiseTo(together, before);
  return together;
}

void DefaultPodAmounts(Json& pod) {
  Json* resources = Find(pod, {"spec", "resources"});
  if (resources == nullptr || !resources->is_object()) return;
  Json limits = AmountsOf(*Find(pod, {"spec"}), "limits");
  Json requests = AmountsOf(*Find(pod, {"spec"}), "requests");
  if (limits.empty() && requests.empty()) return;
  FillMissing(ContainerAmounts(*Find(pod, {"spec"}), "limits"), limits, [&](const std::string& name) {
    return IsHugePages(name) && !requests.contains(name);
  });
  if (limits.empty()) return;
  (*resources)["limits"] = limits;
  FillMissing(ContainerAmounts(*Find(pod, {"spec"}), "requests"), requests, MayOvercommit);
  FillMissing(limits, requests, IsOfPods);
  if (!requests.empty()) (*resources)["requests"] = requests;
}

}  // namespace mailroom::openapi
