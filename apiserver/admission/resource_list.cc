#include "apiserver/admission/resource_list.h"

#include "openapi/normalize_quantity.h"

namespace mailroom::admission {
namespace {

using openapi::AddQuantities;
using openapi::CompareQuantities;

const Json& ContainersAt(const Json& pod, const char* member) {
  static const Json kNone = Json::array();
  const Json* list = Find(pod, {"spec", member});
  return list != nullptr && list->is_array() ? *list : kNone;
}

}  // namespace

ResourceList ListAt(const Json& object, Path path) {
  ResourceList out;
  const Json* list = Find(object, path);
  if (list == nullptr || !list->is_object()) return out;
  for (const auto& [name, value] : list->items()) {
    out[name] = openapi::CanonicalQuantity(value.is_string() ? value.get<std::string>()
                                                             : DumpJson(value));
  }
  return out;
}

Json ListJson(const ResourceList& list) {
  Json out = Json::object();
  for (const auto& [name, value] : list) out[name] = value;
  return out;
}

void Add(ResourceList& into, const ResourceList& more) {
  for (const auto& [name, value] : more) {
    auto [it, added] = into.emplace(name, value);
    if (!added) it->second = AddQuantities(it->second, value);
  }
}

void Raise(ResourceList& into, const ResourceList& other) {
  for (const auto& [name, value] : other) {
    auto [it, added] = into.emplace(name, value);
    if (!added && CompareQuantities(it->second, value) < 0) it->second = value;
  }
}

ResourceList Less(const ResourceList& a, const ResourceList& b) {
  ResourceList out;
  for (const auto& [name, value] : a) {
    auto it = b.find(name);
    const std::string rest =
        it == b.end() ? value : openapi::SubtractQuantities(value, it->second);
    out[name] = CompareQuantities(rest, "0") > 0 ? rest : "0";
  }
  for (const auto& [name, value] : b) out.emplace(name, "0");
  return out;
}

bool SameAmounts(const ResourceList& a, const ResourceList& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->first != y->first || CompareQuantities(x->second, y->second) != 0) return false;
  }
  return true;
}

std::string Printed(const ResourceList& list) {
  std::string out;
  for (const auto& [name, value] : list) {
    out += (out.empty() ? "" : ",") + name + "=" + value;
  }
  return out;
}

ResourceList PodTotal(const Json& pod, const char* part, Overhead overhead) {
  ResourceList total;
  for (const Json& container : ContainersAt(pod, "containers")) {
    Add(total, ListAt(container, {"resources", part}));
  }
  // An init container that keeps running (a sidecar) counts with the containers and with every
  // init container after it; of the others only the greediest counts.
  ResourceList sidecars, initial;
  for (const Json& container : ContainersAt(pod, "initContainers")) {
    ResourceList own = ListAt(container, {"resources", part});
    if (StringAt(container, {"restartPolicy"}) == "Always") {
      Add(total, own);
      Add(sidecars, own);
      own = sidecars;
    } else {
      Add(own, sidecars);
    }
    Raise(initial, own);
  }
  Raise(total, initial);
  // What the pod asks for as a whole stands in place of the sum.
  for (const auto& [name, value] : ListAt(pod, {"spec", "resources", part})) total[name] = value;
  if (overhead == Overhead::kIgnored) return total;
  const bool limits = std::string_view(part) == "limits";
  for (const auto& [name, value] : ListAt(pod, {"spec", "overhead"})) {
    auto it = total.find(name);
    if (it != total.end()) {
      it->second = AddQuantities(it->second, value);
    } else if (!limits) {
      total[name] = value;
    }
  }
  return total;
}

}  // namespace mailroom::admission
