// What a stolen syncer can do: read its mailbox and report status, but not write its own
// instructions nor anything else about the objects it reports on.
#include <gtest/gtest.h>

#include "apiserver/auth/user.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMailbox = "/clusters/its1-mb-a";
const std::string kConfigs = kMailbox + "/apis/edge.kubestellar.io/v2alpha1/syncerconfigs";
const std::string kDeployment = kMailbox + "/apis/apps/v1/namespaces/default/deployments/d";

class SyncerRights : public testing::Test {
 protected:
  SyncerRights() {
    hub.NewWorkspace("its1-mb-a", "mailbox");
    const auto config = hub.Do("POST", kConfigs,
                               {{"apiVersion", "edge.kubestellar.io/v2alpha1"}, {"kind", "SyncerConfig"},
                                {"metadata", {{"name", "the-one"}}},
                                {"spec", {{"namespaceScope", {{"namespaces", {"default"}}}}}}});
    EXPECT_EQ(config.code, 201) << config.text;
    const Json labels = {{"app", "d"}};
    const auto made = hub.Do(
        "POST", kMailbox + "/apis/apps/v1/namespaces/default/deployments",
        {{"apiVersion", "apps/v1"}, {"kind", "Deployment"},
         {"metadata", {{"name", "d"}, {"labels", labels}, {"annotations", {{"a", "b"}}}, {"finalizers", {"example.com/f"}}}},
         {"spec", {{"selector", {{"matchLabels", labels}}},
                   {"template", {{"metadata", {{"labels", labels}}},
                                 {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}}}}}});
    EXPECT_EQ(made.code, 201) << made.text;
  }
  TestHub::Answer As(const std::string& method, const std::string& path, const Json& body,
                     const std::string& type = "application/merge-patch+json") {
    Request request;
    request.method = method;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    request.peer.common_name = std::string(apiserver::kSyncerPrefix) + "its1-mb-a";
    request.peer.organizations = {std::string(apiserver::kSyncers)};
    request.body = DumpJson(body);
    request.headers.Add("content-type", type);
    return hub.Send(std::move(request));
  }
  TestHub hub;
};

TEST_F(SyncerRights, ItsInstructionsAreNotItsOwn) {
  const Json spec = {{"spec", {{"clusterScope", Json::array()}}}};
  EXPECT_EQ(As("PATCH", kConfigs + "/the-one", spec).code, 403);
  Json whole = hub.Get(kConfigs + "/the-one").body;
  EXPECT_EQ(As("PUT", kConfigs + "/the-one", whole, "application/json").code, 403);
  const auto reported = As("PATCH", kConfigs + "/the-one/status",
                           {{"spec", {{"namespaceScope", nullptr}}}, {"metadata", {{"labels", {{"x", "y"}}}}},
                            {"status", {{"lastSyncerHeartbeatTime", "2026-01-01T00:00:00Z"}}}});
  ASSERT_EQ(reported.code, 200) << reported.text;
  whole = hub.Get(kConfigs + "/the-one").body;
  EXPECT_EQ(StringAt(whole, {"status", "lastSyncerHeartbeatTime"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(StringsAt(whole, {"spec", "namespaceScope", "namespaces"}), std::vector<std::string>{"default"});
  EXPECT_EQ(Find(whole, {"metadata", "labels"}), nullptr);
  EXPECT_EQ(IntAt(whole, {"metadata", "generation"}), 1) << "a heartbeat is no new instruction";
}

TEST_F(SyncerRights, AReportIsOfStatusOnly) {
  const Json before = hub.Get(kDeployment).body;
  Json update = before;
  update["status"] = {{"replicas", 3}};
  update["metadata"]["labels"] = {{"evil", "label"}};
  update["metadata"]["annotations"] = Json::object();
  update["metadata"]["finalizers"] = Json::array();
  update["metadata"]["ownerReferences"] =
      Json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "gone"}, {"uid", "u"}}});
  update["metadata"]["managedFields"] = Json::array();
  const Json patch = {{"metadata", {{"labels", {{"evil", "label"}, {"app", nullptr}}}, {"annotations", nullptr},
                                    {"finalizers", nullptr}, {"managedFields", Json::array({Json::object()})},
                                    {"ownerReferences", update["metadata"]["ownerReferences"]}}},
                      {"status", {{"replicas", 4}}}};
  const Json apply = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"},
                      {"metadata", {{"name", "d"}, {"labels", {{"evil", "label"}}}, {"finalizers", {"example.com/evil"}}}},
                      {"status", {{"replicas", 5}}}};
  int replicas = 3;
  for (const auto& answer :
       {As("PUT", kDeployment + "/status", update, "application/json"), As("PATCH", kDeployment + "/status", patch),
        As("PATCH", kDeployment + "/status?fieldManager=evil&force=true", apply, "application/apply-patch+yaml")}) {
    ASSERT_EQ(answer.code, 200) << answer.text;
    EXPECT_EQ(IntAt(answer.body, {"status", "replicas"}), replicas++);
    for (const char* member : {"labels", "annotations", "finalizers", "ownerReferences"}) {
      const Json* old = Find(before, {"metadata", member});
      const Json* now = Find(answer.body, {"metadata", member});
      EXPECT_EQ(now == nullptr ? Json() : *now, old == nullptr ? Json() : *old) << member;
    }
    EXPECT_EQ(*Find(answer.body, {"spec"}), *Find(before, {"spec"}));
    EXPECT_NE(DumpJson(*Find(answer.body, {"metadata", "managedFields"})).find("f:template"), std::string::npos)
        << "who owns the spec is remembered";
  }
}

TEST_F(SyncerRights, WhatServesTheMailboxIsNotReported) {
  for (const char* path : {"/api/v1/namespaces/default/status",
                           "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x.y.z/status",
                           "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/status",
                           "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval"}) {
    EXPECT_EQ(As("PATCH", kMailbox + path, {{"status", Json::object()}}).code, 403) << path;
  }
}

}  // namespace
}  // namespace mailroom
