#include "apiserver/admission/webhook.h"

#include "openapi/base64.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

Webhook ParseOne(const std::string& configuration, std::size_t index, const Json& hook) {
  Webhook out;
  out.configuration = configuration;
  out.name = StringAt(hook, {"name"});
  out.uid = configuration + "/" + out.name + "/" + std::to_string(index);
  out.url = StringAt(hook, {"clientConfig", "url"});
  out.service.ns = StringAt(hook, {"clientConfig", "service", "namespace"});
  out.service.name = StringAt(hook, {"clientConfig", "service", "name"});
  out.service.path = StringAt(hook, {"clientConfig", "service", "path"});
  out.service.port = static_cast<int>(IntAt(hook, {"clientConfig", "service", "port"}, 443));
  out.ca_pem =
      openapi::DecodeBase64(StringAt(hook, {"clientConfig", "caBundle"})).value_or(std::string());
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
