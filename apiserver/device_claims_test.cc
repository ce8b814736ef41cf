// Devices that are allocated to a claim: who may write that down, and where devices of others may be
// administered.
#include <gtest/gtest.h>

#include "apiserver/auth/user.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kCluster = "/clusters/c1";
const std::string kRbac = kCluster + "/apis/rbac.authorization.k8s.io/v1";
const std::string kClaims = kCluster + "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

class DeviceClaims : public testing::Test {
 protected:
  DeviceClaims() { hub.NewWorkspace("c1", "cluster"); }

  static Json Claim(const std::string& name, bool admin = false) {
    Json exactly = {{"deviceClassName", "c"}};
    if (admin) exactly["adminAccess"] = true;
    return {{"apiVersion", "resource.k8s.io/v1"},
            {"kind", "ResourceClaim"},
            {"metadata", {{"name", "a"}}},
            {"spec", {{"devices", {{"requests", Json::array({{{"name", name}, {"exactly", exactly}}})}}}}}};
  }

  static std::vector<std::string> Texts(const TestHub::Answer& answer) {
    std::vector<std::string> texts;
    const Json* causes = Find(answer.body, {"details", "causes"});
    if (causes == nullptr) return {answer.text};
    for (const Json& cause : *causes) {
      texts.push_back(StringAt(cause, {"field"}) + ": " + StringAt(cause, {"message"}));
    }
    return texts;
  }

  // The claim as it is, with that status.
  Json With(const Json& status) {
    Json claim = hub.Get(kClaims + "/a").body;
    Set(claim, {"status"}, status);
    return claim;
  }

  TestHub::Answer PutAs(const std::string& user, const Json& claim) {
    Request request;
    request.method = "PUT";
    request.path = kClaims + "/a/status";
    request.peer.common_name = user;
    request.body = DumpJson(claim);
    request.headers.Add("content-type", "application/json");
    return hub.Send(std::move(request));
  }

  void Let(const std::string& user, const std::vector<std::string>& resources, const std::string& verb) {
    const std::string name = user + "-" + std::to_string(++grants_);
    const Json rule = {{"verbs", {verb}}, {"apiGroups", {"resource.k8s.io"}}, {"resources", resources}};
    const Json role = {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRole"},
                       {"metadata", {{"name", name}}}, {"rules", Json::array({rule})}};
    ASSERT_EQ(hub.Do("POST", kRbac + "/clusterroles", role).code, 201);
    const Json subject = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", user}};
    const Json binding = {
        {"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRoleBinding"},
        {"metadata", {{"name", name}}}, {"subjects", Json::array({subject})},
        {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}}}};
    ASSERT_EQ(hub.Do("POST", kRbac + "/clusterrolebindings", binding).code, 201);
  }

  TestHub hub;

 private:
  int grants_ = 0;
};

const Json kDevice = {{"driver", "d"}, {"pool", "p"}, {"device", "e"}};

Json Allocated(bool admin = false) {
  Json result = kDevice;
  result["request"] = "a";
  if (admin) result["adminAccess"] = true;
  return {{"devices", {{"results", Json::array({result})}}}};
}

TEST_F(DeviceClaims, AllocatingTakesARightOfItsOwn) {
  ASSERT_EQ(hub.Do("POST", kClaims, Claim("a")).code, 201);
  Let("u", {"resourceclaims", "resourceclaims/status"}, "*");
  const Json claim = With({{"allocation", Allocated()}, {"devices", Json::array({kDevice})}});
  EXPECT_EQ(Texts(PutAs("u", claim)),
            (std::vector<std::string>{
                "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires "
                "resource=\"resourceclaims/binding\", verb=\"update\" permission: "
                "resourceclaims.resource.k8s.io is forbidden: User \"u\" cannot update resource "
                "\"resourceclaims/binding\" in API group \"resource.k8s.io\" at the cluster scope",
                "status.devices: Forbidden: changing status.devices requires "
                "resource=\"resourceclaims/driver\", verb=\"[arbitrary-node:update]\" permission: "
                "resourceclaims.resource.k8s.io \"d\" is forbidden: User \"u\" cannot arbitrary-node:update "
                "resource \"resourceclaims/driver\" in API group \"resource.k8s.io\" in the namespace "
                "\"default\""}));
  Let("u", {"resourceclaims/binding"}, "update");
  Let("u", {"resourceclaims/driver"}, "arbitrary-node:update");
  const auto written = PutAs("u", claim);
  EXPECT_EQ(written.code, 200) << written.text;
}

TEST_F(DeviceClaims, WhatIsToldOfDevicesGoesWithThem) {
  ASSERT_EQ(hub.Do("POST", kClaims, Claim("a")).code, 201);
  const std::string status = kClaims + "/a/status";
  const Json devices = Json::array({kDevice});
  ASSERT_EQ(hub.Do("PUT", status, With({{"allocation", Allocated()}, {"devices", devices}})).code, 200);
  const auto freed = hub.Do("PUT", status, With({{"devices", devices}}));
  EXPECT_EQ(freed.code, 200) << freed.text;
  EXPECT_EQ(Find(freed.body, {"status", "devices"}), nullptr) << freed.text;
}

TEST_F(DeviceClaims, NamespacesAreOpenToAdministration) {
  const std::string rule =
      "adminAccess: Forbidden: admin access to devices requires the "
      "`resource.kubernetes.io/admin-access: true` label on the containing namespace";
  EXPECT_EQ(Texts(hub.Do("POST", kClaims, Claim("a", true))),
            std::vector<std::string>{"spec.devices.requests[0]." + rule});
  // Before anything else.
  EXPECT_EQ(Texts(hub.Do("POST", kClaims, Claim("A", true))).front(), "spec.devices.requests[0]." + rule);
  ASSERT_EQ(hub.Do("POST", kClaims, Claim("a")).code, 201);
  const std::string status = kClaims + "/a/status";
  EXPECT_EQ(Texts(hub.Do("PUT", status, With({{"allocation", Allocated(true)}}))),
            std::vector<std::string>{"status.allocation.devices.results[0]." + rule});
  const Json label = {{"metadata", {{"labels", {{"resource.kubernetes.io/admin-access", "true"}}}}}};
  ASSERT_EQ(hub.Do("PATCH", kCluster + "/api/v1/namespaces/default", label, "application/merge-patch+json").code,
            200);
  EXPECT_EQ(hub.Do("PUT", status, With({{"allocation", Allocated(true)}})).code, 200);
}

// It allocates nothing: it reports what its cluster has allocated, which may have been something else
// when it last could.
TEST_F(DeviceClaims, ASyncerReportsWhatIsAllocated) {
  const std::string mailbox = "its1-mb-1";
  const std::string claims = hub.NewWorkspace(mailbox, "mailbox") +
                             "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
  const auto made = hub.Do("POST", claims, Claim("a"));
  ASSERT_EQ(made.code, 201) << made.text;
  Json claim = made.body;
  Erase(claim, {"metadata", "resourceVersion"});
  for (const char* device : {"e", "f"}) {
    Json allocation = Allocated(true), told = kDevice;
    allocation["devices"]["results"][0]["device"] = told["device"] = device;
    Set(claim, {"status"}, {{"allocation", allocation}, {"devices", Json::array({told})}});
    Request request;
    request.method = "PUT";
    request.path = claims + "/a/status";
    request.peer.common_name = std::string(apiserver::kSyncerPrefix) + mailbox;
    request.peer.organizations = {std::string(apiserver::kSyncers)};
    request.body = DumpJson(claim);
    request.headers.Add("content-type", "application/json");
    const auto reported = hub.Send(std::move(request));
    EXPECT_EQ(reported.code, 200) << reported.text;
    EXPECT_EQ(reported.body["status"]["allocation"], allocation);
    EXPECT_EQ(StringAt(reported.body["status"]["devices"][0], {"device"}), device);
  }
}

}  // namespace
}  // namespace mailroom
