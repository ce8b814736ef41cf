// Every credential against every mailbox with every verb, as whole requests, on each of the three
// roads into a mailbox: only the diagonal is open.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "apiserver/test_mailboxes.h"
#include "storage/object/json.h"

namespace mailroom {
namespace {

constexpr int kAll = 200;
constexpr std::size_t kVerbs = std::size(kProbes);
// Builds with a sanitizer send each pair two of the probes, in turn, so that each probe meets
// thousands of pairs; the diagonal is asked everything always.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStride = 8;
#else
constexpr std::size_t kStride = 1;
#endif

class IsolationMatrix : public testing::Test {
 protected:
  IsolationMatrix() { MakeMailboxes(hub, kAll); }

  // Sends what `ask` makes for every pair and probe; `open` says whether a mailbox's own
  // credential may.
  template <typename Ask, typename Open>
  void Sweep(const Ask& ask, const Open& open) {
    apiserver::Dispatcher& dispatcher = hub.server().dispatcher();
    std::atomic<std::size_t> asked = 0, opened = 0;
    std::atomic<int> next = 0, wrong = 0;
    auto work = [&] {
      for (int i = next++; i < kAll; i = next++) {
        for (int j = 0; j < kAll; ++j) {
          for (std::size_t p = 0; p < kVerbs; ++p) {
            const bool own = i == j;
            if (!own && (static_cast<std::size_t>(i + 3 * j) + p) % kStride != 0) continue;
            const Probe& probe = kProbes[p];
            const Response answer = dispatcher.Handle(ask(i, j, probe));
            ++asked;
            if (answer.stream != nullptr) answer.stream->Cancel();
            const bool may = own && open(probe);
            if (may) ++opened;
            if ((answer.code != 403) == may || wrong++ > 10) continue;
            ADD_FAILURE() << i << " at " << j << ": " << probe.method << " " << probe.path << " is "
                          << answer.code;
          }
        }
      }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back(work);
    threads.clear();
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(opened, static_cast<std::size_t>(kAll));
    EXPECT_GE(asked, kAll * (kAll - 1) * (kVerbs / kStride) + kAll * kVerbs);
  }

  TestHub hub;
};

TEST_F(IsolationMatrix, SyncersByTheirCertificates) {
  Sweep([](int i, int j, const Probe& probe) { return AsSyncer(i, At(PlainRoad(j), probe)); },
        [](const Probe& probe) { return probe.syncer_may; });
}

TEST_F(IsolationMatrix, SyncersThroughTheProxySubresource) {
  Sweep([](int i, int j, const Probe& probe) { return AsSyncer(i, At(ProxyRoad(j), probe)); },
        [](const Probe& probe) { return probe.syncer_may; });
}

// Users of a host cluster, each with the right to one mailbox's proxy subresource in root.
TEST_F(IsolationMatrix, UsersThroughAnAggregator) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1";
  const std::string group = "rbac.authorization.k8s.io";
  for (int i = 0; i < kAll; ++i) {
    const Json rule = {{"apiGroups", {"mailbox.kubestellar.io"}}, {"resources", {"mailboxes/proxy"}},
                       {"resourceNames", {MailboxName(i)}}, {"verbs", {"*"}}};
    ASSERT_EQ(hub.Do("POST", rbac + "/clusterroles",
                     {{"apiVersion", group + "/v1"}, {"kind", "ClusterRole"},
                      {"metadata", {{"name", UserName(i)}}}, {"rules", Json::array({rule})}}).code, 201);
    const Json subject = {{"apiGroup", group}, {"kind", "User"}, {"name", UserName(i)}};
    ASSERT_EQ(hub.Do("POST", rbac + "/clusterrolebindings",
                     {{"apiVersion", group + "/v1"}, {"kind", "ClusterRoleBinding"},
                      {"metadata", {{"name", UserName(i)}}},
                      {"roleRef", {{"apiGroup", group}, {"kind", "ClusterRole"}, {"name", UserName(i)}}},
                      {"subjects", Json::array({subject})}}).code, 201);
  }
  Sweep([](int i, int j, const Probe& probe) { return AsProxied(i, At(ProxyRoad(j), probe)); },
        [](const Probe&) { return true; });
  // The same users find the plain road shut, their own mailbox's too.
  for (int i = 0; i < kAll; i += 20) {
    for (const Probe& probe : kProbes) EXPECT_EQ(hub.Send(AsProxied(i, At(PlainRoad(i), probe))).code, 403);
  }
}

TEST(AuthorizerMatrix, KnowsNoException) {
  TestHub hub;
  const apiserver::Authorizer& authorizer = hub.server().dispatcher().hub().authorizer;
  std::vector<apiserver::User> users;
  std::vector<std::string> names;
  for (int i = 0; i < kAll; ++i) {
    names.push_back(MailboxName(i));
    users.push_back({std::string(apiserver::kSyncerPrefix) + names.back(),
                     {std::string(apiserver::kSyncers), "system:authenticated"}});
    users.back().home = names.back();
  }
  const char* verbs[] = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
                         "impersonate", "escalate", "bind", "approve", "*"};
  for (int i = 0; i < kAll; ++i) {
    for (int j = 0; j < kAll; ++j) {
      for (const char* verb : verbs) {
        apiserver::Attributes asked;
        asked.workspace = names[static_cast<std::size_t>(j)];
        asked.verb = verb;
        asked.resource = "secrets";
        asked.ns = "default";
        asked.name = "canary";
        const bool allowed = authorizer.Decide(users[static_cast<std::size_t>(i)], asked).allowed;
        const bool reads = verb == std::string_view("get") || verb == std::string_view("list") ||
                           verb == std::string_view("watch");
        ASSERT_EQ(allowed, i == j && reads) << i << j << verb;
      }
    }
  }
}

}  // namespace
}  // namespace mailroom
