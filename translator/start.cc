// Wiring only: informers feed the plan, the plan's changes feed the queues.
#include "translator/start.h"

#include <latch>
#include <set>

#include "openapi/catalog.h"
#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "translator/binding.h"
#include "translator/conditions.h"
#include "translator/copies.h"
#include "translator/plan.h"
#include "translator/project.h"
#include "translator/report.h"
#include "translator/sources.h"
#include "translator/syncer_config.h"

namespace mailroom::translator {
namespace {

using client::Informer;
using client::ObjectKey;

openapi::CatalogPtr MailboxCatalog() {
  return openapi::BaseCatalog(openapi::WorkspaceType::kMailbox);
}

std::function<bool(const GroupResource&)> BuiltinTest() {
  std::set<GroupResource> builtin;
  for (const openapi::Group& group : MailboxCatalog()->groups()) {
    for (const openapi::GroupVersion& version : group.versions) {
      for (const auto& type : version.resources) builtin.insert(type->group_resource());
    }
  }
  return [builtin](const GroupResource& resource) { return builtin.contains(resource); };
}

std::vector<ResourceFacts> Projectable() {
  std::vector<ResourceFacts> out;
  for (const auto& type : MailboxCatalog()->Preferred()) {
    if (!type->HasVerb("list") || !type->HasVerb("watch")) continue;
    if (!GoesToEdge(type->group_resource())) continue;
    out.push_back({.resource = type->group_resource(),
                   .version = type->gvk.version,
                   .has_status = type->has_status,
                   .namespaced = type->namespaced});
  }
  return out;
}

// Holds a reconciler back until everything it reads has been constructed.
class Gated : public client::Reconciler {
 public:
  Gated(std::latch& gate, client::Reconciler& inner) : gate_(gate), inner_(inner) {}
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override {
    gate_.wait();
    return inner_.Reconcile(key);
  }

 private:
  std::latch& gate_;
  client::Reconciler& inner_;
};

class Translator : public Running {
 public:
  explicit Translator(const client::Client& root)
      : plan_(BuiltinTest()),
        copies_(
            root.InWorkspace(openapi::kAllWorkspaces),
            [this](const std::string& mailbox, const ObjectId& id, const ObjectPtr& before,
                   const ObjectPtr& now) { OnCopy(mailbox, id, before, now); },
            [this] { project_.parked().Release(projecting_->queue()); }),
        project_(root, plan_, copies_, [this](const Changes& c) { Dispatch(c); }),
        syncer_config_(root, plan_),
        binding_(root, plan_),
        report_(root, plan_, copies_),
        sources_(root, plan_, copies_,
                 {.builtins = Projectable(),
                  .changed = [this](const Changes& c) { Dispatch(c); },
                  .again = [this](const client::WorkKey& k) { discovering_->queue().Add(k); },
                  .complete = [this] { OnComplete(); },
                  .listed = [this] { return Listed(); }}) {
    projecting_ = client::Controller::Start("project", gated_project_, limits::kTranslatorWorkers);
    configuring_ =
        client::Controller::Start("syncer-config", gated_config_, limits::kTranslatorSideWorkers);
    binding_back_ = client::Controller::Start("binding", gated_binding_, 1);
    reporting_ = client::Controller::Start("report", gated_report_, limits::kTranslatorSideWorkers);
    discovering_ = client::Controller::Start("sources", gated_sources_, 1);
    StartInformers(root);
    sources_.Begin(workspaces_.get());
    syncer_config_.Begin(configs_.get());
    binding_.Begin({.policies = policies_.get(), .bindings = bindings_.get()});
    gate_.count_down();
    discovering_->queue().Add(Sources::CopiesKey());
  }

  // Workers read informers, informers write to queues: first the workers end, then the informers
  // that workers own, then (as members, in reverse) the rest.
  ~Translator() override {
    for (auto* controller :
         {&discovering_, &reporting_, &binding_back_, &configuring_, &projecting_}) {
      (*controller)->Stop();
    }
    sources_.Stop();
    copies_.Watch({});
  }

 private:
  void StartInformers(const client::Client& root) {
    const client::Client all = root.InWorkspace(openapi::kAllWorkspaces);
    using Kind = InventoryEntry::Kind;
    workspaces_ = Watch(root, openapi::kMailboxApi, "workspaces",
                        [this](const ObjectKey& key, const ObjectPtr&, const ObjectPtr& now) {
                          OnWorkspace(key.name, now);
                        });
    sync_targets_ = WatchEntries(all, openapi::kEdgeApi, "synctargets", Kind::kSyncTarget);
    managed_clusters_ =
        WatchEntries(all, openapi::kManagedClusterApi, "managedclusters", Kind::kManagedCluster);
    locations_ = Watch(all, openapi::kEdgeApi, "locations",
                       [this](const ObjectKey& key, const ObjectPtr&, const ObjectPtr& now) {
                         Dispatch(plan_.SetLocation(key.workspace, key.name, now));
                       });
    policies_ = WatchPlacements(all, openapi::kControlApi, "bindingpolicies",
                                PlacementKind::kBindingPolicy, ParseBindingPolicy);
    edge_placements_ = WatchPlacements(all, openapi::kEdgeApi, "edgeplacements",
                                       PlacementKind::kEdgePlacement, ParseEdgePlacement);
    bindings_ = Watch(all, openapi::kControlApi, "bindings",
                      [this](const ObjectKey& key, const ObjectPtr&, const ObjectPtr&) {
                        binding_back_->queue().Add({key.workspace, key.name});
                      });
    configs_ = Watch(all, openapi::kEdgeApi, "syncerconfigs",
                     [this](const ObjectKey& key, const ObjectPtr&, const ObjectPtr&) {
                       configuring_->queue().Add({key.workspace, ""});
                     });
  }

  std::unique_ptr<Informer> Watch(const client::Client& client, std::string_view api,
                                  std::string resource, Informer::Handler handler) {
    return Informer::Start(
        {.client = client,
         .gvr = {std::string(api), std::move(resource)},
         .query = {},
         .metadata_only = false,
         .watch_list = true,
         .on_synced = [this] { discovering_->queue().Add(Sources::ListedKey()); }},
        std::move(handler));
  }

  std::unique_ptr<Informer> WatchEntries(const client::Client& all, std::string_view api,
                                         std::string resource, InventoryEntry::Kind kind) {
    return Watch(all, api, std::move(resource),
                 [this, kind](const ObjectKey& key, const ObjectPtr& before, const ObjectPtr& now) {
                   OnEntry(kind, key.workspace, before, now);
                 });
  }

  std::unique_ptr<Informer> WatchPlacements(const client::Client& all, std::string_view api,
                                            std::string resource, PlacementKind kind,
                                            Placement (*parse)(const Json&)) {
    return Watch(all, api, std::move(resource),
                 [this, kind, parse](const ObjectKey& key, const ObjectPtr&, const ObjectPtr& now) {
                   const PlacementKey placement{key.workspace, kind, key.name};
                   // A placement being deleted no longer places anything.
                   const bool live = now != nullptr && now->meta().deletion_timestamp.empty();
                   Dispatch(plan_.SetPlacement(
                       placement, live ? std::optional(parse(now->ToJson())) : std::nullopt));
                   project_.parked().Release(projecting_->queue());
                 });
  }

  void OnWorkspace(const std::string& name, const ObjectPtr& now) {
    const bool live = now != nullptr && now->meta().deletion_timestamp.empty();
    const std::string type = live ? now->ScalarAt("spec.type") : "";
    std::optional<Plan::Role> role;
    if (type == "wds") role = Plan::Role::kWds;
    if (type == "mailbox") role = Plan::Role::kMailbox;
    // An inventory's entries count as long as they are there.
    if (now != nullptr && now->ScalarAt("spec.type") == "inventory") {
      role = Plan::Role::kInventory;
    }
    Dispatch(plan_.SetWorkspace(name, role));
    if (role != Plan::Role::kMailbox) discovering_->queue().Add(Sources::WdsKey(name));
  }

  void OnEntry(InventoryEntry::Kind kind, const std::string& workspace, const ObjectPtr& before,
               const ObjectPtr& now) {
    const auto mailbox_of = [&workspace](const ObjectPtr& object) {
      return openapi::MailboxNameOf(workspace, object->meta().uid);
    };
    // One whose cluster is to be cleaned stays known: the copies in its mailbox have to go.
    const bool live =
        now != nullptr && (now->meta().deletion_timestamp.empty() || IsLeaving(*now));
    if (before != nullptr && (!live || mailbox_of(before) != mailbox_of(now))) {
      Dispatch(plan_.SetEntry(mailbox_of(before), std::nullopt));
    }
    if (!live) return;
    const std::string mailbox = mailbox_of(now);
    Dispatch(plan_.SetEntry(
        mailbox,
        InventoryEntry{.kind = kind, .workspace = workspace, .mailbox = mailbox, .object = now}));
  }

  void OnCopy(const std::string& mailbox, const ObjectId& id, const ObjectPtr& before,
              const ObjectPtr& now) {
    client::WorkQueue& queue = projecting_->queue();
    queue.Add(ToWorkKey(mailbox, id));
    const ObjectPtr& seen = now != nullptr ? now : before;
    const std::string wds =
        StringAt(seen->ToJson(), {"metadata", "annotations", openapi::kSourceAnnotation});
    if (now != nullptr && !wds.empty()) reporting_->queue().Add(ToWorkKey(wds, id));
    if (id.resource == kNamespaces || id.resource == kCrds) {
      for (const ObjectId& waiting : plan_.Dependents(mailbox, id)) {
        queue.Add(ToWorkKey(mailbox, waiting));
      }
    }
    if (id.resource == kCrds) discovering_->queue().Add(Sources::CopiesKey());
    // The last object of a Namespace or definition lets that go too.
    if (now != nullptr) return;
    for (const ObjectId& need : plan_.DependenciesOf(id)) queue.Add(ToWorkKey(mailbox, need));
  }

  void OnComplete() {
    if (!plan_.Complete()) return;
    project_.parked().Release(projecting_->queue());
    syncer_config_.parked().Release(configuring_->queue());
    binding_.parked().Release(binding_back_->queue());
    report_.parked().Release(reporting_->queue());
  }

  bool Listed() const {
    for (const auto* informer : {&workspaces_, &sync_targets_, &managed_clusters_, &locations_,
                                 &policies_, &edge_placements_}) {
      if (!(*informer)->synced()) return false;
    }
    return true;
  }

  void Dispatch(const Changes& changes) {
    for (const auto& [mailbox, id] : changes.copies) {
      projecting_->queue().Add(ToWorkKey(mailbox, id));
    }
    for (const std::string& mailbox : changes.configs) configuring_->queue().Add({mailbox, ""});
    for (const PlacementKey& key : changes.placements) {
      if (key.kind != PlacementKind::kBindingPolicy) continue;
      binding_back_->queue().AddAfter(ToWorkKey(key), limits::kBindingDelay);
    }
    for (const SourceKey& key : changes.reports) {
      reporting_->queue().Add(ToWorkKey(key.wds, key.id));
    }
  }

  // Members die in reverse order: informers first, then the queues they write to, then the rest.
  std::latch gate_{1};
  Plan plan_;
  Copies copies_;
  Project project_;
  SyncerConfig syncer_config_;
  BindingReconciler binding_;
  Report report_;
  Sources sources_;
  Gated gated_project_{gate_, project_};
  Gated gated_config_{gate_, syncer_config_};
  Gated gated_binding_{gate_, binding_};
  Gated gated_report_{gate_, report_};
  Gated gated_sources_{gate_, sources_};
  std::unique_ptr<client::Controller> projecting_, configuring_, binding_back_, reporting_,
      discovering_;
  std::unique_ptr<Informer> workspaces_, sync_targets_, managed_clusters_, locations_, policies_,
      edge_placements_, bindings_, configs_;
};

}  // namespace

std::unique_ptr<Running> Start(client::Client root_client) {
  return std::make_unique<Translator>(root_client);
}

}  // namespace mailroom::translator
