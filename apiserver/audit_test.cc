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
    // Where nothing can be read from the path, and by whom it may not be read.
    review.body = DumpJson({{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "t"}}},
                            {"stringData", {{"c", "canary-bytes"}}}});
    const std::string nameless = R"({"stringData":{"c":"canary-bytes"}})";
    struct Sent {
      std::string path, body;
      int code;
    };
    const std::vector<Sent> astray = {
        {"/clusters/X_/api/v1/namespaces/default/secrets", nameless, 400},
        {"/clusters/its1/../its1/api/v1/namespaces/default/secrets", nameless, 400},
        {"/clusters/its1//api/v1/namespaces/default/secrets", nameless, 404},
        {"/clusters/nosuch/api/v1/namespaces/default/secrets", nameless, 404},
        {base + "/secrets/s/a/b", nameless, 404},
        {base + "/secrets/s/a", nameless, 404},
        {base + "/Secrets", nameless, 404},
        {"/clusters/its1/api/v2/namespaces/default/secrets", nameless, 404},
        {"/clusters/its1/secrets", nameless, 404},
        {base + "/configmaps", review.body, 400},
        {base + "/configmaps",
         R"({"apiVersion":"v1","kind":"List","items":[)" + review.body + "]}", 400},
    };
    for (const Sent& sent : astray) {
      Request request = review;
      request.path = sent.path;
      request.body = sent.body;
      EXPECT_EQ(hub.Send(request).code, sent.code) << sent.path;
      request.peer.organizations = {};
      request.peer.common_name = "eve";
      EXPECT_GE(hub.Send(request).code, 400) << sent.path;
      request.peer.common_name.clear();
      EXPECT_GE(hub.Send(request).code, 400) << sent.path;
      request.headers.Set("authorization", "Bearer x");
      EXPECT_GE(hub.Send(request).code, 400) << sent.path;
    }
  });
  EXPECT_GE(events.size(), 14u + 40u);
  EXPECT_EQ(whole_.find("canary-bytes"), std::string::npos);
  EXPECT_EQ(whole_.find("Y2FuYXJ5LWJ5dGVz"), std::string::npos) << "in base64";
  EXPECT_EQ(whole_.find("eyJ"), std::string::npos) << "a token";
  for (const Json& event : events) {
    if (StringAt(event, {"objectRef", "resource"}) != "secrets") continue;
    EXPECT_EQ(StringAt(event, {"level"}), "Metadata");
  }
}

TEST_F(Recorded, BodiesInEveryFormOfThoseWhoMay) {
  const auto events = Record(R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules: [{level: RequestResponse}]
)", [](TestHub& hub) {
    const std::string maps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
    Request request;
    request.method = "POST";
    request.path = maps;
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    request.headers.Set("content-type", "application/yaml");
    request.body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n";
    EXPECT_EQ(hub.Send(request).code, 201);
    request.method = "PATCH";
    request.path = maps + "/a";
    request.headers.Set("content-type", "application/json-patch+json");
    request.body = R"( [{"op":"replace","path":"/data/k","value":"w"}])";
    EXPECT_EQ(hub.Send(request).code, 200);
    request.headers.Set("content-type", "application/apply-patch+yaml");
    request.query = "fieldManager=m";
    request.body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {l: x}\n";
    EXPECT_EQ(hub.Send(request).code, 200);
    request.query.clear();
    request.body = "no: [yaml";
    EXPECT_GE(hub.Send(request).code, 400);
    hub.Get(maps);
    request.peer.organizations = {};
    request.peer.common_name = "eve";
    EXPECT_EQ(hub.Send(request).code, 403);
  });
  ASSERT_EQ(events.size(), 6u) << whole_;
  EXPECT_EQ(StringAt(events[0], {"requestObject", "data", "k"}), "v");
  EXPECT_EQ(events[1]["requestObject"],
            (Json::array({{{"op", "replace"}, {"path", "/data/k"}, {"value", "w"}}})));
  EXPECT_EQ(StringAt(events[2], {"requestObject", "data", "l"}), "x");
  EXPECT_EQ(Find(events[2], {"responseObject", "metadata", "managedFields"}), nullptr);
  EXPECT_EQ(Find(events[3], {"requestObject"}), nullptr);
  EXPECT_EQ(StringAt(events[3], {"responseObject", "kind"}), "Status");
  EXPECT_EQ(StringAt(events[4], {"responseObject", "kind"}), "ConfigMapList");
  EXPECT_EQ(whole_.find("managedFields"), std::string::npos);
  EXPECT_EQ(StringAt(events[5], {"annotations", "authorization.k8s.io/decision"}), "forbid");
  EXPECT_EQ(Find(events[5], {"requestObject"}), nullptr);
  EXPECT_EQ(Find(events[5], {"responseObject"}), nullptr);
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

TEST_F(Recorded, PodSecurityIsNoted) {
  const std::string prefix = "pod-security.kubernetes.io/";
  const auto events = Record(R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata, verbs: [create], resources: [{resources: [pods, podtemplates]}]}]
)", [&](TestHub& hub) {
    const std::string ws = hub.NewWorkspace("c1", "cluster") + "/api/v1/namespaces";
    auto make = [&](const std::string& ns, const char* kind, const Json& spec, const Json& labels) {
      Json full = Json::object();
      for (const auto& [key, value] : labels.items()) full[prefix + key] = value;
      hub.Do("POST", ws, {{"metadata", {{"name", ns}}}});
      hub.Do("PATCH", ws + "/" + ns + "/status", {{"metadata", {{"labels", full}}}},
             "application/merge-patch+json");
      Json all = {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}};
      all.update(spec);
      Json object = {{"metadata", {{"name", "x"}}}, {"spec", all}};
      const bool pod = std::string_view(kind) == "pods";
      if (!pod) object = {{"metadata", {{"name", "x"}}}, {"template", {{"spec", all}}}};
      return hub.Do("POST", ws + "/" + ns + "/" + kind, object).code;
    };
    const Json bad = {{"hostPID", true}}, good = Json::object();
    EXPECT_EQ(make("a", "pods", bad, Json::object()), 201);
    EXPECT_EQ(make("b", "pods", bad, {{"audit", "baseline"}, {"audit-version", "v1.9"}}), 201);
    EXPECT_EQ(make("c", "pods", bad, {{"audit", "baseline"}, {"enforce", "baseline"}}), 403);
    EXPECT_EQ(make("d", "pods", good, {{"enforce", "baseline"}, {"warn", "low"}}), 201);
    EXPECT_EQ(make("e", "podtemplates", bad, {{"audit", "baseline"}, {"enforce", "baseline"}}), 201);
    EXPECT_EQ(make("f", "podtemplates", bad, Json::object()), 201);
  });
  std::vector<Json> noted;
  for (const Json& event : events) {
    Json own = Json::object();
    for (const auto& [key, value] : event["annotations"].items()) {
      if (key.starts_with(prefix)) own[key.substr(prefix.size())] = value;
    }
    noted.push_back(own);
  }
  auto violates = [](const std::string& level) {
    return "would violate PodSecurity \"" + level + "\": host namespaces (hostPID=true)";
  };
  const std::string allowed = "privileged:latest";
  ASSERT_EQ(noted.size(), 6u) << whole_;
  EXPECT_EQ(noted[0], (Json{{"enforce-policy", allowed}}));
  EXPECT_EQ(noted[1], (Json{{"enforce-policy", allowed},
                            {"audit-violations", violates("baseline:v1.9")}}));
  EXPECT_EQ(noted[2], (Json{{"enforce-policy", "baseline:latest"},
                            {"audit-violations", violates("baseline:latest")}}));
  EXPECT_EQ(noted[3],
            (Json{{"enforce-policy", "baseline:latest"},
                  {"error", "Failed to parse policy: metadata.labels[pod-security.kubernetes.io/warn]: "
                            "Invalid value: \"low\": must be one of privileged, baseline, "
                            "restricted"}}));
  EXPECT_EQ(noted[4], (Json{{"audit-violations", violates("baseline:latest")}}));
  EXPECT_EQ(noted[5], Json::object());
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

std::string Text(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The folder goes, and comes back later.
TEST_F(Recorded, AFileThatWasLostIsOpenedAgain) {
  auto log = AuditLog::Open(
      {.path = Path(), .file_bytes = 25, .files = 3, .retry = std::chrono::milliseconds(1)});
  ASSERT_TRUE(log.ok());
  (*log)->Write("before-all-that");
  while (Text(Path()).empty()) std::this_thread::yield();
  std::filesystem::remove_all(folder_);
  (*log)->Write("meanwhile-one");  // begins a new file
  (*log)->Write("meanwhile-two");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ((*log)->lost(), 0u) << "they wait";
  std::filesystem::create_directories(folder_);
  (*log)->Write("after-wards");
  log->reset();
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) all += Text(entry.path());
  for (const char* line : {"meanwhile-one\n", "meanwhile-two\n", "after-wards\n"}) {
    EXPECT_NE(all.find(line), std::string::npos) << line << " of " << all;
  }
}

TEST_F(Recorded, LinesThatCannotWaitAnyLongerAreCountedOneByOne) {
  std::ofstream(Path()) << std::string(15, 'x') << "\n";
  auto log = AuditLog::Open({.path = Path(), .file_bytes = 20, .queue_bytes = 30,
                             .retry = std::chrono::hours(1)});
  ASSERT_TRUE(log.ok());
  std::filesystem::remove_all(folder_);
  for (int i = 0; i < 10; ++i) (*log)->Write(std::string(9, 'y'));  // three of them fit
  EXPECT_EQ((*log)->lost(), 7u);
}

TEST_F(Recorded, ALineCutOffByAFailureSpoilsNoOther) {
  std::ofstream(Path()) << "whole\nhal";
  {
    auto log = AuditLog::Open({.path = Path()});
    ASSERT_TRUE(log.ok());
    (*log)->Write("next");
  }
  EXPECT_EQ(Text(Path()), "whole\nhal\nnext\n");
}

TEST_F(Recorded, LostEventsAreAtMetrics) {
  Record("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]", [](TestHub& hub) {
    EXPECT_NE(hub.Get("/metrics").text.find("\nmailroom_audit_events_lost_total 0\n"),
              std::string::npos);
  });
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
  const std::string ws = hub.NewWorkspace("team", "cluster");
  const Json grant = {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRoleBinding"},
                      {"metadata", {{"name", "viewers"}}},
                      {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "view"}}},
                      {"subjects", Json::array({{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"}, {"name", "viewers"}}})}};
  ASSERT_EQ(hub.Do("POST", ws + "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", grant).code, 201);
  auto watch = [&](const std::string& user) {
    Request request;
    request.method = "GET";
    request.path = ws + "/api/v1/configmaps";
    request.query = "watch=true";
    request.peer.common_name = user;
    request.peer.organizations = {user == "admin" ? "system:masters" : "viewers"};
    return hub.server().dispatcher().Handle(request);
  };
  {
    const Response first = watch("ann"), second = watch("ann");
    EXPECT_EQ(first.code, 200);
    EXPECT_EQ(second.code, 200);
    const Response refused = watch("ann");
    EXPECT_EQ(refused.code, 429);
    EXPECT_EQ(refused.headers.Get("retry-after"), "1");
    EXPECT_EQ(watch("bob").code, 200) << "each for themselves";
    std::vector<Response> masters;
    for (int i = 0; i < 5; ++i) masters.push_back(watch("admin"));
    EXPECT_EQ(masters.back().code, 200) << "an administrator is never locked out";
  }
  EXPECT_EQ(watch("ann").code, 200) << "the places are given back";
}

}  // namespace
}  // namespace mailroom
