#include "apiserver/apply_ownership.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "apiserver/typed_merge.h"
#include "openapi/builtin.h"
#include "openapi/defaults.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

FieldSet SetOf(const std::vector<FieldPath>& paths) {
  FieldSet out;
  for (const FieldPath& path : paths) out.Insert(path);
  return out;
}

// Value structs are present from the start, lists and maps that are always written are null.
Json ZeroOf(const openapi::Schema& schema) {
  Json out = Json::object();
  for (const openapi::Property& property : schema.properties) {
    const openapi::Schema* type = property.schema;
    if (type->wire == openapi::Wire::kMessage && type->type == openapi::Type::kObject &&
        !property.pointer) {
      out[property.name] = ZeroOf(*type);
    } else if (property.always && (property.pointer || type->type == openapi::Type::kArray ||
                                   type->type == openapi::Type::kObject)) {
      out[property.name] = nullptr;
    }
  }
  return out;
}

void ForgetManagedFields(FieldSet& set) {
  FieldSet* metadata = set.Find("f:metadata");
  if (!metadata) return;
  metadata->Erase("f:managedFields");
  if (metadata->Empty()) set.Erase("f:metadata");
}

// `"name" with subresource "status" using apps/v1`.
std::string Describe(const OwnerEntry& owner) {
  std::string out = Quoted(owner.manager);
  if (!owner.subresource.empty()) out += " with subresource " + Quoted(owner.subresource);
  if (owner.operation == Operation::kUpdate) out += " using " + owner.api_version;
  return out;
}

}  // namespace

const FieldSet& IgnoredFields(const openapi::ResourceType& type, const std::string& subresource) {
  static const FieldSet kNone;
  static const FieldSet kStatus = SetOf({{"f:status"}});
  static const FieldSet kAllButStatus = SetOf({{"f:metadata"}, {"f:spec"}});
  static const FieldSet kSpec = SetOf({{"f:spec"}});
  static const std::map<GroupResource, FieldSet> kKept = [] {
    std::map<GroupResource, FieldSet> out;
    for (const auto& [resource, members] : openapi::StatusKeeps()) {
      std::vector<FieldPath> paths = {{"f:spec"}};
      for (const std::string& member : members) paths.push_back({"f:metadata", "f:" + member});
      out[resource] = SetOf(paths);
    }
    return out;
  }();
  if (subresource == "status") {
    if (!type.builtin) return kAllButStatus;
    auto kept = kKept.find(type.group_resource());
    return kept == kKept.end() ? kSpec : kept->second;
  }
  return subresource.empty() && type.has_status ? kStatus : kNone;
}

void DropContainerNames(const std::string& subresource, FieldSet& wanted) {
  FieldSet* spec = subresource == "resize" ? wanted.Find("f:spec") : nullptr;
  if (spec == nullptr) return;
  for (const char* list : {"f:containers", "f:initContainers"}) {
    FieldSet* containers = spec->Find(list);
    if (containers == nullptr) continue;
    for (FieldSet::Child& container : containers->children) {
      container.set.member = false;
      container.set.Erase("f:name");
    }
    std::erase_if(containers->children,
                  [](const FieldSet::Child& container) { return container.set.Empty(); });
    if (containers->Empty()) spec->Erase(list);
  }
  if (spec->Empty()) wanted.Erase("f:spec");
}

void DropUntracked(FieldSet& set) {
  set.Erase("f:apiVersion");
  set.Erase("f:kind");
  FieldSet* metadata = set.Find("f:metadata");
  if (!metadata) return;
  metadata->member = false;
  for (const char* element :
       {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName",
        "f:generation", "f:managedFields", "f:resourceVersion"}) {
    FieldSet* below = metadata->Find(element);
    if (!below) continue;
    below->member = false;
    if (below->Empty()) metadata->Erase(element);
  }
  if (metadata->Empty()) set.Erase("f:metadata");
}

OwnerEntry EntryOf(const Writer& writer, Operation operation) {
  OwnerEntry entry;
  entry.manager = writer.manager.empty() ? "unknown" : writer.manager;
  entry.operation = operation;
  entry.api_version = writer.api_version;
  entry.subresource = writer.subresource;
  return entry;
}

Json ZeroObject(const openapi::ResourceType& type) {
  if (!type.builtin || !type.schema) return Json::object();
  Json zero = ZeroOf(*type.schema);
  openapi::SettleShape(*type.schema, zero);
  return zero;
}

FieldChanges TrackedChanges(const openapi::ResourceType& type, const std::string& subresource,
                            const Json& before, const Json& after) {
  FieldChanges changes = CompareFields(type.schema, before, after);
  ForgetManagedFields(changes.removed);
  const FieldSet& ignored = IgnoredFields(type, subresource);
  for (FieldSet* set : {&changes.added, &changes.modified, &changes.removed}) {
    if (!ignored.Empty() && !set->Empty()) *set = set->RecursiveDifference(ignored);
  }
  return changes;
}

void TakeOver(const FieldChanges& changes, const OwnerEntry* self, ManagedFields& managed) {
  for (OwnerEntry& entry : managed.entries()) {
    if (&entry == self) continue;
    for (const FieldSet* taken : {&changes.added, &changes.modified, &changes.removed}) {
      if (entry.fields.Intersects(*taken)) entry.SetFields(entry.fields.Difference(*taken));
    }
  }
}

void FollowSchema(const openapi::ResourceType& type, const Writer& writer, ManagedFields& managed) {
  if (!writer.served.empty()) {
    std::erase_if(managed.entries(), [&](const OwnerEntry& entry) {
      return std::find(writer.served.begin(), writer.served.end(), entry.api_version) ==
             writer.served.end();
    });
  }
  for (OwnerEntry& entry : managed.entries()) {
    if (FollowAtomic(type.schema, entry.fields)) entry.stored = nullptr;
  }
}

Status ApplyConflict(std::vector<Conflicting> conflicts) {
  std::sort(conflicts.begin(), conflicts.end(), [](const Conflicting& a, const Conflicting& b) {
    return a.owner->Identifier() < b.owner->Identifier();
  });
  StatusDetails details;
  std::string listing;
  std::size_t count = 0;
  for (const Conflicting& conflict : conflicts) {
    count += conflict.fields.Count();
    const std::size_t room = limits::kProblemsTold - details.causes.size();
    if (room == 0) continue;
    const std::string who = Describe(*conflict.owner);
    listing += (listing.empty() ? "conflicts with " : "\nconflicts with ") + who + ":";
    for (std::string& path : conflict.fields.PathTexts(room)) {
      listing += "\n- " + path;
      details.causes.push_back({"FieldManagerConflict", "conflict with " + who, std::move(path)});
    }
  }
  if (const std::size_t more = count - details.causes.size(); more > 0) {
    listing += "\n... and " + std::to_string(more) + " more";
  }
  std::string message =
      count == 1 ? "Apply failed with 1 conflict: " + details.causes[0].message + ": " +
                       details.causes[0].field
                 : "Apply failed with " + std::to_string(count) + " conflicts: " + listing;
  return Status(Reason::kConflict, std::move(message), std::move(details));
}

}  // namespace mailroom::apiserver
