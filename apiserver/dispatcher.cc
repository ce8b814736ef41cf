#include "apiserver/dispatcher.h"

#include <algorithm>

#include "apiserver/authn.h"
#include "apiserver/authz.h"
#include "apiserver/deadline.h"
#include "apiserver/document_form.h"
#include "apiserver/health.h"
#include "apiserver/kinds.h"
#include "apiserver/negotiate.h"
#include "apiserver/render.h"
#include "apiserver/router_error.h"
#include "apiserver/verbs.h"
#include "apiserver/warnings.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

using openapi::ResourceTypePtr;

// Cross-workspace reads may name custom resources, which no single catalogue knows: they are
// served as stored, without a schema.
ResourceTypePtr AnyCustomType(const RequestInfo& info) {
  if (info.group.find('.') == std::string::npos) return nullptr;
  auto type = std::make_shared<openapi::ResourceType>();
  type->gvk = {info.group, info.version, ""};
  type->plural = info.resource;
  type->list_kind = "List";
  type->namespaced = true;
  type->verbs = {"list", "watch"};
  type->stored_as = {info.group, info.resource};
  type->storage_version = info.version;
  type->builtin = false;
  return type;
}

Result<Response> RunVerb(Call& call) {
  const std::string& verb = call.info.verb;
  if (call.info.subresource == "scale") return Scale(call);
  if (verb == "get") return Get(call);
  if (verb == "list") return List(call);
  if (verb == "watch") return Watch(call);
  if (verb == "create") return Create(call);
  if (verb == "update") return Update(call);
  if (verb == "patch") return Patch(call);
  if (verb == "delete") return Delete(call);
  if (verb == "deletecollection") return DeleteCollection(call);
  return MethodNotAllowed(verb, call.type->plural, call.type->gvk.group);
}

// Built-in APIs are routed by path: an unknown resource of a known version has another answer
// than an unknown version. Custom resources have one answer for both.
bool IsBuiltinVersion(const openapi::Catalog& catalog, const RequestInfo& info) {
  for (const openapi::Group& group : catalog.groups()) {
    if (group.name != info.group) continue;
    for (const openapi::GroupVersion& version : group.versions) {
      if (version.version != info.version) continue;
      return !version.resources.empty() && version.resources.front()->builtin;
    }
  }
  return false;
}

// Scope of the URL against the kind's scope; false means there is no such path.
bool ScopeFits(const RequestInfo& info, const openapi::ResourceType& type) {
  if (info.all_workspaces) return info.verb == "list" || info.verb == "watch";
  if (!type.namespaced) return info.ns.empty();
  if (!info.ns.empty()) return true;
  return info.name.empty();
}

// Objects of all namespaces can be read but not written.
bool WritesAllNamespaces(const RequestInfo& info, const openapi::ResourceType& type) {
  return type.namespaced && info.ns.empty() && info.verb != "list" && info.verb != "watch";
}

Status MayNot(const RequestInfo& info, const openapi::ResourceType& type) {
  if (type.builtin) return RouterError(405);
  return MethodNotAllowed(info.verb, type.plural, type.gvk.group);
}

Result<void> CheckVerb(const RequestInfo& info, const openapi::ResourceType& type) {
  bool allowed = false;
  if (info.subresource.empty()) {
    allowed = type.HasVerb(info.verb);
  } else {
    const openapi::Subresource* sub = type.FindSubresource(info.subresource);
    if (sub == nullptr) {
      return type.builtin ? RouterError(404) : NotFound(type.plural, type.gvk.group, info.name);
    }
    const bool ours = info.subresource == "status" || info.subresource == "scale" ||
                      info.subresource == "finalize";
    for (const std::string& verb : sub->verbs) allowed = allowed || verb == info.verb;
    if (!ours && allowed) {
      return Status(Reason::kMethodNotAllowed,
                    "subresource " + Quoted(info.subresource) + " has no backend in a workspace");
    }
  }
  const bool named = !info.name.empty();
  if (allowed && !named && (info.verb == "update" || info.verb == "patch")) {
    return type.builtin ? RouterError(405) : BadRequest("name must be provided");
  }
  if (!allowed || (info.verb == "create" && named && info.subresource.empty())) {
    return MayNot(info, type);
  }
  return Ok();
}

void AddCommonHeaders(const Request& request, Response& response) {
  const std::string_view audit = request.headers.Get("audit-id");
  response.headers.Set("audit-id", audit.empty() ? NewUid() : std::string(audit));
  if (response.headers.Get("cache-control").empty()) {
    response.headers.Set("cache-control", "no-cache, private");
  }
}

}  // namespace

Dispatcher::Dispatcher(const Hub& hub) : hub_(hub) {
  for (int digit = 0; digit < 6; ++digit) {
    answers_.push_back(&metrics_.AddCounter("mailroom_answers_total", "Requests answered, by code.",
                                            "code=\"" + std::to_string(digit) + "xx\""));
  }
  AddStorageMetrics(metrics_, hub.store);
}

bool Dispatcher::MayBlock(const Request& request) const {
  if (hub_.reads_wait) return true;
  if (request.method != "GET" && request.method != "HEAD") return true;
  const std::size_t at = request.query.find("resourceVersion=");
  if (at == std::string::npos) return false;
  const char first = request.query[std::min(at + 16, request.query.size() - 1)];
  return first >= '1' && first <= '9';
}

Response Dispatcher::Handle(const Request& request) {
  auto response = Route(request, nullptr);
  Response out = response.ok() ? std::move(*response) : RenderError(request, response.error());
  AddCommonHeaders(request, out);
  answers_[static_cast<std::size_t>(std::clamp(out.code / 100, 0, 5))]->Add();
  return out;
}

Response Dispatcher::HandleAs(const Request& request, const User& user) {
  auto response = Route(request, &user);
  return response.ok() ? std::move(*response) : RenderError(request, response.error());
}

Result<Response> Dispatcher::Route(const Request& request, const User* known) {
  RequestInfo info = TRY(ParseRequestInfo(request));
  const User user = known != nullptr ? *known : TRY(Authenticate(request));
  TRY(Authorize(user, info));
  if (!info.is_resource) return NonResource(request, info);
  return Resource(request, std::move(info), user);
}

Result<Response> Dispatcher::Resource(const Request& request, RequestInfo info, const User& user) {
  WorkspaceView workspace =
      info.all_workspaces ? hub_.workspaces.All() : TRY(hub_.workspaces.Find(info.workspace));
  ResourceTypePtr type = workspace.catalog->FindShared(info.group, info.version, info.resource);
  if (type == nullptr && info.all_workspaces) type = AnyCustomType(info);
  if (type == nullptr || !ScopeFits(info, *type)) {
    if (IsBuiltinVersion(*workspace.catalog, info)) return RouterError(404);
    return TextResponse(404, "404 page not found\n");
  }
  if (type->builtin && (request.method == "HEAD" || WritesAllNamespaces(info, *type))) {
    return RouterError(405);
  }
  if (WritesAllNamespaces(info, *type)) return TextResponse(404, "404 page not found\n");
  TRY(CheckVerb(info, *type));
  TRY(CheckRouteMedia(request, info, *type));
  if (info.verb != "list" && info.verb != "watch" && info.verb != "deletecollection") {
    TRY(Negotiate(request, info.query, *type, Shape::kSingle));
  }
  const bool long_running = info.verb == "watch";
  const std::chrono::milliseconds timeout =
      long_running ? limits::kRequestTimeout : TRY(ParseTimeout(info.query));
  Call call{hub_, request, std::move(info), user, std::move(workspace), std::move(type), {}};
  call.patience = std::min(call.patience, timeout);
  if (!call.type->deprecation_warning.empty()) call.Warn(call.type->deprecation_warning);
  auto result = RunVerb(call);
  Response response = result.ok() ? std::move(*result) : RenderError(request, result.error());
  AddWarnings(call.warnings, response.headers);
  return response;
}

Result<Response> Dispatcher::NonResource(const Request& request, const RequestInfo& info) {
  if (auto health = HealthAnswer(info)) return std::move(*health);
  if (request.method != "GET") return RouterError(405);
  if (info.path == "/metrics" && info.workspace.name() == kRootWorkspace) {
    return TextResponse(200, metrics_.Text());
  }
  if (info.path == "/version") {
    return InAcceptedMedia(request, JsonResponse(200, DumpJsonPretty(VersionDocument())));
  }
  if (info.all_workspaces) return TextResponse(404, "404 page not found\n");
  const WorkspaceView workspace = TRY(hub_.workspaces.Find(info.workspace));
  if (info.segments.empty()) return RootDocument(*workspace.catalog);
  if (auto document = discovery_.Answer(request, info, workspace.catalog)) {
    return InAcceptedMedia(request, std::move(*document));
  }
  if (auto document = openapi_.Answer(request, info, workspace.catalog)) return std::move(*document);
  return NothingThere(info, *workspace.catalog);
}

}  // namespace mailroom::apiserver
