#include <gtest/gtest.h>

#include "apiserver/admission/configurations.h"
#include "apiserver/admission/webhook_stand.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

constexpr const char* kGroup = "/apis/admissionregistration.k8s.io/v1/";

Json Rules(const std::string& group, const std::string& resource,
           const Json& operations = {"CREATE", "UPDATE"}) {
  return {{"resourceRules", Json::array({{{"operations", operations},
                                          {"apiGroups", {group}},
                                          {"apiVersions", {"v1"}},
                                          {"resources", {resource}}}})}};
}

class PoliciesTest : public ::testing::Test {
 protected:
  PoliciesTest() : ws_(hub_.NewWorkspace("c1", "cluster")) {}

  TestHub::Answer Make(const std::string& plural, const std::string& kind, const std::string& name,
                       const Json& spec) {
    return hub_.Do("POST", ws_ + kGroup + plural,
                   {{"apiVersion", "admissionregistration.k8s.io/v1"}, {"kind", kind},
                    {"metadata", {{"name", name}}}, {"spec", spec}});
  }
  TestHub::Answer Policy(const Json& spec, const std::string& name = "p.example.com") {
    Json whole = {{"matchConstraints", Rules("", "configmaps")}};
    whole.update(spec);
    return Make("validatingadmissionpolicies", "ValidatingAdmissionPolicy", name, whole);
  }
  TestHub::Answer Mutator(const Json& spec, const std::string& name = "m.example.com") {
    Json whole = {{"matchConstraints", Rules("", "configmaps")}, {"reinvocationPolicy", "Never"}};
    whole.update(spec);
    return Make("mutatingadmissionpolicies", "MutatingAdmissionPolicy", name, whole);
  }
  void Bind(const Json& more = Json::object(), const std::string& policy = "p.example.com") {
    Json spec = {{"policyName", policy}, {"validationActions", {"Deny"}}};
    spec.update(more);
    const auto made =
        Make("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "b", spec);
    ASSERT_EQ(made.code, 201) << made.text;
  }
  void BindMutator(const std::string& policy = "m.example.com", const std::string& name = "mb",
                   const Json& more = Json::object()) {
    Json spec = {{"policyName", policy}};
    spec.update(more);
    const auto made = Make("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding",
                           name, spec);
    ASSERT_EQ(made.code, 201) << made.text;
  }
  TestHub::Answer Create(const std::string& name, const Json& data = Json::object()) {
    return hub_.Do("POST", ws_ + "/api/v1/namespaces/default/configmaps", ConfigMap(name, data));
  }

  TestHub hub_;
  std::string ws_;
};

Json Validation(const std::string& expression, const Json& more = Json::object()) {
  Json out = {{"expression", expression}};
  out.update(more);
  return Json::array({out});
}

TEST_F(PoliciesTest, RefusesInItsOwnWords) {
  struct Case {
    Json more;
    int code;
    std::string reason, message;
  };
  const std::vector<Case> cases = {
      {Json::object(), 422, "Invalid", "failed expression: has(object.data) && 'ok' in object.data"},
      {{{"message", "no"}}, 422, "Invalid", "no"},
      {{{"messageExpression", "'not ' + object.metadata.name"}, {"message", "no"}}, 422, "Invalid", "not a"},
      {{{"messageExpression", "'x' + object.absent"}, {"message", "no"}}, 422, "Invalid", "no"},
      {{{"messageExpression", "'two\\nlines'"}}, 422, "Invalid",
       "failed expression: has(object.data) && 'ok' in object.data"},
      {{{"reason", "Forbidden"}}, 403, "Forbidden",
       "failed expression: has(object.data) && 'ok' in object.data"},
      {{{"reason", "RequestEntityTooLarge"}}, 413, "RequestEntityTooLarge",
       "failed expression: has(object.data) && 'ok' in object.data"},
  };
  Bind();
  for (const Case& one : cases) {
    hub_.Do("DELETE", ws_ + kGroup + "validatingadmissionpolicies/p.example.com");
    const auto made =
        Policy({{"validations", Validation("has(object.data) && 'ok' in object.data", one.more)}});
    ASSERT_EQ(made.code, 201) << made.text;
    const auto answer = Create("a", {{"k", "v"}});
    EXPECT_EQ(answer.code, one.code) << answer.text;
    EXPECT_EQ(answer.body["reason"], one.reason);
    EXPECT_EQ(answer.body["message"],
              "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with "
              "binding 'b' denied request: " + one.message);
    EXPECT_EQ(answer.body["details"]["causes"].size(), 1u);
  }
  EXPECT_EQ(Create("a", {{"ok", "v"}}).code, 201);
}

TEST_F(PoliciesTest, SeesTheRequestAndItsNamespace) {
  Bind();
  const auto made = Policy(
      {{"matchConstraints", Rules("", "configmaps", {"*"})},
       {"validations",
        Validation("request.operation == 'DELETE' ? oldObject.data.k == 'v' && object == null : "
                   "request.userInfo.username == 'admin' && request.namespace == 'default' && "
                   "namespaceObject.metadata.name == 'default' && request.kind.kind == 'ConfigMap' && "
                   "request.dryRun == false && request.options.kind == 'CreateOptions'")}});
  ASSERT_EQ(made.code, 201) << made.text;
  const auto answer = Create("a", {{"k", "v"}});
  EXPECT_EQ(answer.code, 201) << answer.text;
  const auto removed = hub_.Do("DELETE", ws_ + "/api/v1/namespaces/default/configmaps/a");
  EXPECT_EQ(removed.code, 200) << removed.text;
}

TEST_F(PoliciesTest, VariablesAreComputedWhenAskedFor) {
  Bind();
  ASSERT_EQ(Policy({{"variables", Json::array({{{"name", "size"}, {"expression", "int(object.data.size)"}},
                                               {{"name", "broken"}, {"expression", "object.absent.absent"}},
                                               {{"name", "odd"}, {"expression", "variables.size % 2 == 1"}}})},
                    {"validations", Validation("variables.odd || variables.broken")}}).code, 201);
  EXPECT_EQ(Create("a", {{"size", "3"}}).code, 201);
  const auto answer = Create("b", {{"size", "4"}});
  EXPECT_EQ(answer.code, 422);
  EXPECT_NE(answer.text.find("resulted in error: composited variable \\\"broken\\\" fails to evaluate"),
            std::string::npos) << answer.text;
}

TEST_F(PoliciesTest, ParametersByNameAndSelector) {
  ASSERT_EQ(Policy({{"paramKind", {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}},
                    {"matchConditions", Json::array({{{"name", "not-params"},
                                                      {"expression", "!object.metadata.name.startsWith('limit')"}}})},
                    {"validations", Validation("object.data.n <= params.data.most")}}).code, 201);
  Bind({{"paramRef", {{"name", "limit"}, {"namespace", "default"}, {"parameterNotFoundAction", "Deny"}}}});
  EXPECT_EQ(Create("a", {{"n", "1"}}).body["message"],
            "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding "
            "'b' denied request: failed to configure binding: no params found for policy binding "
            "with `Deny` parameterNotFoundAction");
  hub_.Do("PATCH", ws_ + kGroup + "validatingadmissionpolicybindings/b",
          {{"spec", {{"paramRef", {{"parameterNotFoundAction", "Allow"}}}}}}, "application/merge-patch+json");
  EXPECT_EQ(Create("a", {{"n", "1"}}).code, 201);
  ASSERT_EQ(Create("limit", {{"most", "5"}}).code, 201);
  EXPECT_EQ(Create("b", {{"n", "5"}}).code, 201);
  EXPECT_EQ(Create("c", {{"n", "6"}}).code, 422);

  // Every selected object must be satisfied.
  Json second = ConfigMap("limit2", {{"most", "3"}});
  second["metadata"]["labels"] = {{"limits", "yes"}};
  ASSERT_EQ(hub_.Do("POST", ws_ + "/api/v1/namespaces/default/configmaps", second).code, 201);
  hub_.Do("DELETE", ws_ + kGroup + "validatingadmissionpolicybindings/b");
  Bind({{"paramRef", {{"selector", {{"matchLabels", {{"limits", "yes"}}}}},
                      {"parameterNotFoundAction", "Deny"}}}});
  EXPECT_EQ(Create("c", {{"n", "3"}}).code, 201);
  EXPECT_EQ(Create("d", {{"n", "4"}}).code, 422);
}

TEST_F(PoliciesTest, WarnsAndNotesInsteadOfRefusing) {
  ASSERT_EQ(Policy({{"validations", Validation("false", {{"message", "mind"}})}}).code, 201);
  Bind({{"validationActions", {"Warn", "Audit"}}});
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 201);
  EXPECT_EQ(answer.headers.All("warning"),
            (std::vector<std::string_view>{
                "299 - \"Validation failed for ValidatingAdmissionPolicy 'p.example.com' with "
                "binding 'b': mind\""}));
}

TEST_F(PoliciesTest, BindingsNarrow) {
  ASSERT_EQ(Policy({{"validations", Validation("false")}}).code, 201);
  EXPECT_EQ(Create("unbound").code, 201);
  Bind({{"matchResources", {{"objectSelector", {{"matchLabels", {{"checked", "yes"}}}}}}}});
  EXPECT_EQ(Create("a").code, 201);
  Json labelled = ConfigMap("b");
  labelled["metadata"]["labels"] = {{"checked", "yes"}};
  EXPECT_EQ(hub_.Do("POST", ws_ + "/api/v1/namespaces/default/configmaps", labelled).code, 422);
}

TEST_F(PoliciesTest, FailuresAreIgnoredWhenThePolicySaysSo) {
  Bind();
  ASSERT_EQ(Policy({{"failurePolicy", "Ignore"}, {"validations", Validation("object.absent.absent == 1")}}).code, 201);
  EXPECT_EQ(Create("a").code, 201);
}

TEST_F(PoliciesTest, AsksWhatTheUserMay) {
  Bind();
  // A check is dear: an expression can afford two.
  const std::string secrets = ".group('').resource('secrets').namespace('default').check('create')";
  const auto made = Policy(
      {{"validations",
        Json::array({{{"expression", "authorizer" + secrets + ".allowed()"}},
                     {{"expression", "authorizer.requestResource.check('create').allowed()"}},
                     {{"expression", "!authorizer.serviceAccount('default', 'nobody')" + secrets +
                                         ".allowed()"}}})}});
  ASSERT_EQ(made.code, 201) << made.text;
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 201) << answer.text;
}

TEST_F(PoliciesTest, BombsAreCutOff) {
  Bind();
  const std::string list = "[0,1,2,3,4,5,6,7,8,9]";
  std::string bomb = "true";
  for (int i = 0; i < 9; ++i) bomb = list + ".all(x" + std::to_string(i) + ", " + bomb + ")";
  ASSERT_EQ(Policy({{"validations", Validation(bomb)}}).code, 201);
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 422);
  const std::string message = answer.body.value("message", "");
  EXPECT_NE(message.find("cost"), std::string::npos) << message;
}

TEST_F(PoliciesTest, ExpressionsAreCheckedWhenWritten) {
  struct Case {
    Json spec;
    std::string text;
  };
  const std::vector<Case> cases = {
      {{{"validations", Validation("nonsense")}}, "undeclared reference to 'nonsense'"},
      {{{"validations", Validation("1 + 1")}}, "must evaluate to bool"},
      {{{"validations", Validation("true", {{"messageExpression", "1"}})}}, "must evaluate to string"},
      {{{"validations", Validation("params.x")}}, "undeclared reference to 'params'"},
      {{{"validations", Validation("request.nonsense == ''")}}, "undefined field 'nonsense'"},
      {{{"validations", Json::array()}}, "validations or auditAnnotations must contain at least one item"},
      {{{"validations", Validation("true")}, {"variables", Json::array({{{"name", "a-b"}, {"expression", "1"}}})}},
       "must be a valid CEL identifier"},
      {{{"validations", Validation("true")}, {"matchConditions", Json::array({{{"name", "x"}, {"expression", "("}}})}},
       "Syntax error"},
      {{{"validations", Validation("true")}, {"matchConstraints", Json::object()}},
       "spec.matchConstraints.resourceRules: Required value"},
  };
  for (const Case& one : cases) {
    const auto answer = Policy(one.spec);
    EXPECT_EQ(answer.code, 422) << one.spec;
    EXPECT_NE(answer.text.find(one.text), std::string::npos) << answer.text;
  }
}

TEST_F(PoliciesTest, TypesAreCheckedIntoTheStatus) {
  const auto good = Policy({{"matchConstraints", Rules("apps", "deployments")},
                            {"validations", Validation("object.spec.replicas > 1")}}, "good.example.com");
  ASSERT_EQ(good.code, 201) << good.text;
  EXPECT_EQ(good.body["status"]["typeChecking"], Json::object());
  EXPECT_EQ(good.body["status"]["observedGeneration"], 1);
  const auto bad = Policy({{"matchConstraints", Rules("apps", "deployments")},
                           {"validations", Validation("object.spec.replicas > '1'",
                                                      {{"messageExpression", "'got ' + object.spec.replicas"}})}});
  ASSERT_EQ(bad.code, 201) << bad.text;
  const Json& warnings = bad.body["status"]["typeChecking"]["expressionWarnings"];
  ASSERT_EQ(warnings.size(), 2u) << bad.text;
  EXPECT_EQ(warnings[0]["fieldRef"], "spec.validations[0].expression");
  EXPECT_NE(warnings[0]["warning"].get<std::string>().find(
                "found no matching overload for '_>_' applied to '(int, string)'"), std::string::npos)
      << warnings;
  EXPECT_EQ(warnings[1]["fieldRef"], "spec.validations[0].messageExpression");
}

TEST_F(PoliciesTest, MutatesByApplyConfigurationAndPatch) {
  const auto made = Mutator(
      {{"mutations", Json::array(
            {{{"patchType", "ApplyConfiguration"},
              {"applyConfiguration",
               {{"expression", "Object{metadata: Object.metadata{labels: {'by': 'policy'}}}"}}}},
             {{"patchType", "JSONPatch"},
              {"jsonPatch",
               {{"expression", "[JSONPatch{op: 'add', path: '/data/seen', value: object.metadata.labels['by']}]"}}}}})}});
  ASSERT_EQ(made.code, 201) << made.text;
  BindMutator();
  const auto answer = Create("a", {{"k", "v"}});
  ASSERT_EQ(answer.code, 201) << answer.text;
  EXPECT_EQ(answer.body["metadata"]["labels"]["by"], "policy");
  EXPECT_EQ(answer.body["data"], (Json{{"k", "v"}, {"seen", "policy"}}));
}

TEST_F(PoliciesTest, MutatesADeploymentAsTheConformanceTestsDo) {
  ASSERT_EQ(Mutator({{"matchConstraints", Rules("apps", "deployments")},
                     {"mutations", Json::array({{{"patchType", "ApplyConfiguration"},
                                                 {"applyConfiguration", {{"expression", "Object{spec: Object.spec{replicas: 1337}}"}}}}})}})
                .code, 201);
  BindMutator();
  const Json labels = {{"app", "d"}};
  const auto made = hub_.Do(
      "POST", ws_ + "/apis/apps/v1/namespaces/default/deployments",
      {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", "d"}}},
       {"spec", {{"replicas", 1}, {"selector", {{"matchLabels", labels}}},
                 {"template", {{"metadata", {{"labels", labels}}},
                               {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}}}}}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["spec"]["replicas"], 1337);
}

Json Applies(const std::string& expression) {
  return Json::array({{{"patchType", "ApplyConfiguration"},
                       {"applyConfiguration", {{"expression", expression}}}}});
}

TEST_F(PoliciesTest, AMutatorIsAskedAgainWhenAnotherChangedTheObject) {
  const std::string looks =
      "has(object.metadata.labels) && 'late' in object.metadata.labels"
      " ? Object{metadata: Object.metadata{labels: {'KEY': 'seen'}}} : Object{}";
  for (const auto& [name, policy] : {std::pair{"again", "IfNeeded"}, std::pair{"once", "Never"}}) {
    std::string expression = looks;
    expression.replace(expression.find("KEY"), 3, name);
    const auto made = Mutator({{"mutations", Applies(expression)}, {"reinvocationPolicy", policy}},
                              std::string("a-") + name);
    ASSERT_EQ(made.code, 201) << made.text;
    BindMutator(std::string("a-") + name, name);
  }
  ASSERT_EQ(Mutator({{"mutations",
                      Applies("Object{metadata: Object.metadata{labels: {'late': 'yes'}}}")}},
                    "z-late").code, 201);
  BindMutator("z-late", "late");
  const auto answer = Create("a");
  ASSERT_EQ(answer.code, 201) << answer.text;
  EXPECT_EQ(answer.body["metadata"]["labels"], (Json{{"late", "yes"}, {"again", "seen"}}));
}

TEST_F(PoliciesTest, MutatorsTakeParameters) {
  ASSERT_EQ(Create("settings", {{"team", "blue"}}).code, 201);
  ASSERT_EQ(Mutator({{"paramKind", {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}},
                     {"mutations", Applies("Object{metadata: Object.metadata{labels: {'team': "
                                           "params.data.team}}}")}}).code, 201);
  BindMutator("m.example.com", "mb",
              {{"paramRef", {{"name", "settings"}, {"namespace", "default"},
                             {"parameterNotFoundAction", "Deny"}}}});
  const auto answer = Create("a");
  ASSERT_EQ(answer.code, 201) << answer.text;
  EXPECT_EQ(answer.body["metadata"]["labels"]["team"], "blue");
}

// A rule for one version sees, and may change, what is written through another.
TEST_F(PoliciesTest, MutatorsMatchEquivalentVersions) {
  Json rules = Rules("autoscaling", "horizontalpodautoscalers");
  rules["resourceRules"][0]["apiVersions"] = {"v2"};
  ASSERT_EQ(Mutator({{"matchConstraints", rules},
                     {"mutations", Applies("Object{spec: Object.spec{maxReplicas: "
                                           "int(object.spec.metrics[0].resource.target"
                                           ".averageUtilization)}}")}}).code, 201);
  BindMutator();
  const Json target = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "d"}};
  const auto made = hub_.Do(
      "POST", ws_ + "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
      {{"apiVersion", "autoscaling/v1"}, {"kind", "HorizontalPodAutoscaler"},
       {"metadata", {{"name", "h"}}},
       {"spec", {{"maxReplicas", 3}, {"targetCPUUtilizationPercentage", 42},
                 {"scaleTargetRef", target}}}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["spec"]["maxReplicas"], 42);
  EXPECT_EQ(made.body["spec"]["targetCPUUtilizationPercentage"], 42);
}

TEST_F(PoliciesTest, APolicyThatCannotMutateRefuses) {
  ASSERT_EQ(Mutator({{"mutations", Json::array({{{"patchType", "JSONPatch"},
                                                 {"jsonPatch", {{"expression", "[JSONPatch{op: 'remove', path: '/data/absent'}]"}}}}})}})
                .code, 201);
  BindMutator();
  const auto answer = Create("a");
  EXPECT_EQ(answer.code, 403) << answer.text;
  EXPECT_TRUE(answer.body["message"].get<std::string>().starts_with(
      "policy 'm.example.com' with binding 'mb' denied request: JSON Patch: ")) << answer.text;
}

TEST_F(PoliciesTest, MatchConditionsOfWebhooks) {
  WebhookStand stand([](const Json&) { return Json{{"allowed", false}}; });
  Json hook = stand.Hook("a.example.com");
  hook["matchConditions"] = Json::array({{{"name", "big"}, {"expression", "size(object.data) > 1"}}});
  const auto made = hub_.Do("POST", ws_ + kGroup + "validatingwebhookconfigurations",
                            WebhookConfiguration("ValidatingWebhookConfiguration", "v", Json::array({hook})));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(Create("a", {{"x", "1"}}).code, 201);
  EXPECT_EQ(Create("b", {{"x", "1"}, {"y", "2"}}).code, 400);
  // No data: the condition has no value, and the webhook does not say Ignore.
  const auto broken = Create("c");
  EXPECT_EQ(broken.code, 403) << broken.text;
}

TEST_F(PoliciesTest, AreForgottenWithTheirWorkspace) {
  Policy({{"validations", Validation("true")}});
  Bind();
  Configurations configurations(hub_.server().dispatcher().hub().store);
  const std::weak_ptr<const Configuration> parsed = configurations.Of(Workspace("c1"));
  ASSERT_FALSE(parsed.expired());
  configurations.Forget(Workspace("c1"));
  EXPECT_TRUE(parsed.expired());
}

TEST_F(PoliciesTest, InertInWorkloadWorkspaces) {
  for (const char* type : {"wds", "mailbox"}) {
    ws_ = hub_.NewWorkspace(std::string("payload-") + type, type);
    ASSERT_EQ(Policy({{"validations", Validation("false")}}).code, 201);
    Bind();
    EXPECT_EQ(Create("a").code, 201);
  }
}

}  // namespace
}  // namespace mailroom::admission
