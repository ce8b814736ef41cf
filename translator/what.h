// What a placement chooses: pure tests of objects against clauses, and the table of kinds and
// objects that never go to the edge.
#pragma once

#include <functional>
#include <vector>

#include "storage/object/object.h"
#include "translator/keys.h"
#include "translator/placement.h"

namespace mailroom::translator {

// The object under test.
struct Subject {
  const ObjectId& id;
  const LabelViews& labels;
  // Labels of its Namespace; null while that is unknown, and for cluster-scoped objects.
  const LabelViews* namespace_labels;
};

bool Matches(const Clause& clause, const Subject& subject);

// False for kinds that mean something only to the hub or to one cluster's own machinery.
bool GoesToEdge(const GroupResource& resource);
// Objects every API server makes for itself; they are never copied.
bool IsSystemObject(const ObjectId& id, const Object& object);
bool IsSystemNamespace(std::string_view name);

// What must be at the destination before `id`: its Namespace, and the definition of its kind
// when that is not built in.
std::vector<ObjectId> Dependencies(const ObjectId& id,
                                   const std::function<bool(const GroupResource&)>& is_builtin);

}  // namespace mailroom::translator
