#include "openapi/columns.h"

#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "storage/object/clock.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;

std::string Ago(std::int64_t seconds) {
  return FormatTime(std::chrono::system_clock::time_point(std::chrono::seconds(kNow - seconds)));
}

class ColumnsTest : public testing::Test {
 protected:
  void SetUp() override {
    SetColumnClock([] { return kNow; });
  }
  void TearDown() override { SetColumnClock(nullptr); }
};

Json Parse(std::string_view text) {
  Result<Json> value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Json();
}

// Cells of an object, in column order, as a JSON list.
std::string Row(const GroupVersionKind& gvk, Json object) {
  Set(object, {"metadata", "name"}, "x");
  if (Find(object, {"metadata", "creationTimestamp"}) == nullptr) {
    Set(object, {"metadata", "creationTimestamp"}, Ago(5));
  }
  Json cells = Json::array();
  for (const Column& column : BuiltinColumns(gvk)) cells.push_back(column.cell(object));
  return DumpJson(cells);
}

struct RowCase {
  const char* label;
  GroupVersionKind gvk;
  const char* object;
  const char* cells;
};

TEST_F(ColumnsTest, HumanDurations) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {-2, "<invalid>"},   {-1, "0s"},        {0, "0s"},      {119, "119s"},      {120, "2m"},
      {215, "3m35s"},      {599, "9m59s"},    {600, "10m"},   {10799, "179m"},    {10800, "3h"},
      {11100, "3h5m"},     {28799, "7h59m"},  {28800, "8h"},  {172799, "47h"},    {172800, "2d"},
      {180000, "2d2h"},    {691199, "7d23h"}, {691200, "8d"}, {63071999, "729d"}, {63072000, "2y"},
      {64000000, "2y10d"}, {252288000, "8y"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(HumanDuration(seconds), text) << seconds;
  const std::pair<std::int64_t, const char*> brief[] = {
      {59, "59s"}, {60, "1m"}, {3600, "1h"}, {86400, "1d"}, {31536000, "1y"}};
  for (const auto& [seconds, text] : brief) EXPECT_EQ(ShortHumanDuration(seconds), text);
  EXPECT_EQ(Age(""), "<unknown>");
  EXPECT_EQ(Age(Ago(90)), "90s");
}

TEST_F(ColumnsTest, EveryKindHasAColumnNamedName) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    int names = 0;
    for (const Column& column : type->columns) {
      names += column.format == "name";
      EXPECT_TRUE(column.cell) << type->plural << " " << column.name;
      column.cell(Json::object());  // an empty object must not be a problem
      column.cell(Json({{"spec", "x"}, {"status", 1}, {"metadata", Json::array()}}));
    }
    EXPECT_EQ(names, type->HasVerb("get") ? 1 : 0) << type->plural;
  }
}

TEST_F(ColumnsTest, ColumnNames) {
  auto names = [](const GroupVersionKind& gvk) {
    std::string text;
    for (const Column& column : BuiltinColumns(gvk)) {
      text += column.name;
      if (column.type != "string") text += ":" + column.type;
      text += column.priority > 0 ? "*|" : "|";
    }
    return text;
  };
  EXPECT_EQ(names({"", "v1", "Pod"}),
            "Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*|");
  EXPECT_EQ(names({"apps", "v1", "Deployment"}),
            "Name|Ready|Up-to-date|Available|Age|Containers*|Images*|Selector*|");
  EXPECT_EQ(names({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}),
            "Name|Created At:date|");
  EXPECT_EQ(names({"", "v1", "Event"}),
            "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*|");
  EXPECT_EQ(names({"autoscaling", "v1", "Scale"}), "Name|Desired:integer|Available:integer|Age|");
  EXPECT_EQ(names({"batch", "v1", "CronJob"}),
            "Name|Schedule|Timezone|Suspend:boolean|Active:integer|Last Schedule|Age|Containers*|"
            "Images*|Selector*|");
}

TEST_F(ColumnsTest, Rows) {
  const RowCase cases[] = {
      {"namespace",
       {"", "v1", "Namespace"},
       R"({"status":{"phase":"Active"}})",
       R"(["x","Active","5s"])"},
      {"configmap",
       {"", "v1", "ConfigMap"},
       R"({"data":{"a":"1"},"binaryData":{"b":"","c":""}})",
       R"(["x",3,"5s"])"},
      {"secret",
       {"", "v1", "Secret"},
       R"({"type":"Opaque","data":{"a":"","b":""}})",
       R"(["x","Opaque",2,"5s"])"},
      {"deployment",
       {"apps", "v1", "Deployment"},
       R"({"spec":{"replicas":3,"selector":{"matchLabels":{"b":"2","a":"1"},"matchExpressions":
          [{"key":"c","operator":"In","values":["z","y"]},{"key":"d","operator":"Exists"}]},
          "template":{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}}},
          "status":{"readyReplicas":1,"updatedReplicas":2,"availableReplicas":1}})",
       R"(["x","1/3",2,1,"5s","a,b","i,j","a=1,b=2,c in (y,z),d"])"},
      {"new deployment",
       {"apps", "v1", "Deployment"},
       R"({"spec":{"replicas":2}})",
       R"(["x","0/2",0,0,"5s","","",""])"},
      {"replicaset",
       {"apps", "v1", "ReplicaSet"},
       R"({"spec":{"replicas":2,"selector":{}}})",
       R"(["x",2,0,0,"5s","","","<none>"])"},
      {"clusterip",
       {"", "v1", "Service"},
       R"({"spec":{"type":"ClusterIP","clusterIPs":["10.0.0.1"],"ports":[{"port":80,
          "protocol":"TCP"},{"port":53,"nodePort":30053,"protocol":"UDP"}],"selector":{"a":"b"}}})",
       R"(["x","ClusterIP","10.0.0.1","<none>","80/TCP,53:30053/UDP","5s","a=b"])"},
      {"waiting balancer",
       {"", "v1", "Service"},
       R"({"spec":{"type":"LoadBalancer"}})",
       R"(["x","LoadBalancer","<none>","<pending>","<none>","5s","<none>"])"},
      {"balancer",
       {"", "v1", "Service"},
       R"({"spec":{"type":"LoadBalancer","externalIPs":["9.9.9.9"]},"status":{"loadBalancer":
          {"ingress":[{"ip":"2.2.2.2"},{"hostname":"a.example"},{"ip":"2.2.2.2"}]}}})",
       R"(["x","LoadBalancer","<none>","2.2.2.2,a.example,9.9.9.9","<none>","5s","<none>"])"},
      {"external name",
       {"", "v1", "Service"},
       R"({"spec":{"type":"ExternalName","externalName":"a.example"}})",
       R"(["x","ExternalName","<none>","a.example","<none>","5s","<none>"])"},
      {"node",
       {"", "v1", "Node"},
       R"({"metadata":{"labels":{"node-role.kubernetes.io/control-plane":"","kubernetes.io/role":
          "worker"}},"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready",
          "status":"False"}],"addresses":[{"type":"InternalIP","address":"10.1.1.1"}],
          "nodeInfo":{"kubeletVersion":"v1.36.0","osImage":"Linux"}}})",
       R"(["x","NotReady,SchedulingDisabled","control-plane,worker","5s","v1.36.0","10.1.1.1",)"
       R"("<none>","Linux","<unknown>","<unknown>"])"},
      {"endpoints",
       {"", "v1", "Endpoints"},
       R"({"subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"fe80::1"}],
          "ports":[{"port":80},{"port":443}]}]})",
       R"(["x","1.1.1.1:80,[fe80::1]:80,1.1.1.1:443 + 1 more...","5s"])"},
      {"endpointslice",
       {"discovery.k8s.io", "v1", "EndpointSlice"},
       R"({"addressType":"IPv4","ports":[{"port":80},{"name":"n"},{}],"endpoints":[]})",
       R"(["x","IPv4","80,n,*","<unset>","5s"])"},
      {"ingress",
       {"networking.k8s.io", "v1", "Ingress"},
       R"({"spec":{"tls":[{}],"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}]}})",
       R"(["x","<none>","a,b,c + 1 more...","","80, 443","5s"])"},
      {"bound claim",
       {"", "v1", "PersistentVolumeClaim"},
       R"({"spec":{"volumeName":"v","storageClassName":"fast","volumeMode":"Block"},"status":
          {"phase":"Bound","capacity":{"storage":"1Gi"},
           "accessModes":["ReadWriteMany","ReadWriteOnce"]}})",
       R"(["x","Bound","v","1Gi","RWO,RWX","fast","<unset>","5s","Block"])"},
      {"waiting claim",
       {"", "v1", "PersistentVolumeClaim"},
       R"({"status":{"phase":"Pending"}})",
       R"(["x","Pending","","","","","<unset>","5s","<unset>"])"},
      {"default class",
       {"storage.k8s.io", "v1", "StorageClass"},
       R"({"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},
          "provisioner":"p"})",
       R"j(["x (default)","p","Delete","Immediate",false,"5s"])j"},
      {"binding",
       {"rbac.authorization.k8s.io", "v1", "RoleBinding"},
       R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},
          {"kind":"ServiceAccount","namespace":"n","name":"s"},{"kind":"User","name":"v"}]})",
       R"(["x","Role/r","5s","u, v","","n/s"])"},
      {"quota",
       {"", "v1", "ResourceQuota"},
       R"({"status":{"hard":{"pods":"4","limits.cpu":"2","cpu":"1"},"used":{"pods":"1"}}})",
       R"(["x","cpu: 0/1, pods: 1/4","limits.cpu: 0/2","5s"])"},
      {"budget",
       {"policy", "v1", "PodDisruptionBudget"},
       R"({"spec":{"minAvailable":"50%"}})",
       R"(["x","50%","N/A",0,"5s"])"},
      {"csr",
       {"certificates.k8s.io", "v1", "CertificateSigningRequest"},
       R"({"spec":{"signerName":"s","username":"u","expirationSeconds":3600},"status":
          {"certificate":"QQ==","conditions":[{"type":"Approved"}]}})",
       R"(["x","5s","s","u","60m","Approved,Issued"])"},
      {"autoscaler v2",
       {"autoscaling", "v2", "HorizontalPodAutoscaler"},
       R"({"spec":{"maxReplicas":5,"scaleTargetRef":{"kind":"Deployment","name":"d"},"metrics":
          [{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},
           {"type":"Pods","pods":{"target":{"averageValue":"1k"}}},{"type":"External"}]},"status":
          {"currentMetrics":[{"type":"Resource","resource":{"current":{"averageUtilization":10}}}]}})",
       R"(["x","Deployment/d","cpu: 10%/80%, <unknown>/1k + 1 more...","<unset>",5,0,"5s"])"},
      {"autoscaler v1",
       {"autoscaling", "v1", "HorizontalPodAutoscaler"},
       R"({"spec":{"minReplicas":1,"maxReplicas":2,"targetCPUUtilizationPercentage":50,
          "scaleTargetRef":{"kind":"Deployment","name":"d"}}})",
       R"(["x","Deployment/d","cpu: <unknown>/50%","1",2,0,"5s"])"},
      {"level",
       {"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration"},
       R"({"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30,"limitResponse":
          {"type":"Queue","queuing":{"queues":64,"handSize":6,"queueLengthLimit":50}}}}})",
       R"(["x","Limited",30,64,6,50,"5s"])"},
      {"apiservice",
       {"apiregistration.k8s.io", "v1", "APIService"},
       R"({"spec":{"service":{"namespace":"n","name":"s"}},"status":{"conditions":
          [{"type":"Available","status":"False","reason":"Gone"}]}})",
       R"j(["x","n/s","False (Gone)","5s"])j"},
      {"local apiservice",
       {"apiregistration.k8s.io", "v1", "APIService"},
       R"({"spec":{}})",
       R"(["x","Local","Unknown","5s"])"},
      {"claim",
       {"resource.k8s.io", "v1", "ResourceClaim"},
       R"({"status":{"allocation":{},"reservedFor":[{}]}})",
       R"(["x","allocated,reserved","5s"])"},
      {"revision",
       {"apps", "v1", "ControllerRevision"},
       R"({"revision":3,"metadata":{"ownerReferences":[{"controller":true,"kind":"DaemonSet",
          "apiVersion":"apps/v1","name":"d"}]}})",
       R"(["x","daemonset.apps/d",3,"5s"])"},
  };
  for (const RowCase& c : cases) EXPECT_EQ(Row(c.gvk, Parse(c.object)), c.cells) << c.label;
  EXPECT_EQ(Row({"", "v1", "LimitRange"}, Json::object()), "[\"x\",\"" + Ago(5) + "\"]");
}

TEST_F(ColumnsTest, Events) {
  Json core = {{"firstTimestamp", Ago(600)},
               {"lastTimestamp", Ago(60)},
               {"count", 7},
               {"type", "Warning"},
               {"reason", "Failed"},
               {"message", " no luck \n"},
               {"source", {{"component", "kubelet"}, {"host", "n1"}}},
               {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"fieldPath", "spec.x"}}}};
  EXPECT_EQ(Row({"", "v1", "Event"}, core),
            R"(["60s","Warning","Failed","pod/p","spec.x","kubelet, n1","no luck","10m",7,"x"])");
  Json later = {{"eventTime", Ago(600)},
                {"series", {{"count", 3}, {"lastObservedTime", Ago(30)}}},
                {"type", "Normal"},
                {"reason", "Done"},
                {"note", "fine"},
                {"reportingController", "c"},
                {"regarding", {{"kind", "Node"}}}};
  EXPECT_EQ(Row({"events.k8s.io", "v1", "Event"}, later),
            R"(["30s","Normal","Done","node","","c","fine","10m",3,"x"])");
}

TEST_F(ColumnsTest, Jobs) {
  const GroupVersionKind job{"batch", "v1", "Job"};
  auto start = [](const char* object) { return Parse(object); };
  EXPECT_EQ(Row(job, start(R"({"spec":{"completions":3},"status":{"succeeded":1}})")),
            R"(["x","Running","1/3","","5s","","","<none>"])");
  EXPECT_EQ(Row(job, start(R"({"spec":{"parallelism":4}})")),
            R"(["x","Running","0/1 of 4","","5s","","","<none>"])");
  Json done = start(R"({"spec":{"completions":1},"status":{"succeeded":1,"conditions":
      [{"type":"Complete","status":"True"}]}})");
  Set(done, {"status", "startTime"}, Ago(100));
  Set(done, {"status", "completionTime"}, Ago(40));
  EXPECT_EQ(Row(job, done), R"(["x","Complete","1/1","60s","5s","","","<none>"])");
}

struct PodCase {
  const char* label;
  const char* pod;
  const char* ready;
  const char* status;
  const char* restarts;
};

TEST_F(ColumnsTest, Pods) {
  const PodCase cases[] = {
      {"pending", R"({"spec":{"containers":[{}]},"status":{"phase":"Pending"}})", "0/1", "Pending",
       "0"},
      {"gated", R"({"spec":{"containers":[{}]},"status":{"phase":"Pending","conditions":
          [{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})",
       "0/1", "SchedulingGated", "0"},
      {"running", R"({"spec":{"containers":[{},{}]},"status":{"phase":"Running",
          "containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}}},
                               {"ready":false,"restartCount":1,"state":{"running":{}}}]}})",
       "1/2", "Running", "3"},
      {"crash loop", R"({"spec":{"containers":[{}]},"status":{"phase":"Running",
          "containerStatuses":[{"restartCount":5,"state":{"waiting":{"reason":
          "CrashLoopBackOff"}}}]}})",
       "0/1", "CrashLoopBackOff", "5"},
      {"killed", R"({"spec":{"containers":[{}]},"status":{"phase":"Failed",
          "containerStatuses":[{"state":{"terminated":{"signal":9}}}]}})",
       "0/1", "Signal:9", "0"},
      {"exit code", R"({"spec":{"containers":[{}]},"status":{"phase":"Failed",
          "containerStatuses":[{"state":{"terminated":{"exitCode":2}}}]}})",
       "0/1", "ExitCode:2", "0"},
      {"one completed, one running", R"({"spec":{"containers":[{},{}]},"status":{"phase":"Running",
          "conditions":[{"type":"Ready","status":"True"}],"containerStatuses":
          [{"state":{"terminated":{"reason":"Completed"}}},
           {"ready":true,"state":{"running":{}}}]}})",
       "1/2", "Running", "0"},
      {"second of two init containers", R"({"spec":{"containers":[{}],"initContainers":
          [{"name":"a"},{"name":"b"}]},"status":{"phase":"Pending","initContainerStatuses":
          [{"name":"a","state":{"terminated":{"exitCode":0}}},
           {"name":"b","restartCount":1,"state":{"running":{}}}]}})",
       "0/1", "Init:1/2", "1"},
      {"failed init container", R"({"spec":{"containers":[{}],"initContainers":[{"name":"a"}]},
          "status":{"phase":"Pending","initContainerStatuses":
          [{"name":"a","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})",
       "0/1", "Init:Error", "0"},
      {"sidecar", R"({"spec":{"containers":[{}],"initContainers":
          [{"name":"s","restartPolicy":"Always"}]},"status":{"phase":"Running",
          "initContainerStatuses":[{"name":"s","started":true,"ready":true,"restartCount":4,
            "state":{"running":{}}}],
          "containerStatuses":[{"ready":true,"state":{"running":{}}}]}})",
       "2/2", "Running", "4"},
      {"being deleted", R"({"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"},
          "spec":{"containers":[{}]},"status":{"phase":"Running"}})",
       "0/1", "Terminating", "0"},
      {"done and being deleted", R"({"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"},
          "spec":{"containers":[{}]},"status":{"phase":"Succeeded"}})",
       "0/1", "Succeeded", "0"},
      {"lost node", R"({"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"},
          "spec":{"containers":[{}]},"status":{"phase":"Running","reason":"NodeLost"}})",
       "0/1", "Unknown", "0"},
      {"evicted", R"({"spec":{"containers":[{}]},"status":{"phase":"Failed","reason":"Evicted"}})",
       "0/1", "Evicted", "0"},
  };
  for (const PodCase& c : cases) {
    const Json expected = {"x",      c.ready,  c.status, c.restarts, "5s",
                           "<none>", "<none>", "<none>", "<none>"};
    EXPECT_EQ(Row({"", "v1", "Pod"}, Parse(c.pod)), DumpJson(expected)) << c.label;
  }
  Json wide = Parse(R"({"spec":{"nodeName":"n","containers":[{}],"readinessGates":
      [{"conditionType":"a"},{"conditionType":"b"}]},"status":{"phase":"Running",
      "podIPs":[{"ip":"1.2.3.4"}],"conditions":[{"type":"b","status":"True"}],
      "containerStatuses":[{"restartCount":1,"ready":true,"state":{"running":{}}}]}})");
  Set(wide["status"]["containerStatuses"][0], {"lastState", "terminated", "finishedAt"}, Ago(90));
  EXPECT_EQ(Row({"", "v1", "Pod"}, wide),
            R"j(["x","1/1","Running","1 (90s ago)","5s","1.2.3.4","n","<none>","1/2"])j");
}

TEST_F(ColumnsTest, RowsSayThatAPodHasEnded) {
  const auto of_pods = BuiltinRowConditions({"", "v1", "Pod"});
  ASSERT_NE(of_pods, nullptr);
  const auto said = [&](const char* phase) {
    const Json conditions = of_pods({{"status", {{"phase", phase}}}});
    if (conditions.is_null()) return std::string();
    const Json& only = conditions.at(0);
    return StringAt(only, {"type"}) + "=" + StringAt(only, {"status"}) + " " + StringAt(only, {"reason"});
  };
  EXPECT_EQ(said("Succeeded"), "Completed=True Succeeded");
  EXPECT_EQ(said("Failed"), "Completed=True Failed");
  for (const char* phase : {"", "Pending", "Running", "Unknown"}) EXPECT_EQ(said(phase), "") << phase;
  EXPECT_EQ(BuiltinRowConditions({"", "v1", "ConfigMap"}), nullptr);
}

}  // namespace
}  // namespace mailroom::openapi
