#include "apiserver/audit.h"

#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

Json UserOf(const User& user) {
  Json out = {{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = user.groups;
  for (const auto& [key, values] : user.extra) out["extra"][key] = values;
  return out;
}

Json ObjectRef(const RequestInfo& info) {
  Json out = {{"resource", info.resource}, {"apiVersion", info.version}};
  auto add = [&](const char* member, const std::string& value) {
    if (!value.empty()) out[member] = value;
  };
  add("apiGroup", info.group);
  add("namespace", info.ns);
  add("name", info.name);
  add("subresource", info.subresource);
  return out;
}

bool IsSecret(const Json& tree) {
  if (!tree.is_object()) return false;
  const std::string kind = StringAt(tree, {"kind"});
  return kind == "Secret" || kind == "SecretList" || kind == "TokenReview" ||
         kind == "TokenRequest";
}

// The items of a list, or the one object there is.
template <typename Visit>
void EachObject(Json& tree, const Visit& visit) {
  visit(tree);
  Json* items = Find(tree, {"items"});
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : *items) visit(item);
}

// The body as it was sent, when it is JSON, YAML or protobuf; what is not is left out, and so is
// whatever carries a secret, wherever it was sent to.
std::optional<Json> BodyOf(const std::string& text, std::string_view media,
                           bool omit_managed_fields) {
  if (text.empty()) return std::nullopt;
  const bool yaml = media.find("yaml") != std::string_view::npos;
  auto tree = openapi::IsProtobuf(text) ? openapi::DecodeProtobuf(text)
              : yaml                    ? ParseYaml(text)
                                        : ParseJson(text);
  if (!tree.ok() || !tree->is_structured()) return std::nullopt;
  bool secret = false;
  EachObject(*tree, [&](Json& object) {
    secret = secret || IsSecret(object);
    if (omit_managed_fields) Erase(object, {"metadata", "managedFields"});
  });
  if (secret) return std::nullopt;
  return std::move(*tree);
}

Json ResponseStatus(const Response& response) {
  Json out = {{"metadata", Json::object()}, {"code", response.code}};
  if (response.code < 400) return out;
  const auto body = ParseJson(response.BodyText());
  if (!body.ok() || StringAt(*body, {"kind"}) != "Status") return out;
  for (const char* member : {"status", "message", "reason"}) {
    if (std::string text = StringAt(*body, {member}); !text.empty()) out[member] = std::move(text);
  }
  return out;
}

}  // namespace

Json Audit::EventOf(const AuditRecord& record, const Request& request, AuditStage stage) const {
  const RequestInfo& info = record.info;
  Json annotations = {{"mailbox.kubestellar.io/workspace",
                       info.all_workspaces ? "*" : info.workspace.name()}};
  if (!record.decision.empty()) {
    annotations["authorization.k8s.io/decision"] = record.decision;
    annotations["authorization.k8s.io/reason"] = record.reason;
  }
  for (const auto& [key, value] : record.annotations) annotations[key] = value;
  Json event = {{"kind", "Event"},
                {"apiVersion", "audit.k8s.io/v1"},
                {"level", AuditLevelText(record.choice.level)},
                {"auditID", record.id},
                {"stage", AuditStageText(stage)},
                {"requestURI", request.path + (request.query.empty() ? "" : "?" + request.query)},
                {"verb", info.verb},
                {"user", UserOf(record.user)},
                {"sourceIPs", Json::array({HostOf(request.peer.address)})},
                {"requestReceivedTimestamp", FormatMicroTime(record.received)},
                {"stageTimestamp", FormatMicroTime(clock_.Now())},
                {"annotations", std::move(annotations)}};
  if (const std::string_view agent = request.headers.Get("user-agent"); !agent.empty()) {
    event["userAgent"] = agent;
  }
  if (record.impersonated) event["impersonatedUser"] = UserOf(*record.impersonated);
  if (info.is_resource) event["objectRef"] = ObjectRef(info);
  return event;
}

void Audit::Received(AuditRecord& record, const Request& request) const {
  record.choice = policy_.Choose(record.user, AttributesOf(record.info));
  if (!record.choice.Wants(AuditStage::kRequestReceived)) return;
  log_->Write(DumpJson(EventOf(record, request, AuditStage::kRequestReceived)));
}

std::function<void()> Audit::Answered(AuditRecord record, const Request& request,
                                      const Response& response) const {
  if (record.user.name.empty()) {  // refused before anybody was known
    record.choice = policy_.Choose(record.user, AttributesOf(record.info));
  }
  const AuditChoice& choice = record.choice;
  if (choice.level == AuditLevel::kNone) return nullptr;
  const bool streams = response.stream != nullptr && !response.stream->finite();
  const AuditStage stage =
      streams ? AuditStage::kResponseStarted : AuditStage::kResponseComplete;
  if (!streams && !choice.Wants(stage)) return nullptr;
  Json event = EventOf(record, request, stage);
  event["responseStatus"] = ResponseStatus(response);
  if (record.served && choice.level >= AuditLevel::kRequest) {
    if (auto body = BodyOf(request.body, request.headers.Get("content-type"),
                           choice.omit_managed_fields)) {
      event["requestObject"] = std::move(*body);
    }
  }
  if (record.served && choice.level >= AuditLevel::kRequestResponse &&
      response.stream == nullptr) {
    if (auto body = BodyOf(response.BodyText(), response.headers.Get("content-type"),
                           choice.omit_managed_fields)) {
      event["responseObject"] = std::move(*body);
    }
  }
  if (choice.Wants(stage)) log_->Write(DumpJson(event));
  if (!streams || !choice.Wants(AuditStage::kResponseComplete)) return nullptr;
  return [this, event = std::make_shared<Json>(std::move(event))] {
    Json& last = *event;
    last["stage"] = AuditStageText(AuditStage::kResponseComplete);
    last["stageTimestamp"] = FormatMicroTime(clock_.Now());
    log_->Write(DumpJson(last));
  };
}

}  // namespace mailroom::apiserver
