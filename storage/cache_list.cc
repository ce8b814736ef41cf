// Listing of the cache: the present state in order, or a past one, which is the present with the
// newer events undone.
#include <algorithm>
#include <map>

#include "storage/cache_state.h"

namespace mailroom::storage {
namespace {

struct Place {
  std::string_view workspace;
  NameInCollection name;
};

Place ParsePlace(std::string_view text) {
  const std::size_t first = text.find('/');
  if (first == std::string_view::npos) return Place{text, {}};
  const std::string_view rest = text.substr(first + 1);
  const std::size_t second = rest.find('/');
  if (second == std::string_view::npos) return Place{text.substr(0, first), {"", rest}};
  return Place{text.substr(0, first), {rest.substr(0, second), rest.substr(second + 1)}};
}

std::string PositionOf(std::string_view workspace, const NameInCollection& name) {
  std::string position(workspace);
  position.append("/").append(name.ns).append("/").append(name.name);
  return position;
}

// What differs from the present in one collection: the object as it was, or null for none.
using Undo = std::map<NameInCollection, ObjectPtr>;

// Adds to a list in order, up to its limit, and counts the rest.
class Gathering {
 public:
  Gathering(Place start, std::size_t slice, Selection& selection)
      : start_(start), slice_(slice), selection_(selection) {}

  // False when the slice ended before the collection did.
  bool Add(const Collection& collection, const Undo& undo) {
    const Scope& scope = selection_.scope;
    const ObjectSet& objects = collection.objects;
    const bool resumes =
        !start_.workspace.empty() && start_.workspace == collection.name->workspace.name();
    if (resumes && !scope.ns.empty() && start_.name.ns > scope.ns) return true;
    auto it = objects.begin();
    auto change = undo.begin();
    auto end = objects.end();
    auto last = undo.end();
    if (!scope.ns.empty()) {
      const std::string next_ns = scope.ns + '\0';
      end = objects.lower_bound(NameInCollection{next_ns, ""});
      last = undo.lower_bound(NameInCollection{next_ns, ""});
    }
    if (resumes && start_.name >= NameInCollection{scope.ns, ""}) {
      it = objects.upper_bound(start_.name);
      change = undo.upper_bound(start_.name);
    } else if (!scope.ns.empty()) {
      it = objects.lower_bound(NameInCollection{scope.ns, ""});
      change = undo.lower_bound(NameInCollection{scope.ns, ""});
    }
    while (it != end || change != last) {
      const bool undone = change != last && (it == end || change->first <= NameOf(**it));
      const NameInCollection name = undone ? change->first : NameOf(**it);
      const ObjectPtr& object = undone ? change->second : *it;
      if (object) Take(collection, object);
      const bool present = !undone || (it != end && NameOf(**it) == name);
      if (undone) ++change;
      if (present) ++it;
      if (++seen_ == slice_) {
        reached_ = PositionOf(collection.name->workspace.name(), name);
        return false;
      }
    }
    return true;
  }

  // Where the slice ended; to be called when Add said so.
  std::string TakeReached() { return std::move(reached_); }

 private:
  void Take(const Collection& collection, const ObjectPtr& object) {
    const LabelSelector* labels = selection_.labels;
    if (labels != nullptr && !labels->Matches(object->meta().labels)) return;
    std::vector<Entry>& entries = selection_.entries;
    if (selection_.limit != 0 && entries.size() == selection_.limit) {
      ++selection_.rest;
    } else {
      entries.push_back(Entry{collection.workspace(), object, &collection.name->resource});
    }
  }

  const Place start_;
  const std::size_t slice_;
  Selection& selection_;
  std::size_t seen_ = 0;
  std::string reached_;  // apart from the selection's, which `start_` looks at
};

}  // namespace

std::string ListPosition(const Workspace& workspace, const Object& object) {
  return PositionOf(workspace.name(), NameOf(object));
}

Result<void> CacheState::Select(Revision at, std::size_t slice, Selection& selection) const {
  const Scope& scope = selection.scope;
  if (scope.every_resource()) {
    if (selection.limit != 0 || !selection.reached.empty()) {
      return BadRequest("a list of every resource has no pages");
    }
    for (const auto& [resource, branch] : branches_) {
      Selection each{{scope.workspace, resource, scope.ns}, 0, "", selection.labels};
      TRY(Select(at, 0, each));
      selection.entries.insert(selection.entries.end(),
                               std::make_move_iterator(each.entries.begin()),
                               std::make_move_iterator(each.entries.end()));
    }
    selection.done = true;
    return Ok();
  }
  std::map<std::string_view, Undo> undo;  // by workspace
  std::vector<EventPtr> events;           // keeps the names in `undo` alive
  if (at > applied_) return TooLargeResourceVersion(at.value(), applied_.value());
  if (at < applied_) {
    events = TRY(Events(scope, at));
    if (events.size() > slice) slice = 0;  // not to be gone through for every slice
    // Going back in time, the oldest event after `at` tells the state before it.
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      const Event& each = **event;
      undo[each.workspace().name()][{each.ns(), each.name()}] = each.previous();
    }
  }
  const Place start = ParsePlace(selection.reached);
  Gathering gathering(start, slice, selection);
  static const Undo kNothing;
  auto add = [&](const Collection& collection) {
    auto changed = undo.find(collection.name->workspace.name());
    return gathering.Add(collection, changed == undo.end() ? kNothing : changed->second);
  };
  bool whole = true;
  const ResourceBranch* branch = FindBranch(scope.resource);
  if (branch && !scope.workspace.empty()) {
    auto it = branch->collections.find(std::string_view(scope.workspace.name()));
    if (it != branch->collections.end()) whole = add(*it->second);
  } else if (branch) {
    auto it = start.workspace.empty() ? branch->collections.begin()
                                      : branch->collections.lower_bound(start.workspace);
    for (; whole && it != branch->collections.end(); ++it) whole = add(*it->second);
  }
  selection.done = whole;
  if (!whole) selection.reached = gathering.TakeReached();
  return Ok();
}

}  // namespace mailroom::storage
