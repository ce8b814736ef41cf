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

// What differs from the present in one collection: the object as it was, or null for none.
using Undo = std::map<NameInCollection, ObjectPtr>;

// Collects a list in order, up to a limit, and counts the rest.
class Gathering {
 public:
  Gathering(const Scope& scope, Place start, std::size_t limit)
      : scope_(scope), start_(start), limit_(limit) {}

  void Add(const Collection& collection, const Undo& undo) {
    collection_ = &collection;
    const ObjectSet& objects = collection.objects;
    const bool resumes =
        !start_.workspace.empty() && start_.workspace == collection.name->workspace.name();
    auto it = objects.begin();
    auto change = undo.begin();
    if (resumes && start_.name >= NameInCollection{scope_.ns, ""}) {
      it = objects.upper_bound(start_.name);
      change = undo.upper_bound(start_.name);
    } else if (!scope_.ns.empty()) {
      it = objects.lower_bound(NameInCollection{scope_.ns, ""});
      change = undo.lower_bound(NameInCollection{scope_.ns, ""});
    }
    while (it != objects.end() || change != undo.end()) {
      const bool undone =
          change != undo.end() && (it == objects.end() || change->first <= NameOf(**it));
      const NameInCollection name = undone ? change->first : NameOf(**it);
      if (!scope_.ns.empty() && name.ns != scope_.ns) break;
      if (undone && it != objects.end() && NameOf(**it) == change->first) {
        Take(change->second);
        ++it;
        ++change;
      } else if (undone) {
        Take(change->second);
        ++change;
      } else {
        Take(*it);
        ++it;
      }
    }
  }

  std::vector<Entry> entries;
  std::size_t rest = 0;

 private:
  void Take(const ObjectPtr& object) {
    if (!object) return;
    if (limit_ != 0 && entries.size() == limit_) {
      ++rest;
    } else {
      entries.push_back(Entry{collection_->workspace(), object, &collection_->name->resource});
    }
  }

  const Scope& scope_;
  const Place start_;
  const std::size_t limit_;
  const Collection* collection_ = nullptr;
};

}  // namespace

std::string ListPosition(const Workspace& workspace, const Object& object) {
  std::string position = workspace.name();
  position.append("/").append(object.meta().ns).append("/").append(object.meta().name);
  return position;
}

Result<std::vector<Entry>> CacheState::Select(const Scope& scope, const std::string& start_after,
                                              std::optional<Revision> at, std::size_t limit,
                                              std::size_t& rest) const {
  if (scope.every_resource()) {
    if (limit != 0 || !start_after.empty()) {
      return BadRequest("a list of every resource has no pages");
    }
    std::vector<Entry> all;
    for (const auto& [resource, branch] : branches_) {
      std::vector<Entry> each = TRY(Select({scope.workspace, resource, scope.ns}, "", at, 0, rest));
      all.insert(all.end(), std::make_move_iterator(each.begin()),
                 std::make_move_iterator(each.end()));
    }
    return all;
  }
  std::map<std::string_view, Undo> undo;  // by workspace
  std::vector<EventPtr> events;           // keeps the names in `undo` alive
  if (at && *at > applied_) return TooLargeResourceVersion(at->value(), applied_.value());
  if (at && *at < applied_) {
    events = TRY(Events(scope, *at));
    // Going back in time, the oldest event after `at` tells the state before it.
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      const Event& each = **event;
      undo[each.workspace().name()][{each.ns(), each.name()}] = each.previous();
    }
  }
  const Place start = ParsePlace(start_after);
  Gathering gathering(scope, start, limit);
  const ResourceBranch* branch = FindBranch(scope.resource);
  if (!branch) return std::vector<Entry>();
  static const Undo kNothing;
  auto add = [&](const Collection& collection) {
    auto changed = undo.find(collection.name->workspace.name());
    gathering.Add(collection, changed == undo.end() ? kNothing : changed->second);
  };
  if (!scope.workspace.empty()) {
    auto it = branch->collections.find(std::string_view(scope.workspace.name()));
    if (it != branch->collections.end()) add(*it->second);
  } else {
    auto it = start_after.empty() ? branch->collections.begin()
                                  : branch->collections.lower_bound(start.workspace);
    for (; it != branch->collections.end(); ++it) add(*it->second);
  }
  rest = gathering.rest;
  return std::move(gathering.entries);
}

}  // namespace mailroom::storage
