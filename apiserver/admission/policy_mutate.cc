// MutatingAdmissionPolicy.
#include "apiserver/admission/policies.h"
#include "apiserver/admission/policy_run.h"
#include "apiserver/json_patch.h"
#include "apiserver/typed_merge.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::admission {
namespace {

// A policy that failed: refused in its own words.
struct Failure {
  const PolicyUse* use;
  std::string message;
};

std::string UseKey(const PolicyUse& use) {
  std::string key = "policy\n" + use.policy->name + "\n" + use.binding->name;
  if (use.params) {
    key += "\n" + StringAt(*use.params, {"metadata", "namespace"}) + "/" +
           StringAt(*use.params, {"metadata", "name"});
  }
  return key;
}

// Lists and maps that are one value cannot be merged into.
void FindAtomics(const openapi::Schema* schema, const Json& value, const std::string& path,
                 std::vector<std::string>& out) {
  if (schema == nullptr) return;
  if (value.is_object() && schema->type == openapi::Type::kObject) {
    if (schema->map_type == openapi::MapType::kAtomic) out.push_back(path);
    for (const auto& [name, member] : value.items()) {
      if (const openapi::Property* property = schema->Find(name)) {
        FindAtomics(property->schema, member, path + "." + name, out);
      }
    }
  } else if (value.is_array() && schema->type == openapi::Type::kArray) {
    if (schema->list_type == openapi::ListType::kAtomic) out.push_back(path);
    for (std::size_t i = 0; i < value.size(); ++i) {
      FindAtomics(schema->items, value[i], path + "[" + std::to_string(i) + "]", out);
    }
  }
}

Result<Json> Applied(const openapi::ResourceType& type, const Json& object, Json config) {
  std::vector<std::string> atomics;
  FindAtomics(type.schema, config, "", atomics);
  if (!atomics.empty()) {
    std::string list;
    for (const std::string& path : atomics) list += (list.empty() ? "" : ", ") + path;
    return BadRequest("error applying patch: invalid ApplyConfiguration: may not mutate atomic "
                      "arrays, maps or structs: " + list);
  }
  Json out = object;
  apiserver::MergeConfig(type.schema, config, {}, out);
  return out;
}

Result<Json> Patched(const Json& object, const Json& operations) {
  if (!operations.is_array()) {
    return BadRequest("type mismatch: JSONPatchType.expression should evaluate to array");
  }
  for (const Json& operation : operations) {
    if (!operation.is_object()) {
      return BadRequest("type mismatch: JSONPatchType.expression should evaluate to array of "
                        "JSONPatch");
    }
    // A failed test means: leave it as it is.
    if (StringAt(operation, {"op"}) != "test") continue;
    if (!apiserver::JsonPatch(object, Json::array({operation})).ok() && operation == operations[0]) {
      return object;
    }
  }
  auto patched = apiserver::JsonPatch(object, operations);
  if (!patched.ok()) {
    const std::string& why = patched.error().message();
    if (why.find("test") != std::string::npos && why.find("fail") != std::string::npos) {
      return object;
    }
    return BadRequest("JSON Patch: " + why);
  }
  return std::move(*patched);
}

// The object after one mutation.
Result<Json> After(const Mutation& mutation, const openapi::ResourceType& type, PolicyRun& run,
                   const Json& object) {
  const cel::Value value = TRY(run.Evaluate(mutation.expression));
  Json wanted;
  std::string error;
  if (!cel::ToJson(value, wanted, error)) return BadRequest(error);
  Json out = mutation.json_patch ? TRY(Patched(object, wanted))
                                 : TRY(Applied(type, object, std::move(wanted)));
  TRY(Repair(type, out));
  return out;
}

// Runs one use; what goes wrong with it is added to `failures`.
Result<void> Apply(const PolicyContext& context, const PolicyUse& use, Attributes& attributes,
                   Json& object, Reinvocation& reinvocation, std::vector<Failure>& failures) {
  const Policy& policy = *use.policy;
  const bool converted = use.invocation.kind != attributes.kind;
  const openapi::ResourceType& type = *use.invocation.type;
  Json shown = converted ? TRY(attributes.convert(type, object)) : object;
  std::optional<Json> old;
  if (converted && attributes.old != nullptr) old = TRY(attributes.convert(type, *attributes.old));
  const Json before = shown;
  PolicyInput input{attributes, use.invocation, &shown, old ? &*old : attributes.old,
                    use.params ? &*use.params : nullptr, NamespaceFor(context, attributes)};
  auto met = ConditionsMet(policy.conditions, input);
  if (!met.ok()) {
    failures.push_back({&use, met.error().message()});
    return Ok();
  }
  const std::string key = UseKey(use);
  if (!*met || reinvocation.Skips(key)) return Ok();
  for (const Mutation& mutation : policy.mutations) {
    // Each mutation sees what the one before it made.
    PolicyRun run(input, policy.variables, limits::kCelObjectCost);
    auto after = After(mutation, type, run, shown);
    if (!after.ok()) {
      failures.push_back({&use, after.error().message()});
      continue;
    }
    shown = std::move(*after);
  }
  if (shown != before) {
    object = converted ? TRY(attributes.convert(*attributes.type, shown)) : std::move(shown);
    reinvocation.Changed();
  }
  if (policy.reinvoke) reinvocation.heard.insert(key);
  return Ok();
}

}  // namespace

Result<void> MutateByPolicies(const PolicyContext& context,
                              const std::vector<BoundPolicy>& policies, Attributes& attributes,
                              Json* object, Reinvocation& reinvocation) {
  if (object == nullptr) return Ok();
  const std::vector<PolicyUse> uses = FindUses(context, policies, attributes, object);
  std::vector<Failure> failures;
  for (const PolicyUse& use : uses) {
    if (!use.error.empty()) {
      failures.push_back({&use, use.error});
    } else {
      TRY(Apply(context, use, attributes, *object, reinvocation, failures));
    }
  }
  std::erase_if(failures, [](const Failure& item) { return item.use->policy->ignore_failure; });
  if (failures.empty()) return Ok();
  StatusDetails details = Refuse(attributes, "").details();
  auto text = [](const Failure& failure) {
    const std::string& name = failure.use->policy->name;
    const std::string whose = failure.use->binding == nullptr
                                  ? Quoted(name)
                                  : "'" + name + "' with binding '" + failure.use->binding->name + "'";
    return "policy " + whose + " denied request: " + failure.message;
  };
  for (const Failure& failure : failures) details.causes.push_back({"", text(failure), ""});
  // One that could not even be set up is Forbidden; the code is the same.
  const bool set_up = failures.front().use->error.empty();
  return Status(set_up ? Reason::kInvalid : Reason::kForbidden, 403, text(failures.front()),
                std::move(details));
}

}  // namespace mailroom::admission
