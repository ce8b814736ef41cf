// The mutating and the validating webhook phases of one request.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apiserver/admission/webhook.h"
#include "apiserver/admission/webhook_client.h"

namespace mailroom::admission {

// What one admission attempt remembers between its two rounds of mutation: a mutation asks those
// that were heard before it, and want that, to look again.
struct Reinvocation {
  bool again = false;                // this is the second round
  bool wanted = false;               // some mutation changed the object
  std::set<std::string> heard;       // asked before and willing to be asked again
  std::set<std::string> to_be_asked;

  void Changed() {
    wanted = true;
    to_be_asked.insert(heard.begin(), heard.end());
    heard.clear();
  }
  bool Skips(const std::string& uid) const { return again && !to_be_asked.contains(uid); }
};

// Everything a phase needs besides the request.
struct WebhookContext {
  WebhookClient& client;
  const FindNamespace& find_namespace;
};

// One after the other; patches are applied to `object` (null for a delete, which has none).
Result<void> Mutate(const WebhookContext& context, const std::vector<Webhook>& webhooks,
                    Attributes& attributes, Json* object, Reinvocation& reinvocation);
// Side by side; the first refusal in order of configuration counts.
Result<void> Validate(const WebhookContext& context, const std::vector<Webhook>& webhooks,
                      Attributes& attributes, const Json* object);

// Makes an object that a mutation changed whole again: unknown members dropped, defaults filled
// in. InternalError when it is no object of its kind any more.
Result<void> Repair(const openapi::ResourceType& type, Json& object);

}  // namespace mailroom::admission
