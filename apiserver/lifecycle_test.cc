// What the server's own controllers do to workspaces, seen through the API.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kNamespaces = "/clusters/c/api/v1/namespaces";

class LifecycleTest : public testing::Test {
 protected:
  LifecycleTest() { hub.NewWorkspace("c", "cluster"); }

  void MakeNamespace(const std::string& name) {
    ASSERT_EQ(hub.Do("POST", kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"},
                                           {"metadata", {{"name", name}}}}).code, 201);
    // With the last of what it is furnished with, so that nothing is on its way into it when it goes.
    ASSERT_TRUE(Appears(kNamespaces + "/" + name + "/configmaps/kube-root-ca.crt")) << name;
  }
  bool Appears(const std::string& path) {
    return Eventually([&] { return hub.Get(path).code == 200; });
  }
  Json Condition(const std::string& ns, const std::string& type) {
    const Json body = hub.Get(kNamespaces + "/" + ns).body;
    const Json* conditions = Find(body, {"status", "conditions"});
    if (conditions == nullptr) return {};
    for (const Json& each : *conditions) {
      if (StringAt(each, {"type"}) == type) return each;
    }
    return {};
  }

  TestHub hub{"the test's authority"};
};

TEST_F(LifecycleTest, NamespacesAreFurnished) {
  MakeNamespace("n");
  for (const char* ns : {"n", "default", "kube-system"}) {
    EXPECT_TRUE(Appears(kNamespaces + "/" + ns + "/serviceaccounts/default")) << ns;
    EXPECT_TRUE(Appears(kNamespaces + "/" + ns + "/configmaps/kube-root-ca.crt")) << ns;
  }
  const std::string account = kNamespaces + "/n/serviceaccounts/default";
  const std::string uid = StringAt(hub.Get(account).body, {"metadata", "uid"});
  EXPECT_EQ(hub.Do("DELETE", account).code, 200);
  EXPECT_TRUE(Eventually([&] {
    const auto again = hub.Get(account);
    return again.code == 200 && StringAt(again.body, {"metadata", "uid"}) != uid;
  }));
  const std::string ca = kNamespaces + "/n/configmaps/kube-root-ca.crt";
  hub.Do("PATCH", ca, {{"data", {{"ca.crt", "forged"}}}}, "application/merge-patch+json");
  EXPECT_TRUE(Eventually([&] {
    return StringAt(hub.Get(ca).body, {"data", "ca.crt"}) == "the test's authority";
  }));
}

TEST_F(LifecycleTest, PayloadWorkspacesAreLeftAlone) {
  MakeNamespace("marker");
  EXPECT_TRUE(Appears(kNamespaces + "/marker/serviceaccounts/default"));
  EXPECT_EQ(hub.Get("/clusters/wds1/api/v1/namespaces/default/serviceaccounts/default").code, 404);
  hub.NewWorkspace("m", "mailbox");
  MakeNamespace("later");
  EXPECT_TRUE(Appears(kNamespaces + "/later/serviceaccounts/default"));
  EXPECT_EQ(hub.Get("/clusters/m/api/v1/namespaces/default/configmaps/kube-root-ca.crt").code, 404);
}

TEST_F(LifecycleTest, AClusterHasItsService) {
  const std::string service = kNamespaces + "/default/services/kubernetes";
  ASSERT_TRUE(Appears(service));
  EXPECT_EQ(StringAt(hub.Get(service).body, {"spec", "clusterIP"}), "10.0.0.1");
  EXPECT_EQ(hub.Get("/clusters/its1/api/v1/namespaces/default/services/kubernetes").code, 404);
  EXPECT_EQ(hub.Do("DELETE", service).code, 200);
  EXPECT_TRUE(Appears(service));
}

TEST_F(LifecycleTest, AClusterHasARangeOfServiceAddresses) {
  const std::string networking = "/clusters/c/apis/networking.k8s.io/v1";
  const std::string range = networking + "/servicecidrs/kubernetes";
  const auto is_ready = [&] {
    const Json found = hub.Get(range).body;
    const Json* conditions = Find(found, {"status", "conditions"});
    return conditions != nullptr && conditions->size() == 1 &&
           StringAt(conditions->front(), {"type"}) == "Ready" &&
           StringAt(conditions->front(), {"status"}) == "True";
  };
  ASSERT_TRUE(Eventually(is_ready));
  EXPECT_EQ(StringsAt(hub.Get(range).body, {"spec", "cidrs"}),
            std::vector<std::string>{"10.0.0.0/24"});
  const std::string address = networking + "/ipaddresses/10.0.0.1";
  ASSERT_TRUE(Appears(address));
  const Json parent = hub.Get(address).body["spec"]["parentRef"];
  EXPECT_EQ(StringAt(parent, {"resource"}), "services");
  EXPECT_EQ(StringAt(parent, {"namespace"}) + "/" + StringAt(parent, {"name"}), "default/kubernetes");
  for (const std::string& path : {range, address}) {
    const std::string uid = StringAt(hub.Get(path).body, {"metadata", "uid"});
    EXPECT_EQ(hub.Do("DELETE", path).code, 200);
    EXPECT_TRUE(Eventually([&] {
      const std::string now = StringAt(hub.Get(path).body, {"metadata", "uid"});
      return !now.empty() && now != uid;
    })) << path;
  }
  EXPECT_TRUE(Eventually(is_ready));
  const std::string elsewhere = "/clusters/wds1/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
  EXPECT_EQ(hub.Get(elsewhere).code, 404);
}

TEST_F(LifecycleTest, TokenSecretsGoWithTheirAccount) {
  const std::string in = kNamespaces + "/default";
  auto account = hub.Do("POST", in + "/serviceaccounts",
                        {{"apiVersion", "v1"}, {"kind", "ServiceAccount"},
                         {"metadata", {{"name", "robot"}}}});
  ASSERT_EQ(account.code, 201) << account.text;
  auto secret = hub.Do(
      "POST", in + "/secrets",
      {{"apiVersion", "v1"}, {"kind", "Secret"},
       {"type", "kubernetes.io/service-account-token"},
       {"metadata",
        {{"name", "robot-token"},
         {"annotations",
          {{"kubernetes.io/service-account.name", "robot"},
           {"kubernetes.io/service-account.uid", StringAt(account.body, {"metadata", "uid"})}}}}}});
  ASSERT_EQ(secret.code, 201) << secret.text;
  hub.Do("DELETE", in + "/serviceaccounts/robot");
  EXPECT_TRUE(Eventually([&] { return hub.Get(in + "/secrets/robot-token").code == 404; }));
}

TEST_F(LifecycleTest, ATerminatingNamespaceSaysWhatHoldsIt) {
  MakeNamespace("n");
  Json held = ConfigMap("held");
  Set(held, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  ASSERT_EQ(hub.Do("POST", kNamespaces + "/n/configmaps", held).code, 201);
  hub.Do("DELETE", kNamespaces + "/n");
  ASSERT_TRUE(Eventually([&] {
    return StringAt(Condition("n", "NamespaceFinalizersRemaining"), {"status"}) == "True";
  }));
  EXPECT_EQ(StringAt(Condition("n", "NamespaceFinalizersRemaining"), {"message"}),
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 "
            "resource instances");
  EXPECT_EQ(StringAt(Condition("n", "NamespaceContentRemaining"), {"message"}),
            "Some resources are remaining: configmaps. has 1 resource instances");
  EXPECT_EQ(StringAt(Condition("n", "NamespaceDeletionContentFailure"), {"reason"}),
            "ContentDeleted");
  EXPECT_EQ(StringAt(hub.Get(kNamespaces + "/n").body, {"status", "phase"}), "Terminating");
  hub.Do("PATCH", kNamespaces + "/n/configmaps/held", {{"metadata", {{"finalizers", nullptr}}}},
         "application/merge-patch+json");
  EXPECT_TRUE(Eventually([&] { return hub.Get(kNamespaces + "/n").code == 404; }));
}

TEST_F(LifecycleTest, PodsGoBeforeTheRest) {
  MakeNamespace("n");
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"},
              {"metadata", {{"name", "p"}, {"finalizers", Json::array({"example.com/hold"})}}},
              {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}};
  // Refused until the namespace has its service account.
  ASSERT_TRUE(
      Eventually([&] { return hub.Do("POST", kNamespaces + "/n/pods", pod).code == 201; }));
  ASSERT_EQ(hub.Do("POST", kNamespaces + "/n/configmaps", ConfigMap("x")).code, 201);
  hub.Do("DELETE", kNamespaces + "/n");
  ASSERT_TRUE(Eventually([&] {
    return StringAt(Condition("n", "NamespaceContentRemaining"), {"status"}) == "True";
  }));
  EXPECT_EQ(hub.Get(kNamespaces + "/n/configmaps/x").code, 200);
  hub.Do("PATCH", kNamespaces + "/n/pods/p", {{"metadata", {{"finalizers", nullptr}}}},
         "application/merge-patch+json");
  EXPECT_TRUE(Eventually([&] { return hub.Get(kNamespaces + "/n").code == 404; }));
}

TEST_F(LifecycleTest, CustomResourcesHoldTheirNamespace) {
  MakeNamespace("n");
  const Json schema = {{"openAPIV3Schema", {{"type", "object"}}}};
  ASSERT_EQ(hub.Do("POST", "/clusters/c/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                   {{"metadata", {{"name", "toys.example.com"}}},
                    {"spec",
                     {{"group", "example.com"},
                      {"scope", "Namespaced"},
                      {"names", {{"plural", "toys"}, {"kind", "Toy"}}},
                      {"versions", Json::array({{{"name", "v1"},
                                                 {"served", true},
                                                 {"storage", true},
                                                 {"schema", schema}}})}}}})
                .code,
            201);
  const std::string toys = "/clusters/c/apis/example.com/v1/namespaces/n/toys";
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(hub.Do("POST", toys,
                     {{"apiVersion", "example.com/v1"},
                      {"kind", "Toy"},
                      {"metadata",
                       {{"name", name}, {"finalizers", Json::array({"example.com/hold"})}}}})
                  .code,
              201);
  }
  hub.Do("DELETE", kNamespaces + "/n");
  ASSERT_TRUE(Eventually([&] {
    return StringAt(Condition("n", "NamespaceContentRemaining"), {"message"}) ==
           "Some resources are remaining: toys.example.com has 2 resource instances";
  }));
  EXPECT_EQ(StringAt(Condition("n", "NamespaceFinalizersRemaining"), {"message"}),
            "Some content in the namespace has finalizers remaining: example.com/hold in 2 "
            "resource instances");
  for (const char* name : {"/a", "/b"}) {
    EXPECT_EQ(hub.Do("PATCH", toys + name, {{"metadata", {{"finalizers", nullptr}}}},
                     "application/merge-patch+json").code, 200);
  }
  EXPECT_TRUE(Eventually([&] { return hub.Get(kNamespaces + "/n").code == 404; }));
}

TEST_F(LifecycleTest, ANamespaceIsFinalizedByHand) {
  MakeNamespace("n");
  const std::string self = kNamespaces + "/n";
  Json held = ConfigMap("held");
  Set(held, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  ASSERT_EQ(hub.Do("POST", self + "/configmaps", held).code, 201);
  const Json kept = {{"metadata", {{"finalizers", Json::array({"example.com/hold"})}}}};
  ASSERT_EQ(hub.Do("PATCH", self, kept, "application/merge-patch+json").code, 200);
  ASSERT_EQ(hub.Do("DELETE", self).code, 200);
  ASSERT_TRUE(Eventually([&] {
    return StringAt(Condition("n", "NamespaceFinalizersRemaining"), {"status"}) == "True";
  }));
  const Json going = hub.Get(self).body;
  const auto again = hub.Do("DELETE", self);
  EXPECT_EQ(again.code, 200);
  EXPECT_EQ(again.body, going) << "a second delete changes nothing";
  Json body = going;
  Set(body, {"spec", "finalizers"}, Json::array());
  const auto finalized = hub.Do("PUT", self + "/finalize", body);
  EXPECT_EQ(finalized.code, 200) << finalized.text;
  EXPECT_EQ(hub.Get(self).code, 200) << "held by its own finalizer";
  EXPECT_EQ(hub.Do("PATCH", self, {{"metadata", {{"finalizers", nullptr}}}},
                   "application/merge-patch+json").code, 200);
  EXPECT_EQ(hub.Get(self).code, 404);
  EXPECT_EQ(hub.Get(self + "/configmaps/held").code, 200) << "what nobody waited for stays";
}

TEST_F(LifecycleTest, SomeNamespacesStay) {
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    const auto refused = hub.Do("DELETE", kNamespaces + "/" + name);
    EXPECT_EQ(refused.code, 403);
    EXPECT_EQ(StringAt(refused.body, {"message"}),
              std::string("namespaces \"") + name +
                  "\" is forbidden: this namespace may not be deleted");
  }
  EXPECT_EQ(hub.Do("DELETE", kNamespaces).code, 405) << "nor are they deleted together";
  EXPECT_EQ(hub.Do("DELETE", kNamespaces + "/kube-node-lease").code, 200);
}

TEST_F(LifecycleTest, WatchesEndWithTheirWorkspace) {
  TestWatch watch(hub, "/clusters/c/api/v1/configmaps?watch=1");
  hub.NewWorkspace("d", "wds");
  TestWatch other(hub, "/clusters/d/api/v1/configmaps?watch=1");
  const std::string path = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";
  ASSERT_EQ(hub.Do("DELETE", path + "/c").code, 200);
  EXPECT_TRUE(Eventually([&] {
    while (!watch.Next().is_null()) {
    }
    return watch.ended();
  }));
  EXPECT_FALSE(other.ended());
}

// So many changes at once that whoever follows them has to begin anew: what went meanwhile counts,
// also when it came again.
TEST_F(LifecycleTest, NoRemovalIsMissed) {
  const std::string path = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";
  for (const char* name : {"first", "gone", "again"}) hub.NewWorkspace(name, "wds");
  TestWatch gone(hub, "/clusters/gone/api/v1/configmaps?watch=1");
  TestWatch again(hub, "/clusters/again/api/v1/configmaps?watch=1");
  std::promise<void> blocked, go;
  const auto ticket = hub.server().dispatcher().hub().workspaces.OnRemoval(
      Workspace("first"), [&, going = go.get_future().share()] {
        blocked.set_value();
        going.wait();
      });
  ASSERT_EQ(hub.Do("DELETE", path + "/first").code, 200);
  blocked.get_future().wait();
  for (std::size_t i = 0; i < limits::kWatchQueueEvents + 100; ++i) {
    ASSERT_EQ(hub.Do("PATCH", path + "/c", {{"metadata", {{"labels", {{"n", std::to_string(i)}}}}}},
                     "application/merge-patch+json").code, 200);
  }
  for (const char* name : {"gone", "again"}) {
    ASSERT_EQ(hub.Do("DELETE", path + "/" + name).code, 200);
  }
  hub.NewWorkspace("again", "wds");
  go.set_value();
  for (TestWatch* watch : {&gone, &again}) {
    EXPECT_TRUE(Eventually([&] {
      while (!watch->Next().is_null()) {
      }
      return watch->ended();
    }));
  }
}

TEST_F(LifecycleTest, NothingOfAWorkspaceOutlivesIt) {
  const apiserver::Hub& parts = hub.server().dispatcher().hub();
  const Workspace name("brief");
  const std::string series = hub.Get("/metrics").text;
  hub.NewWorkspace("brief", "cluster");
  const Json schema = {{"openAPIV3Schema", {{"type", "object"}}}};
  ASSERT_EQ(hub.Do("POST", "/clusters/brief/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                   {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"},
                    {"metadata", {{"name", "widgets.example.com"}}},
                    {"spec", {{"group", "example.com"}, {"scope", "Namespaced"},
                              {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
                              {"versions", Json::array({{{"name", "v1"}, {"served", true}, {"storage", true},
                                                         {"schema", schema}}})}}}}).code, 201);
  ASSERT_EQ(hub.Do("POST", "/clusters/brief/api/v1/namespaces/default/serviceaccounts",
                   {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "robot"}}}}).code, 201);
  const auto asked = hub.Do("POST", "/clusters/brief/api/v1/namespaces/default/serviceaccounts/robot/token",
                            {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
  const std::string token = StringAt(asked.body, {"status", "token"});
  ASSERT_TRUE(parts.tokens.Verify(token, {}).ok());
  // Furnished, so that nothing is on its way into the workspace when it goes.
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    const std::string inside = std::string("/clusters/brief/api/v1/namespaces/") + ns;
    ASSERT_TRUE(Eventually([&] {
      return hub.Get(inside + "/serviceaccounts/default").code == 200 &&
             hub.Get(inside + "/configmaps/kube-root-ca.crt").code == 200;
    })) << ns;
  }
  for (const char* last : {"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all",
                           "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"}) {
    ASSERT_TRUE(Appears(std::string("/clusters/brief") + last)) << last;
  }
  const std::weak_ptr<const apiserver::Rbac> rights = parts.authorizer.RbacOf("brief");
  ASSERT_FALSE(rights.expired());
  const std::weak_ptr<const openapi::Catalog> served = parts.workspaces.Find(name)->catalog;
  std::vector<std::weak_ptr<const std::string>> documents;
  for (const char* path : {"/openapi/v2", "/openapi/v3/apis/example.com/v1", "/apis",
                           "/apis/example.com/v1"}) {
    Request request;
    request.method = "GET";
    request.path = std::string("/clusters/brief") + path;
    request.peer.common_name = "admin";
    request.peer.organizations = {std::string(apiserver::kMasters)};
    const Response response = hub.server().dispatcher().Handle(request);
    ASSERT_EQ(response.code, 200) << path;
    for (const SharedBytes& piece : response.body) documents.push_back(piece);
  }
  EXPECT_TRUE(std::any_of(documents.begin(), documents.end(),
                          [](const auto& document) { return !document.expired(); }));
  {
    TestWatch watch(hub, "/clusters/brief/api/v1/configmaps?watch=1");
    ASSERT_EQ(hub.Do("DELETE", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces/brief").code, 200);
    EXPECT_TRUE(Eventually([&] {
      while (!watch.Next().is_null()) {
      }
      return watch.ended();
    }));
  }
  EXPECT_TRUE(Eventually([&] { return rights.expired(); }));
  EXPECT_TRUE(Eventually([&] { return served.expired(); })) << "what it served is remembered";
  EXPECT_TRUE(Eventually([&] {
    return std::all_of(documents.begin(), documents.end(),
                       [](const auto& document) { return document.expired(); });
  })) << "documents about it are remembered";
  EXPECT_EQ(parts.store.Count(name), 0u);
  EXPECT_FALSE(parts.tokens.Verify(token, {}).ok());
  auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const std::string after = hub.Get("/metrics").text;
  EXPECT_EQ(lines(after), lines(series));
  EXPECT_EQ(after.find("brief"), std::string::npos);
  // A successor begins with what its type has and nothing else.
  hub.NewWorkspace("brief", "cluster");
  EXPECT_FALSE(parts.tokens.Verify(token, {}).ok());
  EXPECT_EQ(hub.Get("/clusters/brief/apis/example.com/v1/widgets").code, 404);
}

TEST_F(LifecycleTest, AWorkspaceHoldsNoMoreThanItMay) {
  const std::string path = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";
  ASSERT_EQ(hub.Do("POST", path,
                   {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
                    {"metadata", {{"name", "small"}}},
                    {"spec", {{"type", "wds"}, {"limits", {{"objects", 4}}}}}}).code, 201);
  const std::string maps = "/clusters/small/api/v1/namespaces/default/configmaps";
  EXPECT_EQ(hub.Do("POST", maps, ConfigMap("one")).code, 201);
  EXPECT_EQ(hub.Do("POST", maps, ConfigMap("two")).code, 201);
  auto refused = hub.Do("POST", maps, ConfigMap("three"));
  EXPECT_EQ(refused.code, 403) << refused.text;
  EXPECT_EQ(hub.Do("PUT", maps + "/two", ConfigMap("two", {{"a", "b"}})).code, 200);
  EXPECT_EQ(hub.Do("DELETE", maps + "/two").code, 200);
  EXPECT_EQ(hub.Do("POST", maps, ConfigMap("three")).code, 201);
}

TEST_F(LifecycleTest, AWorkspaceThatIsHeldSaysThatItGoes) {
  const std::string path = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";
  ASSERT_EQ(hub.Do("POST", path,
                   {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
                    {"metadata", {{"name", "held"}, {"finalizers", {"example.com/hold"}}}},
                    {"spec", {{"type", "wds"}}}}).code, 201);
  EXPECT_EQ(StringAt(hub.Get(path + "/held").body, {"status", "phase"}), "Ready");
  ASSERT_EQ(hub.Do("DELETE", path + "/held").code, 200);
  EXPECT_EQ(StringAt(hub.Get(path + "/held").body, {"status", "phase"}), "Terminating");
  EXPECT_EQ(hub.Get("/clusters/held/api/v1/namespaces").code, 404);
  EXPECT_EQ(hub.Do("PATCH", path + "/held", {{"metadata", {{"finalizers", nullptr}}}},
                   "application/merge-patch+json").code, 200);
  EXPECT_EQ(hub.Get(path + "/held").code, 404);
}

TEST_F(LifecycleTest, AnInventoryHasRoomForTheNamesOfItsMailboxes) {
  const auto make = [&](std::size_t length, const char* type) {
    return hub.Do("POST", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces",
                  {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
                   {"metadata", {{"name", std::string(length, 'a')}}}, {"spec", {{"type", type}}}});
  };
  EXPECT_EQ(make(213, "inventory").code, 201);
  const auto refused = make(214, "inventory");
  EXPECT_EQ(refused.code, 422) << refused.text;
  EXPECT_NE(refused.text.find("too long for an inventory"), std::string::npos) << refused.text;
  EXPECT_EQ(make(214, "wds").code, 201);
}

}  // namespace
}  // namespace mailroom
