// Garbage collection through the API alone, in the shapes of Kubernetes' own tests of it. What
// must not happen is checked after something that happens later in the same workspace.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kPrefix = "/clusters/c/api/v1/namespaces/";

struct Owner {
  std::string name;
  std::string uid;
  bool blocks = true;
  std::string kind = "ConfigMap";
};

class GarbageCollectorTest : public testing::Test {
 protected:
  GarbageCollectorTest() { hub.NewWorkspace("c", "cluster"); }

  static std::string Path(const std::string& name, const std::string& ns = "default",
                          const std::string& resource = "configmaps") {
    return kPrefix + ns + "/" + resource + "/" + name;
  }
  // Makes a ConfigMap with these owners; returns its UID.
  std::string Make(const std::string& name, const std::vector<Owner>& owners = {},
                   const std::string& ns = "default") {
    Json object = ConfigMap(name);
    for (const Owner& owner : owners) {
      Json* list = Find(object, {"metadata", "ownerReferences"});
      if (list == nullptr) list = &Set(object, {"metadata", "ownerReferences"}, Json::array());
      list->push_back({{"apiVersion", "v1"}, {"kind", owner.kind}, {"name", owner.name},
                       {"uid", owner.uid}, {"blockOwnerDeletion", owner.blocks}});
    }
    auto made = hub.Do("POST", kPrefix + ns + "/configmaps", object);
    EXPECT_EQ(made.code, 201) << made.text;
    return StringAt(made.body, {"metadata", "uid"});
  }
  int Delete(const std::string& path, const std::string& policy = "") {
    return hub.Do("DELETE", path, policy.empty() ? Json() : Json{{"propagationPolicy", policy}})
        .code;
  }
  bool Gone(const std::string& name, const std::string& ns = "default") {
    return Eventually([&] { return hub.Get(Path(name, ns)).code == 404; });
  }
  bool Exists(const std::string& name, const std::string& ns = "default") {
    return hub.Get(Path(name, ns)).code == 200;
  }
  std::size_t Owners(const std::string& name) {
    const Json body = hub.Get(Path(name)).body;
    const Json* owners = Find(body, {"metadata", "ownerReferences"});
    return owners == nullptr ? 0 : owners->size();
  }
  void Hold(const std::string& name, const std::string& finalizer) {
    const Json list = finalizer.empty() ? Json() : Json::array({finalizer});
    EXPECT_EQ(hub.Do("PATCH", Path(name), {{"metadata", {{"finalizers", list}}}},
                     "application/merge-patch+json").code, 200);
  }
  // What Events of that namespace say about references to owners in other namespaces.
  std::vector<std::string> Complaints(const std::string& ns) {
    std::vector<std::string> out;
    const Json events = hub.Get(kPrefix + ns + "/events").body;
    for (const Json& event : *Find(events, {"items"})) {
      if (StringAt(event, {"reason"}) != "OwnerRefInvalidNamespace") continue;
      EXPECT_EQ(StringAt(event, {"type"}), "Warning");
      out.push_back(StringAt(event, {"message"}));
    }
    return out;
  }
  // Waits until the collector has handled everything before this call.
  void Settle() {
    const std::string name = "settle-" + std::to_string(settled_++);
    Make(name, {{"nobody", "11111111-1111-1111-1111-111111111111"}});
    ASSERT_TRUE(Gone(name));
  }

  TestHub hub;
  int settled_ = 0;
};

TEST_F(GarbageCollectorTest, DependentsFollowTheirOwner) {
  const std::string owner = Make("owner");
  const std::string child = Make("child", {{"owner", owner}});
  Make("grandchild", {{"child", child}});
  Make("bystander");
  EXPECT_EQ(Delete(Path("owner"), "Background"), 200);
  EXPECT_EQ(hub.Get(Path("owner")).code, 404);
  EXPECT_TRUE(Gone("child"));
  EXPECT_TRUE(Gone("grandchild"));
  EXPECT_TRUE(Exists("bystander"));
}

TEST_F(GarbageCollectorTest, AnOwnerThatNeverWasOrWasReplacedIsAbsent) {
  const std::string first = Make("owner");
  Make("kept", {{"owner", first}});
  Make("lost", {{"owner", "22222222-2222-2222-2222-222222222222"}});
  EXPECT_TRUE(Gone("lost"));
  EXPECT_TRUE(Exists("kept"));
}

TEST_F(GarbageCollectorTest, OneLivingOwnerIsEnough) {
  const std::string a = Make("a"), b = Make("b");
  Make("child", {{"a", a}, {"b", b}});
  Delete(Path("a"));
  EXPECT_TRUE(Eventually([&] { return Owners("child") == 1; }));
  Delete(Path("b"));
  EXPECT_TRUE(Gone("child"));
}

TEST_F(GarbageCollectorTest, OrphansKeepLivingWithoutTheReference) {
  const std::string owner = Make("owner");
  for (int i = 0; i < 5; ++i) Make("child-" + std::to_string(i), {{"owner", owner}});
  EXPECT_EQ(Delete(Path("owner"), "Orphan"), 200);
  EXPECT_TRUE(Gone("owner"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Owners("child-" + std::to_string(i)), 0u);
  Settle();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Exists("child-" + std::to_string(i)));
}

TEST_F(GarbageCollectorTest, ForegroundWaitsForBlockingDependents) {
  const std::string owner = Make("owner");
  Make("slow", {{"owner", owner}});
  Hold("slow", "example.com/hold");
  Make("loose", {{"owner", owner, false}});
  auto deleted = hub.Do("DELETE", Path("owner"), {{"propagationPolicy", "Foreground"}});
  EXPECT_EQ(StringsAt(deleted.body, {"metadata", "finalizers"}),
            std::vector<std::string>{"foregroundDeletion"});
  EXPECT_TRUE(Gone("loose"));
  EXPECT_TRUE(Eventually([&] {
    return !StringAt(hub.Get(Path("slow")).body, {"metadata", "deletionTimestamp"}).empty();
  }));
  Settle();
  EXPECT_TRUE(Exists("owner")) << "a blocking dependent is still there";
  Hold("slow", "");
  EXPECT_TRUE(Gone("slow"));
  EXPECT_TRUE(Gone("owner"));
}

TEST_F(GarbageCollectorTest, ForegroundDoesNotWaitForOthers) {
  const std::string owner = Make("owner");
  Make("loose", {{"owner", owner, false}});
  Hold("loose", "example.com/hold");
  Delete(Path("owner"), "Foreground");
  EXPECT_TRUE(Gone("owner"));
  EXPECT_TRUE(Exists("loose"));
}

TEST_F(GarbageCollectorTest, ADependentOfAValidAndAWaitingOwnerStays) {
  const std::string doomed = Make("doomed"), valid = Make("valid");
  Make("blocker", {{"doomed", doomed}});
  Hold("blocker", "example.com/hold");
  Make("shared", {{"doomed", doomed}, {"valid", valid}});
  Delete(Path("doomed"), "Foreground");
  EXPECT_TRUE(Eventually([&] { return Owners("shared") == 1; }));
  Hold("blocker", "");
  EXPECT_TRUE(Gone("doomed"));
  EXPECT_TRUE(Exists("shared"));
  EXPECT_TRUE(Exists("valid"));
}

TEST_F(GarbageCollectorTest, ACircleBlocksNobody) {
  // Each is owned by the one before it, the first by the last.
  std::map<std::string, std::string> uid;
  for (const char* name : {"one", "two", "three"}) uid[name] = Make(name);
  const std::map<std::string, std::string> owner = {
      {"one", "three"}, {"two", "one"}, {"three", "two"}};
  for (const auto& [name, of] : owner) {
    hub.Do("PATCH", Path(name),
           {{"metadata", {{"ownerReferences", Json::array({{{"apiVersion", "v1"},
                                                            {"kind", "ConfigMap"},
                                                            {"name", of},
                                                            {"uid", uid[of]},
                                                            {"controller", true},
                                                            {"blockOwnerDeletion", true}}})}}}},
           "application/merge-patch+json");
  }
  Settle();
  EXPECT_TRUE(Exists("one"));
  Delete(Path("one"), "Foreground");
  for (const auto& [name, of] : owner) EXPECT_TRUE(Gone(name)) << name;
}

TEST_F(GarbageCollectorTest, NamespacedOwnersCountOnlyInTheirNamespace) {
  hub.Do("POST", "/clusters/c/api/v1/namespaces",
         {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "other"}}}});
  const std::string owner = Make("owner");
  Make("elsewhere", {{"owner", owner}}, "other");
  EXPECT_TRUE(Gone("elsewhere", "other"));
  EXPECT_TRUE(Exists("owner"));
  EXPECT_EQ(Complaints("other"),
            std::vector<std::string>{"ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: " + owner +
                                     "] does not exist in namespace \"other\""});
  // One that is nowhere, and one that went, are nothing to complain about.
  const std::string brief = Make("brief");
  Make("orphan", {{"brief", brief}});
  Delete(Path("brief"));
  EXPECT_TRUE(Gone("orphan"));
  Settle();
  EXPECT_TRUE(Complaints("default").empty());
}

TEST_F(GarbageCollectorTest, ClusterScopedObjectsCannotHaveNamespacedOwners) {
  const std::string owner = Make("owner");
  const std::string nodes = "/clusters/c/api/v1/nodes";
  const Json node = {{"apiVersion", "v1"},
                     {"kind", "Node"},
                     {"metadata",
                      {{"name", "n"},
                       {"ownerReferences",
                        Json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"},
                                      {"name", "owner"}, {"uid", owner}}})}}}};
  ASSERT_EQ(hub.Do("POST", nodes, node).code, 201);
  EXPECT_TRUE(Eventually([&] { return !Complaints("default").empty(); }));
  EXPECT_EQ(Complaints("default"),
            std::vector<std::string>{"ownerRef [v1/ConfigMap, namespace: , name: owner, uid: " + owner +
                                     "] does not exist in namespace \"\""});
  Settle();
  EXPECT_EQ(hub.Get(nodes + "/n").code, 200);
}

TEST_F(GarbageCollectorTest, AClusterScopedOwnerOwnsInEveryNamespace) {
  auto node = hub.Do("POST", "/clusters/c/api/v1/nodes",
                     {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n"}}}});
  ASSERT_EQ(node.code, 201) << node.text;
  Make("child", {{"n", StringAt(node.body, {"metadata", "uid"}), true, "Node"}});
  Settle();
  EXPECT_TRUE(Exists("child"));
  Delete("/clusters/c/api/v1/nodes/n");
  EXPECT_TRUE(Gone("child"));
}

TEST_F(GarbageCollectorTest, AnUnknownKindIsWaitedFor) {
  Json object = ConfigMap("child");
  Set(object, {"metadata", "ownerReferences"},
      Json::array({{{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"name", "w"},
                    {"uid", "33333333-3333-3333-3333-333333333333"}}}));
  ASSERT_EQ(hub.Do("POST", kPrefix + "default/configmaps", object).code, 201);
  Settle();
  EXPECT_TRUE(Exists("child"));
  const Json crd = {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "widgets.example.com"}}},
      {"spec",
       {{"group", "example.com"},
        {"scope", "Namespaced"},
        {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
        {"versions",
         Json::array({{{"name", "v1"},
                       {"served", true},
                       {"storage", true},
                       {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}})}}}};
  ASSERT_EQ(hub.Do("POST", "/clusters/c/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                   crd).code, 201);
  EXPECT_TRUE(Gone("child"));
}

TEST_F(GarbageCollectorTest, MailboxesOnlyCarryReferences) {
  hub.NewWorkspace("m", "mailbox");
  const std::string path = "/clusters/m/api/v1/namespaces/default/configmaps";
  Json object = ConfigMap("copy");
  Set(object, {"metadata", "ownerReferences"},
      Json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "o"},
                    {"uid", "44444444-4444-4444-4444-444444444444"}}}));
  ASSERT_EQ(hub.Do("POST", path, object).code, 201);
  Settle();
  EXPECT_EQ(hub.Get(path + "/copy").code, 200);
  EXPECT_EQ(Delete(path + "/copy", "Foreground"), 200);
  EXPECT_EQ(hub.Get(path + "/copy").code, 404) << "nobody would finish it";
}

TEST_F(GarbageCollectorTest, KindsHaveTheirDefaultPolicy) {
  const std::string path = kPrefix + "default/replicationcontrollers";
  auto made = hub.Do("POST", path,
                     {{"apiVersion", "v1"}, {"kind", "ReplicationController"},
                      {"metadata", {{"name", "rc"}}},
                      {"spec", {{"replicas", 0}, {"selector", {{"a", "b"}}},
                                {"template", {{"metadata", {{"labels", {{"a", "b"}}}}},
                                              {"spec", {{"containers",
                                                Json::array({{{"name", "c"}, {"image", "i"}}})}}}}}}}});
  ASSERT_EQ(made.code, 201) << made.text;
  Make("child", {{"rc", StringAt(made.body, {"metadata", "uid"}), true, "ReplicationController"}});
  auto deleted = hub.Do("DELETE", path + "/rc");
  EXPECT_EQ(StringsAt(deleted.body, {"metadata", "finalizers"}),
            std::vector<std::string>{"orphan"});
  EXPECT_TRUE(Eventually([&] { return hub.Get(path + "/rc").code == 404; }));
  EXPECT_EQ(Owners("child"), 0u);
}

TEST_F(GarbageCollectorTest, AThousandDependentsGoTogether) {
  const std::string owner = Make("owner");
  for (int i = 0; i < 1000; ++i) Make("child-" + std::to_string(i), {{"owner", owner}});
  Delete(Path("owner"), "Foreground");
  EXPECT_TRUE(Gone("owner"));
  const Json left = hub.Get(kPrefix + "default/configmaps").body;
  for (const Json& each : *Find(left, {"items"})) {
    EXPECT_FALSE(StringAt(each, {"metadata", "name"}).starts_with("child-"));
  }
}

}  // namespace
}  // namespace mailroom
