#include "openapi/document_paths.h"

#include <gtest/gtest.h>

#include <set>

#include "openapi/documents.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/{namespace}/pods";

const Json& V2() {
  static const Json document = DocumentV2(*BaseCatalog(WorkspaceType::kCluster));
  return document;
}

Json V3(std::string_view group, std::string_view version) {
  return DocumentV3(*BaseCatalog(WorkspaceType::kCluster), group, version);
}

std::string IdOf(const std::string& path, const char* method) {
  return StringAt(V2(), {"paths", path, method, "operationId"});
}

// Names of parameters, also of those that stand elsewhere.
std::set<std::string> Names(const Json& document, const Json* list) {
  std::set<std::string> out;
  if (list == nullptr) return out;
  for (const Json& one : *list) {
    const std::string ref = StringAt(one, {"$ref"});
    out.insert(ref.empty() ? StringAt(one, {"name"})
                           : StringAt(document, {"parameters", ref.substr(13), "name"}));
  }
  return out;
}

TEST(DocumentPaths, IdsAreTheOriginals) {
  const std::string pod = std::string(kPods) + "/{name}";
  EXPECT_EQ(IdOf(kPods, "get"), "listCoreV1NamespacedPod");
  EXPECT_EQ(IdOf(kPods, "delete"), "deleteCoreV1CollectionNamespacedPod");
  EXPECT_EQ(IdOf("/api/v1/pods", "get"), "listCoreV1PodForAllNamespaces");
  EXPECT_EQ(IdOf("/api/v1/watch/pods", "get"), "watchCoreV1PodListForAllNamespaces");
  EXPECT_EQ(IdOf("/api/v1/watch/namespaces/{namespace}/pods/{name}", "get"),
            "watchCoreV1NamespacedPod");
  EXPECT_EQ(IdOf(pod, "put"), "replaceCoreV1NamespacedPod");
  EXPECT_EQ(IdOf(pod + "/eviction", "post"), "createCoreV1NamespacedPodEviction");
  EXPECT_EQ(IdOf(pod + "/exec", "post"), "connectCoreV1PostNamespacedPodExec");
  EXPECT_EQ(IdOf(pod + "/proxy/{path}", "options"),
            "connectCoreV1OptionsNamespacedPodProxyWithPath");
  EXPECT_EQ(IdOf("/apis/rbac.authorization.k8s.io/v1/clusterroles", "get"),
            "listRbacAuthorizationV1ClusterRole");
  EXPECT_EQ(IdOf("/apis/apps/v1/", "get"), "getAppsV1APIResources");
  EXPECT_EQ(IdOf("/apis/apps/", "get"), "getAppsAPIGroup");
  EXPECT_EQ(IdOf("/api/", "get"), "getCoreAPIVersions");
  EXPECT_EQ(IdOf("/apis/", "get"), "getAPIVersions");
  EXPECT_EQ(IdOf("/version/", "get"), "getCodeVersion");
  std::set<std::string> ids;
  for (const auto& [path, item] : V2().at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      EXPECT_TRUE(ids.insert(StringAt(operation, {"operationId"})).second) << path << method;
    }
  }
  EXPECT_GT(ids.size(), 700u);
}

TEST(DocumentPaths, WhatAllOperationsTakeStandsAtThePath) {
  const Json& item = V2().at("paths").at(kPods);
  EXPECT_EQ(Names(V2(), Find(item, {"parameters"})), (std::set<std::string>{"namespace", "pretty"}));
  EXPECT_EQ(Names(V2(), Find(item, {"post", "parameters"})),
            (std::set<std::string>{"body", "dryRun", "fieldManager", "fieldValidation"}));
  EXPECT_TRUE(Names(V2(), Find(item, {"get", "parameters"})).contains("resourceVersionMatch"));
  // Clients of old look for these where they are meant.
  for (const Json& one : item.at("post").at("parameters")) {
    const std::string name = StringAt(one, {"name"});
    EXPECT_NE(StringAt(one, {"$ref"}).empty(), name.empty());
    EXPECT_FALSE(StringAt(one, {"$ref"}).starts_with("#/parameters/dryRun"));
  }
  const Json* log = Find(V2(), {"paths", std::string(kPods) + "/{name}/log"});
  EXPECT_EQ(Names(V2(), Find(*log, {"parameters"})),
            (std::set<std::string>{"container", "follow", "insecureSkipTLSVerifyBackend", "limitBytes",
                                   "name", "namespace", "pretty", "previous", "sinceSeconds", "stream",
                                   "tailLines", "timestamps"}));
  EXPECT_FALSE(log->at("get").contains("parameters"));
}

TEST(DocumentPaths, AnswersAndBodiesAreNamed) {
  const auto schema = [](const std::string& path, const char* method, const char* code) {
    return StringAt(V2(), {"paths", path, method, "responses", code, "schema", "$ref"});
  };
  const std::string apps = "/apis/apps/v1/namespaces/{namespace}/deployments";
  EXPECT_EQ(schema(apps + "/{name}/scale", "put", "201"), "#/definitions/io.k8s.api.autoscaling.v1.Scale");
  EXPECT_EQ(schema(std::string(kPods) + "/{name}/eviction", "post", "202"),
            "#/definitions/io.k8s.api.policy.v1.Eviction");
  EXPECT_EQ(schema("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", "post", "200"),
            "#/definitions/io.k8s.api.authentication.v1.TokenRequest");
  EXPECT_EQ(schema("/api/v1/watch/pods", "get", "200"),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent");
  EXPECT_EQ(schema(std::string(kPods) + "/{name}", "delete", "200"),
            "#/definitions/io.k8s.api.core.v1.Pod");
  EXPECT_EQ(schema("/api/v1/namespaces/{name}", "delete", "200"),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  EXPECT_EQ(schema(apps, "delete", "200"),
            "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  const Json v3 = V3("apps", "v1");
  const Json* patch = Find(v3, {"paths", apps + "/{name}", "patch", "requestBody"});
  EXPECT_EQ(StringAt(*patch, {"content", "application/apply-patch+yaml", "schema", "$ref"}),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
}

TEST(DocumentModels, MembersThatStayWhenEmptyHaveDefaults) {
  const Json v3 = V3("", "v1");
  const auto member = [&](const char* model, const char* name) {
    return v3["components"]["schemas"][std::string("io.k8s.api.core.v1.") + model]["properties"][name];
  };
  EXPECT_EQ(member("Container", "name")["default"], "");
  EXPECT_EQ(member("Pod", "spec")["default"], Json::object());
  EXPECT_EQ(member("ContainerPort", "protocol")["default"], "TCP");
  EXPECT_EQ(member("ContainerStatus", "restartCount")["default"], 0);
  EXPECT_EQ(member("ContainerStatus", "ready")["default"], false);
  EXPECT_EQ(member("Container", "args")["items"]["default"], "");
  EXPECT_EQ(member("PodSpec", "containers")["items"],
            (Json{{"allOf", {{{"$ref", "#/components/schemas/io.k8s.api.core.v1.Container"}}}},
                  {"default", Json::object()}}));
  EXPECT_FALSE(member("Container", "image").contains("default"));
  EXPECT_FALSE(member("PodSpec", "affinity").contains("default"));
  EXPECT_EQ(member("Event", "eventTime")["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime");
  EXPECT_EQ(member("Container", "args")["x-kubernetes-list-type"], "atomic");
  EXPECT_EQ(member("PersistentVolumeSpec", "claimRef")["x-kubernetes-map-type"], "granular");
  EXPECT_FALSE(V2()["definitions"]["io.k8s.api.core.v1.Container"]["properties"]["name"].contains("default"));
}

TEST(DocumentModels, OptionsAreOfEveryGroupVersion) {
  const Json& all = V2()["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
                        ["x-kubernetes-group-version-kind"];
  EXPECT_EQ(all.size(), 60u);
  const Json apps = V3("apps", "v1");
  EXPECT_EQ(apps["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent"]
                ["x-kubernetes-group-version-kind"],
            (Json{{{"group", ""}, {"version", "v1"}, {"kind", "WatchEvent"}},
                  {{"group", "apps"}, {"version", "v1"}, {"kind", "WatchEvent"}}}));
  EXPECT_EQ(apps["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.Status"]
                ["x-kubernetes-group-version-kind"],
            (Json{{{"group", ""}, {"version", "v1"}, {"kind", "Status"}}}));
}

TEST(DocumentModels, UnionsNameTheirMembers) {
  EXPECT_EQ(V2()["definitions"]["io.k8s.api.core.v1.SeccompProfile"]["x-kubernetes-unions"],
            (Json{{{"discriminator", "type"},
                   {"fields-to-discriminateBy", {{"localhostProfile", "LocalhostProfile"}}}}}));
}

}  // namespace
}  // namespace mailroom::openapi
