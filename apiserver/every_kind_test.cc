// Every stored built-in kind goes through every verb in one workspace.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "openapi/catalog.h"
#include "openapi/protobuf.h"
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
    const bool counts_labels = type->gvk.kind == "EndpointSlice";
    EXPECT_EQ(IntAt(patched.body, {"metadata", "generation"}), generation + (counts_labels ? 1 : 0))
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

// Without what differs between two objects that were made alike.
Json Alike(Json object) {
  for (const char* member : {"uid", "resourceVersion", "creationTimestamp"}) {
    Erase(object, {"metadata", member});
  }
  if (Json* managed = Find(object, {"metadata", "managedFields"})) {
    for (Json& entry : *managed) entry.erase("time");
  }
  if (Json* conditions = Find(object, {"status", "conditions"})) {
    for (Json& condition : *conditions) condition.erase("lastTransitionTime");
  }
  return object;
}

// Without values that say nothing, which protobuf does not tell from absent ones.
Json WithoutEmpty(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& element : value) out.push_back(WithoutEmpty(element));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [name, member] : value.items()) {
    Json kept = WithoutEmpty(member);
    const bool says = !kept.is_null() && kept != "" && kept != 0 && kept != false &&
                      !(kept.is_structured() && kept.empty());
    if (says) out[name] = std::move(kept);
  }
  return out;
}

// The same object, however it is sent and asked for.
TEST(EveryKind, SaysTheSameInEveryEncoding) {
  TestHub by_json, by_yaml, by_protobuf;
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  const auto post = [](TestHub& hub, const std::string& path, std::string body, std::string_view type) {
    Request request;
    request.method = "POST";
    request.path = path;
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    request.headers.Add("user-agent", "test");
    request.headers.Add("content-type", std::string(type));
    request.body = std::move(body);
    return hub.Send(std::move(request));
  };
  for (const Json& sample : Samples()) {
    const openapi::ResourceType* type = TypeOf(*catalog, sample);
    SCOPED_TRACE(type->gvk.ApiVersion() + " " + type->gvk.kind);
    const std::string path = PathOf(*type), self = path + "/" + StringAt(sample, {"metadata", "name"});
    const auto made = post(by_json, path, DumpJson(sample), "application/json");
    ASSERT_EQ(made.code, 201) << made.text;
    const auto yaml = post(by_yaml, path, DumpYaml(sample), "application/yaml");
    ASSERT_EQ(yaml.code, 201) << yaml.text;
    EXPECT_EQ(Alike(yaml.body), Alike(made.body));
    const auto read = by_json.GetAs(self, "application/yaml");
    EXPECT_EQ(read.headers.Get("content-type"), "application/yaml");
    const auto tree = ParseYaml(read.text);
    ASSERT_TRUE(tree.ok()) << read.text;
    EXPECT_EQ(*tree, by_json.Get(self).body);

    const auto body = openapi::EncodeProtobuf(sample);
    if (!openapi::HasProtobuf(type->gvk)) {
      EXPECT_FALSE(type->builtin);  // our own kinds
      continue;
    }
    ASSERT_TRUE(body.ok());
    const auto binary = post(by_protobuf, path, *body, openapi::kProtobufMediaType);
    ASSERT_EQ(binary.code, 201) << binary.text;
    EXPECT_EQ(Alike(binary.body), Alike(made.body));
    for (const std::string& where : {self, path}) {
      const auto shown = by_json.GetAs(where, std::string(openapi::kProtobufMediaType));
      ASSERT_EQ(shown.code, 200) << shown.text;
      EXPECT_EQ(shown.headers.Get("content-type"), openapi::kProtobufMediaType);
      const auto decoded = openapi::DecodeProtobuf(shown.text);
      ASSERT_TRUE(decoded.ok()) << decoded.error().message();
      EXPECT_EQ(WithoutEmpty(*decoded), WithoutEmpty(by_json.Get(where).body));
    }
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

// What a kind counts besides its spec, and what it does not count.
TEST(EveryKind, CountsWhatItIsToldTo) {
  struct Row {
    const char *path, *object, *change;
    std::int64_t made, changed;
  };
  const std::vector<Row> rows = {
      {"/apis/scheduling.k8s.io/v1/priorityclasses",
       R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","value":1})",
       R"({"description":"x"})", 1, 1},
      {"/apis/storage.k8s.io/v1/csidrivers", R"({"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","spec":{}})",
       R"({"spec":{"requiresRepublish":true}})", 0, 1},
      {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       R"({"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","addressType":"IPv4","endpoints":[]})",
       R"({"metadata":{"labels":{"a":"b"}}})", 1, 2},
  };
  TestHub hub;
  for (const Row& row : rows) {
    Json object = *ParseJson(row.object);
    Set(object, {"metadata", "name"}, "counted");
    const auto made = hub.Do("POST", row.path, object);
    EXPECT_EQ(made.code, 201) << made.text;
    EXPECT_EQ(IntAt(made.body, {"metadata", "generation"}), row.made) << made.text;
    const auto changed = hub.Do("PATCH", std::string(row.path) + "/counted", *ParseJson(row.change),
                                "application/merge-patch+json");
    EXPECT_EQ(changed.code, 200) << changed.text;
    EXPECT_EQ(IntAt(changed.body, {"metadata", "generation"}), row.changed) << changed.text;
  }
}

}  // namespace
}  // namespace mailroom
