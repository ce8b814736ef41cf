#include "apiserver/namespace_cleanup.h"

#include <map>

#include "apiserver/conditions.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {

using openapi::ResourceTypePtr;

// What a pass over the namespace left behind.
struct NamespaceCleanup::Remains {
  std::map<std::string, std::size_t> resources;   // `pods.` or `widgets.example.com`
  std::map<std::string, std::size_t> finalizers;  // on how many objects
  std::vector<std::string> failures;
};

namespace {

struct Condition {
  const char* type;
  bool status;
  const char* reason;
  std::string message;

  Json ToJson() const {
    return {{"type", type}, {"status", status ? "True" : "False"},
            {"reason", reason}, {"message", message}};
  }
};

std::string Joined(const std::map<std::string, std::size_t>& counts, const std::string& middle) {
  std::string text;
  for (const auto& [what, count] : counts) {
    text += (text.empty() ? "" : ", ") + what + middle + std::to_string(count) +
            " resource instances";
  }
  return text;
}

}  // namespace

Result<bool> NamespaceCleanup::Empty(const WorkspaceView& workspace, const ResourceTypePtr& type,
                                     const std::string& ns) const {
  DeleteRequest request;
  request.propagation = "Background";
  storage::CacheListOptions list;
  list.scope = {workspace.name, type->stored_as, ns};
  for (const storage::Entry& entry : TRY(hub_.store.List(list)).entries) {
    const Metadata& meta = entry.object->meta();
    TRY(UnlessGone(
        self_.Remove(workspace, type, std::string(meta.ns), std::string(meta.name), request)));
  }
  return TRY(hub_.store.List(list)).entries.empty();
}

void NamespaceCleanup::Count(const WorkspaceView& workspace, const ResourceTypePtr& type,
                             const std::string& ns, Remains& remains) const {
  storage::CacheListOptions list;
  list.scope = {workspace.name, type->stored_as, ns};
  auto left = hub_.store.List(list);
  if (!left.ok() || left->entries.empty()) return;
  remains.resources[type->plural + "." + type->gvk.group] = left->entries.size();
  for (const storage::Entry& entry : left->entries) {
    if (!entry.object->meta().has_finalizers) continue;
    for (const std::string& finalizer :
         StringsAt(entry.object->ToJson(), {"metadata", "finalizers"})) {
      ++remains.finalizers[finalizer];
    }
  }
}

Result<bool> NamespaceCleanup::Take(const WorkspaceView& workspace, const std::string& ns) const {
  Remains remains;
  bool empty = true;
  auto clean = [&](const ResourceTypePtr& type) {
    auto done = Empty(workspace, type, ns);
    if (!done.ok()) remains.failures.push_back(done.error().message());
    if (done.ok() && *done) return;
    empty = false;
    Count(workspace, type, ns, remains);
  };
  const GroupResource pods{"", "pods"};
  const auto types = workspace.catalog->Preferred();
  for (const ResourceTypePtr& type : types) {
    if (type->stored_as == pods) clean(type);
  }
  for (const ResourceTypePtr& type : types) {
    if (!remains.resources.empty() && remains.resources.contains("pods.")) break;
    if (type->namespaced && type->stored && type->stored_as != pods) clean(type);
  }
  if (!empty) {
    TRY(Tell(workspace, ns, remains));
    return false;
  }
  TRY(UnlessGone(self_.Change(
      workspace, workspace.catalog->FindShared("", "v1", "namespaces"), "", ns, "finalize",
      [](Json& object) {
        Json kept = Json::array();
        for (std::string& each : StringsAt(object, {"spec", "finalizers"})) {
          if (each != "kubernetes") kept.push_back(std::move(each));
        }
        Set(object, {"spec", "finalizers"}, std::move(kept));
      })));
  return true;
}

Result<void> NamespaceCleanup::Tell(const WorkspaceView& workspace, const std::string& ns,
                                    const Remains& remains) const {
  std::string failures;
  for (const std::string& failure : remains.failures) {
    failures += (failures.empty() ? "" : ", ") + failure;
  }
  const bool failed = !remains.failures.empty();
  const bool some = !remains.resources.empty();
  const bool held = !remains.finalizers.empty();
  const Condition conditions[] = {
      {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
       "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure", failed, failed ? "ContentDeletionFailed" : "ContentDeleted",
       failed ? "Failed to delete all resource types, " + std::to_string(remains.failures.size()) +
                    " remaining: " + failures
              : "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining", some, some ? "SomeResourcesRemain" : "ContentRemoved",
       some ? "Some resources are remaining: " + Joined(remains.resources, " has ")
            : "All content successfully removed"},
      {"NamespaceFinalizersRemaining", held, held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       held ? "Some content in the namespace has finalizers remaining: " +
                  Joined(remains.finalizers, " in ")
            : "All content-preserving finalizers finished"}};
  const std::string now = FormatTime(hub_.clock.Now());
  return UnlessGone(self_.Change(workspace, workspace.catalog->FindShared("", "v1", "namespaces"),
                                 "", ns, "status", [&](Json& object) {
                                   for (const Condition& each : conditions) {
                                     SetCondition(object, each.ToJson(), now);
                                   }
                                 }));
}

}  // namespace mailroom::apiserver
