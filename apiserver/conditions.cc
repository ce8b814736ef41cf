#include "apiserver/conditions.h"

#include <utility>

#include "storage/object/json_path.h"

namespace mailroom::apiserver {

const Json* ConditionOf(const Json& object, std::string_view type) {
  const Json* list = Find(object, {"status", "conditions"});
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& each : *list) {
    if (StringAt(each, {"type"}) == type) return &each;
  }
  return nullptr;
}

void SetCondition(Json& object, Json condition, const std::string& now) {
  Json* list = Find(object, {"status", "conditions"});
  if (list == nullptr || !list->is_array()) {
    list = &Set(object, {"status", "conditions"}, Json::array());
  }
  const std::string type = StringAt(condition, {"type"});
  Json* known = nullptr;
  for (Json& each : *list) {
    if (StringAt(each, {"type"}) == type) known = &each;
  }
  condition["lastTransitionTime"] = now;
  if (known == nullptr) {
    list->push_back(std::move(condition));
    return;
  }
  if (StringAt(*known, {"status"}) == StringAt(condition, {"status"})) {
    condition["lastTransitionTime"] = known->value("lastTransitionTime", Json(now));
  }
  *known = std::move(condition);
}

}  // namespace mailroom::apiserver
