#include "translator/conditions.h"

#include "storage/object/json_path.h"

namespace mailroom::translator {

bool ConditionIsTrue(const Json& object, std::string_view type) {
  const Json* conditions = Find(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == type) return StringAt(condition, {"status"}) == "True";
  }
  return false;
}

void SetCondition(Json& object, const Condition& condition, const std::string& now) {
  Json* list = Find(object, {"status", "conditions"});
  if (list == nullptr || !list->is_array()) {
    list = &Set(object, {"status", "conditions"}, Json::array());
  }
  Json* slot = nullptr;
  for (Json& entry : *list) {
    if (StringAt(entry, {"type"}) == condition.type) slot = &entry;
  }
  if (slot == nullptr) slot = &list->emplace_back(Json::object());
  const std::string status = condition.status ? "True" : "False";
  const std::string since = StringAt(*slot, {"lastTransitionTime"});
  const bool turned = StringAt(*slot, {"status"}) != status || since.empty();
  *slot = {{"type", condition.type},
           {"status", status},
           {"reason", condition.reason},
           {"message", condition.message},
           {"lastTransitionTime", turned ? now : since}};
}

}  // namespace mailroom::translator
