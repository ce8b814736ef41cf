// Every stored built-in kind goes through every verb in one workspace.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "openapi/catalog.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"
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

std::string PathOf(const openapi::ResourceType& type) {
  std::string path = "/clusters/wds1";
  path += type.gvk.group.empty() ? "/api/" : "/apis/" + type.gvk.group + "/";
  path += type.gvk.version;
  if (type.namespaced) path += "/namespaces/default";
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

}  // namespace
}  // namespace mailroom
