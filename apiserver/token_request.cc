// The token subresource of service accounts: a token for one audience and time.
#include <algorithm>

#include "apiserver/commit.h"
#include "apiserver/pods.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

Status InvalidRequest(std::vector<Cause> causes, const std::string& name = "") {
  return Invalid("TokenRequest", "authentication.k8s.io", name, std::move(causes));
}

Result<std::chrono::seconds> ValidityOf(const Json& request) {
  const std::int64_t seconds = IntAt(request, {"spec", "expirationSeconds"},
                                     std::chrono::seconds(limits::kTokenDefault).count());
  const std::string field = "spec.expirationSeconds";
  if (seconds < std::chrono::seconds(limits::kTokenShortest).count()) {
    return InvalidRequest({InvalidValue(field, std::to_string(seconds),
                                        "may not specify a duration less than 10 minutes")});
  }
  if (seconds > limits::kTokenLongest.count()) {
    return InvalidRequest({InvalidValue(field, std::to_string(seconds),
                                        "may not specify a duration larger than 2^32 seconds")});
  }
  return std::chrono::seconds(seconds);
}

const openapi::ResourceType& TokenRequestType() {
  static const openapi::ResourceType type = OrderType(
      {"authentication.k8s.io", "v1", "TokenRequest"}, "authentication/v1.TokenRequest");
  return type;
}

// The object the token is to die with.
Result<Bound> BoundOf(const Call& call, const Json& request) {
  Bound bound;
  const Json* ref = Find(request, {"spec", "boundObjectRef"});
  if (ref == nullptr || ref->is_null()) return bound;
  bound = {StringAt(*ref, {"kind"}), StringAt(*ref, {"name"}), StringAt(*ref, {"uid"})};
  const bool known = bound.kind == "Pod" || bound.kind == "Secret" || bound.kind == "Node";
  if (!known || StringAt(*ref, {"apiVersion"}) != "v1") {
    const std::string version = StringAt(*ref, {"apiVersion"});
    return BadRequest("cannot bind token to object of type " +
                      (version.find('/') == std::string::npos ? "/" + version : version) +
                      ", Kind=" + bound.kind);
  }
  const std::string plural = bound.kind == "Pod" ? "pods" : bound.kind == "Node" ? "nodes" : "secrets";
  const ObjectPtr object =
      call.hub.store.Get({call.info.workspace, {"", plural},
                          bound.kind == "Node" ? std::string() : call.info.ns, bound.name});
  if (object == nullptr) return NotFound(plural, "", bound.name);
  if (!bound.uid.empty() && bound.uid != object->meta().uid) {
    return Conflict(plural, "", bound.name,
                    "the UID in the bound object reference (" + bound.uid +
                        ") does not match the UID in record. The object might have been deleted "
                        "and then recreated");
  }
  if (bound.kind == "Pod" && object->ScalarAt("spec.serviceAccountName") != call.info.name) {
    return BadRequest("cannot bind token for serviceaccount " + Quoted(call.info.name) +
                      " to pod running with different serviceaccount name.");
  }
  bound.uid = object->meta().uid;
  return bound;
}

}  // namespace

Result<Response> RequestToken(Call& call) {
  const WriteOptions options = TRY(ParseWriteOptions(call, "CreateOptions"));
  Json request = TRY(ReadOrder(call, options, TokenRequestType()));
  const std::string name = StringAt(request, {"metadata", "name"});
  if (!name.empty() && name != call.info.name) {
    return InvalidRequest({InvalidValue("metadata.name", Quoted(name),
                                        "must match the service account name if specified")},
                          call.info.name);
  }
  TRY(call.hub.store.Freshen());
  const ObjectPtr account = call.hub.store.Get(call.Key());
  if (account == nullptr) return call.NotFoundHere();
  TokenSpec spec;
  spec.workspace = call.info.workspace.name();
  spec.ns = call.info.ns;
  spec.account = call.info.name;
  spec.account_uid = account->meta().uid;
  spec.audiences = StringsAt(request, {"spec", "audiences"});
  if (spec.audiences.empty()) spec.audiences = {call.hub.tokens.IssuerOf(spec.workspace)};
  spec.validity = TRY(ValidityOf(request));
  spec.bound = TRY(BoundOf(call, request));
  const std::chrono::seconds told = spec.validity;
  const bool ours = spec.audiences == std::vector{call.hub.tokens.IssuerOf(spec.workspace)};
  if (spec.bound.kind == "Pod" && ours && told == kPodTokenTold) {
    spec.warn_after = told;
    spec.validity = kPodTokenReal;
  }
  Set(request, {"metadata", "name"}, call.info.name);
  Set(request, {"metadata", "namespace"}, call.info.ns);
  Set(request, {"spec", "audiences"}, spec.audiences);
  Set(request, {"spec", "expirationSeconds"}, told.count());
  if (!request["spec"].contains("boundObjectRef")) request["spec"]["boundObjectRef"] = nullptr;
  request["status"] = {
      {"token", options.dry_run ? "" : call.hub.tokens.Issue(spec)},
      {"expirationTimestamp", FormatTime(call.hub.clock.Now() + told)}};
  return RenderTree(call, *call.type, 201, request);
}

}  // namespace mailroom::apiserver
