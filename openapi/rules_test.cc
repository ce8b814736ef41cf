// CEL rules of definitions: what is refused when a definition is written, what objects violate.
#include "openapi/rules.h"

#include <gtest/gtest.h>

#include "openapi/crd.h"
#include "openapi/validate.h"
#include "storage/object/json.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

// A definition whose spec has this schema.
Json Definition(const std::string& spec) {
  std::string indented;
  for (std::size_t at = 0; at < spec.size();) {
    const std::size_t end = std::min(spec.find('\n', at), spec.size());
    indented += "              " + spec.substr(at, end - at) + "\n";
    at = end + 1;
  }
  auto crd = ParseYaml(
      "apiVersion: apiextensions.k8s.io/v1\n"
      "kind: CustomResourceDefinition\n"
      "metadata: {name: things.example.com}\n"
      "spec:\n"
      "  group: example.com\n"
      "  scope: Namespaced\n"
      "  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}\n"
      "  conversion: {strategy: None}\n"
      "  versions:\n"
      "  - name: v1\n"
      "    served: true\n"
      "    storage: true\n"
      "    schema:\n"
      "      openAPIV3Schema:\n"
      "        type: object\n"
      "        properties:\n"
      "          status:\n"
      "            type: object\n"
      "            x-kubernetes-preserve-unknown-fields: true\n"
      "          spec:\n" +
      ("            " + indented.substr(12)));
  EXPECT_TRUE(crd.ok()) << crd.error().message();
  return *crd;
}

std::string Text(const std::vector<Cause>& causes) {
  std::string out;
  for (const Cause& cause : causes) out += cause.field + ": " + cause.message + "\n";
  return out;
}

std::string Refusal(const std::string& spec) { return Text(ValidateCrd(Definition(spec), nullptr)); }

// What objects with this spec (and the old one, when given) violate.
std::string Violations(const std::string& schema, const std::string& spec,
                       const std::string& old_spec = "") {
  auto types = TypesOfCrd(Definition(schema));
  if (!types.ok()) return types.error().message();
  auto make = [](const std::string& text) {
    auto tree = ParseYaml("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: " +
                          text + "\n");
    EXPECT_TRUE(tree.ok()) << text;
    return *tree;
  };
  const Json object = make(spec);
  if (old_spec.empty()) return Text(ValidateObject(*types->front(), object, nullptr));
  const Json old = make(old_spec);
  return Text(ValidateObject(*types->front(), object, &old));
}

constexpr const char* kPath =
    "spec.validation.openAPIV3Schema.properties[spec]";

TEST(CrdRules, ViolationNamesTheRule) {
  const char* schema =
      "type: object\n"
      "x-kubernetes-validations:\n"
      "- rule: self.min <= self.max\n"
      "properties:\n"
      "  min: {type: integer}\n"
      "  max: {type: integer}\n"
      "  size:\n"
      "    type: integer\n"
      "    x-kubernetes-validations:\n"
      "    - {rule: self > 3, message: ' too small '}\n"
      "  name:\n"
      "    type: string\n"
      "    x-kubernetes-validations:\n"
      "    - {rule: self != 'x', messageExpression: \"'no ' + self\"}\n";
  EXPECT_EQ(Refusal(schema), "");
  EXPECT_EQ(Violations(schema, "{min: 1, max: 2}"), "");
  EXPECT_EQ(Violations(schema, "{min: 3, max: 2}"),
            "spec: Invalid value: failed rule: self.min <= self.max\n");
  EXPECT_EQ(Violations(schema, "{min: 1, max: 2, size: 3}"),
            "spec.size: Invalid value: 3: too small\n");
  EXPECT_EQ(Violations(schema, "{min: 1, max: 2, name: x}"),
            "spec.name: Invalid value: \"x\": no x\n");
  EXPECT_EQ(Violations(schema, "{min: 1}"),
            "spec: Invalid value: \"object\": no such key: max evaluating rule: self.min <= "
            "self.max\n");
}

TEST(CrdRules, SchemaErrorsComeFirst) {
  const char* schema =
      "type: object\n"
      "x-kubernetes-validations:\n"
      "- rule: self.min <= 3\n"
      "properties:\n"
      "  min: {type: integer}\n";
  EXPECT_EQ(Violations(schema, "{min: a}"),
            "spec.min: Invalid value: \"string\": spec.min in body must be of type integer: "
            "\"string\"\n"
            "<nil>: Invalid value: null: some validation rules were not checked because the "
            "object was invalid; correct the existing errors to complete validation\n");
}

TEST(CrdRules, ReasonsAndFieldPaths) {
  const char* schema =
      "type: object\n"
      "x-kubernetes-validations:\n"
      "- {rule: 'has(self.a)', message: a is missing, reason: FieldValueRequired, fieldPath: .a}\n"
      "- {rule: '!has(self.b)', message: no b, reason: FieldValueForbidden, fieldPath: .b}\n"
      "- {rule: '!has(self.c)', reason: FieldValueDuplicate, fieldPath: \".c['d']\"}\n"
      "properties:\n"
      "  a: {type: string}\n"
      "  b: {type: string}\n"
      "  c: {type: object, additionalProperties: {type: string}}\n";
  EXPECT_EQ(Refusal(schema), "");
  EXPECT_EQ(Violations(schema, "{b: x, c: {d: 'y'}}"),
            "spec.a: Required value: a is missing\n"
            "spec.b: Forbidden: no b\n"
            "spec.c[d]: Duplicate value\n");
}

TEST(CrdRules, TransitionRules) {
  const char* schema =
      "type: object\n"
      "properties:\n"
      "  id:\n"
      "    type: string\n"
      "    x-kubernetes-validations:\n"
      "    - {rule: self == oldSelf, message: id is immutable}\n"
      "  ports:\n"
      "    type: array\n"
      "    maxItems: 10\n"
      "    x-kubernetes-list-type: map\n"
      "    x-kubernetes-list-map-keys: [name]\n"
      "    items:\n"
      "      type: object\n"
      "      required: [name]\n"
      "      properties:\n"
      "        name: {type: string, maxLength: 20}\n"
      "        port:\n"
      "          type: integer\n"
      "          x-kubernetes-validations:\n"
      "          - {rule: self >= oldSelf, message: ports only grow}\n"
      "  once:\n"
      "    type: integer\n"
      "    x-kubernetes-validations:\n"
      "    - {rule: 'oldSelf.hasValue() || self == 1', optionalOldSelf: true, message: starts at "
      "one}\n";
  EXPECT_EQ(Refusal(schema), "");
  EXPECT_EQ(Violations(schema, "{id: a}"), "");
  EXPECT_EQ(Violations(schema, "{id: b}", "{id: a}"),
            "spec.id: Invalid value: \"b\": id is immutable\n");
  EXPECT_EQ(Violations(schema, "{id: a}", "{id: a}"), "");
  EXPECT_EQ(Violations(schema, "{ports: [{name: b, port: 1}, {name: a, port: 1}]}",
                       "{ports: [{name: a, port: 2}]}"),
            "spec.ports[1].port: Invalid value: 1: ports only grow\n");
  EXPECT_EQ(Violations(schema, "{once: 2}"), "spec.once: Invalid value: 2: starts at one\n");
  EXPECT_EQ(Violations(schema, "{once: 2}", "{once: 1}"), "");
}

TEST(CrdRules, UnchangedPartsAreForgiven) {
  const char* schema =
      "type: object\n"
      "properties:\n"
      "  a:\n"
      "    type: object\n"
      "    properties: {'n': {type: integer}, m: {type: integer}}\n"
      "    x-kubernetes-validations:\n"
      "    - rule: self.n > 3\n"
      "  list:\n"
      "    type: array\n"
      "    maxItems: 5\n"
      "    items:\n"
      "      type: integer\n"
      "      x-kubernetes-validations:\n"
      "      - rule: self > 3\n"
      "  b: {type: string}\n";
  EXPECT_EQ(Violations(schema, "{a: {'n': 1}, b: x}", "{a: {'n': 1}}"), "");
  EXPECT_EQ(Violations(schema, "{a: {'n': 1, m: 2}}", "{a: {'n': 1}}"),
            "spec.a: Invalid value: failed rule: self.n > 3\n");
  EXPECT_EQ(Violations(schema, "{list: [1], b: x}", "{list: [1]}"), "");
  EXPECT_EQ(Violations(schema, "{list: [1, 4]}", "{list: [1]}"),
            "spec.list[0]: Invalid value: 1: failed rule: self > 3\n");
}

TEST(CrdRules, ShapesOfValues) {
  const char* schema =
      "type: object\n"
      "x-kubernetes-validations:\n"
      "- rule: \"!has(self.when) || self.when > timestamp('2020-01-01T00:00:00Z')\"\n"
      "- rule: \"!has(self.wait) || self.wait < duration('1h')\"\n"
      "- rule: \"!has(self.data) || size(self.data) == 3\"\n"
      "- rule: \"!has(self.port) || (type(self.port) == int ? self.port > 0 : self.port != '')\"\n"
      "- rule: \"!has(self.set) || self.set == ['b', 'a']\"\n"
      "- rule: \"!has(self.a__dash__b) || self.a__dash__b == 'x'\"\n"
      "- rule: \"!has(self.__namespace__) || self.__namespace__ == 'x'\"\n"
      "- rule: \"!has(self.ratio) || self.ratio < 2.0\"\n"
      "- rule: \"!has(self.none) || self.none == 'never'\"\n"
      "properties:\n"
      "  when: {type: string, format: date-time}\n"
      "  wait: {type: string, format: duration}\n"
      "  data: {type: string, format: byte}\n"
      "  port: {x-kubernetes-int-or-string: true}\n"
      "  set:\n"
      "    type: array\n"
      "    x-kubernetes-list-type: set\n"
      "    items: {type: string}\n"
      "  a-b: {type: string}\n"
      "  namespace: {type: string}\n"
      "  ratio: {type: number}\n"
      "  none: {type: string, nullable: true}\n";
  EXPECT_EQ(Refusal(schema), "");
  EXPECT_EQ(Violations(schema, "{when: '2021-01-01T00:00:00Z', wait: 5m, data: AAEC, port: 80, "
                               "set: [a, b], a-b: x, namespace: x, ratio: 1, none: null}"),
            "");
  EXPECT_EQ(Violations(schema, "{port: ''}"),
            "spec: Invalid value: failed rule: !has(self.port) || (type(self.port) == int ? "
            "self.port > 0 : self.port != '')\n");
  EXPECT_EQ(Violations(schema, "{set: [a, c]}"),
            "spec: Invalid value: failed rule: !has(self.set) || self.set == ['b', 'a']\n");
}

TEST(CrdRules, MetadataNamesOnly) {
  Json crd = Definition("type: object");
  Json& root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  root["x-kubernetes-validations"] = {
      {{"rule", "self.metadata.name.startsWith('b')"}, {"message", "bad name"}}};
  EXPECT_EQ(Text(ValidateCrd(crd, nullptr)), "");
  auto types = TypesOfCrd(crd);
  ASSERT_TRUE(types.ok());
  const Json object = {{"apiVersion", "example.com/v1"}, {"kind", "Thing"},
                       {"metadata", {{"name", "a"}}}};
  EXPECT_EQ(Text(ValidateObject(*types->front(), object, nullptr)),
            "<nil>: Invalid value: bad name\n");
  root["x-kubernetes-validations"][0]["rule"] = "has(self.metadata.labels)";
  EXPECT_NE(Text(ValidateCrd(crd, nullptr)).find("undefined field 'labels'"), std::string::npos);
}

TEST(CrdRules, RefusesRulesThatDoNotCompile) {
  EXPECT_EQ(Refusal("type: object\n"
                    "x-kubernetes-validations: [{rule: self.nope == 1}]\n"),
            std::string(kPath) +
                ".x-kubernetes-validations[0].rule: Invalid value: "
                "{\"Rule\":\"self.nope == 1\",\"Message\":\"\",\"MessageExpression\":\"\","
                "\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation "
                "failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | "
                "....^\n");
  EXPECT_NE(Refusal("type: object\n"
                    "x-kubernetes-validations: [{rule: '1 + 1'}]\n")
                .find("cel expression must evaluate to a bool"),
            std::string::npos);
  EXPECT_NE(Refusal("type: object\n"
                    "x-kubernetes-validations: [{rule: 'true', messageExpression: '1'}]\n")
                .find("messageExpression must evaluate to a string"),
            std::string::npos);
  EXPECT_NE(Refusal("type: object\n"
                    "x-kubernetes-validations: [{rule: 'true', optionalOldSelf: true}]\n")
                .find("may not be set if oldSelf is not used in rule"),
            std::string::npos);
  EXPECT_NE(Refusal("type: object\n"
                    "x-kubernetes-validations: [{rule: 'true', fieldPath: .nope}]\n")
                .find("must be a valid path"),
            std::string::npos);
  EXPECT_NE(Refusal("type: object\n"
                    "properties:\n"
                    "  list:\n"
                    "    type: array\n"
                    "    maxItems: 3\n"
                    "    items:\n"
                    "      type: integer\n"
                    "      x-kubernetes-validations: [{rule: self == oldSelf}]\n")
                .find("oldSelf cannot be used on the uncorrelatable portion of the schema within " +
                      std::string(kPath) + ".properties[list]"),
            std::string::npos);
}

TEST(CrdRules, DefaultsObeyThem) {
  EXPECT_EQ(Refusal("type: object\n"
                    "properties:\n"
                    "  a:\n"
                    "    type: integer\n"
                    "    default: 2\n"
                    "    x-kubernetes-validations: [{rule: self > 3, message: too small}]\n"),
            std::string(kPath) + ".properties[a].default: Invalid value: 2: too small\n");
}

TEST(CrdRules, RefusesRulesThatMayCostTooMuch) {
  const char* unbounded =
      "type: object\n"
      "properties:\n"
      "  list:\n"
      "    type: array\n"
      "    items: {type: string}\n"
      "    x-kubernetes-validations:\n"
      "    - rule: self.all(x, self.exists_one(y, x == y))\n";
  EXPECT_EQ(Refusal(unbounded),
            std::string(kPath) +
                ".properties[list].x-kubernetes-validations[0].rule: Forbidden: estimated rule "
                "cost exceeds budget by factor of more than 100x (try simplifying the rule, or "
                "adding maxItems, maxProperties, and maxLength where arrays, maps, and strings "
                "are declared)\n" +
                kPath +
                ".properties[list].x-kubernetes-validations[0].rule: Forbidden: contributed to "
                "estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema\n"
                "spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated "
                "rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more "
                "than 100x (try simplifying the rule, or adding maxItems, maxProperties, and "
                "maxLength where arrays, maps, and strings are declared)\n");
  const char* bounded =
      "type: object\n"
      "properties:\n"
      "  list:\n"
      "    type: array\n"
      "    maxItems: 50\n"
      "    items: {type: string, maxLength: 20}\n"
      "    x-kubernetes-validations:\n"
      "    - rule: self.all(x, self.exists_one(y, x == y))\n";
  EXPECT_EQ(Refusal(bounded), "");
}

TEST(CrdRules, StopsCostlyObjects) {
  const char* schema =
      "type: object\n"
      "properties:\n"
      "  list:\n"
      "    type: array\n"
      "    items: {type: integer}\n"
      "    x-kubernetes-validations:\n"
      "    - rule: self.all(x, self.all(y, x <= y || x >= y))\n";
  std::string spec = "{list: [";
  for (int i = 0; i < 2000; ++i) spec += std::to_string(i) + ", ";
  EXPECT_EQ(Violations(schema, spec + "1]}"),
            "spec.list: Invalid value: \"array\": 'operation cancelled: actual cost limit "
            "exceeded': no further validation rules will be run due to call cost exceeds limit "
            "for rule: self.all(x, self.all(y, x <= y || x >= y))\n");
}

}  // namespace
}  // namespace mailroom::openapi
