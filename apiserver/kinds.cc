#include "apiserver/kinds.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_set>

#include "apiserver/auth/bootstrap_policy.h"
#include "apiserver/claims.h"
#include "apiserver/convert_autoscaler.h"
#include "apiserver/device_claims.h"
#include "apiserver/escalation.h"
#include "apiserver/local_apis.h"
#include "apiserver/pod_create.h"
#include "apiserver/pods.h"
#include "apiserver/remote_apis.h"
#include "apiserver/request_info.h"
#include "apiserver/services.h"
#include "apiserver/signing_request.h"
#include "apiserver/write_options.h"
#include "openapi/crd.h"
#include "openapi/policy_types.h"
#include "storage/object/json_path.h"
#include "storage/object/resource_key.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kCrdCleanup = "customresourcecleanup.apiextensions.k8s.io";

// Namespaces.

Result<void> PrepareNamespace(Call& call, Json& object, const Json* live) {
  const std::string name = StringAt(object, {"metadata", "name"});
  if (!name.empty()) Set(object, {"metadata", "labels", "kubernetes.io/metadata.name"}, name);
  if (live == nullptr) {
    auto finalizers = StringsAt(object, {"spec", "finalizers"});
    if (std::find(finalizers.begin(), finalizers.end(), "kubernetes") == finalizers.end()) {
      finalizers.emplace_back("kubernetes");
    }
    Set(object, {"spec", "finalizers"}, finalizers);
    Set(object, {"status"}, {{"phase", "Active"}});
  } else if (call.info.subresource != "finalize") {
    const Json* finalizers = Find(*live, {"spec", "finalizers"});
    if (finalizers != nullptr) Set(object, {"spec", "finalizers"}, *finalizers);
  }
  return Ok();
}

bool NamespaceHolds(const Json& object) {
  const Json* finalizers = Find(object, {"spec", "finalizers"});
  return finalizers != nullptr && !finalizers->empty();
}

void TerminateNamespace(Json& object) {
  Set(object, {"status", "phase"}, "Terminating");
  Erase(object, {"metadata", "deletionGracePeriodSeconds"});
}

Result<void> MayDeleteNamespace(const Call& call, std::string_view name) {
  if (name == "default" || name == "kube-system" || name == "kube-public") {
    return Forbidden(call.type->plural, "", name, "this namespace may not be deleted");
  }
  return Ok();
}

// PriorityClasses. What every cluster has is not deleted by its name; with a whole collection it goes
// until the next start.

Result<void> MayDeletePriority(const Call& call, std::string_view name) {
  const bool own = name == "system-cluster-critical" || name == "system-node-critical";
  if (!own || call.info.verb != "delete" || !openapi::PolicyIsLive(call.workspace.type)) return Ok();
  return Forbidden(call.type->plural, call.type->gvk.group, name,
                   "this is a system priority class and cannot be deleted");
}

// DaemonSets. Where they are acted on, an annotation counts the changes of their template.

Result<void> PrepareDaemonSet(Call& call, Json& object, const Json* live) {
  constexpr std::string_view kCount = "deprecated.daemonset.template.generation";
  if (!openapi::PolicyIsLive(call.workspace.type)) return Ok();
  const Json* given = Find(live == nullptr ? object : *live, {"metadata", "annotations", kCount});
  std::int64_t count = 0;
  if (given != nullptr && given->is_string()) {
    const std::string& text = given->get_ref<const std::string&>();
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, count);
    if (read.ec != std::errc() || read.ptr != end) {
      return CannotBeHandled(call.type->gvk,
                             "strconv.ParseInt: parsing " + Quoted(text) + ": invalid syntax");
    }
  }
  if (live == nullptr) {
    count = std::max<std::int64_t>(count, 1);
  } else {
    const Json *before = Find(*live, {"spec", "template"}),
               *now = Find(object, {"spec", "template"});
    if (before != nullptr && now != nullptr && *before != *now) ++count;
  }
  if (count > 0) Set(object, {"metadata", "annotations", kCount}, std::to_string(count));
  return Ok();
}

// CustomResourceDefinitions.

// Names that other definitions of the group hold, as the workspace's catalogue has them.
// `without` is the plural name of one that is going.
openapi::TakenNames OtherNames(const Call& call, const Json& crd,
                               const std::string& without = "") {
  openapi::TakenNames taken;
  const std::string group = StringAt(crd, {"spec", "group"});
  const std::string self = StringAt(crd, {"spec", "names", "plural"});
  for (const openapi::Group& served : call.workspace.catalog->groups()) {
    if (served.name != group) continue;
    for (const openapi::GroupVersion& version : served.versions) {
      for (const openapi::ResourceTypePtr& type : version.resources) {
        if (type->builtin || type->plural == self || type->plural == without) continue;
        taken.plurals.push_back(type->plural);
        taken.singulars.push_back(type->singular);
        taken.kinds.push_back(type->gvk.kind);
        taken.list_kinds.push_back(type->list_kind);
        taken.short_names.insert(taken.short_names.end(), type->short_names.begin(),
                                 type->short_names.end());
      }
    }
  }
  return taken;
}

Result<void> PrepareCrd(Call& call, Json& object, const Json* live) {
  openapi::DefaultCrd(object);
  if (live == nullptr) {
    Json* finalizers = Find(object, {"metadata", "finalizers"});
    if (finalizers == nullptr || !finalizers->is_array()) {
      finalizers = &Set(object, {"metadata", "finalizers"}, Json::array());
    }
    if (std::find(finalizers->begin(), finalizers->end(), kCrdCleanup) == finalizers->end()) {
      finalizers->push_back(kCrdCleanup);
    }
  }
  if (call.info.subresource.empty() && openapi::ValidateCrd(object, live).empty()) {
    openapi::EstablishCrd(object, OtherNames(call, object), FormatTime(call.hub.clock.Now()));
  }
  return Ok();
}

std::vector<Cause> ValidateCrdObject(const Call& call, const Json& object, const Json* live) {
  if (call.info.subresource == "status") return {};  // the rest is the live definition's
  std::vector<Cause> causes = openapi::ValidateCrd(object, live);
  const std::string plural = StringAt(object, {"spec", "names", "plural"});
  const GroupResource defined{StringAt(object, {"spec", "group"}), plural};
  // One that is there, from before this was refused, is not served, but can be let go.
  if (live == nullptr && openapi::IsOwnResource(defined)) {
    causes.push_back(InvalidValue("spec.names.plural", Quoted(plural),
                                  plural + "." + defined.group +
                                      " is a kind of the hub's own, which no workspace can define, "
                                      "not even to send the definition to a cluster"));
  }
  return causes;
}

void TerminateCrd(Json& object) {
  openapi::TerminateCrd(object, StringAt(object, {"metadata", "deletionTimestamp"}));
}

// Definitions that waited for the names of this one get them.
void RemoveCrd(const Call& call, const Object& object, storage::Txn& txn) {
  const Json gone = object.ToJson();
  const std::string group = StringAt(gone, {"spec", "group"});
  const std::string plural = StringAt(gone, {"spec", "names", "plural"});
  std::unordered_set<std::string> served;
  for (const openapi::Group& known : call.workspace.catalog->groups()) {
    if (known.name != group) continue;
    for (const openapi::GroupVersion& version : known.versions) {
      for (const openapi::ResourceTypePtr& type : version.resources) {
        served.insert(type->plural + "." + group);
      }
    }
  }
  auto list = call.hub.store.List({.scope = {call.info.workspace, kCrdResource, ""}, .filter = {},
                                   .start_after = "", .limit = 0, .at = {}});
  if (!list.ok()) return;
  for (const storage::Entry& entry : list->entries) {
    const std::string name(entry.object->meta().name);
    if (!name.ends_with("." + group) || served.contains(name) ||
        !entry.object->meta().deletion_timestamp.empty()) {
      continue;
    }
    Json waiting = entry.object->ToJson();
    const Json before = waiting;
    if (StringAt(waiting, {"spec", "group"}) != group || openapi::IsEstablished(waiting)) continue;
    openapi::EstablishCrd(waiting, OtherNames(call, waiting, plural),
                          FormatTime(call.hub.clock.Now()));
    if (waiting == before) continue;
    const ResourceKey key{call.info.workspace, kCrdResource, "", name};
    txn.compares.push_back({key.ToStoreKey(), entry.object->revision()});
    txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                              std::make_shared<const std::string>(Object::Encode(waiting))});
  }
}

// ValidatingAdmissionPolicies.

Result<void> PreparePolicy(Call& call, Json& object, const Json* live) {
  if (!call.info.subresource.empty()) return Ok();
  const Json* spec = Find(object, {"spec"});
  const Json* before = live != nullptr ? Find(*live, {"spec"}) : nullptr;
  if (spec == nullptr || (before != nullptr && *spec == *before)) return Ok();
  const std::int64_t generation =
      live == nullptr ? 1 : IntAt(*live, {"metadata", "generation"}) + 1;
  Set(object, {"status", "observedGeneration"}, generation);
  Set(object, {"status", "typeChecking"}, openapi::CheckPolicyTypes(object, *call.workspace.catalog));
  return Ok();
}

// Workspaces. The objects of that name are workspaces in root only.

bool IsRoot(const Call& call) { return call.info.workspace.name() == kRootWorkspace; }

Result<void> PrepareWorkspace(Call& call, Json& object, const Json* live) {
  const std::string name = StringAt(object, {"metadata", "name"});
  if (live == nullptr) {
    Set(object, {"status"},
        {{"phase", "Ready"}, {"url", call.hub.external_url + "/clusters/" + name}});
  }
  TRY(MayLabelWorkspace(call, object, live));
  return MayOpenWorkspace(call, object, live);
}

// Held by somebody's finalizer; it serves nothing any more.
void TerminateWorkspace(Json& object) { Set(object, {"status", "phase"}, "Terminating"); }

// Whether an inventory of that name can give its mailboxes names.
bool IsInventoryName(const std::string& name) {
  constexpr std::string_view kAnyUid = "00000000-0000-0000-0000-000000000000";
  return IsWorkspaceName(openapi::MailboxNameOf(name, kAnyUid));
}

std::vector<Cause> ValidateWorkspace(const Call&, const Json& object, const Json* live) {
  std::vector<Cause> causes;
  const std::string name = StringAt(object, {"metadata", "name"});
  const std::string type = StringAt(object, {"spec", "type"});
  if (name == kRootWorkspace || !IsWorkspaceName(name)) {
    causes.push_back(InvalidValue("metadata.name", Quoted(name), "not usable as a workspace name"));
  } else if (live == nullptr && type == "inventory" && !IsInventoryName(name)) {
    causes.push_back(InvalidValue("metadata.name", Quoted(name),
                                  "too long for an inventory: its mailboxes are named NAME-mb-UID, "
                                  "in no more than " + std::to_string(limits::kNameBytes) +
                                  " characters"));
  }
  if (type == "root") {
    causes.push_back(InvalidValue("spec.type", Quoted(type), "there is one root workspace"));
  }
  if (live != nullptr && StringAt(*live, {"spec", "type"}) != type) {
    causes.push_back(InvalidValue("spec.type", Quoted(type), "field is immutable"));
  }
  return causes;
}

Result<void> CreateWorkspace(const Call& call, const Json& object, storage::Txn& txn) {
  const auto type = openapi::ParseWorkspaceType(StringAt(object, {"spec", "type"}));
  if (!IsRoot(call) || !type.ok()) return Ok();
  AddBootstrapObjects(Workspace(StringAt(object, {"metadata", "name"})), *type,
                      FormatTime(call.hub.clock.Now()), txn);
  return Ok();
}

void RemoveWorkspace(const Call& call, const Object& object, storage::Txn& txn) {
  if (!IsRoot(call)) return;
  storage::Operation operation;
  operation.type = storage::Operation::Type::kDeletePrefix;
  operation.key = WorkspacePrefix(Workspace(std::string(object.meta().name)));
  txn.operations.push_back(std::move(operation));
}

// Mailboxes. The proxy subresource goes by the object's name, so that names the workspace.

std::vector<Cause> ValidateMailbox(const Call&, const Json& object, const Json* live) {
  const std::string workspace = StringAt(object, {"spec", "workspace"});
  const bool kept = live != nullptr && StringAt(*live, {"spec", "workspace"}) == workspace;
  if (workspace.empty() || kept || workspace == StringAt(object, {"metadata", "name"})) return {};
  return {InvalidValue("spec.workspace", Quoted(workspace), "must be the name of the mailbox")};
}

}  // namespace

const KindRules& RulesOf(const openapi::ResourceType& type) {
  static const std::map<GroupResource, KindRules> kRules = [] {
    std::map<GroupResource, KindRules> rules;
    KindRules& ns = rules[kNamespacesResource];
    ns.prepare = PrepareNamespace;
    ns.holds = NamespaceHolds;
    ns.on_terminating = TerminateNamespace;
    ns.may_delete = MayDeleteNamespace;
    ns.store_preconditions = true;
    rules[GroupResource{"", "services"}].settle = SettleService;
    KindRules& crd = rules[kCrdResource];
    crd.prepare = PrepareCrd;
    crd.validate = ValidateCrdObject;
    crd.on_terminating = TerminateCrd;
    crd.on_remove = RemoveCrd;
    KindRules& api_service = rules[kApiServicesResource];
    api_service.implied = ImpliedApis;
    api_service.prepare = PrepareApiService;
    api_service.on_remove = RenewApiService;
    rules[{"admissionregistration.k8s.io", "validatingadmissionpolicies"}].prepare = PreparePolicy;
    KindRules& workspace = rules[kWorkspacesResource];
    workspace.prepare = PrepareWorkspace;
    workspace.validate = ValidateWorkspace;
    workspace.on_terminating = TerminateWorkspace;
    workspace.on_create = CreateWorkspace;
    workspace.on_remove = RemoveWorkspace;
    // Made by one controller, which knows the whole of it: one write instead of two.
    rules[kMailboxesResource].status_at_creation = true;
    rules[kMailboxesResource].validate = ValidateMailbox;
    rules[{"", "persistentvolumeclaims"}].settle = FillClaim;
    rules[{"apps", "statefulsets"}].settle = FillClaimTemplates;
    rules[{"", "nodes"}].status_at_creation = true;
    for (const GroupResource& old : {GroupResource{"", "replicationcontrollers"},
                                     GroupResource{"batch", "jobs"}}) {
      rules[old].propagation = Propagation::kOrphan;
    }
    rules[{"apps", "deployments"}].counted = Counted::kAnnotationsToo;
    rules[{"discovery.k8s.io", "endpointslices"}].counted = Counted::kLabelsToo;
    rules[{"scheduling.k8s.io", "priorityclasses"}].counted = Counted::kNothing;
    rules[{"scheduling.k8s.io", "priorityclasses"}].may_delete = MayDeletePriority;
    rules[{"storage.k8s.io", "csidrivers"}].counted = Counted::kLater;
    rules[{"apps", "daemonsets"}].prepare = PrepareDaemonSet;
    rules[{"autoscaling", "horizontalpodautoscalers"}].prepare = PrepareAutoscaler;
    KindRules& claims = rules[{"resource.k8s.io", "resourceclaims"}];
    claims.prepare = PrepareDeviceClaim;
    claims.validate = ValidateDeviceClaim;
    claims.validates_first = true;
    claims.retold = true;
    KindRules& claim_templates = rules[{"resource.k8s.io", "resourceclaimtemplates"}];
    claim_templates.validate = ValidateDeviceClaimTemplate;
    claim_templates.validates_first = true;
    rules[kPodsResource].settle = FillPod;
    rules[kPodsResource].restore = RestorePod;
    rules[kPodsResource].narrow = NarrowPod;
    rules[{"batch", "jobs"}].delete_warning =
        "child pods are preserved by default when jobs are deleted; set "
        "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
        "this warning";
    rules[{"", "events"}].propagation = Propagation::kNone;
    rules[kRolesResource].prepare = MayWriteRole;
    rules[kClusterRolesResource].prepare = MayWriteRole;
    rules[kRoleBindingsResource].prepare = MayWriteBinding;
    rules[kClusterRoleBindingsResource].prepare = MayWriteBinding;
    rules[kAccessResource].prepare = MayWriteAccess;
    rules[kSigningRequestsResource].prepare = PrepareSigningRequest;
    rules[kSigningRequestsResource].validate = ValidateSigningRequest;
    rules[kSigningRequestsResource].on_create = SpendJoinToken;
    return rules;
  }();
  static const KindRules kNone;
  auto it = kRules.find(type.stored_as);
  return it == kRules.end() ? kNone : it->second;
}

Result<void> CheckNamespace(const Call& call, const std::string& resource_name) {
  if (!call.type->namespaced) return Ok();
  const std::string& ns = call.info.ns;
  const ObjectPtr object = call.hub.store.Get({call.info.workspace, kNamespacesResource, "", ns});
  if (object == nullptr) return NotFound("namespaces", "", ns);
  if (!object->meta().deletion_timestamp.empty()) {
    Status status = Forbidden(call.type->plural, call.type->gvk.group, resource_name,
                              "unable to create new content in namespace " + ns +
                                  " because it is being terminated");
    status.mutable_details().causes.push_back(
        {"NamespaceTerminating", "namespace " + ns + " is being terminated", "metadata.namespace"});
    return status;
  }
  return Ok();
}

Result<void> CheckCapacity(const Call& call, const std::string& resource_name) {
  const ObjectPtr workspace =
      call.hub.store.Get({Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "",
                          call.info.workspace.name()});
  if (workspace == nullptr) return Ok();
  const std::string most = workspace->ScalarAt("spec.limits.objects");
  if (most.empty() || call.hub.store.Count(call.info.workspace) < std::stoull(most)) return Ok();
  return Forbidden(call.type->plural, call.type->gvk.group, resource_name,
                   "the workspace is limited to " + most + " objects");
}

Result<void> CheckDefinition(const Call& call) {
  if (call.type->builtin) return Ok();
  const std::string name = call.type->plural + "." + call.type->gvk.group;
  const ObjectPtr crd = call.hub.store.Get({call.info.workspace, kCrdResource, "", name});
  if (crd == nullptr || crd->meta().deletion_timestamp.empty()) return Ok();
  Status status = MethodNotAllowed("create", call.type->plural, call.type->gvk.group);
  return Status(Reason::kMethodNotAllowed,
                "create not allowed while custom resource definition is terminating",
                status.details());
}

void AddBootstrapObjects(const Workspace& workspace, openapi::WorkspaceType type,
                         const std::string& now, storage::Txn& txn) {
  std::vector<std::string> names = {"default", "kube-system"};
  if (openapi::PolicyIsLive(type)) {
    names.push_back("kube-public");
    names.push_back("kube-node-lease");
  }
  for (const std::string& name : names) {
    const Json object = {{"apiVersion", "v1"},
                         {"kind", "Namespace"},
                         {"metadata", {{"name", name},
                                       {"uid", NewUid()},
                                       {"creationTimestamp", now},
                                       {"labels", {{"kubernetes.io/metadata.name", name}}}}},
                         {"spec", {{"finalizers", Json::array({"kubernetes"})}}},
                         {"status", {{"phase", "Active"}}}};
    storage::Operation put;
    put.key = ResourceKey{workspace, kNamespacesResource, "", name}.ToStoreKey();
    put.value = std::make_shared<const std::string>(Object::Encode(object));
    txn.operations.push_back(std::move(put));
  }
  if (openapi::PolicyIsLive(type)) AddBootstrapPolicy(workspace, now, txn);
}

}  // namespace mailroom::apiserver
