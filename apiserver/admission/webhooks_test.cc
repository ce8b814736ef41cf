#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "apiserver/admission/webhook_stand.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

constexpr const char* kMutating =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
constexpr const char* kValidating =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

class WebhooksTest : public ::testing::Test {
 protected:
  WebhooksTest() : ws_(hub_.NewWorkspace("c1", "cluster")) {}

  void Validating(const Json& hooks, const std::string& name = "v") {
    const auto made = hub_.Do("POST", ws_ + kValidating,
                              WebhookConfiguration("ValidatingWebhookConfiguration", name, hooks));
    ASSERT_EQ(made.code, 201) << made.text;
  }
  void Mutating(const Json& hooks, const std::string& name = "m") {
    const auto made = hub_.Do("POST", ws_ + kMutating,
                              WebhookConfiguration("MutatingWebhookConfiguration", name, hooks));
    ASSERT_EQ(made.code, 201) << made.text;
  }
  TestHub::Answer Create(const std::string& name, const Json& data = Json::object(),
                         const std::string& query = "") {
    return hub_.Do("POST", ws_ + "/api/v1/namespaces/default/configmaps" + query,
                   ConfigMap(name, data));
  }
  std::string Path(const std::string& name) {
    return ws_ + "/api/v1/namespaces/default/configmaps/" + name;
  }

  TestHub hub_;
  std::string ws_;
};

Json Allowed() { return {{"allowed", true}}; }

Json Patch(const Json& operations) {
  return {{"allowed", true},
          {"patchType", "JSONPatch"},
          {"patch", openapi::EncodeBase64(DumpJson(operations))}};
}

Json Add(const std::string& path, const Json& value) {
  return {{"op", "add"}, {"path", path}, {"value", value}};
}

TEST_F(WebhooksTest, AsksWithEverythingAWebhookMayWantToKnow) {
  WebhookStand stand([](const Json&) { return Allowed(); });
  Validating(Json::array({stand.Hook("a.example.com")}));
  ASSERT_EQ(Create("a", {{"k", "v"}}, "?fieldManager=me").code, 201);
  ASSERT_EQ(hub_.Do("PATCH", Path("a"), {{"data", {{"k", "w"}}}},
                    "application/merge-patch+json").code, 200);
  ASSERT_EQ(hub_.Do("DELETE", Path("a"), {{"propagationPolicy", "Background"}}).code, 200);

  const auto reviews = stand.reviews();
  ASSERT_EQ(reviews.size(), 3u);
  EXPECT_EQ(stand.paths()[0], "/?timeout=30s");
  const Json& create = reviews[0]["request"];
  EXPECT_EQ(create["operation"], "CREATE");
  EXPECT_EQ(create["kind"], (Json{{"group", ""}, {"version", "v1"}, {"kind", "ConfigMap"}}));
  EXPECT_EQ(create["resource"],
            (Json{{"group", ""}, {"version", "v1"}, {"resource", "configmaps"}}));
  EXPECT_EQ(create["namespace"], "default");
  EXPECT_EQ(create["name"], "a");
  EXPECT_EQ(create["object"]["data"]["k"], "v");
  EXPECT_EQ(create["object"]["kind"], "ConfigMap");
  EXPECT_TRUE(create["object"]["metadata"].contains("managedFields"));
  EXPECT_TRUE(create["oldObject"].is_null());
  EXPECT_EQ(create["dryRun"], false);
  EXPECT_EQ(create["options"]["kind"], "CreateOptions");
  EXPECT_EQ(create["options"]["fieldManager"], "me");
  EXPECT_EQ(create["userInfo"]["username"], "admin");
  const Json& update = reviews[1]["request"];
  EXPECT_EQ(update["operation"], "UPDATE");
  EXPECT_EQ(update["object"]["data"]["k"], "w");
  EXPECT_EQ(update["oldObject"]["data"]["k"], "v");
  EXPECT_EQ(update["options"]["kind"], "PatchOptions");
  const Json& remove = reviews[2]["request"];
  EXPECT_EQ(remove["operation"], "DELETE");
  EXPECT_TRUE(remove["object"].is_null());
  EXPECT_EQ(remove["oldObject"]["data"]["k"], "w");
  EXPECT_EQ(remove["options"]["propagationPolicy"], "Background");
}

TEST_F(WebhooksTest, DeniesInTheWebhooksWords) {
  struct Case {
    Json status;
    int code;
    std::string reason, message;
  };
  const std::string denied = "admission webhook \"a.example.com\" denied the request";
  const std::vector<Case> cases = {
      {nullptr, 400, "", denied + " without explanation"},
      {{{"message", "no"}}, 400, "", denied + ": no"},
      {{{"message", "no"}, {"code", 403}, {"reason", "Forbidden"}}, 403, "Forbidden",
       denied + ": no"},
      {{{"reason", "Conflict"}, {"code", 409}}, 409, "Conflict", denied + ": Conflict"},
      {{{"message", "no"}, {"code", 200}}, 400, "", denied + ": no"},
  };
  Json status;
  WebhookStand stand([&](const Json&) {
    Json answer = {{"allowed", false}};
    if (!status.is_null()) answer["status"] = status;
    return answer;
  });
  Validating(Json::array({stand.Hook("a.example.com")}));
  for (const Case& one : cases) {
    status = one.status;
    const auto answer = Create("a");
    EXPECT_EQ(answer.code, one.code) << answer.text;
    EXPECT_EQ(answer.body["message"], one.message);
    EXPECT_EQ(answer.body.value("reason", ""), one.reason);
  }
  EXPECT_EQ(hub_.Get(Path("a")).code, 404);
}

TEST_F(WebhooksTest, DeniesDeletionOfOneAndOfMany) {
  WebhookStand stand([](const Json& request) {
    return Json{{"allowed", request["operation"] != "DELETE"}};
  });
  Validating(Json::array({stand.Hook("a.example.com")}));
  ASSERT_EQ(Create("a").code, 201);
  EXPECT_EQ(hub_.Do("DELETE", Path("a")).code, 400);
  EXPECT_EQ(hub_.Do("DELETE", ws_ + "/api/v1/namespaces/default/configmaps").code, 400);
  EXPECT_EQ(hub_.Get(Path("a")).code, 200);
}

TEST_F(WebhooksTest, AppliesPatchesInOrderAndAsksAgainWhenWanted) {
  std::atomic<int> first{0}, second{0};
  WebhookStand one([&](const Json& request) {
    ++first;
    const bool seen = request["object"]["data"].contains("two");
    return Patch(Json::array({Add("/data/one", seen ? "after two" : "before two")}));
  });
  WebhookStand two([&](const Json&) {
    ++second;
    return Patch(Json::array({Add("/data/two", "x")}));
  });
  Mutating(Json::array({one.Hook("one.example.com", {{"reinvocationPolicy", "IfNeeded"}}),
                        two.Hook("two.example.com")}));
  const auto made = Create("a", {{"k", "v"}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["data"], (Json{{"k", "v"}, {"one", "after two"}, {"two", "x"}}));
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
  // What a webhook changes belongs to no manager.
  const std::string owned = DumpJson(made.body["metadata"]["managedFields"]);
  EXPECT_NE(owned.find("f:k"), std::string::npos);
  EXPECT_EQ(owned.find("f:two"), std::string::npos);
}

TEST_F(WebhooksTest, MutationIsDefaultedAndValidated) {
  WebhookStand stand([](const Json& request) {
    return Patch(Json::array({Add("/spec/ports", Json::array({{{"port", 80}}})),
                              Add("/nonsense", 1),
                              Add("/metadata/uid", "mine"),
                              Add("/metadata/labels", {{"a", request["name"]}})}));
  });
  Json hook = stand.Hook("s.example.com");
  hook["rules"][0]["resources"] = {"services"};
  Mutating(Json::array({hook}));
  const Json service = {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "s"}}},
                        {"spec", {{"type", "ClusterIP"}}}};
  const auto made = hub_.Do("POST", ws_ + "/api/v1/namespaces/default/services", service);
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["spec"]["ports"][0]["protocol"], "TCP");
  EXPECT_EQ(made.body["metadata"]["labels"]["a"], "s");
  EXPECT_NE(made.body["metadata"]["uid"], "mine");
  EXPECT_FALSE(made.body.contains("nonsense"));
}

TEST_F(WebhooksTest, RefusesAPatchThatDoesNotApplyOrWhereThereIsNothingToPatch) {
  WebhookStand stand([](const Json& request) {
    if (request["operation"] == "DELETE") return Patch(Json::array({Add("/data", 1)}));
    return Patch(Json::array({{{"op", "remove"}, {"path", "/data/absent"}}}));
  });
  ASSERT_EQ(Create("old").code, 201);
  Mutating(Json::array({stand.Hook("a.example.com")}));
  EXPECT_EQ(Create("a").code, 500);
  const auto removed = hub_.Do("DELETE", Path("old"));
  EXPECT_EQ(removed.code, 500);
  EXPECT_EQ(removed.body["message"],
            "Internal error occurred: admission webhook \"a.example.com\" attempted to modify the "
            "object, which is not supported for this operation");
}

TEST_F(WebhooksTest, WrongAnswersAreCallFailures) {
  struct Case {
    std::string body, text;
    int code = 200;
  };
  const std::vector<Case> cases = {
      {"garbage", "failed to call webhook: couldn't get version/kind; json parse error: "},
      {"{}", "received invalid webhook response: webhook response was absent"},
      {R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"x"}})",
       "received invalid webhook response: expected response.uid="},
      {"oops", "failed to call webhook: an error on the server (\"oops\") has prevented", 500},
      {"", "failed to call webhook: the server could not find the requested resource", 404},
      {"", "failed to call webhook: the server responded with the status code 302", 302},
  };
  std::size_t at = 0;
  WebhookStand stand([&](const Json&, client::ScriptedConnection& connection) {
    connection.Reply(cases[at].code, cases[at].body);
  });
  Validating(Json::array({stand.Hook("a.example.com")}));
  for (at = 0; at < cases.size(); ++at) {
    const auto answer = Create("a");
    EXPECT_EQ(answer.code, 500);
    const std::string message = answer.body.value("message", "");
    EXPECT_TRUE(message.starts_with(
        "Internal error occurred: failed calling webhook \"a.example.com\": " + cases[at].text))
        << message;
  }
}

TEST_F(WebhooksTest, AnswersMayNotMixUpTheTwoKinds) {
  WebhookStand stand([](const Json&) { return Patch(Json::array({Add("/data/x", "y")})); });
  Validating(Json::array({stand.Hook("a.example.com")}));
  EXPECT_EQ(Create("a").body["message"],
            "Internal error occurred: failed calling webhook \"a.example.com\": received invalid "
            "webhook response: validating webhook may not return response.patch");
}

TEST_F(WebhooksTest, FailuresAreIgnoredWhenThePolicySaysSo) {
  WebhookStand stand([](const Json&, client::ScriptedConnection& connection) {
    connection.Reply(500, "no");
  });
  Validating(Json::array({stand.Hook("a.example.com", {{"failurePolicy", "Ignore"}})}));
  EXPECT_EQ(Create("a").code, 201);
  Mutating(Json::array({{{"name", "nobody.example.com"},
                         {"clientConfig", {{"service", {{"namespace", "default"},
                                                        {"name", "nobody"}}}}},
                         {"rules", stand.Hook("x.example.com")["rules"]},
                         {"failurePolicy", "Ignore"},
                         {"sideEffects", "None"},
                         {"admissionReviewVersions", {"v1"}}}}));
  EXPECT_EQ(Create("b").code, 201);
}

TEST_F(WebhooksTest, AHangingWebhookEndsAtItsTimeoutAndHoldsUpNobodyElse) {
  std::promise<void> asked;
  WebhookStand stand([&](const Json&, client::ScriptedConnection& connection) {
    asked.set_value();
    connection.WaitForClose();
  });
  // Long enough for a loaded machine to get as far as asking.
  Validating(Json::array({stand.Hook("a.example.com", {{"timeoutSeconds", 8}})}));
  auto hanging = std::async(std::launch::async, [&] { return Create("a"); });
  asked.get_future().wait();
  EXPECT_EQ(hub_.Do("POST", ws_ + "/api/v1/namespaces",
                    {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "n"}}}})
                .code, 201);
  const auto answer = hanging.get();
  EXPECT_EQ(answer.code, 500);
  EXPECT_EQ(answer.body["message"],
            "Internal error occurred: failed calling webhook \"a.example.com\": failed to call "
            "webhook: Post \"" + stand.url() + "?timeout=8s\": context deadline exceeded");
}

TEST_F(WebhooksTest, AnEndlessAnswerIsCutOff) {
  std::atomic<std::size_t> sent{0};
  WebhookStand stand([&](const Json&, client::ScriptedConnection& connection) {
    connection.Head(200);
    const std::string block(1 << 16, ' ');
    // A gigabyte, if anybody would take it.
    for (int i = 0; i < 16 * 1024; ++i) {
      connection.Chunk(block);
      sent += block.size();
    }
    connection.End();
  });
  Validating(Json::array({stand.Hook("a.example.com", {{"timeoutSeconds", 30}})}));
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 500);
  const std::string message = answer.body.value("message", "");
  EXPECT_NE(message.find("the answer is larger than 8388608 bytes"), std::string::npos) << message;
}

TEST_F(WebhooksTest, ChecksTheCertificate) {
  WebhookStand stand([](const Json&) { return Allowed(); });
  Json hook = stand.Hook("a.example.com");
  hook["clientConfig"]["caBundle"] =
      openapi::EncodeBase64(client::MakeTestCertificates("127.0.0.1").ca_pem);
  Validating(Json::array({hook}));
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 500);
  EXPECT_TRUE(answer.body["message"].get<std::string>().starts_with(
      "Internal error occurred: failed calling webhook \"a.example.com\": failed to call webhook: "
      "Post \"" + stand.url()))
      << answer.text;
  EXPECT_TRUE(stand.reviews().empty());
}

TEST_F(WebhooksTest, DryRunNeedsAWebhookWithoutSideEffects) {
  WebhookStand stand([](const Json& request) {
    EXPECT_EQ(request["dryRun"], true);
    return Allowed();
  });
  Validating(Json::array({stand.Hook("a.example.com")}));
  EXPECT_EQ(Create("a", Json::object(), "?dryRun=All").code, 201);
  EXPECT_EQ(stand.reviews().size(), 1u);
  EXPECT_EQ(stand.reviews()[0]["request"]["options"]["dryRun"], Json::array({"All"}));
}

TEST_F(WebhooksTest, WarningsReachTheClient) {
  WebhookStand stand([](const Json&) {
    return Json{{"allowed", true}, {"warnings", {"one", "two \"quoted\"", "line\nbreak"}},
                {"auditAnnotations", {{"k", "v"}}}};
  });
  Validating(Json::array({stand.Hook("a.example.com")}));
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 201);
  EXPECT_EQ(answer.headers.All("warning"),
            (std::vector<std::string_view>{"299 - \"one\"", "299 - \"two \\\"quoted\\\"\""}));
}

TEST_F(WebhooksTest, SelectorsAndScopesNarrowTheChoice) {
  std::atomic<int> asked{0};
  WebhookStand stand([&](const Json&) {
    ++asked;
    return Allowed();
  });
  Validating(Json::array({stand.Hook(
      "a.example.com", {{"namespaceSelector", {{"matchLabels", {{"watched", "yes"}}}}},
                        {"objectSelector", {{"matchExpressions", Json::array({{{"key", "skip"}, {"operator", "DoesNotExist"}}})}}}})}));
  EXPECT_EQ(Create("a").code, 201);
  EXPECT_EQ(asked, 0);
  ASSERT_EQ(hub_.Do("PATCH", ws_ + "/api/v1/namespaces/default",
                    {{"metadata", {{"labels", {{"watched", "yes"}}}}}},
                    "application/merge-patch+json").code, 200);
  EXPECT_EQ(Create("b").code, 201);
  EXPECT_EQ(asked, 1);
  Json skipped = ConfigMap("c");
  skipped["metadata"]["labels"] = {{"skip", "x"}};
  EXPECT_EQ(hub_.Do("POST", ws_ + "/api/v1/namespaces/default/configmaps", skipped).code, 201);
  EXPECT_EQ(asked, 1);
}

TEST_F(WebhooksTest, EquivalentVersionsAreShownAsTheRuleNamesThem) {
  WebhookStand stand([](const Json& request) {
    EXPECT_EQ(request["kind"]["version"], "v1");
    EXPECT_EQ(request["requestKind"]["version"], "v2");
    EXPECT_EQ(request["object"]["apiVersion"], "autoscaling/v1");
    EXPECT_EQ(request["object"]["spec"]["targetCPUUtilizationPercentage"], 50);
    return Patch(Json::array({{{"op", "replace"}, {"path", "/spec/maxReplicas"}, {"value", 7}}}));
  });
  Json hook = stand.Hook("a.example.com");
  hook["rules"] = Json::array({{{"operations", {"CREATE"}}, {"apiGroups", {"autoscaling"}},
                                {"apiVersions", {"v1"}}, {"resources", {"horizontalpodautoscalers"}}}});
  Mutating(Json::array({hook}));
  const Json metric = {{"type", "Resource"},
                       {"resource", {{"name", "cpu"},
                                     {"target", {{"type", "Utilization"}, {"averageUtilization", 50}}}}}};
  const auto made = hub_.Do(
      "POST", ws_ + "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
      {{"apiVersion", "autoscaling/v2"}, {"kind", "HorizontalPodAutoscaler"},
       {"metadata", {{"name", "h"}}},
       {"spec", {{"maxReplicas", 3}, {"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "d"}}},
                 {"metrics", Json::array({metric})}}}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["apiVersion"], "autoscaling/v2");
  EXPECT_EQ(made.body["spec"]["maxReplicas"], 7);
  EXPECT_EQ(stand.reviews().size(), 1u);
}

TEST_F(WebhooksTest, SubresourcesAreShownWhenRulesNameThem) {
  WebhookStand stand([](const Json&) { return Allowed(); });
  Json hook = stand.Hook("a.example.com");
  hook["rules"] = Json::array({{{"operations", {"UPDATE"}}, {"apiGroups", {"apps"}},
                                {"apiVersions", {"*"}}, {"resources", {"deployments/*"}}}});
  Validating(Json::array({hook}));
  const Json labels = {{"app", "d"}};
  const std::string path = ws_ + "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(hub_.Do("POST", path,
                    {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", "d"}}},
                     {"spec", {{"selector", {{"matchLabels", labels}}},
                               {"template", {{"metadata", {{"labels", labels}}},
                                             {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}}}}}})
                .code, 201);
  ASSERT_EQ(hub_.Do("PATCH", path + "/d/scale", {{"spec", {{"replicas", 3}}}},
                    "application/merge-patch+json").code, 200);
  ASSERT_EQ(hub_.Do("PATCH", path + "/d/status", {{"status", {{"replicas", 2}}}},
                    "application/merge-patch+json").code, 200);
  const auto reviews = stand.reviews();
  ASSERT_EQ(reviews.size(), 2u);
  EXPECT_EQ(reviews[0]["request"]["subResource"], "scale");
  EXPECT_EQ(reviews[0]["request"]["kind"]["kind"], "Scale");
  EXPECT_EQ(reviews[0]["request"]["object"]["spec"]["replicas"], 3);
  EXPECT_EQ(reviews[0]["request"]["oldObject"]["spec"]["replicas"], 1);
  EXPECT_EQ(reviews[1]["request"]["subResource"], "status");
  EXPECT_EQ(reviews[1]["request"]["object"]["status"]["replicas"], 2);
}

TEST_F(WebhooksTest, ConfigurationsAndPoliciesAreNeverSubjectToWebhooks) {
  WebhookStand stand([](const Json&) { return Json{{"allowed", false}}; });
  Json hook = stand.Hook("a.example.com");
  hook["rules"] = Json::array({{{"operations", {"*"}}, {"apiGroups", {"*"}},
                                {"apiVersions", {"*"}}, {"resources", {"*/*"}}}});
  Validating(Json::array({hook}));
  EXPECT_EQ(hub_.Do("DELETE", ws_ + kValidating + std::string("/v")).code, 200);
  EXPECT_EQ(Create("a").code, 201);
}

TEST_F(WebhooksTest, NoWebhookHoldsUpTheEndOfANamespace) {
  std::atomic<int> asked{0};
  WebhookStand stand([&](const Json& request) {
    if (request["operation"] == "DELETE") ++asked;
    return Json{{"allowed", request["operation"] != "DELETE"}};
  });
  Validating(Json::array({stand.Hook("a.example.com")}));
  ASSERT_EQ(hub_.Do("POST", ws_ + "/api/v1/namespaces",
                    {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "n"}}}})
                .code, 201);
  ASSERT_EQ(hub_.Do("POST", ws_ + "/api/v1/namespaces/n/configmaps", ConfigMap("a")).code, 201);
  ASSERT_EQ(hub_.Do("DELETE", ws_ + "/api/v1/namespaces/n").code, 200);
  EXPECT_TRUE(Eventually([&] { return hub_.Get(ws_ + "/api/v1/namespaces/n").code == 404; }));
  EXPECT_EQ(asked, 0);
}

TEST_F(WebhooksTest, OldReviewsAreSpokenToThoseWhoKnowNoOther) {
  WebhookStand stand([](const Json&, client::ScriptedConnection& connection) {
    connection.Reply(200, R"({"response":{"allowed":true}})");
  });
  Validating(Json::array({stand.Hook("a.example.com",
                                     {{"admissionReviewVersions", {"v9", "v1beta1"}}})}));
  EXPECT_EQ(Create("a").code, 201);
  EXPECT_EQ(stand.reviews()[0]["apiVersion"], "admission.k8s.io/v1beta1");
}

TEST_F(WebhooksTest, InertInWorkloadAndMailboxWorkspaces) {
  WebhookStand stand([](const Json&) { return Json{{"allowed", false}}; });
  for (const char* type : {"wds", "mailbox"}) {
    ws_ = hub_.NewWorkspace(std::string("payload-") + type, type);
    Json hook = stand.Hook("a.example.com");
    hook["rules"] = Json::array({{{"operations", {"*"}}, {"apiGroups", {"*"}},
                                  {"apiVersions", {"*"}}, {"resources", {"*"}}}});
    Validating(Json::array({hook}));
    Mutating(Json::array({hook}));
    EXPECT_EQ(Create("a").code, 201);
    EXPECT_EQ(hub_.Do("DELETE", Path("a")).code, 200);
  }
  EXPECT_TRUE(stand.reviews().empty());
  ws_ = "/clusters/root";
  Validating(Json::array({stand.Hook("a.example.com")}));
  EXPECT_EQ(Create("a").code, 400);
  EXPECT_EQ(stand.reviews().size(), 1u);
}

}  // namespace
}  // namespace mailroom::admission
