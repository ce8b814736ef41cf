#include "apiserver/verbs.h"

#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
constexpr const char* kMerge = "application/merge-patch+json";

std::string RevisionOf(const Json& object) {
  return StringAt(object, {"metadata", "resourceVersion"});
}

class Verbs : public testing::Test {
 protected:
  TestHub hub;
};

TEST_F(Verbs, CreateFillsWhatTheServerOwns) {
  auto made = hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}}));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(StringAt(made.body, {"metadata", "namespace"}), "default");
  EXPECT_EQ(StringAt(made.body, {"metadata", "uid"}).size(), 36u);
  EXPECT_FALSE(RevisionOf(made.body).empty());
  EXPECT_EQ(StringAt(*Find(made.body, {"metadata", "managedFields"})->begin(), {"manager"}), "test");
  auto read = hub.Get(kMaps + "/a");
  EXPECT_EQ(read.body, made.body);
  EXPECT_FALSE(read.headers.Get("audit-id").empty());
}

TEST_F(Verbs, ErrorsSpeakTheProtocol) {
  struct Case {
    const char* method;
    std::string path;
    Json body;
    int code;
    const char* message;
  };
  ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("a")).code, 201);
  Json other_name = ConfigMap("b");
  Json with_revision = ConfigMap("n");
  Set(with_revision, {"metadata", "resourceVersion"}, "5");
  Json bad_name_with_revision = with_revision;
  Set(bad_name_with_revision, {"metadata", "name"}, "N_");
  Json other_namespace = ConfigMap("n");
  Set(other_namespace, {"metadata", "namespace"}, "kube-system");
  const Case cases[] = {
      {"GET", kMaps + "/none", nullptr, 404, "configmaps \"none\" not found"},
      {"POST", kMaps, ConfigMap("a"), 409, "configmaps \"a\" already exists"},
      {"POST", "/clusters/wds1/api/v1/namespaces/nowhere/configmaps", ConfigMap("a"), 404,
       "namespaces \"nowhere\" not found"},
      {"PUT", kMaps + "/a", other_name, 400,
       "the name of the object (b) does not match the name on the URL (a)"},
      {"POST", kMaps, with_revision, 500, "resourceVersion should not be set on objects to be created"},
      {"POST", kMaps, bad_name_with_revision, 422, nullptr},
      {"POST", kMaps, other_namespace, 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"GET", "/clusters/nowhere/api/v1/pods", nullptr, 404,
       "workspaces.mailbox.kubestellar.io \"nowhere\" not found"},
      {"DELETE", kMaps + "/none", nullptr, 404, "configmaps \"none\" not found"},
      {"GET", kMaps + "?labelSelector=a%3D%3D%3Db", nullptr, 400, nullptr},
      {"GET", kMaps + "?fieldSelector=spec.x%3D1", nullptr, 400,
       "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
      {"GET", kMaps + "?limit=x", nullptr, 400, nullptr},
      {"GET", kMaps + "?continue=garbage", nullptr, 400, nullptr},
      {"POST", kMaps + "?dryRun=Some", ConfigMap("z"), 422, nullptr},
  };
  // Nothing is stored, so nothing stands against it.
  const auto tried = hub.Do("POST", kMaps + "?dryRun=All", with_revision);
  EXPECT_EQ(tried.code, 201) << tried.text;
  EXPECT_EQ(StringAt(tried.body, {"metadata", "resourceVersion"}), "5");
  for (const Case& c : cases) {
    auto answer = hub.Do(c.method, c.path, c.body);
    EXPECT_EQ(answer.code, c.code) << c.method << " " << c.path << answer.text;
    EXPECT_EQ(StringAt(answer.body, {"kind"}), "Status");
    EXPECT_EQ(IntAt(answer.body, {"code"}), c.code);
    if (c.message != nullptr) {
      EXPECT_EQ(StringAt(answer.body, {"message"}), c.message);
    }
  }
  EXPECT_EQ(hub.Get("/clusters/wds1/apis/no.such/v1/things").text, "404 page not found\n");
  for (const char* path : {"/api/v2/pods", "/apis/apps/v9/deployments"}) {
    EXPECT_EQ(StringAt(hub.Get(std::string("/clusters/wds1") + path).body, {"message"}),
              "the server could not find the requested resource");
  }
  EXPECT_EQ(StringAt(hub.Get(kMaps + std::string("/q?export=true")).body, {"message"}),
            "the export parameter, deprecated since v1.14, is no longer supported");
  EXPECT_EQ(hub.Do("POST", kMaps, ConfigMap("q"), "text/plain").code, 415);
  EXPECT_EQ(hub.GetAs(kMaps, "text/plain").code, 406);
}

TEST_F(Verbs, UpdateChecksRevisionAndSkipsNoOps) {
  Json object = hub.Do("POST", kMaps, ConfigMap("a", {{"k", "1"}})).body;
  const std::string first = RevisionOf(object);
  EXPECT_EQ(RevisionOf(hub.Do("PUT", kMaps + "/a", object).body), first) << "no-op must not bump";
  Set(object, {"data", "k"}, "2");
  auto second = hub.Do("PUT", kMaps + "/a", object);
  ASSERT_EQ(second.code, 200) << second.text;
  EXPECT_NE(RevisionOf(second.body), first);
  auto stale = hub.Do("PUT", kMaps + "/a", object);
  EXPECT_EQ(stale.code, 409);
  EXPECT_NE(StringAt(stale.body, {"message"}).find("the object has been modified"), std::string::npos);
  Erase(object, {"metadata", "resourceVersion"});
  EXPECT_EQ(hub.Do("PUT", kMaps + "/a", object).code, 200) << "unconditional";
  Set(object, {"metadata", "resourceVersion"}, "0");
  EXPECT_EQ(hub.Do("PUT", kMaps + "/a", object).code, 200) << "as if it named none";
  Set(object, {"metadata", "uid"}, "other");
  EXPECT_EQ(hub.Do("PUT", kMaps + "/a", object).code, 409);
}

TEST_F(Verbs, PatchesOfAllKinds) {
  hub.Do("POST", kMaps, ConfigMap("a", {{"k", "1"}, {"gone", "x"}}));
  auto merged = hub.Do("PATCH", kMaps + "/a", {{"data", {{"k", "2"}, {"gone", nullptr}}}}, kMerge);
  ASSERT_EQ(merged.code, 200) << merged.text;
  EXPECT_EQ(DumpJson(*Find(merged.body, {"data"})), R"({"k":"2"})");
  auto json = hub.Do("PATCH", kMaps + "/a",
                     Json::array({{{"op", "add"}, {"path", "/data/n"}, {"value", "3"}}}),
                     "application/json-patch+json");
  EXPECT_EQ(StringAt(json.body, {"data", "n"}), "3");
  auto strategic = hub.Do("PATCH", kMaps + "/a", {{"data", {{"s", "4"}}}},
                          "application/strategic-merge-patch+json");
  EXPECT_EQ(StringAt(strategic.body, {"data", "s"}), "4");
  Json config = ConfigMap("a", {{"applied", "5"}});
  auto applied = hub.Do("PATCH", kMaps + "/a?fieldManager=me", config, "application/apply-patch+yaml");
  ASSERT_EQ(applied.code, 200) << applied.text;
  EXPECT_EQ(StringAt(applied.body, {"data", "applied"}), "5");
  auto created = hub.Do("PATCH", kMaps + "/fresh?fieldManager=me", ConfigMap("fresh"),
                        "application/apply-patch+yaml");
  EXPECT_EQ(created.code, 201) << created.text;
  EXPECT_EQ(hub.Do("PATCH", kMaps + "/a", config, "application/apply-patch+yaml").code, 422);
  EXPECT_EQ(hub.Do("PATCH", kMaps + "/none", {{"data", {{"k", "2"}}}}, kMerge).code, 404);
  EXPECT_EQ(hub.Do("PATCH", kMaps + "/a", Json::object(), "application/json").code, 415);
}

TEST_F(Verbs, ApplyConflictsNameTheOtherManager) {
  hub.Do("PATCH", kMaps + "/a?fieldManager=one", ConfigMap("a", {{"k", "1"}}),
         "application/apply-patch+yaml");
  auto conflict = hub.Do("PATCH", kMaps + "/a?fieldManager=two", ConfigMap("a", {{"k", "2"}}),
                         "application/apply-patch+yaml");
  EXPECT_EQ(conflict.code, 409);
  EXPECT_EQ(StringAt(conflict.body, {"message"}),
            "Apply failed with 1 conflict: conflict with \"one\": .data.k");
  auto forced = hub.Do("PATCH", kMaps + "/a?fieldManager=two&force=true",
                       ConfigMap("a", {{"k", "2"}}), "application/apply-patch+yaml");
  EXPECT_EQ(forced.code, 200);
  EXPECT_EQ(StringAt(forced.body, {"data", "k"}), "2");
}

// A small body may conflict in many places, each below a long name.
TEST_F(Verbs, ApplyConflictsAreToldUpToABound) {
  Json mine = ConfigMap("a", Json::object()), theirs = mine;
  const auto give = [&](const std::string& key) {
    mine["data"][key] = "1";
    theirs["data"][key] = "2";
  };
  for (int i = 0; i < 100; ++i) give("k" + std::to_string(1000 + i));
  const auto conflict = [&] {
    hub.Do("PATCH", kMaps + "/a?fieldManager=one&force=true", mine, "application/apply-patch+yaml");
    return hub.Do("PATCH", kMaps + "/a?fieldManager=two", theirs, "application/apply-patch+yaml").body;
  };
  std::string all;
  for (int i = 0; i < 100; ++i) all += "\n- .data.k" + std::to_string(1000 + i);
  EXPECT_EQ(StringAt(conflict(), {"message"}),
            "Apply failed with 100 conflicts: conflicts with \"one\":" + all);
  for (int i = 100; i < 120; ++i) give("k" + std::to_string(1000 + i));
  const Json bounded = conflict();
  EXPECT_EQ(StringAt(bounded, {"message"}), "Apply failed with 120 conflicts: conflicts with "
                                            "\"one\":" + all + "\n... and 20 more");
  EXPECT_EQ(bounded.at("details").at("causes").size(), 100u);
}

TEST_F(Verbs, FinalizersHoldADeletedObject) {
  Json object = ConfigMap("a");
  Set(object, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  object = hub.Do("POST", kMaps, object).body;
  auto deleted = hub.Do("DELETE", kMaps + "/a");
  EXPECT_EQ(deleted.code, 200);
  EXPECT_FALSE(StringAt(deleted.body, {"metadata", "deletionTimestamp"}).empty());
  EXPECT_EQ(RevisionOf(hub.Do("DELETE", kMaps + "/a").body), RevisionOf(deleted.body));
  auto freed = hub.Do("PATCH", kMaps + "/a", {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  EXPECT_EQ(freed.code, 200) << freed.text;
  EXPECT_EQ(hub.Get(kMaps + "/a").code, 404);
}

TEST_F(Verbs, DeleteAnswersAndPreconditions) {
  Json object = hub.Do("POST", kMaps, ConfigMap("a")).body;
  auto wrong = hub.Do("DELETE", kMaps + "/a", {{"preconditions", {{"uid", "other"}}}});
  EXPECT_EQ(wrong.code, 409);
  EXPECT_EQ(hub.Do("DELETE", kMaps + "/a", {{"propagationPolicy", "Sideways"}}).code, 422);
  auto gone = hub.Do("DELETE", kMaps + "/a");
  EXPECT_EQ(StringAt(gone.body, {"status"}), "Success");
  EXPECT_EQ(StringAt(gone.body, {"details", "uid"}), StringAt(object, {"metadata", "uid"}));
  hub.Do("POST", kMaps, ConfigMap("x"));
  hub.Do("POST", kMaps, ConfigMap("y"));
  auto all = hub.Do("DELETE", kMaps);
  EXPECT_EQ(all.code, 200);
  EXPECT_EQ(Find(all.body, {"items"})->size(), 2u);
  EXPECT_TRUE(Find(hub.Get(kMaps).body, {"items"})->empty());
}

TEST_F(Verbs, EveryPropagationPolicyEndsTheObject) {
  for (const char* policy : {"Background", "Foreground", "Orphan"}) {
    hub.Do("POST", kMaps, ConfigMap("a"));
    EXPECT_EQ(hub.Do("DELETE", kMaps + "/a", {{"propagationPolicy", policy}}).code, 200);
    EXPECT_TRUE(Eventually([&] { return hub.Get(kMaps + "/a").code == 404; })) << policy;
  }
}

// Whoever does not say so may not know that pods stay.
TEST_F(Verbs, JobsWarnThatTheirPodsStay) {
  const std::string jobs = "/clusters/wds1/apis/batch/v1/namespaces/default/jobs";
  const Json job = *ParseJson(R"({"metadata":{"name":"j"},"spec":{"template":{"spec":
    {"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  for (const char* policy : {"", "Background", "Orphan"}) {
    ASSERT_EQ(hub.Do("POST", jobs, job).code, 201);
    const Json options = *policy == '\0' ? Json::object() : Json{{"propagationPolicy", policy}};
    const auto deleted = hub.Do("DELETE", jobs + "/j", options);
    EXPECT_EQ(deleted.code, 200) << deleted.text;
    const std::string_view warning = deleted.headers.Get("warning");
    EXPECT_EQ(warning.empty(), *policy != '\0') << policy << warning;
    if (!warning.empty()) {
      EXPECT_TRUE(warning.starts_with("299 - \"child pods are preserved by default when jobs are deleted;"))
          << warning;
    }
    ASSERT_TRUE(Eventually([&] { return hub.Get(jobs + "/j").code == 404; }));
  }
}

TEST_F(Verbs, ListsPageAtOneRevision) {
  for (int i = 0; i < 5; ++i) hub.Do("POST", kMaps, ConfigMap("m" + std::to_string(i)));
  auto first = hub.Get(kMaps + "?limit=2");
  ASSERT_EQ(Find(first.body, {"items"})->size(), 2u);
  EXPECT_EQ(IntAt(first.body, {"metadata", "remainingItemCount"}), 3);
  EXPECT_FALSE(Find(first.body, {"items"})->front().contains("kind"));
  hub.Do("DELETE", kMaps + "/m3");
  hub.Do("POST", kMaps, ConfigMap("m9"));
  std::vector<std::string> names;
  std::string token = StringAt(first.body, {"metadata", "continue"});
  while (!token.empty()) {
    auto page = hub.Get(kMaps + "?limit=2&continue=" + token);
    ASSERT_EQ(page.code, 200) << page.text;
    EXPECT_EQ(RevisionOf(page.body), RevisionOf(first.body));
    for (const Json& item : *Find(page.body, {"items"})) {
      names.push_back(StringAt(item, {"metadata", "name"}));
    }
    token = StringAt(page.body, {"metadata", "continue"});
  }
  EXPECT_EQ(names, (std::vector<std::string>{"m2", "m3", "m4"}));
  auto future = hub.Get(kMaps + "?resourceVersion=999999&resourceVersionMatch=Exact");
  EXPECT_EQ(future.code, 504);
}

TEST_F(Verbs, SelectorsAndGenerateName) {
  Json labelled = ConfigMap("");
  Erase(labelled, {"metadata", "name"});
  Set(labelled, {"metadata", "generateName"}, "gen-");
  Set(labelled, {"metadata", "labels", "a"}, "b");
  auto made = hub.Do("POST", kMaps, labelled);
  ASSERT_EQ(made.code, 201) << made.text;
  const std::string name = StringAt(made.body, {"metadata", "name"});
  EXPECT_EQ(name.size(), 9u);
  Set(labelled, {"metadata", "generateName"}, std::string(80, 'g'));
  const Json long_one = hub.Do("POST", kMaps, labelled).body;
  EXPECT_EQ(StringAt(long_one, {"metadata", "name"}).substr(0, 58), std::string(58, 'g'));
  EXPECT_EQ(StringAt(long_one, {"metadata", "name"}).size(), 63u);
  hub.Do("DELETE", kMaps + "/" + StringAt(long_one, {"metadata", "name"}));
  hub.Do("POST", kMaps, ConfigMap("plain"));
  EXPECT_EQ(Find(hub.Get(kMaps + "?labelSelector=a%3Db").body, {"items"})->size(), 1u);
  EXPECT_EQ(Find(hub.Get(kMaps + "?labelSelector=a%21%3Db").body, {"items"})->size(), 1u);
  EXPECT_EQ(Find(hub.Get(kMaps + "?fieldSelector=metadata.name%3D" + name).body, {"items"})->size(),
            1u);
}

TEST_F(Verbs, DryRunChangesNothing) {
  auto made = hub.Do("POST", kMaps + "?dryRun=All", ConfigMap("a"));
  EXPECT_EQ(made.code, 201);
  EXPECT_EQ(hub.Get(kMaps + "/a").code, 404);
  hub.Do("POST", kMaps, ConfigMap("a"));
  EXPECT_EQ(hub.Do("DELETE", kMaps + "/a?dryRun=All").code, 200);
  EXPECT_EQ(hub.Get(kMaps + "/a").code, 200);
}

TEST_F(Verbs, DryRunsHaveNoRevisionInAnyForm) {
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const std::string partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
  for (const std::string& accept : {std::string("application/json"), partial, table}) {
    Request request;
    request.method = "POST";
    request.path = kMaps;
    request.query = "dryRun=All";
    request.body = DumpJson(ConfigMap("a"));
    request.headers.Add("accept", accept);
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    const auto made = hub.Send(std::move(request));
    EXPECT_EQ(made.code, 201) << made.text;
    EXPECT_EQ(made.text.find("resourceVersion"), std::string::npos) << made.text;
  }
}

// Field names take as much room again for their owners.
TEST_F(Verbs, WhatIsTooLargeIsKeptWithoutItsOwners) {
  Json large = ConfigMap("a");
  for (int i = 0; i < 10'000; ++i) {
    large["data"]["k" + std::to_string(10'000 + i) + std::string(90, 'k')] = "v";
  }
  const auto owned = [](const Json& object) {
    return Find(object, {"metadata", "managedFields"}) != nullptr;
  };
  const auto made = hub.Do("POST", kMaps, large);
  ASSERT_EQ(made.code, 201) << made.text.substr(0, 300);
  EXPECT_FALSE(owned(made.body));
  EXPECT_EQ(hub.Get(kMaps + "/a").body, made.body);
  EXPECT_EQ(RevisionOf(hub.Do("PUT", kMaps + "/a", made.body).body), RevisionOf(made.body))
      << "no-op must not bump";
  const auto patched = hub.Do("PATCH", kMaps + "/a", {{"data", {{"more", "v"}}}}, kMerge);
  EXPECT_EQ(patched.code, 200) << patched.text.substr(0, 300);
  EXPECT_EQ(StringAt(patched.body, {"data", "more"}), "v");
  EXPECT_FALSE(owned(patched.body));
  // An apply is about who owns what.
  Set(large, {"metadata", "name"}, "b");
  const auto applied = hub.Do("PATCH", kMaps + "/b?fieldManager=one", large, "application/apply-patch+yaml");
  EXPECT_EQ(applied.code, 413) << applied.text.substr(0, 300);
  large["data"] = {{"k", "v"}};
  EXPECT_TRUE(owned(hub.Do("POST", kMaps, large).body));
}

TEST_F(Verbs, UnknownFieldsWarnOrFail) {
  Json object = ConfigMap("a");
  object["extra"] = 1;
  auto warned = hub.Do("POST", kMaps, object);
  EXPECT_EQ(warned.code, 201);
  EXPECT_EQ(warned.headers.Get("warning"), "299 - \"unknown field \\\"extra\\\"\"");
  EXPECT_FALSE(warned.body.contains("extra"));
  Set(object, {"metadata", "name"}, "b");
  auto strict = hub.Do("POST", kMaps + "?fieldValidation=Strict", object);
  EXPECT_EQ(strict.code, 400);
  EXPECT_NE(StringAt(strict.body, {"message"}).find("strict decoding error: unknown field \"extra\""),
            std::string::npos);
}

TEST_F(Verbs, ApplyReportsDoubledKeys) {
  auto apply = [&](const std::string& query) {
    Request request;
    request.method = "PATCH";
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    request.path = kMaps + "/doubled";
    request.query = "fieldManager=m&" + query;
    request.headers.Add("content-type", "application/apply-patch+yaml");
    request.body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: doubled}\ndata:\n  a: b\n  a: c\n";
    return hub.Send(std::move(request));
  };
  auto strict = apply("fieldValidation=Strict");
  EXPECT_EQ(strict.code, 400);
  EXPECT_NE(StringAt(strict.body, {"message"}).find("line 6: key \"a\" already set in map"),
            std::string::npos);
  auto warned = apply("fieldValidation=Warn");
  EXPECT_EQ(warned.code, 201);
  EXPECT_NE(warned.headers.Get("warning").find("already set in map"), std::string::npos);
}

TEST_F(Verbs, EventsAreSelectedBySourceOrReporter) {
  const std::string events = "/clusters/wds1/apis/events.k8s.io/v1/namespaces/default/events";
  const Json event = *ParseJson(R"({"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z",
    "reportingController":"c","reportingInstance":"i","action":"a","reason":"r","type":"Normal",
    "regarding":{"namespace":"default"}})");
  const auto made = hub.Do("POST", events, event);
  ASSERT_EQ(made.code, 201) << made.text;
  const std::string core = "/clusters/wds1/api/v1/namespaces/default/events?fieldSelector=source=";
  EXPECT_EQ(Find(hub.Get(core + "c").body, {"items"})->size(), 1u);
  EXPECT_EQ(Find(hub.Get(core + "d").body, {"items"})->size(), 0u);
}

TEST_F(Verbs, StatusAndScaleAreApart) {
  const std::string path = "/clusters/wds1/apis/apps/v1/namespaces/default/deployments";
  const Json deployment = *ParseJson(R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":
    {"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":9}})");
  auto made = hub.Do("POST", path, deployment);
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(IntAt(made.body, {"spec", "replicas"}), 1) << "defaulted";
  EXPECT_EQ(IntAt(made.body, {"status", "replicas"}, -1), -1) << "status is not set by create";
  EXPECT_EQ(IntAt(made.body, {"metadata", "generation"}), 1);
  auto status = hub.Do("PATCH", path + "/d/status",
                       {{"spec", {{"replicas", 7}}}, {"status", {{"replicas", 2}}}}, kMerge);
  ASSERT_EQ(status.code, 200) << status.text;
  EXPECT_EQ(IntAt(status.body, {"spec", "replicas"}), 1);
  EXPECT_EQ(IntAt(status.body, {"status", "replicas"}), 2);
  EXPECT_EQ(IntAt(status.body, {"metadata", "generation"}), 1);
  auto scaled = hub.Do("PATCH", path + "/d/scale", {{"spec", {{"replicas", 3}}}}, kMerge);
  ASSERT_EQ(scaled.code, 200) << scaled.text;
  EXPECT_EQ(StringAt(scaled.body, {"kind"}), "Scale");
  EXPECT_EQ(StringAt(scaled.body, {"status", "selector"}), "a=b");
  auto read = hub.Get(path + "/d");
  EXPECT_EQ(IntAt(read.body, {"spec", "replicas"}), 3);
  EXPECT_EQ(IntAt(read.body, {"metadata", "generation"}), 2);
  EXPECT_EQ(IntAt(read.body, {"status", "replicas"}), 2);
  // Applied, it belongs to the scale's entry of the whole object.
  const Json applied = {{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"},
                        {"metadata", {{"name", "d"}}}, {"spec", {{"replicas", 5}}}};
  const std::string apply = path + "/d/scale?fieldManager=scaler&force=true";
  ASSERT_EQ(hub.Do("PATCH", apply, applied, "application/apply-patch+yaml").code, 200);
  const Json whole = hub.Get(path + "/d").body;
  EXPECT_EQ(IntAt(whole, {"spec", "replicas"}), 5);
  bool owned = false;
  for (const Json& entry : whole["metadata"]["managedFields"]) {
    if (StringAt(entry, {"manager"}) != "scaler") continue;
    owned = true;
    EXPECT_EQ(StringAt(entry, {"operation"}), "Apply");
    EXPECT_EQ(StringAt(entry, {"subresource"}), "scale");
    EXPECT_EQ(StringAt(entry, {"apiVersion"}), "apps/v1");
    EXPECT_EQ(entry["fieldsV1"], Json({{"f:spec", {{"f:replicas", Json::object()}}}}));
  }
  EXPECT_TRUE(owned);
  hub.Do("PATCH", path + "/d/scale", {{"spec", {{"replicas", "many"}}}}, kMerge);
  EXPECT_EQ(IntAt(hub.Get(path + "/d").body, {"spec", "replicas"}), 5);
  // Labels of a deployment are not written along with its status, annotations are.
  auto noted = hub.Do("PATCH", path + "/d/status",
                      {{"metadata", {{"labels", {{"l", "1"}}}, {"annotations", {{"a", "1"}}}}}}, kMerge);
  ASSERT_EQ(noted.code, 200) << noted.text;
  EXPECT_EQ(StringAt(noted.body, {"metadata", "labels", "l"}), "");
  EXPECT_EQ(StringAt(noted.body, {"metadata", "annotations", "a"}), "1");
}

TEST_F(Verbs, ListsWithoutElementsAreShownAsTheOriginalStoresThem) {
  const std::string roles = "/clusters/wds1/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const auto role =
      hub.Do("POST", roles, {{"metadata", {{"name", "r"}}}, {"rules", Json::array()}});
  ASSERT_EQ(role.code, 201) << role.text;
  EXPECT_TRUE(role.body.at("rules").is_null());
  Json again = role.body;
  again["rules"] = Json::array();
  EXPECT_EQ(RevisionOf(hub.Do("PUT", roles + "/r", again).body), RevisionOf(role.body));
  const auto slice =
      hub.Do("POST", "/clusters/wds1/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
             {{"metadata", {{"name", "s"}}},
              {"addressType", "IPv4"},
              {"endpoints", Json::array()},
              {"ports", Json::array()}});
  ASSERT_EQ(slice.code, 201) << slice.text;
  EXPECT_TRUE(slice.body.at("endpoints").is_null());
  EXPECT_TRUE(slice.body.at("ports").is_null());
}

TEST_F(Verbs, TablesAndPartialMetadata) {
  hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}}));
  auto table = hub.GetAs(kMaps, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  EXPECT_EQ(StringAt(table.body, {"kind"}), "Table");
  EXPECT_EQ(DumpJson(Find(table.body, {"rows"})->front()["cells"][0]), "\"a\"");
  auto partial = hub.GetAs(kMaps, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  EXPECT_EQ(StringAt(partial.body, {"kind"}), "PartialObjectMetadataList");
  EXPECT_FALSE(Find(partial.body, {"items"})->front().contains("data"));
  EXPECT_EQ(hub.GetAs(kMaps, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").code, 406);
  auto yaml = hub.GetAs(kMaps + "/a", "application/yaml");
  EXPECT_NE(yaml.text.find("kind: ConfigMap\n"), std::string::npos);
}

}  // namespace
}  // namespace mailroom
