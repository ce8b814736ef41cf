// Every field that a built-in kind can be selected by, of objects with and without a value.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "storage/object/json_path.h"
#include "storage/object/yaml.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kWds = "/clusters/wds1";
constexpr const char* kMerge = "application/merge-patch+json";

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += c;
      continue;
    }
    constexpr const char* kHex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte / 16], kHex[byte % 16]};
  }
  return out;
}

struct Row {
  std::string collection;  // below the workspace
  Json object;             // as it is without a value
  Json value;              // a merge patch that gives it one; its status is written as such
  const char* field;
  const char* without;  // the value of the first object
  const char* with;     // and of the second
};

Json Pod() { return {{"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}; }

Json Template() {
  Json pod = Pod();
  pod["metadata"] = {{"labels", {{"a", "b"}}}};
  return pod;
}

std::vector<Row> Rows() {
  const std::string core = "/api/v1/namespaces/default/";
  const std::string pods = core + "pods", services = core + "services";
  const std::string events = core + "events";
  const std::string news = "/apis/events.k8s.io/v1/namespaces/default/events";
  const std::string slices = "/apis/resource.k8s.io/v1/resourceslices";
  const Json service = {{"spec", {{"ports", {{{"port", 80}}}}}}};
  const Json controller = {
      {"spec", {{"replicas", 5}, {"selector", {{"a", "b"}}}, {"template", Template()}}}};
  Json job = {{"spec", {{"template", Template()}}}};
  Set(job, {"spec", "template", "spec", "restartPolicy"}, "Never");
  const Json event = {{"involvedObject", {{"namespace", "default"}}}};
  const auto about = [](const char* member, const char* value) -> Json {
    return {{"involvedObject", {{member, value}}}};
  };
  const Json slice = {{"spec",
                       {{"driver", "d.example.com"},
                        {"allNodes", true},
                        {"pool", {{"name", "p"}, {"generation", 1}, {"resourceSliceCount", 1}}}}}};
  Json on_node = {{"spec", {{"nodeName", "n1"}, {"allNodes", nullptr}}}};
  std::vector<Row> rows = {
      {pods, Pod(), {{"spec", {{"nodeName", "n1"}}}}, "spec.nodeName", "", "n1"},
      {pods, Pod(), {{"spec", {{"nodeName", "n1"}}}}, "spec.host", "", "n1"},
      {pods, Pod(), {{"spec", {{"restartPolicy", "Never"}}}}, "spec.restartPolicy", "Always", "Never"},
      {pods, Pod(), {{"spec", {{"schedulerName", "s"}}}}, "spec.schedulerName", "default-scheduler", "s"},
      {pods, Pod(), {{"spec", {{"serviceAccountName", "s"}}}}, "spec.serviceAccountName", "", "s"},
      {pods, Pod(), {{"spec", {{"hostNetwork", true}}}}, "spec.hostNetwork", "false", "true"},
      {pods, Pod(), {{"status", {{"phase", "Running"}}}}, "status.phase", "Pending", "Running"},
      {pods, Pod(), {{"status", {{"podIP", "10.0.0.1"}}}}, "status.podIP", "", "10.0.0.1"},
      {pods, Pod(), {{"status", {{"podIPs", {{{"ip", "10.0.0.1"}}, {{"ip", "::1"}}}}}}}, "status.podIP", "",
       "10.0.0.1"},
      {pods, Pod(), {{"status", {{"nominatedNodeName", "n2"}}}}, "status.nominatedNodeName", "", "n2"},
      {"/api/v1/nodes", Json::object(), {{"spec", {{"unschedulable", true}}}}, "spec.unschedulable",
       "false", "true"},
      {core + "secrets", Json::object(), {{"type", "example.com/t"}}, "type", "Opaque", "example.com/t"},
      {services, service, {{"spec", {{"type", "NodePort"}}}}, "spec.type", "ClusterIP", "NodePort"},
      {services, service, {{"spec", {{"clusterIP", "None"}}}}, "spec.clusterIP", "", "None"},
      {core + "replicationcontrollers", controller, {{"status", {{"replicas", 3}}}}, "status.replicas",
       "0", "3"},
      {"/apis/batch/v1/namespaces/default/jobs", job, {{"status", {{"succeeded", 2}}}},
       "status.successful", "0", "2"},
      {events, event, about("kind", "Pod"), "involvedObject.kind", "", "Pod"},
      {events, event, about("name", "p"), "involvedObject.name", "", "p"},
      {events, event, about("uid", "u"), "involvedObject.uid", "", "u"},
      {events, event, about("apiVersion", "v1"), "involvedObject.apiVersion", "", "v1"},
      {events, event, about("resourceVersion", "7"), "involvedObject.resourceVersion", "", "7"},
      {events, event, about("fieldPath", "spec.x"), "involvedObject.fieldPath", "", "spec.x"},
      {events, event, {{"reason", "R"}}, "reason", "", "R"},
      {events, event, {{"type", "Normal"}}, "type", "", "Normal"},
      {events, event, {{"reportingComponent", "r"}}, "reportingComponent", "", "r"},
      {events, event, {{"reportingComponent", "r"}}, "source", "", "r"},
      {events, event, {{"source", {{"component", "s"}}}}, "source", "", "s"},
      {slices, slice, on_node, "spec.nodeName", "", "n1"},
      {slices, slice, {{"spec", {{"driver", "e.example.com"}}}}, "spec.driver", "d.example.com",
       "e.example.com"},
  };
  // The newer API shows the same Events under other names.
  for (const char* member : {"kind", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
    static const std::map<std::string, std::string> kNames = {
        {"kind", "regarding.kind"}, {"name", "regarding.name"}, {"uid", "regarding.uid"},
        {"apiVersion", "regarding.apiVersion"}, {"resourceVersion", "regarding.resourceVersion"},
        {"fieldPath", "regarding.fieldPath"}};
    rows.push_back({news, event, about(member, "v"), kNames.at(member).c_str(), "", "v"});
  }
  rows.push_back({news, event, {{"reason", "R"}}, "reason", "", "R"});
  rows.push_back({news, event, {{"type", "Normal"}}, "type", "", "Normal"});
  rows.push_back({news, event, {{"reportingComponent", "r"}}, "reportingController", "", "r"});
  return rows;
}

class FieldSelectors : public testing::Test {
 protected:
  // Made as a core Event where the row reads the newer API.
  std::string WrittenAt(const Row& row) {
    const bool newer = row.collection.find("events.k8s.io") != std::string::npos;
    return kWds + (newer ? "/api/v1/namespaces/default/events" : row.collection);
  }
  void Make(const Row& row, const std::string& name, const Json* value) {
    Json object = row.object;
    Set(object, {"metadata", "name"}, name);
    if (value != nullptr) object.merge_patch(*value);
    const auto made = hub_.Do("POST", WrittenAt(row), object);
    ASSERT_EQ(made.code, 201) << made.text;
    if (value == nullptr || !value->contains("status")) return;
    const auto told = hub_.Do("PATCH", WrittenAt(row) + "/" + name + "/status", *value, kMerge);
    ASSERT_EQ(told.code, 200) << told.text;
  }
  // Which of our two objects are listed, and which a watch shows.
  std::string Listed(const Row& row, const std::string& selector) {
    const auto list = hub_.Get(kWds + row.collection + "?fieldSelector=" + Escaped(selector));
    EXPECT_EQ(list.code, 200) << list.text;
    std::string names;
    for (const Json& item : list.body["items"]) names += StringAt(item, {"metadata", "name"}) + " ";
    return names;
  }
  std::string Watched(const Row& row, const std::string& selector) {
    TestWatch watch(hub_, kWds + row.collection + "?watch=1&fieldSelector=" + Escaped(selector));
    const Json event = watch.Next();
    return StringAt(event, {"type"}) + " " + StringAt(event, {"object", "metadata", "name"});
  }
  TestHub hub_;
};

TEST_F(FieldSelectors, SelectWithAndWithoutAValue) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.collection + " " + row.field + "=" + row.with);
    ASSERT_NO_FATAL_FAILURE(Make(row, "without", nullptr));
    ASSERT_NO_FATAL_FAILURE(Make(row, "with", &row.value));
    const std::string field = row.field;
    EXPECT_EQ(Listed(row, field + "=" + row.without), "without ");
    EXPECT_EQ(Listed(row, field + "=" + row.with), "with ");
    EXPECT_EQ(Listed(row, field + "!=" + row.without), "with ");
    EXPECT_EQ(Listed(row, field + "!=" + row.with), "without ");
    EXPECT_EQ(Listed(row, field + "=other"), "");
    EXPECT_EQ(Watched(row, field + "=" + row.without), "ADDED without");
    EXPECT_EQ(Watched(row, field + "=" + row.with), "ADDED with");
    for (const char* name : {"/without", "/with"}) {
      hub_.Do("DELETE", WrittenAt(row) + name + "?gracePeriodSeconds=0&propagationPolicy=Background");
    }
  }
}

TEST_F(FieldSelectors, WatchesSeeValuesComeAndGo) {
  const std::string nodes = kWds + "/api/v1/nodes";
  ASSERT_EQ(hub_.Do("POST", nodes, {{"metadata", {{"name", "n"}}}}).code, 201);
  TestWatch open(hub_, nodes + "?watch=1&fieldSelector=spec.unschedulable%3Dfalse");
  TestWatch closed(hub_, nodes + "?watch=1&fieldSelector=spec.unschedulable%3Dtrue");
  EXPECT_EQ(StringAt(open.Next(), {"type"}), "ADDED");
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(hub_.Do("PATCH", nodes + "/n", {{"spec", {{"unschedulable", true}}}}, kMerge).code, 200);
    EXPECT_EQ(StringAt(open.Next(), {"type"}), "DELETED");
    EXPECT_EQ(StringAt(closed.Next(), {"type"}), "ADDED");
    ASSERT_EQ(hub_.Do("PATCH", nodes + "/n", {{"spec", {{"unschedulable", nullptr}}}}, kMerge).code, 200);
    EXPECT_EQ(StringAt(open.Next(), {"type"}), "ADDED");
    EXPECT_EQ(StringAt(closed.Next(), {"type"}), "DELETED");
  }
}

TEST_F(FieldSelectors, NamespacesGoByPhase) {
  const std::string namespaces = kWds + "/api/v1/namespaces";
  ASSERT_EQ(hub_.Do("POST", namespaces,
                    {{"metadata", {{"name", "held"}, {"finalizers", {"example.com/hold"}}}}})
                .code, 201);
  const Row row{"/api/v1/namespaces", {}, {}, "", "", ""};
  EXPECT_EQ(Listed(row, "status.phase=Terminating"), "");
  EXPECT_NE(Listed(row, "status.phase=Active").find("held "), std::string::npos);
  ASSERT_EQ(hub_.Do("DELETE", namespaces + "/held").code, 200);
  EXPECT_EQ(Listed(row, "status.phase=Terminating"), "held ");
  EXPECT_EQ(Watched(row, "status.phase=Terminating"), "ADDED held");
}

TEST_F(FieldSelectors, EventsGoByTheNamespaceOfTheirObject) {
  const Row core{"/api/v1/namespaces/default/events", {{"involvedObject", {{"namespace", "default"}}}}, {}, "", "", ""};
  Row newer = core;
  newer.collection = "/apis/events.k8s.io/v1/namespaces/default/events";
  ASSERT_NO_FATAL_FAILURE(Make(core, "e", nullptr));
  EXPECT_EQ(Listed(core, "involvedObject.namespace=default"), "e ");
  EXPECT_EQ(Listed(core, "involvedObject.namespace="), "");
  EXPECT_EQ(Listed(newer, "regarding.namespace=default"), "e ");
  EXPECT_EQ(Listed(newer, "regarding.namespace="), "");
}

// The signer of a request is always named.
TEST_F(FieldSelectors, SigningRequestsGoBySigner) {
  Row row{"/apis/certificates.k8s.io/v1/certificatesigningrequests", {}, {}, "", "", ""};
  std::ifstream file(MAILROOM_TEST_DATA "/kinds.yaml");
  std::stringstream text;
  text << file.rdbuf();
  const auto samples = ParseYamlDocuments(text.str());
  ASSERT_TRUE(samples.ok());
  for (const Json& sample : *samples) {
    if (StringAt(sample, {"kind"}) == "CertificateSigningRequest") row.object = sample;
  }
  ASSERT_NO_FATAL_FAILURE(Make(row, "r", nullptr));
  EXPECT_EQ(Listed(row, "spec.signerName=example.com/s"), "r ");
  EXPECT_EQ(Listed(row, "spec.signerName=example.com/t"), "");
  EXPECT_EQ(Watched(row, "spec.signerName=example.com/s"), "ADDED r");
}

// Of a list nothing is ever selected.
TEST_F(FieldSelectors, AddressesAreNamedButEmpty) {
  Row row{"/api/v1/namespaces/default/pods", Pod(), {{"status", {{"podIPs", {{{"ip", "10.0.0.1"}}}}}}},
          "status.podIPs", "", ""};
  ASSERT_NO_FATAL_FAILURE(Make(row, "with", &row.value));
  EXPECT_EQ(Listed(row, "status.podIPs=10.0.0.1"), "");
  EXPECT_EQ(Listed(row, "status.podIPs="), "with ");
}

TEST_F(FieldSelectors, KindsWithoutNamespacesSayWhichFieldsTheyHave) {
  struct Case {
    const char *path, *message;
  };
  const Case cases[] = {
      {"/api/v1/nodes", "field label not supported: metadata.namespace"},
      {"/api/v1/namespaces", "field label not supported: metadata.namespace"},
      {"/apis/certificates.k8s.io/v1/certificatesigningrequests",
       "field label not supported: metadata.namespace"},
      {"/apis/resource.k8s.io/v1/resourceslices",
       "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: metadata.namespace"},
  };
  for (const Case& c : cases) {
    const auto answer = hub_.Get(kWds + c.path + "?fieldSelector=metadata.namespace%3D");
    EXPECT_EQ(answer.code, 400) << c.path;
    EXPECT_EQ(StringAt(answer.body, {"message"}), c.message);
  }
  // Those that leave it to the general rule.
  EXPECT_EQ(hub_.Get(kWds + "/api/v1/persistentvolumes?fieldSelector=metadata.namespace%3D").code, 200);
}

}  // namespace
}  // namespace mailroom
