#include "apiserver/apply_last_applied.h"

#include <string>

#include "apiserver/apply_typecheck.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

std::size_t AnnotationBytes(const Json& object) {
  const Json* annotations = Find(object, {"metadata", "annotations"});
  if (!annotations || !annotations->is_object()) return 0;
  std::size_t total = 0;
  for (const auto& [key, value] : annotations->items()) {
    total += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  return total;
}

}  // namespace

FieldSet UnchangedSinceLastApplied(const openapi::ResourceType& type, const Json& live) {
  const std::string text = StringAt(live, {"metadata", "annotations", kAnnotation});
  if (text.empty()) return {};
  auto config = ParseJson(text);
  if (!config.ok() || !config->is_object()) return {};
  if (StringAt(*config, {"apiVersion"}) != type.gvk.ApiVersion()) return {};
  if (!CheckTyped(type.schema, *config).empty()) return {};
  const FieldChanges changes = CompareFields(type.schema, *config, live);
  return FieldsOf(type.schema, *config)
      .Difference(changes.modified)
      .Difference(changes.added)
      .Difference(changes.removed);
}

void RefreshLastApplied(const Json& config, Json& object) {
  if (StringAt(object, {"metadata", "annotations", kAnnotation}).empty()) return;
  Json copy = config;
  Erase(copy, {"metadata", "annotations", kAnnotation});
  Set(object, {"metadata", "annotations", kAnnotation}, DumpJson(copy) + "\n");
  if (AnnotationBytes(object) > limits::kAnnotationBytes) {
    Erase(object, {"metadata", "annotations", kAnnotation});
  }
}

}  // namespace mailroom::apiserver
