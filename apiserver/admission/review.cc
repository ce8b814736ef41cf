#include "apiserver/admission/review.h"

#include <openssl/rand.h>

#include <algorithm>

#include "apiserver/admission/answer.h"
#include "apiserver/auth/uid.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

constexpr std::string_view kGroup = "admission.k8s.io/";

Json KindJson(const GroupVersionKind& gvk) {
  return {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}};
}

Json ResourceJson(const openapi::ResourceType& type) {
  return {{"group", type.gvk.group}, {"version", type.gvk.version}, {"resource", type.plural}};
}

Json UserJson(const apiserver::User& user) {
  Json info = {{"username", user.name}};
  if (!user.uid.empty()) info["uid"] = user.uid;
  if (!user.groups.empty()) info["groups"] = user.groups;
  for (const auto& [key, values] : user.extra) info["extra"][key] = values;
  return info;
}

std::string WrongV1(const Question& question, const Json& tree, bool mutating) {
  const Json& response = *Find(tree, {"response"});
  if (const std::string uid = StringAt(response, {"uid"}); uid != question.uid) {
    return "expected response.uid=" + Quoted(question.uid) + ", got " + Quoted(uid);
  }
  const std::string wanted = std::string(kGroup) + "v1, Kind=AdmissionReview";
  if (const std::string found = KindText(tree); found != wanted) {
    return "expected webhook response of " + wanted + ", got " + found;
  }
  const bool patch = !StringAt(response, {"patch"}).empty();
  const Json* type = Find(response, {"patchType"});
  const bool typed = type != nullptr && !type->is_null();
  if (!mutating) {
    if (patch) return "validating webhook may not return response.patch";
    if (typed) return "validating webhook may not return response.patchType";
    return "";
  }
  if (patch && !typed) return "webhook returned response.patch but not response.patchType";
  if (!patch && typed) return "webhook returned response.patchType but not response.patch";
  if (typed && *type == "") return "webhook returned invalid response.patchType of \"\"";
  return "";
}

}  // namespace

Json RequestPart(const Attributes& attributes, const Invocation& invocation) {
  Json request = {{"kind", KindJson(invocation.kind)},
                  {"resource", ResourceJson(*invocation.type)},
                  {"requestKind", KindJson(attributes.kind)},
                  {"requestResource", ResourceJson(*attributes.type)},
                  {"operation", OperationText(attributes.operation)},
                  {"userInfo", UserJson(attributes.user)},
                  {"dryRun", attributes.dry_run}};
  if (!attributes.name.empty()) request["name"] = attributes.name;
  if (!attributes.ns.empty()) request["namespace"] = attributes.ns;
  if (!attributes.subresource.empty()) {
    request["subResource"] = attributes.subresource;
    request["requestSubResource"] = attributes.subresource;
  }
  return request;
}

std::optional<Question> MakeQuestion(const std::vector<std::string>& versions,
                                     const Attributes& attributes, const Invocation& invocation,
                                     const Json* object, const Json* old) {
  auto known = std::find_if(versions.begin(), versions.end(), [](const std::string& version) {
    return version == "v1" || version == "v1beta1";
  });
  if (known == versions.end()) return std::nullopt;
  Question question;
  question.uid = apiserver::NewUid();
  question.version = *known;
  Json request = RequestPart(attributes, invocation);
  request["uid"] = question.uid;
  request["options"] = attributes.options ? attributes.options() : Json();
  // The objects are large: they are written once, not copied into the tree.
  std::string text = DumpJson(request);
  text.pop_back();
  question.body = "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"" + std::string(kGroup) +
                  question.version + "\",\"request\":" + text +
                  ",\"object\":" + (object != nullptr ? DumpJson(*object) : "null") +
                  ",\"oldObject\":" + (old != nullptr ? DumpJson(*old) : "null") + "}}";
  return question;
}

std::variant<Verdict, Misread> ReadAnswer(const Question& question, bool mutating, int code,
                                          const std::string& body) {
  std::string problem;
  auto parsed = ParseAnswer(code, body, problem);
  if (!parsed) return Misread{"failed to call webhook: " + problem};
  const Json* response = Find(*parsed, {"response"});
  if (response == nullptr || !response->is_object()) {
    return Misread{"received invalid webhook response: webhook response was absent"};
  }
  if (question.version == "v1") {
    if (const std::string wrong = WrongV1(question, *parsed, mutating); !wrong.empty()) {
      return Misread{"received invalid webhook response: " + wrong};
    }
  }
  Verdict verdict;
  verdict.allowed = BoolAt(*response, {"allowed"});
  verdict.warnings = StringsAt(*response, {"warnings"});
  if (const Json* status = Find(*response, {"status"})) verdict.status = *status;
  if (const Json* notes = Find(*response, {"auditAnnotations"}); notes && notes->is_object()) {
    for (const auto& [key, value] : notes->items()) {
      if (value.is_string()) verdict.annotations[key] = value.get<std::string>();
    }
  }
  const std::string patch = StringAt(*response, {"patch"});
  if (!mutating || patch.empty() || !verdict.allowed) return verdict;
  const std::string type = StringAt(*response, {"patchType"});
  if (question.version == "v1" && type != "JSONPatch") {
    return Misread{"unsupported patch type " + Quoted(type)};
  }
  const auto decoded = openapi::DecodeBase64(patch);
  auto operations = decoded ? ParseJson(*decoded) : BadRequest("illegal base64 data");
  if (!operations.ok() || !(operations->is_array() || operations->is_null())) {
    return Misread{"received undecodable patch in webhook response: " +
                   (operations.ok() ? "not a list of operations" : operations.error().message())};
  }
  if (operations->is_array() && !operations->empty()) verdict.patch = std::move(*operations);
  return verdict;
}

Status Denied(const std::string& webhook, const Json& status) {
  int code = static_cast<int>(IntAt(status, {"code"}));
  if (code < 400 || code > 599) code = 400;
  Json copy = status.is_object() ? status : Json::object();
  copy["kind"] = "Status";
  const Status given = Status::FromBody(code, DumpJson(copy));
  const std::string reason = StringAt(copy, {"reason"});
  std::string message = "admission webhook " + Quoted(webhook) + " denied the request";
  if (!given.message().empty()) {
    message += ": " + given.message();
  } else {
    message += reason.empty() ? " without explanation" : ": " + reason;
  }
  return Status(reason.empty() ? Reason::kUnknown : given.reason(), code, std::move(message),
                given.details());
}

}  // namespace mailroom::admission
