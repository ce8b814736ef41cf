#include "syncer/removal.h"

#include <gtest/gtest.h>

#include <map>

#include "apiserver/client/curl_transport.h"
#include "apiserver/client/scripted_server.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::syncer {
namespace {

// Answers GETs from a table of paths, everything else with 200, and keeps what was deleted.
class TableServer {
 public:
  TableServer()
      : server_([this](const Request& request, client::ScriptedConnection& connection) {
          std::lock_guard lock(mutex_);
          if (request.method == "DELETE") {
            deleted_.push_back(request.path + " " + request.body);
            return connection.Reply(200, "{}");
          }
          const auto found = answers_.find(request.path);
          if (found == answers_.end()) return connection.Reply(404, "404 page not found\n");
          connection.Reply(found->second.first, found->second.second);
        }) {
    client::ServerConfig config;
    config.url = server_.url();
    transport_ = client::MakeCurlTransport(config);
  }

  void Answer(const std::string& path, const std::string& yaml) {
    std::lock_guard lock(mutex_);
    answers_[path] = {200, DumpJson(*ParseYaml(yaml))};
  }
  void Miss(const std::string& path, const Status& status) {
    std::lock_guard lock(mutex_);
    answers_[path] = {status.code(), status.ToJson()};
  }
  client::Client client() { return client::Client(*transport_, "", "test"); }
  std::vector<std::string> deleted() {
    std::lock_guard lock(mutex_);
    return deleted_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<int, std::string>> answers_;
  std::vector<std::string> deleted_;
  client::ScriptedServer server_;
  std::unique_ptr<client::Transport> transport_;
};

const GroupResource kWidgets{"example.com", "widgets"};
const std::string kWidgetPath = "/apis/example.com/v1/namespaces/n/widgets/w";
const std::string kCrdPath =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";

class RemovalTest : public ::testing::Test {
 protected:
  RemovalTest()
      : parts_{.identity = {.uid = "m1", .url = "u"},
               .mailbox = {mailbox_.client(), Kinds(mailbox_.client()),
                           Collections(mailbox_.client(), "", nullptr, nullptr)},
               .wec = {wec_.client(), Kinds(wec_.client()),
                       Collections(wec_.client(), "", nullptr, nullptr)},
               .instructions = {},
               .unserved = {},
               .report = {mailbox_.client(), Clock::Real(), [] {}, [] { return Json::object(); }}} {
    Select(
        "[{group: example.com, resource: widgets, apiVersion: v1, "
        "objectsByNamespace: [{namespace: 'n', names: [w]}]}]");
    mailbox_.Answer("/api/v1/namespaces/kube-system", "{metadata: {uid: m1}}");
    mailbox_.Miss(kWidgetPath, NotFound("widgets", "example.com", "w"));
  }

  void Select(const std::string& objects) {
    const Json config = *ParseYaml("{spec: {namespacedObjects: " + objects + "}}");
    parts_.instructions.Set(std::make_shared<const Selection>(Selection::FromConfigs({config})));
  }
  bool RemoveWidget() {
    return Removal(parts_)
        .Remove({kWidgets, "n", "w"}, "example.com/v1",
                *ParseYaml("{metadata: {uid: x, resourceVersion: '9'}}"))
        .ok();
  }

  TableServer mailbox_, wec_;
  Parts parts_;
};

TEST_F(RemovalTest, DeletesExactlyTheObjectSeen) {
  EXPECT_TRUE(RemoveWidget());
  ASSERT_EQ(wec_.deleted().size(), 1u);
  EXPECT_EQ(wec_.deleted()[0].find(kWidgetPath), 0u);
  EXPECT_NE(wec_.deleted()[0].find("\"uid\":\"x\""), std::string::npos);
  EXPECT_NE(wec_.deleted()[0].find("\"resourceVersion\":\"9\""), std::string::npos);
}

TEST_F(RemovalTest, KeepsWhatTheMailboxStillHas) {
  mailbox_.Answer(kWidgetPath, "{metadata: {name: w}}");
  EXPECT_FALSE(RemoveWidget());
  EXPECT_TRUE(wec_.deleted().empty());
}

TEST_F(RemovalTest, AnObjectBeingDeletedInTheMailboxIsGone) {
  mailbox_.Answer(kWidgetPath, "{metadata: {name: w, deletionTimestamp: '2026-01-01T00:00:00Z'}}");
  EXPECT_TRUE(RemoveWidget());
}

TEST_F(RemovalTest, AnUnselectedObjectGoesThoughTheMailboxHasIt) {
  Select("[]");
  mailbox_.Answer(kWidgetPath, "{metadata: {name: w}}");
  EXPECT_TRUE(RemoveWidget());
}

TEST_F(RemovalTest, AReplacedMailboxDeletesNothing) {
  mailbox_.Answer("/api/v1/namespaces/kube-system", "{metadata: {uid: m2}}");
  EXPECT_FALSE(RemoveWidget());
  Select("[]");
  EXPECT_FALSE(RemoveWidget());
  EXPECT_TRUE(wec_.deleted().empty());
}

TEST_F(RemovalTest, AMailboxThatFailsDeletesNothing) {
  mailbox_.Miss(kWidgetPath, Unavailable("starting"));
  EXPECT_FALSE(RemoveWidget());
  mailbox_.Miss(kWidgetPath, NotFound("widgets", "example.com", "w"));
  mailbox_.Miss("/api/v1/namespaces/kube-system", Unavailable("starting"));
  EXPECT_FALSE(RemoveWidget());
  EXPECT_TRUE(wec_.deleted().empty());
}

TEST_F(RemovalTest, AKindNotYetServedIsNotAbsent) {
  mailbox_.Miss(kWidgetPath, Status(Reason::kNotFound, "the server could not find the resource"));
  mailbox_.Answer(kCrdPath, "{metadata: {name: widgets.example.com}}");
  EXPECT_FALSE(RemoveWidget());
  EXPECT_TRUE(wec_.deleted().empty());
  mailbox_.Miss(kCrdPath, NotFound(kCrds.resource, kCrds.group, "widgets.example.com"));
  EXPECT_TRUE(RemoveWidget());
}

TEST_F(RemovalTest, A404FromSomethingInBetweenIsNotAbsence) {
  mailbox_.Miss(kWidgetPath, Status(Reason::kNotFound, "no route"));
  mailbox_.Miss(kCrdPath, Status(Reason::kNotFound, "no route"));
  EXPECT_FALSE(RemoveWidget());
  EXPECT_TRUE(wec_.deleted().empty());
}

TEST_F(RemovalTest, ACrdWaitsForItsInstances) {
  Select("[]");
  const Json crd = *ParseYaml(
      "{metadata: {name: widgets.example.com, uid: x}, spec: {group: example.com, "
      "names: {plural: widgets}, versions: [{name: v0, served: false}, {name: v1, served: "
      "true}]}}");
  const Place place{kCrds, "", "widgets.example.com"};
  wec_.Answer("/apis/example.com/v1/widgets", "{items: [{metadata: {name: w, namespace: 'n'}}]}");
  EXPECT_FALSE(Removal(parts_).Remove(place, "apiextensions.k8s.io/v1", crd).ok());
  EXPECT_TRUE(wec_.deleted().empty());
  wec_.Answer("/apis/example.com/v1/widgets", "{items: []}");
  EXPECT_TRUE(Removal(parts_).Remove(place, "apiextensions.k8s.io/v1", crd).ok());
  EXPECT_EQ(wec_.deleted().size(), 1u);
}

TEST_F(RemovalTest, ANamespaceWithOthersObjectsStays) {
  Select("[]");
  wec_.Answer("/apis", "{groups: []}");
  wec_.Answer("/api/v1",
              "{resources: [{name: configmaps, namespaced: true, kind: ConfigMap, verbs: [list]}, "
              "{name: serviceaccounts, namespaced: true, kind: ServiceAccount, verbs: [list]}, "
              "{name: pods, namespaced: true, kind: Pod, verbs: [list]}, "
              "{name: nodes, namespaced: false, kind: Node, verbs: [list]}]}");
  const std::string in = "/api/v1/namespaces/n/";
  wec_.Answer(in + "configmaps",
              "{items: [{metadata: {name: kube-root-ca.crt}}, {metadata: {name: theirs}}]}");
  wec_.Answer(in + "serviceaccounts", "{items: [{metadata: {name: default}}]}");
  wec_.Answer(in + "pods",
              "{items: [{metadata: {name: p, ownerReferences: [{controller: true}]}}]}");
  const Json ns = *ParseYaml("{metadata: {name: 'n', uid: x}}");
  const Place place{kNamespaces, "", "n"};
  const auto kept = Removal(parts_).Remove(place, "v1", ns);
  ASSERT_FALSE(kept.ok());
  EXPECT_NE(kept.error().message().find("configmaps theirs"), std::string::npos);
  EXPECT_TRUE(wec_.deleted().empty());
  wec_.Answer(in + "configmaps", "{items: [{metadata: {name: kube-root-ca.crt}}]}");
  EXPECT_TRUE(Removal(parts_).Remove(place, "v1", ns).ok());
  EXPECT_EQ(wec_.deleted().size(), 1u);
}

}  // namespace
}  // namespace mailroom::syncer
