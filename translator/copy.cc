#include "translator/copy.h"

#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"

namespace mailroom::translator {
namespace {

constexpr std::array<std::string_view, 12> kOwnMetadata = {
    "managedFields",
    "finalizers",
    "generation",
    "ownerReferences",
    "resourceVersion",
    "uid",
    "generateName",
    "creationTimestamp",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "clusterName",
};
// Holds the whole object once more, secrets included.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

bool IsNamespace(const Json& object) {
  return StringAt(object, {"kind"}) == "Namespace" && StringAt(object, {"apiVersion"}) == "v1";
}

Json MapAt(const Json& object, std::string_view field) {
  const Json* map = Find(object, {"metadata", field});
  return map != nullptr && map->is_object() ? *map : Json::object();
}

void ReplaceMap(const Json& wanted, std::string_view field, Json& copy) {
  if (MapAt(copy, field) == wanted) return;
  if (wanted.empty()) {
    Erase(copy, {"metadata", field});
  } else {
    Set(copy, {"metadata", field}, wanted);
  }
}

// An empty object or list and an absent section are the same wish.
bool Blank(const Json* section) {
  return section == nullptr || section->is_null() || (section->is_structured() && section->empty());
}

void ReplaceSection(const Json& desired, const std::string& name, Json& copy) {
  const Json* wanted = Find(desired, {name});
  const Json* found = Find(copy, {name});
  if (Blank(wanted) && Blank(found)) return;
  if (wanted == nullptr) {
    Erase(copy, {name});
  } else if (found == nullptr || *found != *wanted) {
    Set(copy, {name}, *wanted);
  }
}

}  // namespace

Json DesiredCopy(Json source, const std::string& wds, Overwrite overwrite) {
  Erase(source, {"status"});
  for (std::string_view field : kOwnMetadata) Erase(source, {"metadata", field});
  Erase(source, {"metadata", "annotations", kLastApplied});
  Erase(source, {"metadata", "annotations", openapi::kAdoptedAnnotation});
  Erase(source, {"metadata", "labels", openapi::kSingletonStatusLabel});
  if (IsNamespace(source)) Erase(source, {"spec"});
  Set(source, {"metadata", "labels", openapi::kProjectedLabel},
      std::string(openapi::kProjectedValue));
  Set(source, {"metadata", "annotations", openapi::kSourceAnnotation}, wds);
  if (overwrite == Overwrite::kCreateOnly) {
    Set(source, {"metadata", "annotations", openapi::kOverwriteAnnotation}, "false");
  }
  return source;
}

bool BringTo(const Json& desired, Json& copy) {
  const Json before = copy;
  Json labels = MapAt(desired, "labels");
  Json annotations = MapAt(desired, "annotations");
  const bool is_namespace = IsNamespace(desired);
  if (is_namespace) {
    const std::string name = StringAt(copy, {"metadata", "labels", kNamespaceNameLabel});
    if (!name.empty()) Set(labels, {kNamespaceNameLabel}, name);
    const std::string adopted =
        StringAt(copy, {"metadata", "annotations", openapi::kAdoptedAnnotation});
    if (!adopted.empty()) Set(annotations, {openapi::kAdoptedAnnotation}, adopted);
  }
  ReplaceMap(labels, "labels", copy);
  ReplaceMap(annotations, "annotations", copy);

  std::set<std::string> sections;
  for (const Json* object : {&desired, static_cast<const Json*>(&copy)}) {
    for (const auto& [name, unused] : object->items()) sections.insert(name);
  }
  for (std::string_view kept : {"apiVersion", "kind", "metadata", "status"}) {
    sections.erase(std::string(kept));
  }
  // Its finalizers are the server's.
  if (is_namespace) sections.erase("spec");
  for (const std::string& name : sections) ReplaceSection(desired, name, copy);
  return copy != before;
}

bool SameContent(const Json& source, const Json& other) {
  return DesiredCopy(source, "", Overwrite::kAlways) == DesiredCopy(other, "", Overwrite::kAlways);
}

}  // namespace mailroom::translator
