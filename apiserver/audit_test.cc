// The audit record and the supervision of watches.
#include "apiserver/audit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "apiserver/overseen_stream.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

using apiserver::Audit;
using apiserver::AuditLevel;
using apiserver::AuditLog;
using apiserver::AuditPolicy;

class Recorded : public testing::Test {
 protected:
  Recorded() : folder_(std::filesystem::temp_directory_path() /
                       ("mailroom-audit-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Recorded() override { std::filesystem::remove_all(folder_); }
  std::string Path() const { return (folder_ / "audit.log").string(); }

  // Runs `work` with a hub that records by `policy`; the events, after everything is written.
  std::vector<Json> Record(std::string_view policy, const std::function<void(TestHub&)>& work) {
    {
      apiserver::Server::Options options;
      auto parsed = AuditPolicy::Parse(policy);
      EXPECT_TRUE(parsed.ok()) << parsed.error().message();
      auto log = AuditLog::Open({.path = Path()});
      EXPECT_TRUE(log.ok());
      options.audit = std::make_shared<Audit>(std::move(*parsed), std::move(*log), Clock::Real());
      TestHub hub(options);
      options.audit.reset();
      work(hub);
    }
    std::ifstream in(Path());
    std::vector<Json> events;
    for (std::string line; std::getline(in, line);) {
      auto event = ParseJson(line);
      EXPECT_TRUE(event.ok()) << line;
      if (event.ok()) events.push_back(std::move(*event));
      whole_ += line;
    }
    return events;
  }

  std::filesystem::path folder_;
  std::string whole_;
};

TEST_F(Recorded, LevelsStagesAndWorkspace) {
  const auto events = Record(R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, verbs: [get], nonResourceURLs: ["/healthz*"]}
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}], namespaces: [default]}
- {level: Request, users: [eve]}
- level: Metadata
  omitStages: []
)", [](TestHub& hub) {
    hub.Get("/healthz");
    hub.Do("POST", "/clusters/wds1/api/v1/namespaces/default/configmaps", ConfigMap("a", {{"k", "v"}}));
    hub.Get("/clusters/wds1/api/v1/namespaces");
    Request eve;
    eve.method = "GET";
    eve.path = "/clusters/wds1/api/v1/pods";
    eve.peer.common_name = "eve";
    hub.Send(eve);
    eve.headers.Add("authorization", "Bearer x");
    eve.peer.common_name.clear();
    hub.Send(eve);
    TestWatch watch(hub, "/clusters/wds1/api/v1/services?watch=true");
  });
  ASSERT_EQ(events.size(), 6u) << whole_;
  EXPECT_EQ(StringAt(events[0], {"level"}), "RequestResponse");
  EXPECT_EQ(StringAt(events[0], {"stage"}), "ResponseComplete");
  EXPECT_EQ(StringAt(events[0], {"verb"}), "create");
  EXPECT_EQ(StringAt(events[0], {"requestObject", "data", "k"}), "v");
  EXPECT_EQ(StringAt(events[0], {"responseObject", "metadata", "namespace"}), "default");
  EXPECT_EQ(IntAt(events[0], {"responseStatus", "code"}), 201);
  EXPECT_EQ(StringAt(events[0], {"annotations", "mailbox.kubestellar.io/workspace"}), "wds1");
  EXPECT_EQ(StringAt(events[0], {"annotations", "authorization.k8s.io/decision"}), "allow");
  EXPECT_EQ(StringAt(events[0], {"objectRef", "resource"}), "configmaps");
  EXPECT_EQ(StringAt(events[0], {"user", "username"}), "admin");
  EXPECT_EQ(Find(events[1], {"responseObject"}), nullptr);
  EXPECT_EQ(IntAt(events[2], {"responseStatus", "code"}), 403);
  EXPECT_EQ(StringAt(events[2], {"annotations", "authorization.k8s.io/decision"}), "forbid");
  EXPECT_EQ(StringAt(events[2], {"responseStatus", "reason"}), "Forbidden");
  EXPECT_EQ(IntAt(events[3], {"responseStatus", "code"}), 401);
  EXPECT_EQ(StringAt(events[4], {"stage"}), "ResponseStarted");
  EXPECT_EQ(StringAt(events[5], {"stage"}), "ResponseComplete");
  EXPECT_EQ(StringAt(events[4], {"auditID"}), StringAt(events[5], {"auditID"}));
}

TEST_F(Recorded, SecretsAndTokensNeverAboveMetadata) {
  const auto events = Record(R"(
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: RequestResponse}]
)", [](TestHub& hub) {
    const std::string base = "/clusters/its1/api/v1/namespaces/default";
    hub.Do("POST", base + "/secrets", {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}}},
                                       {"stringData", {{"c", "canary-bytes"}}}});
    hub.Get(base + "/secrets/s");
    hub.Get(base + "/secrets");
    hub.Do("PATCH", base + "/secrets/s", {{"stringData", {{"c", "canary-bytes-2"}}}}, "application/merge-patch+json");
    hub.Do("POST", base + "/serviceaccounts", {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "sa"}}}});
    const auto token = hub.Do("POST", base + "/serviceaccounts/sa/token",
                              {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
    Request review;
    review.method = "POST";
    review.path = "/clusters/its1/apis/authentication.k8s.io/v1/tokenreviews";
    review.peer.common_name = "admin";
    review.peer.organizations = {"system:masters"};
    review.headers.Add("content-type", "application/json");
    review.body = DumpJson({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"},
                            {"spec", {{"token", StringAt(token.body, {"status", "token"})}}}});
    hub.Send(review);
    Request bearer;
    bearer.method = "GET";
    bearer.path = base + "/configmaps";
    bearer.headers.Add("authorization", "Bearer " + StringAt(token.body, {"status", "token"}));
    hub.Send(bearer);
  });
  EXPECT_GE(events.size(), 14u);
  EXPECT_EQ(whole_.find("canary-bytes"), std::string::npos);
  EXPECT_EQ(whole_.find("Y2FuYXJ5LWJ5dGVz"), std::string::npos) << "in base64";
  EXPECT_EQ(whole_.find("eyJ"), std::string::npos) << "a token";
  for (const Json& event : events) {
    if (StringAt(event, {"objectRef", "resource"}) != "secrets") continue;
    EXPECT_EQ(StringAt(event, {"level"}), "Metadata");
  }
}

TEST_F(Recorded, WhatAdmissionNotes) {
  const std::string group = "/apis/admissionregistration.k8s.io/v1/";
  const auto events = Record(R"(apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Metadata}])", [&](TestHub& hub) {
    const std::string ws = hub.NewWorkspace("c1", "cluster");
    const Json rule = {{"apiGroups", {""}}, {"apiVersions", {"v1"}}, {"operations", {"CREATE"}},
                       {"resources", {"configmaps"}}};
    const Json policy = {
        {"apiVersion", "admissionregistration.k8s.io/v1"},
        {"kind", "ValidatingAdmissionPolicy"},
        {"metadata", {{"name", "notes"}}},
        {"spec",
         {{"matchConstraints", {{"resourceRules", Json::array({rule})}}},
          {"validations", Json::array({{{"expression", "object.metadata.name != 'bad'"}}})},
          {"auditAnnotations",
           Json::array({{{"key", "named"},
                         {"valueExpression", "'it is ' + object.metadata.name"}}})}}}};
    ASSERT_EQ(hub.Do("POST", ws + group + "validatingadmissionpolicies", policy).code, 201);
    const Json binding = {{"apiVersion", "admissionregistration.k8s.io/v1"},
                          {"kind", "ValidatingAdmissionPolicyBinding"},
                          {"metadata", {{"name", "here"}}},
                          {"spec", {{"policyName", "notes"}, {"validationActions", {"Audit"}}}}};
    ASSERT_EQ(hub.Do("POST", ws + group + "validatingadmissionpolicybindings", binding).code, 201);
    const std::string maps = ws + "/api/v1/namespaces/default/configmaps";
    ASSERT_EQ(hub.Do("POST", maps, ConfigMap("good")).code, 201);
    ASSERT_EQ(hub.Do("POST", maps, ConfigMap("bad")).code, 201);
  });
  std::vector<Json> made;
  for (const Json& event : events) {
    if (StringAt(event, {"objectRef", "resource"}) == "configmaps" &&
        StringAt(event, {"stage"}) == "ResponseComplete") {
      made.push_back(event["annotations"]);
    }
  }
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0]["notes/named"], "it is good");
  const char* failure = "validation.policy.admission.k8s.io/validation_failure";
  EXPECT_FALSE(made[0].contains(failure));
  EXPECT_EQ(made[1]["notes/named"], "it is bad");
  const auto failures = ParseJson(made[1].value(failure, ""));
  ASSERT_TRUE(failures.ok());
  EXPECT_EQ((*failures)[0]["policy"], "notes");
  EXPECT_EQ((*failures)[0]["binding"], "here");
}

TEST_F(Recorded, FilesAreTurnedOver) {
  {
    auto log = AuditLog::Open({.path = Path(), .file_bytes = 1000, .files = 3});
    ASSERT_TRUE(log.ok());
    for (int i = 0; i < 100; ++i) (*log)->Write(std::string(99, 'x'));
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_LE(entry.file_size(), 1000u);
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) EXPECT_EQ(line.size(), 99u) << "whole lines";
    ++files;
  }
  EXPECT_EQ(files, 4u);
}

TEST(AuditPolicyTest, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "kind: Policy", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []",
                           "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Loud}]",
                           "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, omitStages: [X]}]"}) {
    EXPECT_FALSE(AuditPolicy::Parse(text).ok()) << text;
  }
}

// A stream that never says anything.
class Silent final : public Stream {
 public:
  void OnReady(std::function<void()>) override {}
  State Pull(std::vector<SharedBytes>&, std::size_t) override { return State::kIdle; }
  void Cancel() override {}
};

TEST(Oversight, AWatchWhoseRightEndedEndsWithTheReason) {
  apiserver::TimerQueue timers;
  std::atomic<bool> allowed = true;
  std::atomic<int> asked = 0;
  std::promise<void> woken;
  int ended = 0;
  Response response;
  response.headers.Add("content-type", "application/json");
  response.stream = std::make_unique<Silent>();
  apiserver::Oversight oversight;
  oversight.check = [&]() -> Result<void> {
    ++asked;
    if (allowed) return Ok();
    return Forbidden("pods", "", "", "no longer");
  };
  oversight.ended = [&] { ++ended; };
  oversight.every = std::chrono::milliseconds(1);
  apiserver::Oversee(response, timers, std::move(oversight));
  response.stream->OnReady([&] { woken.set_value(); });
  std::vector<SharedBytes> pieces;
  while (asked < 3) std::this_thread::yield();
  EXPECT_EQ(response.stream->Pull(pieces, 1000), Stream::State::kIdle);
  EXPECT_TRUE(pieces.empty());
  allowed = false;
  ASSERT_EQ(woken.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(response.stream->Pull(pieces, 1000), Stream::State::kEnd);
  ASSERT_EQ(pieces.size(), 1u);
  const Json event = *ParseJson(*pieces[0]);
  EXPECT_EQ(StringAt(event, {"type"}), "ERROR");
  EXPECT_EQ(IntAt(event, {"object", "code"}), 403);
  response.stream->Cancel();
  response.stream.reset();
  EXPECT_EQ(ended, 1);
}

TEST(Oversight, WatchesOfOneUserAreCounted) {
  apiserver::Server::Options options;
  options.watches_per_user = 2;
  TestHub hub(options);
  const std::string path = "/clusters/wds1/api/v1/configmaps?watch=true";
  {
    TestWatch first(hub, path), second(hub, path);
    EXPECT_EQ(second.code(), 200);
    const auto refused = hub.Get(path);
    EXPECT_EQ(refused.code, 429);
    EXPECT_EQ(refused.headers.Get("retry-after"), "1");
  }
  TestWatch again(hub, path);
  EXPECT_EQ(again.code(), 200) << "the places are given back";
}

}  // namespace
}  // namespace mailroom
