// Bindings: a scheduler's word on which node a pod is to run, as the pod's subresource or as the
// older resource of its own.
#include "apiserver/conditions.h"
#include "apiserver/pods.h"
#include "apiserver/verbs.h"
#include "openapi/validate_names.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

const openapi::ResourceType& BindingType() {
  static const openapi::ResourceType type = OrderType({"", "v1", "Binding"}, "core/v1.Binding");
  return type;
}

// The reason, without a kind: kube-apiserver does not put these into a Status of their own.
Result<void> CheckTarget(const Json& binding) {
  std::vector<Cause> causes;
  const std::string kind = StringAt(binding, {"target", "kind"});
  const std::string name = StringAt(binding, {"target", "name"});
  if (!kind.empty() && kind != "Node") {
    causes.push_back(openapi::NotSupported("target.kind", kind, {"Node", "<empty>"}));
  }
  if (name.empty()) {
    causes.push_back(RequiredValue("target.name"));
  } else if (kind.empty() || kind == "Node") {
    for (const std::string& complaint : openapi::CheckSubdomain(name)) {
      causes.push_back(InvalidValue("target.name", Quoted(name), complaint));
    }
  }
  if (causes.empty()) return Ok();
  std::string text;
  for (const Cause& cause : causes) {
    text += (text.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  }
  return Status(Reason::kUnknown, 500, causes.size() == 1 ? text : "[" + text + "]");
}

Result<void> CheckMayBind(const std::string& name, const Json& pod) {
  std::string why;
  const Json* gates = Find(pod, {"spec", "schedulingGates"});
  if (const std::string node = StringAt(pod, {"spec", "nodeName"});
      Find(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    why = "pod " + name + " is being deleted, cannot be assigned to a host";
  } else if (!node.empty()) {
    why = "pod " + name + " is already assigned to node " + Quoted(node);
  } else if (gates != nullptr && !gates->empty()) {
    why = "pod " + name + " has non-empty .spec.schedulingGates";
  }
  if (why.empty()) return Ok();
  return Conflict("pods/binding", "", name, why);
}

void Merge(const Json& from, Json& to, const char* member) {
  const Json* given = Find(from, {"metadata", member});
  if (given == nullptr || !given->is_object()) return;
  for (const auto& [key, value] : given->items()) Set(to, {"metadata", member, key}, value);
}

Json WithNode(const Json& live, const Json& binding, const std::string& now) {
  Json pod = live;
  Set(pod, {"spec", "nodeName"}, StringAt(binding, {"target", "name"}));
  Erase(pod, {"status", "nominatedNodeName"});
  Merge(binding, pod, "annotations");
  Merge(binding, pod, "labels");
  SetCondition(pod, {{"type", "PodScheduled"}, {"status", "True"}}, now);
  return pod;
}

// What the binding says the pod is. The older resource of its own does not look at that.
Result<void> CheckSamePod(const Call& call, const Json& binding, const Json& pod) {
  struct Precondition {
    const char *member, *name;
  };
  constexpr Precondition kPreconditions[] = {{"uid", "UID"}, {"resourceVersion", "ResourceVersion"}};
  for (const Precondition& one : kPreconditions) {
    const std::string given = StringAt(binding, {"metadata", one.member});
    const std::string found = StringAt(pod, {"metadata", one.member});
    if (call.info.name.empty() || given.empty() || given == found) continue;
    return Conflict("pods", "", call.info.name,
                    "StorageError: invalid object, Code: 4, Key: /pods/" + call.info.ns + "/" +
                        call.info.name +
                        ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: " +
                        one.name + " in precondition: " + given + ", " + one.name +
                        " in object meta: " + found);
  }
  return Ok();
}

}  // namespace

Result<Response> Bind(Call& call) {
  const WriteOptions options = TRY(ParseWriteOptions(call, "CreateOptions"));
  const Json binding = TRY(ReadOrder(call, options, BindingType()));
  const std::string name = StringAt(binding, {"metadata", "name"});
  if (!call.info.name.empty() && name != call.info.name) {
    return BadRequest("name in URL does not match name in Binding object");
  }
  TRY(CheckTarget(binding));
  if (name.empty()) return BadRequest("Name parameter required.");
  const auto pods = call.workspace.catalog->FindShared("", "v1", "pods");
  Call own = OwnCall(call, pods, name, "binding");
  TRY(Change(own, options, [&](const Json& live) -> Result<Draft> {
    TRY(CheckSamePod(call, binding, live));
    TRY(CheckMayBind(name, live));
    Draft draft{WithNode(live, binding, FormatTime(call.hub.clock.Now())), {}, true};
    draft.counts = false;
    return draft;
  }));
  return OrderDone(call);
}

}  // namespace mailroom::apiserver
