#include "apiserver/admission/policies.h"

#include "storage/object/limits.h"

namespace mailroom::admission {
namespace {

const openapi::ResourceType* FindParamType(const Attributes& attributes,
                                           const GroupVersionKind& kind) {
  return attributes.catalog->FindKind(kind);
}

std::string KindText(const GroupVersionKind& kind) {
  return kind.ApiVersion() + ", Kind=" + kind.kind;
}

Json AsKind(const Object& object, const GroupVersionKind& kind) {
  Json tree = object.ToJson();
  tree["apiVersion"] = kind.ApiVersion();
  tree["kind"] = kind.kind;
  return tree;
}

// The parameter objects a binding names; {nothing} when the policy has none. Errors are plain
// texts.
Result<std::vector<std::optional<Json>>> CollectParams(const PolicyContext& context,
                                                       const Policy& policy,
                                                       const Binding& binding,
                                                       const Attributes& attributes) {
  using Params = std::vector<std::optional<Json>>;
  if (!policy.param_kind || !binding.params) return Params(1);
  const ParamRef& ref = *binding.params;
  const GroupVersionKind& kind = *policy.param_kind;
  const openapi::ResourceType* type = FindParamType(attributes, kind);
  if (type == nullptr) return BadRequest("paramKind kind `" + KindText(kind) + "` not known");
  std::string ns;
  if (type->namespaced) {
    const bool itself = attributes.type->plural == "namespaces";
    ns = !ref.ns.empty() ? ref.ns : itself ? "" : attributes.ns;
    if (ns.empty()) {
      return BadRequest("cannot use namespaced paramRef in policy binding that matches "
                        "cluster-scoped resources");
    }
  } else if (!ref.ns.empty()) {
    return BadRequest("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  Params out;
  if (!ref.name.empty()) {
    const ObjectPtr object =
        context.store.Get({attributes.workspace, type->stored_as, ns, ref.name});
    if (object != nullptr) out.push_back(AsKind(*object, kind));
  } else if (ref.selector) {
    storage::CacheListOptions options;
    options.scope = {attributes.workspace, type->stored_as, ns};
    options.filter = [&](const Object& object) {
      return ref.selector->Matches(object.meta().labels);
    };
    options.limit = limits::kPolicyParams;
    for (const storage::Entry& entry : TRY(context.store.List(options)).entries) {
      out.push_back(AsKind(*entry.object, kind));
    }
  } else {
    return BadRequest("one of name or selector must be provided");
  }
  if (out.empty() && ref.deny_when_missing) {
    return BadRequest(
        "no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return out;
}

void UsesOf(const PolicyContext& context, const Policy& policy, const Binding& binding,
            const Invocation& invocation, const Attributes& attributes, const Json* object,
            std::vector<PolicyUse>& out) {
  auto fail = [&](const Status& why) {
    PolicyUse use{&policy, &binding};
    use.error = "failed to configure binding: " + why.message();
    out.push_back(std::move(use));
  };
  if (binding.constraints) {
    auto matched = Match(*binding.constraints, attributes, object, context.find_namespace);
    if (!matched.ok()) return fail(matched.error());
    if (!*matched) return;
  }
  auto params = CollectParams(context, policy, binding, attributes);
  if (!params.ok()) return fail(params.error());
  for (std::optional<Json>& param : *params) {
    PolicyUse use{&policy, &binding, invocation};
    use.params = std::move(param);
    out.push_back(std::move(use));
  }
}

}  // namespace

std::vector<PolicyUse> FindUses(const PolicyContext& context,
                                const std::vector<BoundPolicy>& policies,
                                const Attributes& attributes, const Json* object) {
  std::vector<PolicyUse> out;
  for (const BoundPolicy& bound : policies) {
    const Policy& policy = *bound.policy;
    auto matched = Match(policy.constraints, attributes, object, context.find_namespace);
    if (matched.ok() && !*matched) continue;
    if (!matched.ok() || !policy.error.empty()) {
      PolicyUse use{&policy};
      use.error = "failed to configure policy: " +
                  (matched.ok() ? policy.error : matched.error().message());
      out.push_back(std::move(use));
      continue;
    }
    for (const Binding& binding : bound.bindings) {
      UsesOf(context, policy, binding, **matched, attributes, object, out);
    }
  }
  return out;
}

ObjectPtr NamespaceFor(const PolicyContext& context, const Attributes& attributes) {
  if (attributes.ns.empty() || attributes.kind == GroupVersionKind{"", "v1", "Namespace"}) {
    return nullptr;
  }
  return context.find_namespace(attributes.ns);
}

}  // namespace mailroom::admission
