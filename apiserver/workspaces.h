// Which workspaces exist and what each serves. A workspace is a Workspace object in root (root
// itself always exists); its catalogue is derived from the CRDs it holds and rebuilt only when
// one of them changed, so an idle workspace costs nothing here. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "openapi/catalog.h"
#include "storage/cached_store.h"

namespace mailroom::apiserver {

inline const GroupResource kWorkspacesResource{"mailbox.kubestellar.io", "workspaces"};
inline const GroupResource kMailboxesResource{"mailbox.kubestellar.io", "mailboxes"};
inline const GroupResource kCrdResource{"apiextensions.k8s.io", "customresourcedefinitions"};
inline const GroupResource kNamespacesResource{"", "namespaces"};

struct WorkspaceView {
  Workspace name;
  openapi::WorkspaceType type = openapi::WorkspaceType::kCluster;
  openapi::CatalogPtr catalog;
};

class Workspaces {
 public:
  explicit Workspaces(const storage::CachedStore& store) : store_(store) {}

  // NotFound when there is no such workspace (or it is being deleted).
  Result<WorkspaceView> Find(const Workspace& name) const;
  // A view for cross-workspace reads: every kind any workspace type serves.
  WorkspaceView All() const;

  // Calls `end` when the workspace goes, at once when it is gone, unless the ticket was dropped
  // before. `end` must be short. The root workspace never goes.
  using Ticket = std::shared_ptr<void>;
  Ticket OnRemoval(const Workspace& name, std::function<void()> end) const;
  // The workspace is gone: ends what is open there and forgets what was derived from it.
  void Removed(const Workspace& name) const;

 private:
  struct Derived {
    Revision crds;  // the CRDs' last change when the catalogue was made
    openapi::CatalogPtr catalog;
  };
  ObjectPtr ObjectOf(const Workspace& name) const;  // null when there is none, as of root
  void Forget(const Workspace& name) const;
  openapi::CatalogPtr CatalogOf(const Workspace& name, openapi::WorkspaceType type) const;

  // Who is to be told of a removal. Shared with the tickets.
  struct Open {
    std::mutex mutex;
    std::unordered_map<Workspace, std::map<std::uint64_t, std::function<void()>>> ends;
    std::uint64_t next = 0;
  };

  const storage::CachedStore& store_;
  const std::shared_ptr<Open> open_ = std::make_shared<Open>();
  mutable std::mutex mutex_;
  mutable std::unordered_map<Workspace, Derived> derived_;  // guarded by mutex_; only with CRDs
};

}  // namespace mailroom::apiserver
