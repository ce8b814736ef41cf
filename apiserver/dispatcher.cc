#include "apiserver/dispatcher.h"

#include <algorithm>

#include "apiserver/aggregator.h"
#include "apiserver/auth/impersonate.h"
#include "apiserver/deadline.h"
#include "apiserver/document_form.h"
#include "apiserver/health.h"
#include "apiserver/kinds.h"
#include "apiserver/negotiate.h"
#include "apiserver/overseen_stream.h"
#include "apiserver/render.h"
#include "apiserver/router_error.h"
#include "apiserver/verbs.h"
#include "apiserver/warnings.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/resource_key.h"

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
  if (call.info.subresource == "token") return RequestToken(call);
  if (call.info.subresource == "eviction") return Evict(call);
  if (call.info.subresource == "binding") return Bind(call);
  if (verb == "get") return Get(call);
  if (verb == "list") return List(call);
  if (verb == "watch") return Watch(call);
  if (verb == "create") return call.type->stored ? Create(call) : Review(call);
  if (verb == "update") return Update(call);
  if (verb == "patch") return Patch(call);
  if (verb == "delete") return Delete(call);
  if (verb == "deletecollection") return DeleteCollection(call);
  return MethodNotAllowed(verb, call.type->plural, call.type->gvk.group);
}

constexpr std::string_view kOpenIdConfiguration = "/.well-known/openid-configuration";
constexpr std::string_view kOpenIdKeys = "/openid/v1/jwks";
constexpr const char* kMayBeKept = "public, max-age=3600";

// Built-in APIs are routed by path: what is unknown in a known group has another answer than an
// unknown group. Custom resources have one answer for both.
bool IsBuiltinGroup(const openapi::Catalog& catalog, const RequestInfo& info) {
  for (const openapi::Group& group : catalog.groups()) {
    if (group.name != info.group) continue;
    for (const openapi::GroupVersion& version : group.versions) {
      if (!version.resources.empty()) return version.resources.front()->builtin;
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

// Subresources whose answer comes from where the object runs.
bool NeedsNode(std::string_view subresource) {
  return subresource == "attach" || subresource == "exec" || subresource == "log" ||
         subresource == "portforward" || subresource == "proxy";
}

// A definition that goes no longer announces writes, but they are how its objects are let go. A
// create is refused later, in words of its own.
bool Serves(const openapi::ResourceType& type, std::string_view verb) {
  if (type.HasVerb(verb)) return true;
  const bool writes = verb == "create" || verb == "patch" || verb == "update";
  return writes && !type.builtin && type.HasVerb("delete");
}

Result<void> CheckVerb(const RequestInfo& info, const openapi::ResourceType& type) {
  bool allowed = false;
  if (info.subresource.empty()) {
    allowed = Serves(type, info.verb);
  } else {
    const openapi::Subresource* sub = type.FindSubresource(info.subresource);
    if (sub == nullptr) {
      return type.builtin ? RouterError(404) : NotFound(type.plural, type.gvk.group, info.name);
    }
    if (info.deeper && info.subresource != "proxy") return RouterError(404);
    for (const std::string& verb : sub->verbs) allowed = allowed || verb == info.verb;
    if (allowed && NeedsNode(info.subresource)) {
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

// Nothing is done for an answer that the client would not take. Lists and watches find out by themselves.
Result<void> CheckForm(const Request& request, const RequestInfo& info,
                       const openapi::ResourceType& type) {
  if (info.verb == "list" || info.verb == "watch") return Ok();
  if (info.verb == "delete") {
    TRY(NegotiateDeleted(request, info.query, type));
  } else {
    const bool many = info.verb == "deletecollection";
    TRY(Negotiate(request, info.query, type, many ? Shape::kList : Shape::kSingle));
  }
  return Ok();
}

// A watch ends with the definition of its kind.
Result<void> CheckServed(const Hub& hub, const RequestInfo& info) {
  if (info.all_workspaces) return Ok();
  const WorkspaceView workspace = TRY(hub.workspaces.Find(info.workspace));
  if (workspace.catalog->FindShared(info.group, info.version, info.resource)) return Ok();
  const bool elsewhere = hub.aggregator != nullptr &&
                         hub.aggregator->Serves(info.workspace, info.group, info.version);
  if (elsewhere) return Ok();
  return NotFound(info.resource, info.group, "");
}

std::string AuditId(const Request& request) {
  const std::string_view given = request.headers.Get("audit-id");
  return given.empty() ? NewUid() : std::string(given);
}

void AddCommonHeaders(const std::string& audit_id, Response& response) {
  response.headers.Set("audit-id", audit_id);
  if (response.headers.Get("cache-control").empty()) {
    response.headers.Set("cache-control", "no-cache, private");
  }
}

// Reaching a mailbox by root's proxy subresource is a right of its own.
Attributes ProxyAttributes(const RequestInfo& info, const std::string& method) {
  Attributes asked;
  asked.workspace = kRootWorkspace;
  asked.verb = method == "POST"     ? "create"
               : method == "PUT"    ? "update"
               : method == "PATCH"  ? "patch"
               : method == "DELETE" ? "delete"
                                    : "get";
  asked.group = kMailboxesResource.group;
  asked.version = "v1alpha1";
  asked.resource = kMailboxesResource.resource;
  asked.subresource = "proxy";
  asked.name = info.workspace.name();
  return asked;
}

// Whether that workspace is a mailbox which root has a Mailbox object for. The object alone opens
// nothing: whoever may write one may give it any name.
bool IsMailbox(const storage::CachedStore& store, const std::string& name) {
  const Workspace root{std::string(kRootWorkspace)};
  const ObjectPtr workspace = store.Get({root, kWorkspacesResource, "", name});
  return workspace != nullptr && workspace->ScalarAt("spec.type") == "mailbox" &&
         store.Get({root, kMailboxesResource, "", name}) != nullptr;
}

}  // namespace

Dispatcher::Dispatcher(const Hub& hub) : hub_(hub) {
  for (int digit = 0; digit < 6; ++digit) {
    answers_.push_back(&metrics_.AddCounter("mailroom_answers_total", "Requests answered, by code.",
                                            "code=\"" + std::to_string(digit) + "xx\""));
  }
  AddStorageMetrics(metrics_, hub.store);
  if (hub.authorizer.Delegates()) {
    checkers_ = std::make_unique<WorkerPool>(limits::kRecheckThreads, limits::kRecheckQueue);
  }
  if (hub.audit == nullptr) return;
  metrics_.AddGauges({{"mailroom_audit_events_lost_total", "Audit events that could not be written.",
                       Metrics::Named::Type::kCounter}},
                     [audit = hub.audit] {
                       return std::vector<double>{static_cast<double>(audit->lost())};
                     });
}

Response Dispatcher::Handle(const Request& request) {
  const std::string id = AuditId(request);
  std::optional<AuditRecord> record;
  if (hub_.audit != nullptr) record = hub_.audit->Begin(id);
  auto response = Route(request, nullptr, record ? &*record : nullptr);
  Response out = response.ok() ? std::move(*response) : RenderError(request, response.error());
  AddCommonHeaders(id, out);
  answers_[static_cast<std::size_t>(std::clamp(out.code / 100, 0, 5))]->Add();
  if (record) {
    auto ended = hub_.audit->Answered(std::move(*record), request, out);
    if (ended && out.stream != nullptr) {
      apiserver::Oversee(out, hub_.timers, {.ticket = {}, .check = {}, .ended = std::move(ended)});
    }
  }
  return out;
}

Response Dispatcher::HandleAs(const Request& request, const User& user) {
  auto response = Route(request, &user, nullptr);
  return response.ok() ? std::move(*response) : RenderError(request, response.error());
}

Result<Response> Dispatcher::Route(const Request& request, const User* known,
                                   AuditRecord* record) {
  RequestInfo info = TRY(ParseRequestInfo(request));
  if (record != nullptr) record->info = info;
  const std::chrono::nanoseconds timeout =
      IsLongRunning(info) ? limits::kRequestTimeout : TRY(ParseTimeout(info.query));
  const Deadline deadline = DeadlineOf(info, std::chrono::steady_clock::now(), timeout);
  const User sender = known != nullptr
                          ? *known
                          : TRY(hub_.authenticator.Authenticate(request, info.workspace.name()));
  if (record != nullptr) {
    record->user = sender;
    hub_.audit->Received(*record, request);
  }
  const std::optional<User> other =
      TRY(Impersonate(hub_.authorizer, sender, request.headers, AttributesOf(info)));
  const User& user = other ? *other : sender;
  if (record != nullptr && other) record->impersonated = user;
  TRY(MayDo(user, request.method, info, record));
  // What everybody may ask does not tell which mailboxes there are.
  if (info.proxied && !IsPublic(AttributesOf(info)) &&
      !IsMailbox(hub_.store, info.workspace.name())) {
    return NotFound(kMailboxesResource.resource, kMailboxesResource.group, info.workspace.name());
  }
  std::optional<RemoteApi> elsewhere;
  if (hub_.aggregator != nullptr) elsewhere = hub_.aggregator->Find(info);
  if (!elsewhere && !info.is_resource) return NonResource(request, info);
  auto answer = [&](RequestInfo asked) -> Result<Response> {
    if (elsewhere) return hub_.aggregator->Forward(*elsewhere, request, asked, user, deadline);
    return Resource(request, std::move(asked), user, deadline, record);
  };
  const bool oversee = known == nullptr && info.verb == "watch";
  if (!oversee) return answer(std::move(info));
  Response response = TRY(answer(info));
  if (response.stream != nullptr) TRY(Oversee(request, std::move(info), sender, response));
  return response;
}

// What a request proves who sent it with, and whom they act as.
Request Dispatcher::CredentialsOf(const Request& request) const {
  Request out = hub_.authenticator.CredentialsOf(request);
  for (const auto& [name, value] : request.headers.fields()) {
    if (name.starts_with("impersonate-")) out.headers.Add(name, value);
  }
  return out;
}

Result<void> Dispatcher::MayDo(const User& user, const std::string& method, const RequestInfo& info,
                               AuditRecord* record) const {
  const Attributes asked = AttributesOf(info);
  const Attributes proxy = info.proxied ? ProxyAttributes(info, method) : Attributes();
  Decision decision = hub_.authorizer.Decide(user, info.proxied ? proxy : asked);
  if (info.proxied && !decision.allowed) {
    if (Decision inside = hub_.authorizer.Decide(user, asked); inside.allowed) decision = inside;
  }
  if (record != nullptr) {
    record->decision = decision.allowed ? "allow" : "forbid";
    record->reason = decision.reason;
  }
  if (decision.allowed) return Ok();
  return ForbiddenTo(user, info.proxied ? proxy : asked, decision.reason);
}

// Everything that let the watch begin is asked again: who it is, by a certificate or token that may
// have ended; whether they may act as the one they act as; whether that one may watch. Whoever acts
// as others has no more watches for it.
Result<void> Dispatcher::Oversee(const Request& request, RequestInfo info, const User& sender,
                                 Response& response) {
  Oversight oversight;
  if (hub_.watches != nullptr) oversight.ticket = TRY(hub_.watches->Take(sender));
  if (const std::time_t until = request.peer.until; until != 0) {
    const std::time_t now = std::chrono::system_clock::to_time_t(hub_.clock.Now());
    const std::chrono::seconds left(std::clamp<std::time_t>(
        until - now, 1, std::chrono::seconds(limits::kWatchRecheck).count()));
    oversight.every = left;
  }
  info.segments.clear();
  info.query = Query();
  oversight.check = [this, info = std::move(info),
                     credentials = CredentialsOf(request)]() -> Result<void> {
    User who = TRY(hub_.authenticator.Authenticate(credentials, info.workspace.name()));
    if (auto other = TRY(Impersonate(hub_.authorizer, who, credentials.headers, AttributesOf(info)))) {
      who = std::move(*other);
    }
    TRY(MayDo(who, "GET", info, nullptr));
    if (info.proxied && !IsMailbox(hub_.store, info.workspace.name())) {
      return NotFound(kMailboxesResource.resource, kMailboxesResource.group, info.workspace.name());
    }
    return CheckServed(hub_, info);
  };
  oversight.checkers = checkers_.get();
  apiserver::Oversee(response, hub_.timers, std::move(oversight));
  return Ok();
}

Result<Response> Dispatcher::Resource(const Request& request, RequestInfo info, const User& user,
                                      const Deadline& deadline, AuditRecord* record) {
  WorkspaceView workspace =
      info.all_workspaces ? hub_.workspaces.All() : TRY(hub_.workspaces.Find(info.workspace));
  ResourceTypePtr type = workspace.catalog->FindShared(info.group, info.version, info.resource);
  if (type == nullptr && info.all_workspaces) type = AnyCustomType(info);
  if (type == nullptr || !ScopeFits(info, *type) || info.path_verb == "proxy") {
    if (IsBuiltinGroup(*workspace.catalog, info)) return RouterError(404);
    return TextResponse(404, "404 page not found\n");
  }
  if (type->builtin && (request.method == "HEAD" || WritesAllNamespaces(info, *type))) {
    return RouterError(405);
  }
  if (!info.path_verb.empty() && request.method != "GET") return RouterError(405);
  if (WritesAllNamespaces(info, *type)) return TextResponse(404, "404 page not found\n");
  TRY(CheckVerb(info, *type));
  TRY(CheckRouteMedia(request, info, *type));
  TRY(CheckForm(request, info, *type));
  Call call{hub_, request, std::move(info), user, std::move(workspace), std::move(type), {}};
  call.deadline = deadline;
  if (!call.type->deprecation_warning.empty()) call.Warn(call.type->deprecation_warning);
  if (record != nullptr) record->served = true;
  auto result = RunVerb(call);
  // Whoever asked has gone by then, whatever was done meanwhile.
  if (auto in_time = InTime(deadline); !in_time.ok()) result = std::move(in_time).error();
  Response response = result.ok() ? std::move(*result) : RenderError(request, result.error());
  AddWarnings(call.warnings, response.headers);
  if (record != nullptr) record->annotations = std::move(call.annotations);
  return response;
}

// Most of these paths are answered alike whatever is done to them; what the original routes by method
// can only be read.
Result<Response> Dispatcher::NonResource(const Request& request, const RequestInfo& info) {
  Response answer = TRY(Document(request, info));
  if (request.method == "GET" || answer.code != 200) return answer;
  bool only_read = info.path == "/version" || info.path == kOpenIdConfiguration || info.path == kOpenIdKeys;
  // What everybody may ask does not tell which workspaces there are.
  if (!only_read && !info.all_workspaces && !IsPublic(AttributesOf(info))) {
    only_read = IsRoutedDocument(info, *TRY(hub_.workspaces.Find(info.workspace)).catalog);
  }
  if (only_read) return RouterError(405);
  return answer;
}

Result<Response> Dispatcher::Document(const Request& request, const RequestInfo& info) {
  if (auto health = HealthAnswer(request, info, hub_)) return std::move(*health);
  if (info.path == "/metrics" && info.workspace.name() == kRootWorkspace) {
    return TextResponse(200, metrics_.Text());
  }
  if (info.path == "/version") {
    TRY(CheckJsonMedia(request));
    return JsonResponse(200, DumpJsonPretty(VersionDocument()));
  }
  // A check there is not has one answer everywhere: it does not tell which workspaces there are.
  if (info.all_workspaces || IsPublic(AttributesOf(info))) return TextResponse(404, "404 page not found\n");
  const WorkspaceView workspace = TRY(hub_.workspaces.Find(info.workspace));
  if (info.segments.empty()) return RootDocument(*workspace.catalog);
  if (info.path == kOpenIdConfiguration) {
    Response document = JsonResponse(200, DumpJson(hub_.tokens.Configuration(info.workspace.name())));
    document.headers.Set("cache-control", kMayBeKept);
    return document;
  }
  if (info.path == kOpenIdKeys) {
    Response keys = JsonResponse(200, DumpJson(hub_.tokens.key_set()));
    keys.headers.Set("content-type", "application/jwk-set+json");
    keys.headers.Set("cache-control", kMayBeKept);
    return keys;
  }
  if (IsRoutedDocument(info, *workspace.catalog)) TRY(CheckDocumentMedia(request));
  if (hub_.aggregator != nullptr) {
    if (auto shared = hub_.aggregator->Discover(request, info, workspace, discovery_)) {
      return InAcceptedMedia(request, std::move(*shared));
    }
    if (auto shared = hub_.aggregator->Version2Answer(request, info, workspace, openapi_)) {
      return std::move(*shared);
    }
    if (auto shared = hub_.aggregator->Index(request, info, workspace, openapi_)) {
      return std::move(*shared);
    }
  }
  if (auto document = discovery_.Answer(request, info, workspace.catalog)) {
    return InAcceptedMedia(request, std::move(*document));
  }
  if (auto document = openapi_.Answer(request, info, workspace.catalog)) return std::move(*document);
  return NothingThere(info, *workspace.catalog);
}

}  // namespace mailroom::apiserver
