#include "apiserver/workspaces.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kClusterRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const std::string kWorkspaces = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";

Json WidgetCrd() {
  return *ParseJson(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
    "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":
    {"type":"object","properties":{"size":{"type":"string","default":"small"}}},"status":{"type":"object",
    "x-kubernetes-preserve-unknown-fields":true}}}}}]}})");
}

Json Widget(const std::string& name) {
  return {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}},
          {"spec", Json::object()}};
}

// One of the hub's groups, approved as those of Kubernetes have to be.
Json Definition(const std::string& group, const std::string& plural) {
  return {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + group},
                        {"annotations", {{"api-approved.kubernetes.io", "unapproved, a test"}}}}},
          {"spec", {{"group", group}, {"scope", "Cluster"}, {"names", {{"plural", plural}, {"kind", "Thing"}}},
                    {"versions", Json::array({{{"name", "v9"}, {"served", true}, {"storage", true},
                                               {"schema", {{"openAPIV3Schema",
                                                            {{"type", "object"},
                                                             {"x-kubernetes-preserve-unknown-fields", true}}}}}}})}}}};
}

class WorkspacesTest : public testing::Test {
 protected:
  // Makes ConfigMaps until there is no place for them, counting those that were made. A namespace
  // that goes takes none before it is gone.
  std::vector<std::jthread> WriteUntilGone(const std::string& maps, std::atomic<int>& made) {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 3; ++writer) {
      writers.emplace_back([this, &maps, &made, writer] {
        for (int i = 0;; ++i) {
          const std::string name = "x" + std::to_string(writer) + "-" + std::to_string(i);
          const int code = hub.Do("POST", maps, ConfigMap(name)).code;
          if (code == 404) return;
          EXPECT_TRUE(code == 201 || code == 403) << code;
          made += code == 201;
        }
      });
    }
    return writers;
  }

  // As an older program may have left it, without the checks of today.
  void Store(const ResourceKey& key, const Json& object) {
    storage::Txn txn;
    txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                              std::make_shared<const std::string>(Object::Encode(object))});
    const auto stored = store().Commit(std::move(txn));
    ASSERT_TRUE(stored.ok() && store().WaitFor(stored->revision, std::chrono::seconds(5)).ok());
  }
  storage::CachedStore& store() { return hub.server().dispatcher().hub().store; }
  TestHub hub;
};

TEST_F(WorkspacesTest, AreApart) {
  const std::string a = hub.NewWorkspace("a", "cluster"), b = hub.NewWorkspace("ab", "cluster");
  hub.Do("POST", a + "/api/v1/namespaces/default/configmaps", ConfigMap("x"));
  EXPECT_EQ(hub.Get(b + "/api/v1/namespaces/default/configmaps/x").code, 404);
  EXPECT_TRUE(Find(hub.Get(b + "/api/v1/configmaps").body, {"items"})->empty());
  EXPECT_EQ(Find(hub.Get(a + "/api/v1/namespaces").body, {"items"})->size(), 4u);
}

TEST_F(WorkspacesTest, DeletedAndMadeAgainShareNothing) {
  const std::string a = hub.NewWorkspace("a", "cluster");
  hub.Do("POST", a + "/api/v1/namespaces/default/configmaps", ConfigMap("x"));
  hub.Do("POST", a + kCrds, WidgetCrd());
  const std::string uid =
      StringAt(hub.Get(a + "/api/v1/namespaces/kube-system").body, {"metadata", "uid"});
  EXPECT_EQ(hub.Do("DELETE", kWorkspaces + "/a").code, 200);
  EXPECT_EQ(hub.Get(a + "/api/v1/namespaces").code, 404);
  hub.NewWorkspace("a", "wds");
  EXPECT_EQ(hub.Get(a + "/api/v1/namespaces/default/configmaps/x").code, 404);
  EXPECT_EQ(hub.Get(a + "/apis/example.com/v1/widgets").code, 404);
  EXPECT_NE(StringAt(hub.Get(a + "/api/v1/namespaces/kube-system").body, {"metadata", "uid"}), uid);
}

// Creates that pass every check while their workspace goes must not land in the empty place.
TEST_F(WorkspacesTest, NothingIsMadeInAWorkspaceThatGoes) {
  const std::string maps = "/clusters/a/api/v1/namespaces/default/configmaps";
  for (int round = 0; round < 30; ++round) {
    hub.NewWorkspace("a", "wds");
    std::atomic<int> made = 0;
    {
      const std::vector<std::jthread> writers = WriteUntilGone(maps, made);
      while (made < 3 + round) std::this_thread::yield();
      EXPECT_EQ(hub.Do("DELETE", kWorkspaces + "/a").code, 200);
    }
    hub.NewWorkspace("a", "wds");
    EXPECT_EQ(Find(hub.Get(maps).body, {"items"})->size(), 0u) << "round " << round;
    EXPECT_EQ(hub.Do("DELETE", kWorkspaces + "/a").code, 200);
  }
}

TEST_F(WorkspacesTest, NothingIsMadeInANamespaceThatGoes) {
  const std::string namespaces = hub.NewWorkspace("a", "wds") + "/api/v1/namespaces";
  const std::string maps = namespaces + "/n/configmaps";
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(hub.Do("POST", namespaces, {{"metadata", {{"name", "n"}}}}).code, 201);
    std::atomic<int> made = 0;
    {
      const std::vector<std::jthread> writers = WriteUntilGone(maps, made);
      while (made < 3 + round) std::this_thread::yield();
      EXPECT_EQ(hub.Do("DELETE", namespaces + "/n").code, 200);
    }
    EXPECT_EQ(Find(hub.Get(maps).body, {"items"})->size(), 0u) << "round " << round;
  }
}

// What is read while its workspace goes must not be remembered afterwards.
TEST_F(WorkspacesTest, ReadersOfAWorkspaceThatGoesLeaveNothing) {
  const apiserver::Hub& parts = hub.server().dispatcher().hub();
  const auto base = openapi::BaseCatalog(openapi::WorkspaceType::kCluster);
  const auto roles = kClusterRoles + "/view";
  for (int round = 0; round < 20; ++round) {
    const std::string name = "a" + std::to_string(round), a = hub.NewWorkspace(name, "cluster");
    ASSERT_EQ(hub.Do("POST", a + kCrds, WidgetCrd()).code, 201);
    std::atomic<bool> gone = false;
    std::array<std::weak_ptr<const void>, 3> served, rights;
    {
      std::vector<std::jthread> readers;
      for (std::size_t i = 0; i < served.size(); ++i) {
        readers.emplace_back([&, i] {
          while (!gone) {
            const auto view = parts.workspaces.Find(Workspace(name));
            if (view.ok() && view->catalog != base) served[i] = view->catalog;
            if (const auto rbac = parts.authorizer.RbacOf(name)) rights[i] = rbac;
          }
        });
      }
      // Every change has both gathered anew.
      for (int i = 0; i < 5; ++i) {
        const Json label = {{"metadata", {{"labels", {{"i", std::to_string(i)}}}}}};
        for (const std::string& path : {kCrds + "/widgets.example.com", roles}) {
          EXPECT_EQ(hub.Do("PATCH", a + path, label, "application/merge-patch+json").code, 200);
        }
      }
      EXPECT_EQ(hub.Do("DELETE", kWorkspaces + "/" + name).code, 200);
      gone = true;
    }
    for (std::size_t i = 0; i < served.size(); ++i) {
      ASSERT_TRUE(Eventually([&] { return served[i].expired(); })) << "round " << round;
      ASSERT_TRUE(Eventually([&] { return rights[i].expired(); })) << "round " << round;
    }
  }
}

TEST_F(WorkspacesTest, CreatesGoOnWhileTheWorkspaceIsEdited) {
  const std::string a = hub.NewWorkspace("a", "wds");
  std::jthread editor([&](std::stop_token stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      const Json labels = {{"metadata", {{"labels", {{"turn", std::to_string(i)}}}}}};
      EXPECT_EQ(hub.Do("PATCH", kWorkspaces + "/a", labels, "application/merge-patch+json").code, 200);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto made =
        hub.Do("POST", a + "/api/v1/namespaces/default/configmaps", ConfigMap("x" + std::to_string(i)));
    EXPECT_EQ(made.code, 201) << made.text;
  }
}

TEST_F(WorkspacesTest, RefuseBadNamesAndTypeChanges) {
  auto make = [&](const char* name, const char* type) {
    return hub.Do("POST", kWorkspaces,
                  {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
                   {"metadata", {{"name", name}}}, {"spec", {{"type", type}}}}).code;
  };
  EXPECT_EQ(make("root", "cluster"), 422);
  EXPECT_EQ(make("x", "root"), 422);
  EXPECT_EQ(make("x", "castle"), 422);
  EXPECT_EQ(make("x", "cluster"), 201);
  EXPECT_EQ(hub.Do("PATCH", kWorkspaces + "/x", {{"spec", {{"type", "wds"}}}},
                   "application/merge-patch+json").code, 422);
}

TEST_F(WorkspacesTest, ServeTheKindsOfTheirType) {
  EXPECT_EQ(hub.Get("/clusters/its1/apis/edge.kubestellar.io/v2alpha1/synctargets").code, 200);
  EXPECT_EQ(hub.Get("/clusters/wds1/apis/edge.kubestellar.io/v2alpha1/synctargets").code, 404);
  EXPECT_EQ(hub.Get("/clusters/wds1/apis/control.kubestellar.io/v1alpha1/bindingpolicies").code, 200);
}

TEST_F(WorkspacesTest, DefinitionsServeAtOnceAndOnlyThere) {
  const std::string a = hub.NewWorkspace("a", "cluster"), b = hub.NewWorkspace("b", "cluster");
  const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  auto crd = hub.Do("POST", a + kCrds, WidgetCrd());
  ASSERT_EQ(crd.code, 201) << crd.text;
  auto made = hub.Do("POST", a + widgets, Widget("w"));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(StringAt(made.body, {"spec", "size"}), "small") << "schema default";
  EXPECT_EQ(hub.Get(b + widgets).code, 404);
  auto groups = hub.Get(a + "/apis");
  EXPECT_NE(groups.text.find("example.com"), std::string::npos);
  EXPECT_EQ(hub.Get(b + "/apis").text.find("example.com"), std::string::npos);
  Json patch = {{"status", {{"phase", "Done"}}}};
  auto ignored = hub.Do("PATCH", a + widgets + "/w", patch, "application/merge-patch+json");
  EXPECT_EQ(StringAt(ignored.body, {"status", "phase"}), "");
  auto set = hub.Do("PATCH", a + widgets + "/w/status", patch, "application/merge-patch+json");
  EXPECT_EQ(StringAt(set.body, {"status", "phase"}), "Done");
}

// What the server does to its own kinds it must not do to somebody's objects that only share their
// name; and whoever reads all workspaces must not take these for the real ones.
TEST_F(WorkspacesTest, NoDefinitionTakesTheNameOfAKindOfTheHub) {
  const std::pair<const char*, const char*> names[] = {
      {"mailbox.kubestellar.io", "workspaces"}, {"mailbox.kubestellar.io", "workspaceaccesses"},
      {"edge.kubestellar.io", "synctargets"}, {"edge.kubestellar.io", "syncerconfigs"},
      {"control.kubestellar.io", "bindingpolicies"}, {"cluster.open-cluster-management.io", "managedclusters"},
      {"certificates.k8s.io", "certificatesigningrequests"}, {"events.k8s.io", "events"},
      {"apiextensions.k8s.io", "customresourcedefinitions"}, {"rbac.authorization.k8s.io", "clusterroles"}};
  for (const char* type : {"cluster", "inventory", "wds", "mailbox"}) {
    const std::string ws = hub.NewWorkspace(std::string("a-") + type, type);
    for (const auto& [group, plural] : names) {
      const auto refused = hub.Do("POST", ws + kCrds, Definition(group, plural));
      EXPECT_EQ(refused.code, 422) << refused.text;
      EXPECT_EQ(StringAt(refused.body, {"reason"}), "Invalid");
      EXPECT_NE(refused.text.find("is a kind of the hub's own"), std::string::npos) << refused.text;
      EXPECT_EQ(hub.Get(ws + kCrds + "/" + plural + "." + group).code, 404);
    }
    EXPECT_EQ(hub.Do("POST", ws + kCrds, Definition("edge.kubestellar.io", "gadgets")).code, 201) << "their group is free";
    EXPECT_EQ(hub.Do("POST", ws + kCrds, WidgetCrd()).code, 201);
  }
}

TEST_F(WorkspacesTest, AnOldDefinitionOfSuchANameServesAndRemovesNothing) {
  const std::string x = hub.NewWorkspace("x", "cluster"), group = "mailbox.kubestellar.io";
  const std::string kept = "/clusters/wds1/api/v1/namespaces/default/configmaps";
  ASSERT_EQ(hub.Do("POST", kept, ConfigMap("kept")).code, 201);
  // A status that says other names than the definition.
  ASSERT_EQ(hub.Do("POST", x + kCrds, Definition(group, "foos")).code, 201);
  EXPECT_EQ(hub.Get(x + "/apis/" + group + "/v9/foos").code, 200);
  const std::string harmless = x + kCrds + "/foos." + group;
  const Json established = hub.Get(harmless).body;
  ASSERT_EQ(hub.Do("PATCH", harmless + "/status", {{"status", {{"acceptedNames", {{"plural", "workspaces"}}}}}},
                   "application/merge-patch+json").code, 200);
  EXPECT_EQ(hub.Get(x + "/apis/" + group + "/v9/workspaces").code, 404);
  // And one from before they were refused, with an object.
  const auto old = ParseJson([&] {
    std::string text = DumpJson(established);
    for (std::size_t at; (at = text.find("foos")) != std::string::npos;) text.replace(at, 4, "workspaces");
    return text;
  }());
  const std::string name = "workspaces." + group;
  for (const char* ws : {"x", "root"}) Store({Workspace(ws), apiserver::kCrdResource, "", name}, *old);
  const ResourceKey object{Workspace("x"), apiserver::kWorkspacesResource, "", "wds1"};
  Store(object, {{"apiVersion", group + "/v9"}, {"kind", "Thing"}, {"metadata", {{"name", "wds1"}, {"uid", "u"}}},
                 {"spec", {{"type", "wds"}}}});
  EXPECT_EQ(hub.Get(x + "/apis/" + group + "/v9/workspaces").code, 404);
  EXPECT_EQ(hub.Get("/apis/" + group + "/v9/workspaces").code, 404);
  for (const std::string& ws : {x, std::string("/clusters/root")}) {
    EXPECT_EQ(hub.Do("PATCH", ws + kCrds + "/" + name, {{"metadata", {{"labels", {{"a", "b"}}}}}},
                     "application/merge-patch+json").code, 200) << "it can be let go";
    EXPECT_EQ(hub.Do("DELETE", ws + kCrds + "/" + name).code, 200);
    EXPECT_TRUE(Eventually([&] { return hub.Get(ws + kCrds + "/" + name).code == 404; }));
  }
  EXPECT_EQ(store().Get(object), nullptr) << "its own objects go";
  EXPECT_EQ(hub.Get(kept + "/kept").code, 200) << "but no workspace of such a name";
  EXPECT_EQ(hub.Get(kWorkspaces + "/wds1").code, 200) << "nor root's";
}

TEST_F(WorkspacesTest, ObjectsAreReadAsTheirDefinitionNowHasThem) {
  const std::string a = hub.NewWorkspace("a", "cluster");
  const std::string widgets = a + "/apis/example.com/v1/namespaces/default/widgets";
  hub.Do("POST", a + kCrds, WidgetCrd());
  const auto old = hub.Do("POST", widgets, Widget("old"));
  const Json properties = {{"colour", {{"type", "string"}, {"default", "red"}}}};
  const Json patch = Json::array(
      {{{"op", "replace"},
        {"path", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"},
        {"value", properties}}});
  ASSERT_EQ(hub.Do("PATCH", a + kCrds + "/widgets.example.com", patch, "application/json-patch+json").code,
            200);
  const Json spec = {{"colour", "red"}};  // the new default; the undeclared size is gone
  const auto read = hub.Get(widgets + "/old");
  EXPECT_EQ(*Find(read.body, {"spec"}), spec);
  EXPECT_EQ(*Find(read.body, {"metadata"}), *Find(old.body, {"metadata"})) << "nothing was written";
  EXPECT_EQ(*Find(Find(hub.Get(widgets).body, {"items"})->at(0), {"spec"}), spec);
  EXPECT_EQ(*Find(TestWatch(hub, widgets + "?watch=1").Next(), {"object", "spec"}), spec);
  const Json label = {{"metadata", {{"labels", {{"a", "b"}}}}}};
  EXPECT_EQ(*Find(hub.Do("PATCH", widgets + "/old", label, "application/merge-patch+json").body, {"spec"}),
            spec);
}

TEST_F(WorkspacesTest, DeletingADefinitionDeletesItsObjects) {
  const std::string a = hub.NewWorkspace("a", "cluster");
  hub.Do("POST", a + kCrds, WidgetCrd());
  hub.Do("POST", a + "/apis/example.com/v1/namespaces/default/widgets", Widget("w"));
  EXPECT_EQ(hub.Do("DELETE", a + kCrds + "/widgets.example.com").code, 200);
  ASSERT_TRUE(Eventually([&] { return hub.Get(a + kCrds + "/widgets.example.com").code == 404; }));
  EXPECT_EQ(hub.Get(a + "/apis/example.com/v1/widgets").code, 404);
  hub.Do("POST", a + kCrds, WidgetCrd());
  EXPECT_TRUE(Find(hub.Get(a + "/apis/example.com/v1/widgets").body, {"items"})->empty());
}

TEST_F(WorkspacesTest, NamespacesEmptyThemselvesWhenDeleted) {
  const std::string ns = "/clusters/wds1/api/v1/namespaces";
  hub.Do("POST", ns, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "n"}}}});
  hub.Do("POST", ns + "/n/configmaps", ConfigMap("x"));
  Json held = ConfigMap("held");
  Set(held, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  hub.Do("POST", ns + "/n/configmaps", held);
  auto deleted = hub.Do("DELETE", ns + "/n");
  EXPECT_EQ(StringAt(deleted.body, {"status", "phase"}), "Terminating");
  ASSERT_TRUE(Eventually([&] { return hub.Get(ns + "/n/configmaps/x").code == 404; }));
  auto refused = hub.Do("POST", ns + "/n/configmaps", ConfigMap("late"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(hub.Get(ns + "/n").code, 200) << "held by a finalizer inside";
  hub.Do("PATCH", ns + "/n/configmaps/held", {{"metadata", {{"finalizers", nullptr}}}},
         "application/merge-patch+json");
  EXPECT_TRUE(Eventually([&] { return hub.Get(ns + "/n").code == 404; }));
  EXPECT_EQ(hub.Do("DELETE", ns + "/default").code, 403);
}

}  // namespace
}  // namespace mailroom
