#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kValidating = {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"};
const GroupVersionKind kMutating = {"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"};
const GroupVersionKind kPolicy = {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"};
const GroupVersionKind kBinding = {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"};
const GroupVersionKind kMutatingPolicy = {"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy"};
const GroupVersionKind kMutatingBinding = {"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding"};

TEST(ValidateAdmission, ChecksWebhooks) {
  ExpectFaults(std::vector<NewCase>{
      {kValidating,
       "{webhooks: [{}]}",
       {"webhooks[0].name: Required value",
        "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
        "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
        "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"}},
      {kValidating,
       "{webhooks: [{name: a.b, sideEffects: '', failurePolicy: '', matchPolicy: '', "
       "timeoutSeconds: 31, clientConfig: {url: 'http://u@/?a#b', service: {}}, "
       "admissionReviewVersions: [v1, v1, V]}]}",
       {"webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three "
        "segments separated by dots",
        "webhooks[0].failurePolicy: Unsupported value: \"\": supported values: \"Fail\", "
        "\"Ignore\"",
        "webhooks[0].matchPolicy: Unsupported value: \"\": supported values: \"Equivalent\", "
        "\"Exact\"",
        "webhooks[0].sideEffects: Unsupported value: \"\": supported values: \"None\", "
        "\"NoneOnDryRun\"",
        "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 "
        "and 30 seconds",
        "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
        "webhooks[0].admissionReviewVersions[1]: Invalid value: \"v1\": duplicate version",
        "webhooks[0].admissionReviewVersions[2]: Invalid value: \"V\": a DNS-1035 label must "
        "consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
        "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"}},
      {kMutating,
       "{webhooks: [{name: a.b.c, sideEffects: Some, reinvocationPolicy: '', clientConfig: "
       "{service: {path: 'a//b', port: 0}}, admissionReviewVersions: [v2]}, {name: a.b.c, "
       "sideEffects: None, clientConfig: {url: 'https://a'}, admissionReviewVersions: [v1]}]}",
       {"webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", "
        "\"NoneOnDryRun\"",
        "webhooks[0].reinvocationPolicy: Unsupported value: \"\": supported values: "
        "\"IfNeeded\", \"Never\"",
        "webhooks[0].clientConfig.service.name: Required value",
        "webhooks[0].clientConfig.service.namespace: Required value",
        "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be "
        "between 1 and 65535, inclusive",
        "webhooks[0].clientConfig.service.path: Invalid value: \"a//b\": must start with a '/'",
        "webhooks[0].clientConfig.service.path: Invalid value: \"a//b\": segment[0] may not be "
        "empty",
        "webhooks[0].clientConfig.service.path: Invalid value: \"a//b\": segment[1] may not be "
        "empty",
        "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least "
        "one of v1, v1beta1",
        "webhooks[1].name: Duplicate value: \"a.b.c\""}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}, rules: [{operations: [CREATE, '*', ''], apiGroups: "
       "['*', a], apiVersions: ['', '*'], resources: ['', a, '*', a/*, a/b, '*/*', '*/c', d/c], "
       "scope: ''}, {}]}]}",
       {"webhooks[0].rules[0].operations: Invalid value: [\"CREATE\",\"*\",\"\"]: if '*' is "
        "present, must not specify other operations",
        "webhooks[0].rules[0].operations[2]: Unsupported value: \"\": supported values: \"*\", "
        "\"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
        "webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must "
        "not specify other API groups",
        "webhooks[0].rules[0].apiVersions: Invalid value: [\"\",\"*\"]: if '*' is present, "
        "must not specify other API versions",
        "webhooks[0].rules[0].apiVersions[0]: Required value",
        "webhooks[0].rules[0].resources[0]: Required value",
        "webhooks[0].rules[0].resources[4]: Invalid value: \"a/b\": if 'a/*' is present, must "
        "not specify a/b",
        "webhooks[0].rules[0].resources[6]: Invalid value: \"*/c\": if '*/*' is present, must "
        "not specify */c",
        "webhooks[0].rules[0].resources[7]: Invalid value: \"d/c\": if '*/c' is present, must "
        "not specify d/c",
        "webhooks[0].rules[0].resources: Invalid value: "
        "[\"\",\"a\",\"*\",\"a/*\",\"a/b\",\"*/*\",\"*/c\",\"d/c\"]: if '*/*' is present, must "
        "not specify other resources",
        "webhooks[0].rules[0].scope: Unsupported value: \"\": supported values: \"*\", "
        "\"Cluster\", \"Namespaced\"",
        "webhooks[0].rules[1].operations: Required value",
        "webhooks[0].rules[1].apiGroups: Required value",
        "webhooks[0].rules[1].apiVersions: Required value",
        "webhooks[0].rules[1].resources: Required value"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}, matchConditions: [{}, {name: 'a b', expression: 'x'}, "
       "{name: c, expression: '1'}, {name: c, expression: ' true '}]}]}",
       {"webhooks[0].matchConditions[0].expression: Required value",
        "webhooks[0].matchConditions[0].name: Required value",
        "webhooks[0].matchConditions[1].expression: Invalid value: \"x\": compilation failed: "
        "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^",
        "webhooks[0].matchConditions[1].name: Invalid value: \"a b\": name part must consist "
        "of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "webhooks[0].matchConditions[2].expression: Invalid value: \"1\": must evaluate to "
        "bool but got int",
        "webhooks[0].matchConditions[3].name: Duplicate value: \"c\""}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}, namespaceSelector: {matchLabels: {a: 'b c'}}, "
       "objectSelector: {matchExpressions: [{key: a, operator: In}, {key: b, operator: Foo}]}}]}",
       {"webhooks[0].namespaceSelector.matchLabels: Invalid value: \"b c\": a valid label must "
        "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
        "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "webhooks[0].objectSelector.matchExpressions[0].values: Required value: must be "
        "specified when `operator` is 'In' or 'NotIn'",
        "webhooks[0].objectSelector.matchExpressions[1].operator: Invalid value: \"Foo\": not "
        "a valid selector operator"}},
  });
}

TEST(ValidateAdmission, ChecksPolicies) {
  ExpectFaults(std::vector<NewCase>{
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {failurePolicy: '', matchConstraints: {matchPolicy: "
       "''}}}",
       {"spec.failurePolicy: Unsupported value: \"\": supported values: \"Fail\", \"Ignore\"",
        "spec.matchConstraints.matchPolicy: Unsupported value: \"\": supported values: "
        "\"Equivalent\", \"Exact\"",
        "spec.matchConstraints.resourceRules: Required value",
        "spec.validations: Required value: validations or auditAnnotations must contain at "
        "least one item",
        "spec.auditAnnotations: Required value: validations or auditAnnotations must contain "
        "at least one item"}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {}}",
       {"spec.matchConstraints: Required value",
        "spec.validations: Required value: validations or auditAnnotations must contain at "
        "least one item",
        "spec.auditAnnotations: Required value: validations or auditAnnotations must contain "
        "at least one item"}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: 'true'}], paramKind: {apiVersion: a/b/c, kind: A_}}}",
       {"spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: "
        "a/b/c",
        "spec.paramKind.kind: Invalid value: \"A_\": may have mixed case, but should otherwise "
        "match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
        "start with an alphabetic character, and end with an alphanumeric character (e.g. "
        "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: 'true'}], paramKind: {apiVersion: A/, kind: ''}}}",
       {"spec.paramKind.apiVersion: Invalid value: \"A\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.paramKind.apiVersion: Invalid value: \"A/\": version must be specified",
        "spec.paramKind.kind: Required value"}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: 'true'}], paramKind: {apiVersion: a.b/V_1, kind: Foo}}}",
       {"spec.paramKind.apiVersion: Invalid value: \"V_1\": a DNS-1035 label must consist of "
        "lower case alphanumeric characters or '-', start with an alphabetic character, and "
        "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
        "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods], resourceNames: [a, a, "
       "b/c]}]}, validations: [{expression: 'true'}]}}",
       {"spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: \"a\"",
        "spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: \"b/c\": may "
        "not contain '/'"}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, variables: [{name: "
       "' ', expression: ' '}, {name: a-b, expression: '1'}, {name: x, expression: ' y'}], "
       "validations: [{expression: ' variables.x', message: ' ', reason: ''}, {expression: ' "
       "true', message: \"a\\nb\", messageExpression: ' '}, {expression: '1', "
       "messageExpression: ' 1', reason: Unauthorized}]}}",
       {"spec.variables[0].name: Required value: name is not specified",
        "spec.variables[0].expression: Required value: expression is not specified",
        "spec.variables[1].name: Invalid value: \"a-b\": must be a valid CEL identifier",
        "spec.variables[2].expression: Invalid value: \" y\": compilation failed: ERROR: "
        "<input>:1:2: undeclared reference to 'y' (in container '')\n |  y\n | .^",
        "spec.validations[0].expression: Invalid value: \" variables.x\": must evaluate to "
        "bool but got dyn",
        "spec.validations[0].message: Invalid value: \" \": must be non-empty if specified",
        "spec.validations[0].reason: Unsupported value: \"\": supported values: \"Forbidden\", "
        "\"Invalid\", \"RequestEntityTooLarge\"",
        "spec.validations[1].messageExpression: Invalid value: \" \": must be non-empty if "
        "specified",
        "spec.validations[1].message: Invalid value: \"a\\nb\": must not contain line breaks",
        "spec.validations[2].expression: Invalid value: \"1\": must evaluate to bool but got "
        "int",
        "spec.validations[2].messageExpression: Invalid value: \" 1\": must evaluate to string "
        "but got int",
        "spec.validations[2].reason: Unsupported value: \"Unauthorized\": supported values: "
        "\"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\""}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, auditAnnotations: "
       "[{key: 'a b', valueExpression: ''}, {key: c, valueExpression: '1'}, {key: c, "
       "valueExpression: \"'x'\"}]}}",
       {"spec.auditAnnotations[0].key: Invalid value: \"h1-case/a b\": name part must consist "
        "of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not "
        "specified",
        "spec.auditAnnotations[1].valueExpression: Invalid value: \"1\": must evaluate to one "
        "of [string null_type] but got int",
        "spec.auditAnnotations[2].key: Duplicate value: \"c\""}},
      {kPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: 'true'}], matchConditions: [{name: a, expression: params.x}, {name: b, "
       "expression: '  1'}]}}",
       {"spec.matchConditions[0].expression: Invalid value: \"params.x\": compilation failed: "
        "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x\n "
        "| ^",
        "spec.matchConditions[1].expression: Invalid value: \"1\": must evaluate to bool but "
        "got int"}},
  });
}

TEST(ValidateAdmission, ChecksMutations) {
  ExpectFaults(std::vector<NewCase>{
      {kMutatingPolicy,
       "{metadata: {name: h1-case}, spec: {}}",
       {"spec.matchConstraints: Required value",
        "spec.mutations: Required value: mutations must contain at least one item",
        "spec.reinvocationPolicy: Required value"}},
      {kMutatingPolicy,
       "{metadata: {name: h1-case}, spec: {matchConstraints: {resourceRules: [{operations: "
       "[CREATE, DELETE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, "
       "reinvocationPolicy: Foo, mutations: [{}, {patchType: Foo}, {patchType: JSONPatch, "
       "applyConfiguration: {expression: a}}, {patchType: ApplyConfiguration, "
       "applyConfiguration: {}, jsonPatch: {}}, {patchType: JSONPatch, jsonPatch: {expression: "
       "'1'}}, {patchType: ApplyConfiguration, applyConfiguration: {expression: '1'}}]}}",
       {"spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": "
        "supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"",
        "spec.mutations[0].patchType: Required value",
        "spec.mutations[1].patchType: Unsupported value: \"Foo\": supported values: "
        "\"ApplyConfiguration\", \"JSONPatch\"",
        "spec.mutations[2].jsonPatch: Required value: must be specified when patchType is "
        "JSONPatch",
        "spec.mutations[2].applyConfiguration: Invalid value: \"{applyConfiguration}\": must "
        "not be specified when patchType is JSONPatch",
        "spec.mutations[3].applyConfiguration.expression: Required value",
        "spec.mutations[3].jsonPatch: Invalid value: \"{jsonPatch}\": must not be specified "
        "when patchType is ApplyConfiguration",
        "spec.mutations[4].jsonPatch.expression: Invalid value: \"1\": must evaluate to "
        "list(JSONPatch) but got int",
        "spec.mutations[5].applyConfiguration.expression: Invalid value: \"1\": must evaluate "
        "to Object but got int",
        "spec.reinvocationPolicy: Unsupported value: \"Foo\": supported values: \"IfNeeded\", "
        "\"Never\""}},
  });
}

TEST(ValidateAdmission, ChecksBindings) {
  ExpectFaults(std::vector<NewCase>{
      {kBinding,
       "{spec: {}}",
       {"spec.policyName: Required value",
        "spec.validationActions: Required value: at least one validation action is required"}},
      {kBinding,
       "{spec: {policyName: A_, validationActions: [Deny, Warn, Foo, Deny], paramRef: {name: "
       "a/b, selector: {matchLabels: {a: 'b c'}}, parameterNotFoundAction: Foo}, "
       "matchResources: {matchPolicy: Foo, resourceRules: [{}]}}}",
       {"spec.policyName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.paramRef.name: Invalid value: \"a/b\": may not contain '/'",
        "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
        "spec.paramRef.selector.matchLabels: Invalid value: \"b c\": a valid label must be an "
        "empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
        "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
        "spec.paramRef.parameterNotFoundAction: Unsupported value: \"Foo\": supported values: "
        "\"Deny\", \"Allow\"",
        "spec.matchResources.matchPolicy: Unsupported value: \"Foo\": supported values: "
        "\"Equivalent\", \"Exact\"",
        "spec.matchResources.resourceRules[0].operations: Required value",
        "spec.matchResources.resourceRules[0].apiGroups: Required value",
        "spec.matchResources.resourceRules[0].apiVersions: Required value",
        "spec.matchResources.resourceRules[0].resources: Required value",
        "spec.validationActions[2]: Unsupported value: \"Foo\": supported values: \"Audit\", "
        "\"Deny\", \"Warn\"",
        "spec.validationActions[3]: Duplicate value: \"Deny\"",
        "spec.validationActions: Invalid value: [\"Deny\",\"Warn\",\"Foo\",\"Deny\"]: must not "
        "contain both Deny and Warn (repeating the same validation failure information in the "
        "API response and headers serves no purpose)"}},
      {kBinding,
       "{spec: {policyName: a, validationActions: [Deny], paramRef: {}}}",
       {"spec.paramRef: Required value: one of name or selector must be specified",
        "spec.paramRef.parameterNotFoundAction: Required value"}},
      {kMutatingBinding,
       "{spec: {}}",
       {"spec.policyName: Required value"}},
      {kMutatingBinding,
       "{spec: {policyName: a, matchResources: {resourceRules: [{operations: [DELETE], "
       "apiGroups: [a], apiVersions: [b], resources: [c]}]}}}",
       {"spec.matchResources.resourceRules.operations: Unsupported value: \"DELETE\": "
        "supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\""}},
  });
}

// What is only known when it runs is no answer.
TEST(ValidateAdmission, WantsResultsOfTheRightType) {
  struct Row {
    const char *expression, *got;  // "" when it will do
  };
  const std::string match =
      "matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], "
      "resources: [pods]}]}, ";
  const std::vector<Row> validations = {
      {"object.spec.x", "dyn"},
      {"object.spec.x && true", ""},
      {"has(object.x) ? object.x : true", "dyn"},
      {"variables.v", "dyn"},
      {"variables.v || false", ""},
      {"[1,2].all(x, object.y)", ""},
      {"object.x.exists(i, i)", ""},
      {"dyn(true)", "dyn"},
      {"optional.of(true).orValue(false)", ""},
      {"object.?spec.x.orValue(true)", "dyn"},
      {"[true][0]", ""},
      {"{\"a\": true}.a", ""},
      {"request.dryRun", ""},
      {"!object.x", ""},
      {"object.x in object.y", ""},
  };
  for (const Row& row : validations) {
    const std::string object = "{metadata: {name: a}, spec: {" + match +
                               "variables: [{name: v, expression: object.a}], validations: [{expression: '" +
                               row.expression + "'}]}}";
    std::vector<std::string> expected;
    if (*row.got != '\0') {
      expected.push_back(std::string("spec.validations[0].expression: Invalid value: \"") + row.expression +
                         "\": must evaluate to bool but got " + row.got);
    }
    EXPECT_EQ(FaultsOf(kPolicy, nullptr, object.c_str()), expected);
  }
  const std::string patch = "JSONPatch{op: \"add\", path: \"/a\", value: 1}";
  const std::vector<std::pair<std::string, std::string>> mutations = {
      {"[]", "list(dyn)"},     {"true ? [" + patch + "] : []", ""}, {"[" + patch + "] + []", ""},
      {"object.x", "dyn"},     {"[object.x]", "list(dyn)"},         {"[1].map(x, " + patch + ")", ""},
  };
  for (const auto& [expression, got] : mutations) {
    const std::string object = "{metadata: {name: a}, spec: {" + match +
                               "reinvocationPolicy: Never, mutations: [{patchType: JSONPatch, jsonPatch: "
                               "{expression: '" + expression + "'}}]}}";
    const std::string prefix = "spec.mutations[0].jsonPatch.expression: Invalid value: ";
    std::vector<std::string> expected;
    if (!got.empty()) {
      expected.push_back(prefix + Quoted(expression) + ": must evaluate to list(JSONPatch) but got " + got);
    }
    EXPECT_EQ(FaultsOf(kMutatingPolicy, nullptr, object.c_str()), expected);
  }
}

// Each expression is compiled beside the variables that it names, however many there are and however
// long it takes to write down their types.
TEST(ValidateAdmission, ManyVariablesAreNoBurden) {
  constexpr int kMany = 1000;
  Json variables = Json::array(), validations = Json::array();
  for (int i = 0; i < kMany; ++i) {
    const std::string name = "v" + std::to_string(i);
    const std::string inner = i == 0 ? "request.name" : "variables.v" + std::to_string(i - 1);
    variables.push_back({{"name", name}, {"expression", "[" + inner + "]"}});
    validations.push_back({{"expression", "size(variables." + name + ") == 1"}});
  }
  validations.push_back({{"expression", "variables.v1[0][0].startsWith('a') && variables.v == 1"}});
  const Json rule = {{"operations", {"CREATE"}}, {"apiGroups", {""}}, {"apiVersions", {"v1"}}, {"resources", {"pods"}}};
  const Json policy = {{"metadata", {{"name", "a"}}},
                       {"spec", {{"variables", variables},
                                 {"validations", validations},
                                 {"matchConstraints", {{"resourceRules", Json::array({rule})}}}}}};
  const auto faults = FaultsOf(kPolicy, nullptr, DumpJson(policy).c_str());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].find("<input>:1:48: undefined field 'v'"), std::string::npos) << faults[0];
}

}  // namespace
}  // namespace mailroom::openapi
