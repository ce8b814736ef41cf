#include "mailbox/start.h"

#include "mailbox/location_reconciler.h"
#include "mailbox/mailbox_reconciler.h"
#include "openapi/edge_names.h"
#include "storage/object/limits.h"

namespace mailroom::mailbox {
namespace {

using client::Informer;

class MailboxController : public Running {
 public:
  explicit MailboxController(const client::Client& root)
      : reconciler_(root),
        location_reconciler_(root),
        controller_(client::Controller::Start("mailbox", reconciler_, limits::kMailboxWorkers)),
        location_controller_(client::Controller::Start("locations", location_reconciler_, 1)) {
    using Kind = MailboxReconciler::EntryKind;
    const client::Client all = root.InWorkspace(openapi::kAllWorkspaces);
    sync_targets_ = StartEntries(all, openapi::kEdgeApi, "synctargets", Kind::kSyncTarget);
    managed_clusters_ =
        StartEntries(all, openapi::kManagedClusterApi, "managedclusters", Kind::kManagedCluster);
    workspaces_ = Informer::Start(
        OptionsOf(root, openapi::kMailboxApi, "workspaces"),
        [this](const client::ObjectKey& key, const ObjectPtr& before, const ObjectPtr& now) {
          MailboxReconciler::NoteNamed(key.name, controller_->queue());
          if (before != nullptr && now != nullptr) return;
          reconciler_.NoteWorkspace(key.name, controller_->queue());
        });
    mailboxes_ = StartNamed(root, "mailboxes");
    configs_ = Informer::Start(
        OptionsOf(all, openapi::kEdgeApi, "syncerconfigs"),
        [this](const client::ObjectKey& key, const ObjectPtr&, const ObjectPtr&) {
          MailboxReconciler::NoteNamed(key.workspace, controller_->queue());
        });
    locations_ = Informer::Start(
        OptionsOf(all, openapi::kEdgeApi, "locations"),
        [this](const client::ObjectKey& key, const ObjectPtr&, const ObjectPtr& now) {
          location_reconciler_.NoteLocation(key, now, location_controller_->queue());
        });
    location_reconciler_.Begin({.sync_targets = sync_targets_.get(),
                                .locations = locations_.get(),
                                .queue = &location_controller_->queue()});
    reconciler_.Begin({.sync_targets = sync_targets_.get(),
                       .managed_clusters = managed_clusters_.get(),
                       .workspaces = workspaces_.get(),
                       .mailboxes = mailboxes_.get(),
                       .configs = configs_.get(),
                       .queue = &controller_->queue()});
  }

  // Workers read the informers and handlers write to the queue: first the workers end, then the
  // informers go, then the queue.
  ~MailboxController() override {
    location_controller_->Stop();
    controller_->Stop();
  }

 private:
  Informer::Options OptionsOf(const client::Client& client, std::string_view api,
                              std::string resource) {
    return {.client = client,
            .gvr = {std::string(api), std::move(resource)},
            .query = {},
            .metadata_only = false,
            .watch_list = true,
            .on_synced = [this] {
              controller_->queue().Add(MailboxReconciler::SyncedKey());
              location_controller_->queue().Add(LocationReconciler::SyncedKey());
            }};
  }

  std::unique_ptr<Informer> StartEntries(const client::Client& all, std::string_view api,
                                         std::string resource, MailboxReconciler::EntryKind kind) {
    return Informer::Start(
        OptionsOf(all, api, std::move(resource)),
        [this, kind](const client::ObjectKey& key, const ObjectPtr& before, const ObjectPtr& now) {
          reconciler_.NoteEntry(kind, key, before, now, controller_->queue());
          if (kind == MailboxReconciler::EntryKind::kSyncTarget) {
            location_reconciler_.NoteTarget(key, now, location_controller_->queue());
          }
        });
  }

  std::unique_ptr<Informer> StartNamed(const client::Client& root, std::string resource) {
    return Informer::Start(
        OptionsOf(root, openapi::kMailboxApi, std::move(resource)),
        [this](const client::ObjectKey& key, const ObjectPtr&, const ObjectPtr&) {
          MailboxReconciler::NoteNamed(key.name, controller_->queue());
        });
  }

  MailboxReconciler reconciler_;
  LocationReconciler location_reconciler_;
  std::unique_ptr<client::Controller> controller_, location_controller_;
  std::unique_ptr<Informer> sync_targets_, managed_clusters_, workspaces_, mailboxes_, configs_,
      locations_;
};

}  // namespace

std::unique_ptr<Running> Start(client::Client root_client) {
  return std::make_unique<MailboxController>(root_client);
}

}  // namespace mailroom::mailbox
