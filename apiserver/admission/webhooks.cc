#include "apiserver/admission/webhooks.h"

#include "apiserver/admission/policy_run.h"
#include "apiserver/admission/review.h"
#include "apiserver/json_patch.h"
#include "openapi/normalize.h"
#include "openapi/validate.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::admission {
namespace {

// A webhook that is to be asked, and the objects in the version it wants.
struct Asked {
  const Webhook* webhook = nullptr;
  std::size_t index = 0;
  Invocation invocation;
  std::optional<Json> object, old;  // set when converted
  Question question = {};
};

Status CallFailed(const Webhook& webhook, const std::string& why) {
  return Internal("failed calling webhook " + Quoted(webhook.name) + ": " + why);
}

WebhookClient::Request RequestTo(const Webhook& webhook, std::string body) {
  return {&webhook.endpoint, webhook.timeout, std::move(body)};
}

// Whether the webhook is to be asked at all.
Result<std::optional<Asked>> Consider(const WebhookContext& context, const Webhook& webhook,
                                      std::size_t index, Attributes& attributes,
                                      const Json* object) {
  auto invocation = TRY(Match(webhook.constraints, attributes, object, context.find_namespace));
  if (!invocation) return std::optional<Asked>();
  Asked asked;
  asked.webhook = &webhook;
  asked.index = index;
  asked.invocation = std::move(*invocation);
  if (asked.invocation.kind != attributes.kind) {
    if (object != nullptr) asked.object = TRY(attributes.convert(*asked.invocation.type, *object));
    if (attributes.old != nullptr) {
      asked.old = TRY(attributes.convert(*asked.invocation.type, *attributes.old));
    }
  }
  if (webhook.conditions.empty()) return std::optional<Asked>(std::move(asked));
  const PolicyInput input{attributes, asked.invocation, asked.object ? &*asked.object : object,
                          asked.old ? &*asked.old : attributes.old};
  auto met = ConditionsMet(webhook.conditions, input);
  if (!met.ok()) {
    if (webhook.ignore_failure) return std::optional<Asked>();
    return Refuse(attributes, met.error().message());
  }
  if (!*met) return std::optional<Asked>();
  return std::optional<Asked>(std::move(asked));
}

// The question, or why the webhook cannot be asked (in `problem`, to which failurePolicy
// applies). A webhook with side effects refuses a dry run whatever its failurePolicy.
Result<void> Formulate(Asked& asked, const Attributes& attributes, const Json* object,
                       std::string& problem) {
  const Webhook& webhook = *asked.webhook;
  if (attributes.dry_run && webhook.side_effects != "None" &&
      webhook.side_effects != "NoneOnDryRun") {
    return BadRequest("admission webhook " + Quoted(webhook.name) + " does not support dry run");
  }
  auto question = MakeQuestion(webhook.review_versions, attributes, asked.invocation,
                               asked.object ? &*asked.object : object,
                               asked.old ? &*asked.old : attributes.old);
  if (!question) {
    problem = "could not create admission objects: webhook does not accept known "
              "AdmissionReview versions (v1, v1beta1)";
    return Ok();
  }
  asked.question = std::move(*question);
  return Ok();
}

void AddWarnings(Attributes& attributes, std::vector<std::string> warnings) {
  for (std::string& warning : warnings) {
    bool plain = !warning.empty();
    for (const char c : warning) plain = plain && static_cast<unsigned char>(c) >= 0x20;
    if (!plain) continue;
    std::size_t total = warning.size();
    for (const std::string& other : attributes.warnings) total += other.size();
    if (total > limits::kWarningCharacters) {
      for (std::string& other : attributes.warnings) other.resize(
          std::min(other.size(), limits::kWarningCutCharacters));
      warning.resize(std::min(warning.size(), limits::kWarningCutCharacters));
    }
    attributes.warnings.push_back(std::move(warning));
  }
}

void Annotate(Attributes& attributes, const Webhook& webhook, const Verdict& verdict) {
  for (const auto& [key, value] : verdict.annotations) {
    attributes.annotations[webhook.name + "/" + key] = value;
  }
}

// The verdict, an error that ends the request, or nothing when a failure is to be ignored.
Result<std::optional<Verdict>> Judge(const Asked& asked, bool mutating, std::string problem,
                                     const client::OutgoingAnswer& answer,
                                     Attributes& attributes, int round) {
  const Webhook& webhook = *asked.webhook;
  if (problem.empty() && !answer.error.empty()) problem = "failed to call webhook: " + answer.error;
  if (problem.empty()) {
    auto read = ReadAnswer(asked.question, mutating, answer.code, answer.body);
    if (auto* verdict = std::get_if<Verdict>(&read)) {
      Annotate(attributes, webhook, *verdict);
      AddWarnings(attributes, std::move(verdict->warnings));
      if (!verdict->allowed) return Denied(webhook.name, verdict->status);
      return std::optional<Verdict>(std::move(*verdict));
    }
    problem = std::get<Misread>(read).text;
  }
  Log(Level::kWarn, webhook.ignore_failure ? "webhook failed, going on" : "webhook failed",
      {{"workspace", attributes.workspace.name()}, {"webhook", webhook.name}, {"error", problem}});
  if (!webhook.ignore_failure) return CallFailed(webhook, problem);
  attributes.annotations[std::string("failed-open.") +
                         (mutating ? "mutation" : "validating") +
                         ".webhook.admission.k8s.io/round_" + std::to_string(round) + "_index_" +
                         std::to_string(asked.index)] = webhook.name;
  return std::optional<Verdict>();
}

// Applies a patch; true when it changed something.
Result<bool> ApplyPatch(const Asked& asked, const Json& patch, Attributes& attributes,
                        Json& object) {
  const Json& shown = asked.object ? *asked.object : object;
  auto patched = apiserver::JsonPatch(shown, patch);
  if (!patched.ok()) return Internal(patched.error().message());
  if (!patched->is_object()) return Internal("the patched document is not an object");
  if (asked.invocation.kind == asked.invocation.type->gvk) {
    TRY(Repair(*asked.invocation.type, *patched));
  }
  if (*patched == shown) return false;
  object = asked.object ? TRY(attributes.convert(*attributes.type, *patched)) : std::move(*patched);
  return true;
}

void AnnotateMutation(const Asked& asked, bool changed, const Verdict& verdict, int round,
                      Attributes& attributes) {
  const std::string place =
      "round_" + std::to_string(round) + "_index_" + std::to_string(asked.index);
  const Webhook& webhook = *asked.webhook;
  attributes.annotations["mutation.webhook.admission.k8s.io/" + place] =
      DumpJson({{"configuration", webhook.configuration}, {"webhook", webhook.name},
                {"mutated", changed}});
  if (!verdict.patch) return;
  attributes.annotations["patch.webhook.admission.k8s.io/" + place] =
      DumpJson({{"configuration", webhook.configuration}, {"webhook", webhook.name},
                {"patch", *verdict.patch}, {"patchType", "JSONPatch"}});
}

Result<void> MutateBy(const WebhookContext& context, Asked asked, Attributes& attributes,
                      Json* object, Reinvocation& reinvocation) {
  const Webhook& webhook = *asked.webhook;
  const int round = reinvocation.again ? 1 : 0;
  std::string problem;
  TRY(Formulate(asked, attributes, object, problem));
  client::OutgoingAnswer answer;
  if (problem.empty()) {
    const auto request = RequestTo(webhook, asked.question.body);
    answer = TRY(context.client.Call(attributes.workspace, attributes.deadline, {request}))[0];
  }
  auto verdict = TRY(Judge(asked, true, problem, answer, attributes, round));
  if (verdict && verdict->patch) {
    if (object == nullptr) {
      return Internal("admission webhook " + Quoted(webhook.name) +
                      " attempted to modify the object, which is not supported for this operation");
    }
    const bool changed = TRY(ApplyPatch(asked, *verdict->patch, attributes, *object));
    AnnotateMutation(asked, changed, *verdict, round, attributes);
    if (changed) reinvocation.Changed();
  } else if (verdict) {
    AnnotateMutation(asked, false, *verdict, round, attributes);
  }
  if (webhook.reinvoke) reinvocation.heard.insert(webhook.uid);
  return Ok();
}

}  // namespace

Result<void> Repair(const openapi::ResourceType& type, Json& object) {
  openapi::DropNulls(type, object);
  if (auto problem = openapi::CheckBuiltinTypes(type, object)) return Internal(*problem);
  openapi::PruneUnknown(type, object);
  openapi::ApplyDefaults(type, object);
  return Ok();
}

Result<void> Mutate(const WebhookContext& context, const std::vector<Webhook>& webhooks,
                    Attributes& attributes, Json* object, Reinvocation& reinvocation) {
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    // One that was not asked in the first round is not asked for the first time in the second.
    if (reinvocation.Skips(webhooks[i].uid)) continue;
    auto asked = TRY(Consider(context, webhooks[i], i, attributes, object));
    if (asked) TRY(MutateBy(context, std::move(*asked), attributes, object, reinvocation));
  }
  return Ok();
}

Result<void> Validate(const WebhookContext& context, const std::vector<Webhook>& webhooks,
                      Attributes& attributes, const Json* object) {
  std::vector<Asked> all;
  std::vector<std::string> problems;
  std::vector<WebhookClient::Request> requests;
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    auto asked = TRY(Consider(context, webhooks[i], i, attributes, object));
    if (!asked) continue;
    std::string problem;
    TRY(Formulate(*asked, attributes, object, problem));
    if (problem.empty()) {
      requests.push_back(
          RequestTo(*asked->webhook, std::exchange(asked->question.body, std::string())));
    }
    problems.push_back(std::move(problem));
    all.push_back(std::move(*asked));
  }
  if (all.empty()) return Ok();
  auto answers = TRY(context.client.Call(attributes.workspace, attributes.deadline, requests));
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const client::OutgoingAnswer none;
    const client::OutgoingAnswer& answer = problems[i].empty() ? answers[next++] : none;
    TRY(Judge(all[i], false, problems[i], answer, attributes, 0));
  }
  return Ok();
}

}  // namespace mailroom::admission
