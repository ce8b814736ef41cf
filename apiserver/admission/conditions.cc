#include "apiserver/admission/conditions.h"

#include "storage/object/json_path.h"

namespace mailroom::admission {

Conditions Conditions::Parse(const Json& owner) {
  Conditions out;
  const Json* list = Find(owner, {"matchConditions"});
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& item : *list) {
    out.conditions_.push_back({StringAt(item, {"name"}), StringAt(item, {"expression"})});
  }
  return out;
}

Result<bool> Conditions::Met(const ConditionInput&) const {
  if (conditions_.empty()) return true;
  return Internal("match condition " + Quoted(conditions_.front().name) + " cannot be evaluated");
}

}  // namespace mailroom::admission
