// The translator's only shared state: what × where, kept as two indexes. Objects know the
// placements that match them; placements know the mailboxes they point to. Everything else is
// asked per key. One mutex; setters are called from informer handlers and the source discovery,
// questions from reconcilers. Setters return what has to be looked at again.
//
// The Namespace and the CustomResourceDefinition of a matched object are *implied*: they follow
// every placement that matches something needing them, counted per placement.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/object/object.h"
#include "storage/object/thinned.h"
#include "translator/discover.h"
#include "translator/keys.h"
#include "translator/what.h"
#include "translator/where.h"

namespace mailroom::translator {

// Keys to look at again.
struct Changes {
  std::vector<std::pair<std::string, ObjectId>> copies;  // mailbox, object
  std::set<std::string> configs;                         // mailboxes
  std::set<PlacementKey> placements;
  std::set<SourceKey> reports;
};

// How an object is wanted by the clauses of one placement that match it, or'ed.
struct Bits {
  bool create_only = false;
  bool singleton = false;
  friend bool operator==(const Bits&, const Bits&) = default;
};

// What one object in one mailbox should be.
struct Verdict {
  bool serving = false;       // the mailbox workspace exists
  bool in_inventory = false;  // and so does the cluster it stands for
  ObjectPtr source;           // null: not wanted
  std::string wds;            // the workspace whose object wins
  bool create_only = false;
};

struct ConfigItem {
  ObjectId id;
  std::string version;
  friend auto operator<=>(const ConfigItem&, const ConfigItem&) = default;
};

struct PlacementItem {
  ObjectId id;
  std::string version;
  ObjectPtr source;
  Bits bits;  // of an implied object: none
};

// An object of this placement for which another workspace's object is used instead.
struct Lost {
  ObjectId id;
  ObjectPtr ours;
  ObjectPtr theirs;
  std::string wds;  // theirs
  std::size_t mailboxes = 0;
};

// Everything a placement came to.
struct PlacementView {
  bool found = false;
  std::int64_t generation = 0;
  std::vector<PlacementItem> items;  // by id
  std::set<std::string> clusters;    // names of the inventory entries
  std::vector<std::string> errors;   // of parsing, singleton demands, failed writes
  std::vector<Lost> lost;
};

struct ReportView {
  ObjectPtr source;     // null: unknown
  bool wanted = false;  // some clause wants the state of the only destination
  std::string mailbox;  // that destination; "" when there is not exactly one
  std::string version;
  bool has_status = false;
};

class Plan {
 public:
  enum class Role { kWds, kMailbox, kInventory };

  explicit Plan(std::function<bool(const GroupResource&)> is_builtin);

  // Workspaces that matter; no role removes.
  Changes SetWorkspace(const std::string& name, std::optional<Role> role);
  // By mailbox name; nullopt removes. An entry counts while its workspace is an inventory: whatever
  // has such a name elsewhere is no cluster, and nothing is sent there.
  Changes SetEntry(const std::string& mailbox, std::optional<InventoryEntry> entry);
  Changes SetLocation(const std::string& workspace, const std::string& name,
                      const ObjectPtr& object);
  Changes SetPlacement(const PlacementKey& key, std::optional<Placement> placement);
  // Null, or an object being deleted, removes.
  Changes SetObject(const SourceKey& key, const ObjectPtr& object);
  void SetResource(const std::string& wds, const ResourceFacts& facts);
  // Forgets a resource that is no longer served, with its objects.
  Changes DropResource(const std::string& wds, const GroupResource& resource);
  // The last outcome of writing one copy; "" is success.
  Changes SetFailure(const std::string& mailbox, const ObjectId& id, const std::string& error);

  // All objects of the workspace are known; until then nothing is removed anywhere.
  void SetReady(const std::string& wds, bool ready);
  // Workspaces, inventory and placements have been listed.
  void SetListed();
  bool Complete() const;
  // Whether absence from the plan may be taken as the wish to remove a copy made from `wds`.
  bool MayRemove(const std::string& wds) const;

  Verdict Judge(const std::string& mailbox, const ObjectId& id) const;
  // Wanted objects of a mailbox that cannot be there before `id` is.
  std::vector<ObjectId> Dependents(const std::string& mailbox, const ObjectId& id) const;
  // Whether the mailbox stands for a known cluster and is being served.
  bool Serves(const std::string& mailbox) const;
  std::vector<ConfigItem> ConfigOf(const std::string& mailbox) const;
  PlacementView ViewOf(const PlacementKey& key) const;
  ReportView ReportOf(const SourceKey& key) const;
  std::vector<ObjectId> DependenciesOf(const ObjectId& id) const;

 private:
  using Matches = std::map<PlacementKey, Bits>;

  struct Source {
    ObjectPtr object;
    std::string created;    // creationTimestamp: the older source wins a conflict
    bool excluded = false;  // never goes to the edge
    Matches matches;
  };
  struct PlacementState {
    Placement placement;
    std::set<std::string> destinations;  // mailboxes
    std::set<ObjectId> matched;
  };
  struct Wds {
    bool present = false;
    bool ready = false;
    std::map<GroupResource, ResourceFacts> resources;
    std::map<ObjectId, Source> objects;
    std::map<PlacementKey, PlacementState> placements;
    std::map<ObjectId, std::map<PlacementKey, int>> implied;
  };

  bool CompleteLocked() const;
  void SetInventory(const std::string& name, bool is, Changes& out);
  void PutEntry(const std::string& mailbox, const InventoryEntry& entry, Changes& out);
  void DropEntry(const std::string& mailbox, Changes& out);
  // Points placements to the mailbox, or away from it: `entry` is null when it has none.
  void Reselect(const std::string& mailbox, const InventoryEntry* entry, Changes& out);
  Bits Test(const Wds& wds, const Placement& placement, const ObjectId& id, const Source& source,
            bool& matched) const;
  Matches TestAll(const Wds& wds, const ObjectId& id, const Source& source) const;
  void Rematch(const std::string& name, Wds& wds, const ObjectId& id, Source& source, Matches next,
               Changes& out);
  void Retest(const std::string& name, Wds& wds, const ObjectId& id, Source& source, Changes& out);
  void RetestNamespace(const std::string& name, Wds& wds, const std::string& ns, Changes& out);
  void Forget(const std::string& name, Wds& wds, const ObjectId& id, Changes& out);
  void TouchImplied(const Wds& wds, const ObjectId& id, Changes& out) const;
  void TouchRivals(const std::string& name, const ObjectId& id, Changes& out) const;
  // The placement's claim on one mailbox appears or disappears.
  void TouchMailbox(const PlacementKey& key, const PlacementState& state,
                    const std::string& mailbox, Changes& out) const;
  void Redirect(const PlacementKey& key, PlacementState& state, std::set<std::string> next,
                Changes& out) const;
  std::set<std::string> Destinations(const Placement& placement) const;
  // Whether the source is wanted in the mailbox, and how.
  bool Claims(const Wds& wds, const ObjectId& id, const Source& source, const std::string& mailbox,
              Bits& bits) const;
  // The workspace whose source wins in the mailbox, or null.
  const std::pair<const std::string, Wds>* Winner(const std::string& mailbox, const ObjectId& id,
                                                  Bits& bits) const;
  bool HasRival(const std::string& name, const ObjectId& id) const;
  std::set<ObjectId> Closure(const PlacementState& state) const;
  void AddSingletonErrors(const Wds& wds, const PlacementState& state, const PlacementKey& key,
                          PlacementView& out) const;
  std::set<std::string> SingletonMailboxes(const Wds& wds, const Source& source) const;

  const std::function<bool(const GroupResource&)> is_builtin_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  bool listed_ = false;
  std::map<std::string, Wds> wdses_;
  std::set<std::string> mailboxes_;                // workspaces being served
  std::set<std::string> inventories_;              // workspaces whose entries count
  std::map<std::string, InventoryEntry> entries_;  // by mailbox
  std::map<std::string, InventoryEntry> strays_;   // those of other workspaces
  Thinned thinned_mailboxes_, thinned_entries_;
  std::map<std::pair<std::string, std::string>, Location> locations_;
  std::vector<Location> location_list_;
  std::map<ObjectId, std::map<std::string, std::string>> failures_;  // by mailbox
};

}  // namespace mailroom::translator
