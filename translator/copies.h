// The copies that stand in mailboxes: one informer per resource over all workspaces, restricted
// to objects labelled as projected. Also counts copies per mailbox and namespace, so that a
// Namespace or a definition is known to be in use. Thread-safe. Watch is called from the
// discovery reconciler only; the listener runs on the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "translator/keys.h"

namespace mailroom::translator {

class Copies {
 public:
  // A copy appeared, changed (both set) or went away.
  using Listener = std::function<void(const std::string& mailbox, const ObjectId& id,
                                      const ObjectPtr& before, const ObjectPtr& now)>;

  // `synced` is called when the copies of one more resource have been listed.
  Copies(client::Client all_workspaces, Listener listener, std::function<void()> synced);
  ~Copies();

  // Watches exactly these resources in these versions from now on.
  void Watch(const std::map<GroupResource, std::string>& versions);

  // All copies of the resource have been listed.
  bool Synced(const GroupResource& resource) const;
  ObjectPtr Get(const std::string& mailbox, const ObjectId& id) const;
  // Names of the definitions that stand in any mailbox, each with one of its copies.
  std::map<std::string, ObjectPtr> Definitions() const;
  bool AnyInNamespace(const std::string& mailbox, const std::string& ns) const;
  bool AnyOfResource(const std::string& mailbox, const GroupResource& resource) const;

 private:
  // Copies by mailbox and namespace.
  using Counts = std::map<std::pair<std::string, std::string>, int>;
  struct Watched {
    std::string version;
    std::shared_ptr<Counts> counts;
    std::shared_ptr<client::Informer> informer;
  };
  Watched Begin(const GroupResource& resource, const std::string& version);
  std::shared_ptr<client::Informer> Find(const GroupResource& resource) const;
  void Note(const GroupResource& resource, Counts& counts, const client::ObjectKey& key,
            const ObjectPtr& before, const ObjectPtr& now);

  const client::Client all_;
  const Listener listener_;
  const std::function<void()> synced_;

  mutable std::mutex mutex_;
  // Guarded by mutex_, as are the Counts. Informers are destroyed without it, because their
  // handlers take it.
  std::map<GroupResource, Watched> watched_;
};

}  // namespace mailroom::translator
