// One webhook of a Mutating- or ValidatingWebhookConfiguration, parsed. Immutable, shared by all
// requests of its workspace.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/policy.h"
#include "openapi/webhook_endpoint.h"

namespace mailroom::admission {

struct Webhook {
  std::string configuration, name;
  std::string uid;  // unique in the workspace
  openapi::WebhookEndpoint endpoint;
  Constraints constraints;
  std::vector<NamedExpression> conditions;
  bool ignore_failure = false;
  bool reinvoke = false;  // reinvocationPolicy IfNeeded
  std::string side_effects;
  std::chrono::seconds timeout{10};
  std::vector<std::string> review_versions;
};

// The webhooks of one configuration object, in order.
std::vector<Webhook> ParseWebhooks(const Json& configuration);

}  // namespace mailroom::admission
