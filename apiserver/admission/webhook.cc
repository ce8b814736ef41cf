#include "apiserver/admission/webhook.h"

#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

Webhook ParseOne(const std::string& configuration, std::size_t index, const Json& hook) {
  Webhook out;
  out.configuration = configuration;
  out.name = StringAt(hook, {"name"});
  out.uid = configuration + "/" + out.name + "/" + std::to_string(index);
  if (const Json* config = Find(hook, {"clientConfig"})) {
    out.endpoint = openapi::ParseWebhookEndpoint(*config);
  }
  out.constraints = ParseConstraints(hook, "rules");
  out.conditions = ParseConditions(
      hook, openapi::PolicyScope(openapi::PolicyScope::Params::kNone,
                                 openapi::PolicyScope::Patches::kNone));
  out.ignore_failure = StringAt(hook, {"failurePolicy"}) == "Ignore";
  out.reinvoke = StringAt(hook, {"reinvocationPolicy"}) == "IfNeeded";
  out.side_effects = StringAt(hook, {"sideEffects"});
  out.timeout = std::chrono::seconds(IntAt(hook, {"timeoutSeconds"}, 10));
  out.review_versions = StringsAt(hook, {"admissionReviewVersions"});
  return out;
}

}  // namespace

std::vector<Webhook> ParseWebhooks(const Json& configuration) {
  std::vector<Webhook> out;
  const Json* hooks = Find(configuration, {"webhooks"});
  if (hooks == nullptr || !hooks->is_array()) return out;
  const std::string name = StringAt(configuration, {"metadata", "name"});
  for (std::size_t i = 0; i < hooks->size(); ++i) out.push_back(ParseOne(name, i, (*hooks)[i]));
  return out;
}

}  // namespace mailroom::admission
