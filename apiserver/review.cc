// Reviews: questions about users and rights, answered from what the server knows and not stored.
#include <map>

#include "apiserver/auth/homes.h"
#include "apiserver/commit.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"
#include "storage/object/label_key.h"
#include "storage/object/selector.h"

namespace mailroom::apiserver {
namespace {

Json UserInfo(const User& user) {
  Json out = {{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = user.groups;
  for (const auto& [key, values] : user.extra) out["extra"][key] = values;
  return out;
}

// The user a SubjectAccessReview asks about, as this workspace would see them.
User UserOf(const Call& call, const Json& spec) {
  User user{StringAt(spec, {"user"}), StringsAt(spec, {"groups"}), StringAt(spec, {"uid"})};
  if (const Json* extra = Find(spec, {"extra"}); extra != nullptr && extra->is_object()) {
    for (const auto& [key, value] : extra->items()) user.extra[key] = StringsAt(*extra, {key});
  }
  if (IsLocalName(user.name)) user.home = call.info.workspace.name();
  return user;
}

// What is wrong with the selector of a request that is asked about. Operators this server does not
// know are allowed: newer clients may ask newer authorizers.
void CheckSelector(const Json& attributes, const std::string& member, std::vector<Cause>& causes) {
  const Json* selector = Find(attributes, {member});
  if (selector == nullptr || !selector->is_object()) return;
  const std::string path = "spec.resourceAttributes." + member;
  const std::string raw = StringAt(*selector, {"rawSelector"});
  const Json* requirements = Find(*selector, {"requirements"});
  const bool required = requirements != nullptr && requirements->is_array() && !requirements->empty();
  if (!raw.empty() && required) {
    causes.push_back(InvalidValue(path + ".rawSelector", Quoted(raw),
                                  "may not specified at the same time as requirements"));
  }
  if (raw.empty() && !required) {
    causes.push_back(RequiredValue(path + ".requirements",
                                   "when " + path + " is specified, requirements or rawSelector is "
                                   "required"));
  }
  if (!required) return;
  for (std::size_t i = 0; i < requirements->size(); ++i) {
    const Json& each = (*requirements)[i];
    const std::string where = path + ".requirements[" + std::to_string(i) + "]";
    const std::string op = StringAt(each, {"operator"}), key = StringAt(each, {"key"});
    const bool values = !StringsAt(each, {"values"}).empty();
    if (key.empty() && member == "fieldSelector") {
      causes.push_back(RequiredValue(where + ".key", "must be specified"));
    }
    if ((op == "In" || op == "NotIn") && !values) {
      causes.push_back(RequiredValue(where + ".values",
                                     "must be specified when `operator` is 'In' or 'NotIn'"));
    }
    if ((op == "Exists" || op == "DoesNotExist") && values) {
      causes.push_back(ForbiddenValue(
          where + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
    if (member != "labelSelector") continue;
    for (const std::string& bad : LabelKeyFaults(key)) {
      causes.push_back(InvalidValue(where + ".key", Quoted(key), bad));
    }
  }
}

// As the original has it itself: by other names than it reads.
std::string ShownPath(const Json& path) {
  return DumpJson({{"Path", StringAt(path, {"path"})}, {"Verb", StringAt(path, {"verb"})}});
}

std::vector<Cause> SpecCauses(const Json& spec, bool about_others) {
  std::vector<Cause> causes;
  const Json* resource = Find(spec, {"resourceAttributes"});
  const Json* path = Find(spec, {"nonResourceAttributes"});
  if (resource != nullptr && path != nullptr) {
    causes.push_back(InvalidValue("spec.nonResourceAttributes", ShownPath(*path),
                                  "cannot be specified in combination with resourceAttributes"));
  } else if (resource == nullptr && path == nullptr) {
    causes.push_back(
        InvalidValue("spec.resourceAttributes", "null",
                     "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (about_others && StringAt(spec, {"user"}).empty() && StringsAt(spec, {"groups"}).empty()) {
    causes.push_back(InvalidValue("spec.user", "\"\"",
                                  "at least one of user or group must be specified"));
  }
  if (resource != nullptr) {
    CheckSelector(*resource, "fieldSelector", causes);
    CheckSelector(*resource, "labelSelector", causes);
  }
  return causes;
}

// Reviews of access have nothing but a spec.
void CheckMetadata(const Json& review, const char* what, std::vector<Cause>& causes) {
  Json metadata = review.value("metadata", Json::object());
  for (const char* ignored : {"managedFields", "creationTimestamp", "namespace"}) {
    metadata.erase(ignored);
  }
  if (!metadata.empty()) causes.push_back(InvalidValue("metadata", DumpJson(metadata), what));
}

Result<void> Check(const Call& call, std::vector<Cause> causes) {
  if (causes.empty()) return Ok();
  // Kubernetes names no kind here.
  return Invalid("", call.type->gvk.group, "", std::move(causes));
}

Json StatusOf(const Call& call, const User& user, const Json& spec) {
  const Json* resource = Find(spec, {"resourceAttributes"});
  const Json& facts = resource != nullptr ? *resource : *Find(spec, {"nonResourceAttributes"});
  const std::string verb = StringAt(facts, {"verb"}), group = StringAt(facts, {"group"}),
                    version = StringAt(facts, {"version"}), name = StringAt(facts, {"name"}),
                    plural = StringAt(facts, {"resource"}), ns = StringAt(facts, {"namespace"}),
                    subresource = StringAt(facts, {"subresource"}),
                    path = StringAt(facts, {"path"});
  Attributes asked;
  asked.workspace = call.info.workspace.name();
  asked.verb = verb;
  asked.is_resource = resource != nullptr;
  asked.group = group;
  asked.version = version;
  asked.resource = plural;
  asked.subresource = subresource;
  asked.ns = ns;
  asked.name = name;
  asked.path = path;
  const Decision decision = call.hub.authorizer.Decide(user, asked);
  Json status = {{"allowed", decision.allowed}};
  if (!decision.reason.empty()) status["reason"] = decision.reason;
  return status;
}

Result<void> SelfSubjectAccess(Call& call, Json& review) {
  const Json& spec = review["spec"];
  std::vector<Cause> causes = SpecCauses(spec, false);
  CheckMetadata(review, "must be empty", causes);
  TRY(Check(call, std::move(causes)));
  review["status"] = StatusOf(call, call.user, spec);
  return Ok();
}

Result<void> SubjectAccess(Call& call, Json& review) {
  const Json& spec = review["spec"];
  std::vector<Cause> causes = SpecCauses(spec, true);
  CheckMetadata(review, "must be empty", causes);
  TRY(Check(call, std::move(causes)));
  review["status"] = StatusOf(call, UserOf(call, spec), spec);
  return Ok();
}

Result<void> LocalSubjectAccess(Call& call, Json& review) {
  const Json& spec = review["spec"];
  const std::string& ns = call.info.ns;
  const std::string named = StringAt(review, {"metadata", "namespace"});
  if (!named.empty() && named != ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  Set(review, {"metadata", "namespace"}, ns);
  std::vector<Cause> causes = SpecCauses(spec, true);
  CheckMetadata(review, "must be empty except for namespace", causes);
  const std::string asked = StringAt(spec, {"resourceAttributes", "namespace"});
  if (Find(spec, {"resourceAttributes"}) != nullptr && asked != ns) {
    causes.push_back(InvalidValue("spec.resourceAttributes.namespace", Quoted(asked),
                                  "must match metadata.namespace"));
  }
  if (const Json* path = Find(spec, {"nonResourceAttributes"})) {
    causes.push_back(InvalidValue("spec.nonResourceAttributes", ShownPath(*path),
                                  "disallowed on this kind of request"));
  }
  TRY(Check(call, std::move(causes)));
  review["status"] = StatusOf(call, UserOf(call, spec), spec);
  return Ok();
}

Result<void> SelfSubjectRules(Call& call, Json& review) {
  const std::string ns = StringAt(review, {"spec", "namespace"});
  if (ns.empty()) return BadRequest("no namespace on request");
  Json resources = Json::array(), paths = Json::array();
  for (const Rule& rule :
       call.hub.authorizer.RulesFor(call.user, call.info.workspace.name(), ns)) {
    (rule.urls.empty() ? resources : paths).push_back(RuleToJson(rule));
  }
  // The answer is a new object: it repeats no question.
  review["metadata"] = Json::object();
  review["spec"] = Json::object();
  review["status"] = {{"resourceRules", std::move(resources)},
                      {"nonResourceRules", std::move(paths)},
                      {"incomplete", false}};
  return Ok();
}

// A token that does not hold is an answer, not an error.
Result<void> TokenReview(Call& call, Json& review) {
  const std::string token = StringAt(review, {"spec", "token"});
  if (token.empty()) return BadRequest("token is required for TokenReview in authentication");
  const std::vector<std::string> wanted = StringsAt(review, {"spec", "audiences"});
  const std::string& workspace = call.info.workspace.name();
  Json status = Json::object();
  auto verified = call.hub.tokens.Verify(token, wanted);
  if (verified.ok() && verified->user.home == workspace) {
    AddAuthenticated(verified->user);
    status = {{"authenticated", true}, {"user", UserInfo(verified->user)},
              {"audiences", verified->audiences}};
  } else if (auto user = call.hub.authenticator.AuthenticateToken(token, workspace);
             wanted.empty() && user.ok() && user->home == workspace) {
    status = {{"authenticated", true}, {"user", UserInfo(*user)},
              {"audiences", {call.hub.tokens.IssuerOf(workspace)}}};
  } else {
    status = {{"user", Json::object()}, {"error", "invalid bearer token"}};
  }
  review["status"] = std::move(status);
  return Ok();
}

Result<void> SelfSubject(Call& call, Json& review) {
  review["status"] = {{"userInfo", UserInfo(call.user)}};
  return Ok();
}

using Answer = Result<void> (*)(Call& call, Json& review);

}  // namespace

Result<Response> Review(Call& call) {
  static const std::map<std::string, Answer> kAnswers = {
      {"LocalSubjectAccessReview", LocalSubjectAccess},
      {"SelfSubjectAccessReview", SelfSubjectAccess},
      {"SelfSubjectReview", SelfSubject},
      {"SelfSubjectRulesReview", SelfSubjectRules},
      {"SubjectAccessReview", SubjectAccess},
      {"TokenReview", TokenReview},
  };
  if (call.type->gvk.kind == "Binding") return Bind(call);
  auto it = kAnswers.find(call.type->gvk.kind);
  if (it == kAnswers.end()) {
    return MethodNotAllowed("create", call.type->plural, call.type->gvk.group);
  }
  const WriteOptions options = TRY(ParseWriteOptions(call, "CreateOptions"));
  Body body = TRY(DecodeBody(call, call.type->gvk));
  Draft draft{std::move(body.tree), std::move(body.duplicates)};
  TRY(Normalize(call, options, draft));
  Json& review = draft.object;
  TRY(it->second(call, review));
  return RenderTree(call, *call.type, 201, review);
}

}  // namespace mailroom::apiserver
