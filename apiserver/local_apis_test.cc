// APIServices of what a workspace serves by itself: those of its type are there without being
// stored, those of definitions come and go with them.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kApis = "/clusters/c/apis/apiregistration.k8s.io/v1/apiservices";
constexpr const char* kMerge = "application/merge-patch+json";

std::vector<std::string> NamesOf(const Json& list) {
  std::vector<std::string> names;
  for (const Json& item : list.at("items")) names.push_back(StringAt(item, {"metadata", "name"}));
  return names;
}

Json Definition(const std::string& group, const std::vector<std::string>& versions) {
  Json served = Json::array();
  for (const std::string& version : versions) {
    served.push_back({{"name", version},
                      {"served", true},
                      {"storage", version == versions.front()},
                      {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}});
  }
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "foos." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Namespaced"},
            {"names", {{"plural", "foos"}, {"kind", "Foo"}}},
            {"versions", served}}}};
}

class LocalApisTest : public testing::Test {
 protected:
  LocalApisTest() { hub.NewWorkspace("c", "cluster"); }
  Json Of(const std::string& name) { return hub.Get(kApis + "/" + name).body; }
  bool Comes(const std::string& name) {
    return Eventually([&] { return hub.Get(kApis + "/" + name).code == 200; });
  }
  bool Goes(const std::string& name) {
    return Eventually([&] { return hub.Get(kApis + "/" + name).code == 404; });
  }
  std::string Uid(const std::string& name) { return StringAt(Of(name), {"metadata", "uid"}); }

  TestHub hub{"the test's authority"};
};

TEST_F(LocalApisTest, WhatIsServedHereHasOneThatIsAlwaysAvailable) {
  const Json apps = Of("v1.apps");
  EXPECT_EQ(StringAt(apps, {"kind"}), "APIService");
  EXPECT_EQ(StringAt(apps, {"metadata", "labels", "kube-aggregator.kubernetes.io/automanaged"}),
            "onstart");
  EXPECT_EQ(apps.at("spec"), (Json{{"group", "apps"}, {"version", "v1"},
                                   {"groupPriorityMinimum", 17800}, {"versionPriority", 15}}));
  const Json condition = apps.at("status").at("conditions").front();
  EXPECT_EQ(StringAt(condition, {"reason"}), "Local");
  EXPECT_EQ(StringAt(condition, {"message"}), "Local APIServices are always available");
  EXPECT_EQ(StringAt(condition, {"status"}), "True");
  EXPECT_EQ(StringAt(condition, {"lastTransitionTime"}),
            StringAt(apps, {"metadata", "creationTimestamp"}));
  EXPECT_EQ(Of("v1.").at("spec"), (Json{{"version", "v1"}, {"groupPriorityMinimum", 18000},
                                        {"versionPriority", 1}}));
  EXPECT_EQ(IntAt(Of("v2.autoscaling"), {"spec", "versionPriority"}), 30);
  EXPECT_EQ(Of("v1.apps"), apps) << "the same whenever it is asked for";
  EXPECT_NE(Uid("v1.apps"), Uid("v1.batch"));
  EXPECT_EQ(hub.Get(kApis + "/v1.nothing").code, 404);
  EXPECT_EQ(hub.Get(kApis + "/v1.apiregistration.k8s.io").code, 404) << "as in the original";
}

TEST_F(LocalApisTest, ListsHaveThemInOrderAndInPages) {
  const auto all = NamesOf(hub.Get(kApis).body);
  EXPECT_GE(all.size(), 20u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  std::vector<std::string> paged;
  std::string token;
  std::size_t left = all.size();
  do {
    const Json page = hub.Get(kApis + "?limit=7" + (token.empty() ? "" : "&continue=" + token)).body;
    for (const std::string& name : NamesOf(page)) paged.push_back(name);
    left -= NamesOf(page).size();
    token = StringAt(page, {"metadata", "continue"});
    EXPECT_EQ(IntAt(page, {"metadata", "remainingItemCount"}, 0), static_cast<int>(left));
  } while (!token.empty());
  EXPECT_EQ(paged, all);
  const std::string label = "kube-aggregator.kubernetes.io/automanaged";
  EXPECT_EQ(NamesOf(hub.Get(kApis + "?labelSelector=" + label + "%3Donstart").body), all);
  EXPECT_TRUE(NamesOf(hub.Get(kApis + "?labelSelector=" + label + "%3Dtrue").body).empty());
  const auto one = NamesOf(hub.Get(kApis + "?fieldSelector=metadata.name%3Dv1.apps").body);
  EXPECT_EQ(one, std::vector<std::string>{"v1.apps"});
}

TEST_F(LocalApisTest, AWatchBeginsWithThemAndIsToldOfTheFirstWrite) {
  const std::string only = "&fieldSelector=metadata.name%3Dv1.apps";
  TestWatch watch(hub, kApis + "?watch=1" + only);
  EXPECT_EQ(watch.Next().at("object"), Of("v1.apps"));
  const std::string before = Uid("v1.apps");
  const auto changed =
      hub.Do("PATCH", kApis + "/v1.apps", {{"metadata", {{"labels", {{"x", "y"}}}}}}, kMerge);
  ASSERT_EQ(changed.code, 200) << changed.text;
  EXPECT_EQ(watch.Next().at("object"), changed.body);
  EXPECT_EQ(Uid("v1.apps"), before);
  const auto names = NamesOf(hub.Get(kApis).body);
  EXPECT_EQ(std::count(names.begin(), names.end(), "v1.apps"), 1) << "what is stored hides it";
  EXPECT_EQ(NamesOf(hub.Get(kApis + "?labelSelector=x%3Dy").body),
            std::vector<std::string>{"v1.apps"});
  EXPECT_EQ(NamesOf(hub.Get(kApis + "?labelSelector=!x").body).size(), names.size() - 1);
  // From a place in time, only what comes.
  const std::string now = StringAt(hub.Get(kApis).body, {"metadata", "resourceVersion"});
  TestWatch later(hub, kApis + "?watch=1&resourceVersion=" + now);
  EXPECT_EQ(hub.Do("DELETE", kApis + "/v1.apps").code, 200);
  EXPECT_EQ(later.Next().at("object"), Of("v1.apps"));
}

TEST_F(LocalApisTest, WritesMeanTheOneThatIsShown) {
  Json apps = Of("v1.apps");
  apps["spec"]["versionPriority"] = 20;
  apps["metadata"]["resourceVersion"] = "2";
  EXPECT_EQ(hub.Do("PUT", kApis + "/v1.apps", apps).code, 409);
  apps["metadata"]["resourceVersion"] = StringAt(Of("v1.apps"), {"metadata", "resourceVersion"});
  EXPECT_EQ(hub.Do("PUT", kApis + "/v1.apps", apps).code, 200);
  EXPECT_EQ(IntAt(Of("v1.apps"), {"spec", "versionPriority"}), 20);
  const Json made = {{"apiVersion", "apiregistration.k8s.io/v1"}, {"kind", "APIService"},
                     {"metadata", {{"name", "v1.batch"}}},
                     {"spec", {{"group", "batch"}, {"version", "v1"},
                               {"groupPriorityMinimum", 1}, {"versionPriority", 1}}}};
  EXPECT_EQ(hub.Do("POST", kApis, made).code, 409);
  EXPECT_EQ(hub.Do("PATCH", kApis + "/v1.batch?fieldManager=me&force=true", made,
                   "application/apply-patch+yaml").code, 200);
  EXPECT_EQ(IntAt(Of("v1.batch"), {"spec", "versionPriority"}), 1);
}

TEST_F(LocalApisTest, OneThatIsDeletedIsMadeAnew) {
  for (const char* name : {"v1.apps", "v1.apps", "v1.batch"}) {
    const Json before = Of(name);
    EXPECT_EQ(hub.Do("DELETE", kApis + "/" + name).code, 200);
    const Json after = Of(name);
    EXPECT_NE(StringAt(before, {"metadata", "uid"}), StringAt(after, {"metadata", "uid"}));
    EXPECT_EQ(before.at("spec"), after.at("spec"));
  }
  const auto all = NamesOf(hub.Get(kApis).body);
  EXPECT_EQ(hub.Do("DELETE", kApis).code, 200);
  EXPECT_EQ(NamesOf(hub.Get(kApis).body), all);
}

TEST_F(LocalApisTest, AnOwnerThatIsNotStoredIsAnOwner) {
  const std::string maps = "/clusters/c/api/v1/namespaces/default/configmaps";
  const auto make = [&](const std::string& name, const std::string& uid) {
    const Json owner = {{"apiVersion", "apiregistration.k8s.io/v1"}, {"kind", "APIService"},
                        {"name", "v1.apps"}, {"uid", uid}};
    hub.Do("POST", maps, {{"apiVersion", "v1"}, {"kind", "ConfigMap"},
                          {"metadata", {{"name", name}, {"ownerReferences", Json::array({owner})}}}});
  };
  make("kept", Uid("v1.apps"));
  make("gone", "00000000-0000-4000-8000-000000000000");
  EXPECT_TRUE(Eventually([&] { return hub.Get(maps + "/gone").code == 404; }));
  EXPECT_EQ(hub.Get(maps + "/kept").code, 200);
}

TEST_F(LocalApisTest, DefinitionsHaveThemAsLongAsTheyAreThere) {
  const std::string crds = "/clusters/c/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  TestWatch watch(hub, kApis + "?watch=1&fieldSelector=metadata.name%3Dv1.example.com");
  ASSERT_EQ(hub.Do("POST", crds, Definition("example.com", {"v1", "v1beta1"})).code, 201);
  EXPECT_EQ(StringAt(watch.Next(), {"type"}), "ADDED");
  ASSERT_TRUE(Comes("v1beta1.example.com"));
  EXPECT_TRUE(Eventually([&] {
    return Find(Of("v1.example.com"), {"status", "conditions"}) != nullptr;
  }));
  const Json made = Of("v1.example.com");
  EXPECT_EQ(StringAt(made, {"metadata", "labels", "kube-aggregator.kubernetes.io/automanaged"}),
            "true");
  EXPECT_EQ(made.at("spec"), (Json{{"group", "example.com"}, {"version", "v1"},
                                   {"groupPriorityMinimum", 1000}, {"versionPriority", 100}}));
  EXPECT_EQ(StringAt(made.at("status").at("conditions").front(), {"reason"}), "Local");
  hub.Do("PATCH", kApis + "/v1.example.com", {{"spec", {{"versionPriority", 20}}}}, kMerge);
  EXPECT_TRUE(Eventually([&] { return Of("v1.example.com").at("spec") == made.at("spec"); }));
  hub.Do("DELETE", kApis + "/v1.example.com");
  ASSERT_TRUE(Comes("v1.example.com"));
  EXPECT_NE(Uid("v1.example.com"), StringAt(made, {"metadata", "uid"}));
  Json definition = hub.Get(crds + "/foos.example.com").body;
  definition["spec"]["versions"][1]["served"] = false;
  ASSERT_EQ(hub.Do("PUT", crds + "/foos.example.com", definition).code, 200);
  EXPECT_TRUE(Goes("v1beta1.example.com"));
  hub.Do("DELETE", crds + "/foos.example.com");
  EXPECT_TRUE(Goes("v1.example.com"));
}

TEST_F(LocalApisTest, SomebodyElsesIsLeftAlone) {
  const Json other = {{"apiVersion", "apiregistration.k8s.io/v1"}, {"kind", "APIService"},
                      {"metadata", {{"name", "v1.example.com"}}},
                      {"spec", {{"group", "example.com"}, {"version", "v1"},
                                {"groupPriorityMinimum", 7}, {"versionPriority", 7}}}};
  ASSERT_EQ(hub.Do("POST", kApis, other).code, 201);
  const std::string crds = "/clusters/c/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  hub.Do("POST", crds, Definition("example.com", {"v1", "v2"}));
  ASSERT_TRUE(Comes("v2.example.com"));
  hub.Do("DELETE", crds + "/foos.example.com");
  ASSERT_TRUE(Goes("v2.example.com"));
  EXPECT_EQ(IntAt(Of("v1.example.com"), {"spec", "versionPriority"}), 7);
}

TEST_F(LocalApisTest, OnlyWhereTheyActAndOfOneWorkspace) {
  EXPECT_EQ(hub.Get("/clusters/root/apis/apiregistration.k8s.io/v1/apiservices/v1.apps").code,
            hub.Get("/clusters/root/apis/apps/v1").code);
  EXPECT_EQ(hub.Get("/clusters/root/apis/apiregistration.k8s.io/v1/apiservices/v1.").code, 200);
  hub.NewWorkspace("m", "mailbox");
  hub.NewWorkspace("w", "wds");
  for (const char* workspace : {"m", "w"}) {
    const std::string apis = std::string("/clusters/") + workspace +
                             "/apis/apiregistration.k8s.io/v1/apiservices";
    EXPECT_NE(hub.Get(apis + "/v1.").code, 200);
    hub.Do("POST", std::string("/clusters/") + workspace +
                       "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           Definition("example.com", {"v1"}));
  }
  const std::string crds = "/clusters/c/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  hub.Do("POST", crds, Definition("later.example.com", {"v1"}));
  ASSERT_TRUE(Comes("v1.later.example.com"));
  EXPECT_EQ(NamesOf(hub.Get("/clusters/*/apis/apiregistration.k8s.io/v1/apiservices").body),
            std::vector<std::string>{"v1.later.example.com"}) << "what is stored, and no more";
}

}  // namespace
}  // namespace mailroom
