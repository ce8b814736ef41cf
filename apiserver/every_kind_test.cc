// Every stored built-in kind goes through every verb in one workspace.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "openapi/catalog.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

std::vector<Json> Samples() {
  std::ifstream file(MAILROOM_TEST_DATA "/kinds.yaml");
  std::stringstream text;
  text << file.rdbuf();
  auto documents = ParseYamlDocuments(text.str());
  return documents.ok() ? *documents : std::vector<Json>();
}

const openapi::ResourceType* TypeOf(const openapi::Catalog& catalog, const Json& object) {
  const std::string version = StringAt(object, {"apiVersion"});
  const std::size_t slash = version.find('/');
  GroupVersionKind gvk{slash == std::string::npos ? "" : version.substr(0, slash),
                       slash == std::string::npos ? version : version.substr(slash + 1),
                       StringAt(object, {"kind"})};
  return catalog.FindKind(gvk);
}

std::string PathOf(const openapi::ResourceType& type, const std::string& ns = "default") {
  std::string path = "/clusters/wds1";
  path += type.gvk.group.empty() ? "/api/" : "/apis/" + type.gvk.group + "/";
  path += type.gvk.version;
  if (type.namespaced) path += "/namespaces/" + ns;
  return path + "/" + type.plural;
}

TEST(EveryKind, HasASample) {
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kCluster);
  std::set<std::string> sampled;
  for (const Json& sample : Samples()) {
    sampled.insert(StringAt(sample, {"apiVersion"}) + " " + StringAt(sample, {"kind"}));
  }
  for (const openapi::Group& group : catalog->groups()) {
    for (const openapi::GroupVersion& version : group.versions) {
      for (const auto& type : version.resources) {
        if (!type->stored || !type->HasVerb("create")) continue;
        EXPECT_TRUE(sampled.contains(type->gvk.ApiVersion() + " " + type->gvk.kind))
            << type->gvk.ApiVersion() << " " << type->gvk.kind;
      }
    }
  }
}

TEST(EveryKind, GoesThroughEveryVerb) {
  TestHub hub;
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  const std::vector<Json> samples = Samples();
  ASSERT_GT(samples.size(), 55u);
  for (const Json& sample : samples) {
    const openapi::ResourceType* type = TypeOf(*catalog, sample);
    ASSERT_NE(type, nullptr) << DumpJson(sample);
    const std::string name = StringAt(sample, {"metadata", "name"});
    SCOPED_TRACE(type->gvk.ApiVersion() + " " + type->gvk.kind);
    const std::string path = PathOf(*type), self = path + "/" + name;
    const std::string revision =
        StringAt(hub.Get(path).body, {"metadata", "resourceVersion"});

    auto made = hub.Do("POST", path + "?fieldValidation=Strict", sample);
    ASSERT_EQ(made.code, 201) << made.text;
    auto read = hub.Get(self);
    EXPECT_EQ(read.body, made.body);
    EXPECT_EQ(StringAt(read.body, {"kind"}), type->gvk.kind);
    EXPECT_EQ(StringAt(read.body, {"apiVersion"}), type->gvk.ApiVersion());
    const std::int64_t generation = type->tracks_generation ? 1 : 0;
    EXPECT_EQ(IntAt(made.body, {"metadata", "generation"}), generation);
    auto list = hub.Get(path + "?fieldSelector=metadata.name%3D" + name);
    EXPECT_EQ(StringAt(list.body, {"kind"}), type->list_kind);
    EXPECT_EQ(Find(list.body, {"items"})->size(), 1u);
    auto table = hub.GetAs(path, "application/json;as=Table;v=v1;g=meta.k8s.io");
    EXPECT_FALSE(Find(table.body, {"rows"})->empty());

    const Json label = {{"metadata", {{"labels", {{"touched", "yes"}}}}}};
    auto patched = hub.Do("PATCH", self, label, "application/merge-patch+json");
    EXPECT_EQ(patched.code, 200) << patched.text;
    EXPECT_EQ(IntAt(patched.body, {"metadata", "generation"}), generation)
        << "labels are not wanted state";
    auto same = hub.Do("PUT", self, patched.body);
    EXPECT_EQ(same.code, 200) << same.text;
    EXPECT_EQ(StringAt(same.body, {"metadata", "resourceVersion"}),
              StringAt(patched.body, {"metadata", "resourceVersion"}))
        << "a write that changes nothing";
    Json config = {{"apiVersion", sample["apiVersion"]}, {"kind", sample["kind"]},
                   {"metadata", {{"name", name}, {"annotations", {{"example.com/a", "b"}}}}}};
    auto applied = hub.Do("PATCH", self + "?fieldManager=test&force=true", config,
                          "application/apply-patch+yaml");
    EXPECT_EQ(applied.code, 200) << applied.text;
    if (type->has_status) {
      auto status = hub.Do("PATCH", self + "/status", Json::object(), "application/merge-patch+json");
      EXPECT_EQ(status.code, 200) << status.text;
      EXPECT_EQ(StringAt(status.body, {"metadata", "resourceVersion"}),
                StringAt(applied.body, {"metadata", "resourceVersion"}));
    }

    TestWatch watch(hub, path + "?watch=1&resourceVersion=" + revision + "&fieldSelector=metadata.name%3D" + name);
    const Json event = watch.Next();
    EXPECT_EQ(StringAt(event, {"type"}), "ADDED");
    EXPECT_EQ(StringAt(event, {"object", "apiVersion"}), type->gvk.ApiVersion());

    auto gone = hub.Do("DELETE", self, {{"propagationPolicy", "Background"}});
    EXPECT_EQ(gone.code, 200) << gone.text;
  }
}

// What every object with a finalizer goes through when it is deleted.
TEST(EveryKind, IsHeldByItsFinalizers) {
  TestHub hub;
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  for (Json sample : Samples()) {
    const openapi::ResourceType* type = TypeOf(*catalog, sample);
    // Namespaces and definitions have finalizers of the server's own besides.
    if (type->gvk.kind == "Namespace" || type->gvk.kind == "CustomResourceDefinition") continue;
    SCOPED_TRACE(type->gvk.ApiVersion() + " " + type->gvk.kind);
    const std::string path = PathOf(*type);
    const std::string self = path + "/" + StringAt(sample, {"metadata", "name"});
    Set(sample, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
    const auto made = hub.Do("POST", path, sample);
    ASSERT_EQ(made.code, 201) << made.text;

    const auto held = hub.Do("DELETE", self, {{"propagationPolicy", "Background"}});
    ASSERT_EQ(held.code, 200) << held.text;
    EXPECT_EQ(StringAt(held.body, {"kind"}), type->gvk.kind);
    const Json& metadata = held.body["metadata"];
    EXPECT_FALSE(StringAt(metadata, {"deletionTimestamp"}).empty());
    EXPECT_EQ(IntAt(metadata, {"deletionGracePeriodSeconds"}, -1), 0);
    EXPECT_EQ(IntAt(metadata, {"generation"}), type->tracks_generation ? 2 : 0);
    const auto again = hub.Do("DELETE", self, {{"propagationPolicy", "Background"}});
    EXPECT_EQ(again.code, 200) << again.text;
    EXPECT_EQ(StringAt(again.body, {"metadata", "resourceVersion"}),
              StringAt(metadata, {"resourceVersion"}))
        << "a second delete changes nothing";

    const Json more = {{"metadata", {{"finalizers", {"example.com/hold", "example.com/more"}}}}};
    const auto refused = hub.Do("PATCH", self, more, "application/merge-patch+json");
    EXPECT_EQ(refused.code, 422) << refused.text;
    EXPECT_NE(refused.text.find("no new finalizers can be added if the object is being deleted"),
              std::string::npos);
    EXPECT_EQ(hub.Do("POST", path, sample).code, 409) << "its name is taken until it is gone";
    const auto freed = hub.Do("PATCH", self, {{"metadata", {{"finalizers", nullptr}}}},
                              "application/merge-patch+json");
    EXPECT_EQ(freed.code, 200) << freed.text;
    EXPECT_EQ(StringAt(freed.body, {"metadata", "name"}), StringAt(sample, {"metadata", "name"}));
    EXPECT_EQ(hub.Get(self).code, 404);
  }
}

// Who names an object that is another by now changes nothing.
TEST(EveryKind, IsGuardedByUidAndRevision) {
  TestHub hub;
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  const std::string other = "11111111-2222-3333-4444-555555555555";
  for (const Json& sample : Samples()) {
    const openapi::ResourceType* type = TypeOf(*catalog, sample);
    SCOPED_TRACE(type->gvk.ApiVersion() + " " + type->gvk.kind);
    const std::string path = PathOf(*type);
    const std::string self = path + "/" + StringAt(sample, {"metadata", "name"});
    const Json made = hub.Do("POST", path, sample).body;
    const Json label = {{"metadata", {{"labels", {{"touched", "yes"}}}}}};
    const Json now = hub.Do("PATCH", self, label, "application/merge-patch+json").body;
    const std::string uid = StringAt(now, {"metadata", "uid"});
    const std::string old = StringAt(made, {"metadata", "resourceVersion"});
    for (const auto& [member, value] : {std::pair("uid", other), std::pair("resourceVersion", old)}) {
      Json whole = now;
      whole["metadata"][member] = value;
      whole["metadata"]["labels"]["touched"] = "no";
      const Json part = {{"metadata", {{member, value}, {"labels", {{"touched", "no"}}}}}};
      for (const auto& answer : {hub.Do("PUT", self, whole),
                                 hub.Do("DELETE", self, {{"preconditions", {{member, value}}}})}) {
        EXPECT_EQ(answer.code, 409) << member << ": " << answer.text;
        EXPECT_EQ(StringAt(answer.body, {"reason"}), "Conflict");
      }
      // To a patch, another uid is a change of the uid.
      const auto patched = hub.Do("PATCH", self, part, "application/merge-patch+json");
      EXPECT_EQ(patched.code, member == std::string("uid") ? 422 : 409) << patched.text;
    }
    EXPECT_EQ(hub.Get(self).body, now);
    const Json both = {{"uid", uid}, {"resourceVersion", now["metadata"]["resourceVersion"]}};
    EXPECT_EQ(hub.Do("DELETE", self, {{"preconditions", both}}).code, 200);
  }
}

TEST(EveryKind, GoesWithItsNamespace) {
  TestHub hub;
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  const std::string self = "/clusters/wds1/api/v1/namespaces/full";
  ASSERT_EQ(hub.Do("POST", "/clusters/wds1/api/v1/namespaces",
                   {{"metadata", {{"name", "full"}}}}).code, 201);
  std::vector<std::string> inside;
  std::set<GroupResource> stored;
  for (Json sample : Samples()) {
    const openapi::ResourceType* type = TypeOf(*catalog, sample);
    if (!type->namespaced || !stored.insert(type->stored_as).second) continue;
    // Events lie where their object does.
    for (const char* about : {"involvedObject", "regarding"}) {
      if (sample.contains(about)) sample[about]["namespace"] = "full";
    }
    const std::string path = PathOf(*type, "full");
    const auto made = hub.Do("POST", path, sample);
    ASSERT_EQ(made.code, 201) << made.text;
    inside.push_back(path + "/" + StringAt(sample, {"metadata", "name"}));
  }
  ASSERT_GT(inside.size(), 25u);
  ASSERT_EQ(hub.Do("DELETE", self).code, 200);
  ASSERT_TRUE(Eventually([&] { return hub.Get(self).code == 404; })) << hub.Get(self).text;
  for (const std::string& path : inside) EXPECT_EQ(hub.Get(path).code, 404) << path;
}

}  // namespace
}  // namespace mailroom
