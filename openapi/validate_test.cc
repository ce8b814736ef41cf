#include "openapi/validate.h"

#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "openapi/crd.h"
#include "openapi/validate_schema.h"
#include "storage/object/limits.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

Json Yaml(const std::string& text) { return *ParseYaml(text); }

std::vector<std::string> Texts(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) texts.push_back(cause.field + ": " + cause.message);
  return texts;
}

ResourceType CustomType(const std::string& spec_schema) {
  auto set = std::make_shared<SchemaSet>();
  const Json tree = {{"type", "object"}, {"properties", {{"spec", Yaml(spec_schema)}}}};
  ResourceType type;
  type.builtin = false;
  type.schema = *RootSchemaFromOpenApi(tree, *set);
  type.schema_owner = std::move(set);
  return type;
}

TEST(Validate, ChecksCustomResources) {
  struct Case {
    const char* schema;
    const char* spec;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {"{type: object, required: [x]}", "{}", {"spec.x: Required value"}},
      {"{type: object, properties: {x: {type: integer}}}",
       "{x: 'y'}",
       {"spec.x: Invalid value: \"string\": spec.x in body must be of type integer: \"string\""}},
      {"{type: object, properties: {x: {type: integer}}}", "{x: 1.0}", {}},
      {"{type: object, properties: {x: {type: integer}}}",
       "{x: 1.5}",
       {"spec.x: Invalid value: \"number\": spec.x in body must be of type integer: \"number\"",
        "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in "
        "spec.x"}},
      {"{type: object, properties: {x: {type: string}}}",
       "{x: null}",
       {"spec.x: Invalid value: \"null\": spec.x in body must be of type string: \"null\""}},
      {"{type: object, properties: {x: {type: string, nullable: true}}}", "{x: null}", {}},
      {"{type: object, properties: {x: {x-kubernetes-int-or-string: true}}}",
       "{x: true}",
       {"spec.x: Invalid value: \"boolean\": spec.x in body must be of type integer,string: "
        "\"boolean\""}},
      {"{type: object, properties: {x: {type: string, enum: [b, a]}}}",
       "{x: z}",
       {"spec.x: Unsupported value: \"z\": supported values: \"b\", \"a\""}},
      {"{type: object, properties: {x: {type: integer, minimum: 1, maximum: 3}}}",
       "{x: 0}",
       {"spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"}},
      {"{type: object, properties: {x: {type: integer, maximum: 3, exclusiveMaximum: true}}}",
       "{x: 3}",
       {"spec.x: Invalid value: 3: spec.x in body should be less than 3"}},
      {"{type: object, properties: {x: {type: number, multipleOf: 0.5}}}",
       "{x: 0.75}",
       {"spec.x: Invalid value: 0.75: spec.x in body should be a multiple of 0.5"}},
      {"{type: object, properties: {x: {type: number, minimum: 1000000}}}",
       "{x: 0.75}",
       {"spec.x: Invalid value: 0.75: spec.x in body should be greater than or equal to 1e+06"}},
      {"{type: object, properties: {x: {type: number, minimum: 1000000}}}",
       "{x: 7}",
       {"spec.x: Invalid value: 7: spec.x in body should be greater than or equal to 1000000"}},
      {"{type: object, properties: {x: {type: integer, format: int32}}}",
       "{x: 3000000000}",
       {"<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
        "spec.x"}},
      {"{type: object, properties: {x: {type: string, minLength: 2}}}",
       "{x: a}",
       {"spec.x: Invalid value: \"a\": spec.x in body should be at least 2 chars long"}},
      {"{type: object, properties: {x: {type: string, maxLength: 2}}}",
       "{x: öäü}",
       {"spec.x: Too long: may not be more than 2 bytes"}},
      {"{type: object, properties: {x: {type: string, pattern: '^a+$'}}}",
       "{x: b}",
       {"spec.x: Invalid value: \"b\": spec.x in body should match '^a+$'"}},
      {"{type: object, properties: {x: {type: string, format: ipv4}}}",
       "{x: b}",
       {"spec.x: Invalid value: \"b\": spec.x in body must be of type ipv4: \"b\""}},
      {"{type: object, properties: {x: {type: string, format: unheard-of}}}", "{x: b}", {}},
      {"{type: object, properties: {x: {type: array, minItems: 2, items: {type: string}}}}",
       "{x: [1]}",
       {"spec.x[0]: Invalid value: \"integer\": spec.x[0] in body must be of type string: "
        "\"integer\"",
        "spec.x: Invalid value: 1: spec.x in body should have at least 2 items"}},
      {"{type: object, properties: {x: {type: array, maxItems: 1, items: {type: string}}}}",
       "{x: [a, b]}",
       {"spec.x: Too many: 2: must have at most 1 item"}},
      {"{type: object, additionalProperties: {type: integer}}",
       "{k: v}",
       {"spec.k: Invalid value: \"string\": spec.k in body must be of type integer: \"string\""}},
      {"{type: object, minProperties: 1}",
       "{}",
       {"spec: Invalid value: 0: spec in body should have at least 1 properties"}},
      {"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: "
       "[a]}, "
       "{required: [b]}]}",
       "{a: x, b: 'y'}",
       {"<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found "
        "2 "
        "valid alternatives"}},
      {"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: "
       "[a]}, "
       "{required: [b]}]}",
       "{}",
       {"<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found "
        "none valid",
        "spec.a: Required value"}},
      {"{type: object, properties: {a: {type: string}}, anyOf: [{required: [a]}]}",
       "{}",
       {"<nil>: Invalid value: \"\": \"spec\" must validate at least one schema (anyOf)",
        "spec.a: Required value"}},
      {"{type: object, properties: {a: {type: string}}, not: {required: [a]}}",
       "{a: x}",
       {"<nil>: Invalid value: \"\": \"spec\" must not validate the schema (not)"}},
      {"{type: object, properties: {a: {type: string}}, allOf: [{required: [a]}, {minProperties: "
       "0}]}",
       "{}",
       {"spec.a: Required value",
        "<nil>: Invalid value: \"\": \"spec\" must validate all the schemas (allOf)"}},
      {"{type: object, properties: {x: {type: array, x-kubernetes-list-type: set, items: {type: "
       "string}}}}",
       "{x: [a, b, a, a]}",
       {"spec.x[2]: Duplicate value: \"a\""}},
      {"{type: object, properties: {x: {type: array, x-kubernetes-list-type: map, "
       "x-kubernetes-list-map-keys: ['n'], items: {type: object, properties: {'n': {type: string}}}}}}",
       "{x: [{'n': a}, {'n': b}, {'n': a}]}",
       {"spec.x[2]: Duplicate value: {\"n\":\"a\"}"}},
      {"{type: object, properties: {r: {type: object, x-kubernetes-embedded-resource: true, "
       "x-kubernetes-preserve-unknown-fields: true}}}",
       "{r: {kind: Pod}}",
       {"spec.r.apiVersion: Required value"}},
      {"{type: object, properties: {r: {type: object, x-kubernetes-embedded-resource: true, "
       "x-kubernetes-preserve-unknown-fields: true}}}",
       "{r: {apiVersion: a/b/c, kind: 'P d', metadata: {name: a/b, labels: {'k k': v}}}}",
       {"spec.r.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
        "spec.r.kind: Invalid value: \"P d\": may have mixed case, but should otherwise match: a DNS-1035 "
        "label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used "
        "for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        "spec.r.metadata.name: Invalid value: \"a/b\": may not contain '/'",
        "spec.r.metadata.labels: Invalid value: \"k k\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      // Numbers that no integer of the format can be are told twice.
      {"{type: object, properties: {x: {type: integer}}}",
       "{x: 9223372036854775808}",
       {"spec.x: Invalid value: \"number\": spec.x in body must be of type integer: \"number\"",
        "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in "
        "spec.x"}},
      {"{type: object, properties: {x: {type: integer, format: int64}}}",
       "{x: 2.5}",
       {"spec.x: Invalid value: \"float64\": spec.x in body must be of type int64: \"float64\"",
        "<nil>: Invalid value: \"\": Checked value must be of type integer with format int64 in "
        "spec.x"}},
      {"{type: object, properties: {x: {type: number, format: float}}}",
       "{x: 1.0e+39}",
       {"<nil>: Invalid value: \"\": Checked value must be of type number with format float in "
        "spec.x"}},
      {"{type: object, properties: {x: {type: integer, maximum: 1.5}}}",
       "{x: 1}",
       {"<nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default format) "
        "in spec.x"}},
      {"{type: object, properties: {x: {type: number, multipleOf: 0.5}}}",
       "{x: 3}",
       {"spec.x: Invalid value: 0: factor MultipleOf declared for spec.x must be positive: 0"}},
      {"{type: object, properties: {x: {type: number, minimum: 0.5}}}", "{x: 0}", {}},
      {"{type: object, properties: {x: {type: string, format: ipv4}}}", "{x: 010.01.1.1}", {}},
      {"{type: object, properties: {x: {type: string, format: cidr}}}", "{x: 010.0.0.0/08}", {}},
      {"{type: object, properties: {x: {type: string, format: date}}}",
       "{x: '2021-02-29'}",
       {"spec.x: Invalid value: \"2021-02-29\": spec.x in body must be of type date: "
        "\"2021-02-29\""}},
  };
  for (const Case& c : cases) {
    const Json object = {{"apiVersion", "e.com/v1"}, {"kind", "E"}, {"spec", Yaml(c.spec)}};
    EXPECT_EQ(Texts(ValidateObject(CustomType(c.schema), object, nullptr)), c.expected)
        << c.schema << "\n"
        << c.spec;
  }
}

TEST(Validate, ToleratesUnchangedParts) {
  struct Case {
    const char *schema, *before, *after;
    std::vector<std::string> expected;
  };
  const char* kBounds =
      "{type: object, properties: {a: {type: integer, maximum: 3}, b: {type: integer, maximum: "
      "3}}}";
  const char* kKeyed =
      "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, "
      "x-kubernetes-list-map-keys: ['n'], items: {type: object, properties: {'n': {type: string}, v: "
      "{type: integer, maximum: 3}}}}}}";
  const char* kPlain =
      "{type: object, properties: {l: {type: array, items: {type: integer, maximum: 3}}}}";
  const Case cases[] = {
      {kBounds, "{a: 9, b: 1}", "{a: 9, b: 2}", {}},
      {kBounds,
       "{a: 9, b: 1}",
       "{a: 8, b: 1}",
       {"spec.a: Invalid value: 8: spec.a in body should be less than or equal to 3"}},
      {kKeyed, "{l: [{'n': x, v: 9}]}", "{l: [{'n': 'y', v: 1}, {'n': x, v: 9}]}", {}},
      {kPlain,
       "{l: [9]}",
       "{l: [9, 1]}",
       {"spec.l[0]: Invalid value: 9: spec.l[0] in body should be less than or equal to 3"}},
      {kKeyed, "{l: [{'n': x}, {'n': x}]}", "{l: [{'n': x}, {'n': x}, {'n': 'y'}]}", {}},
  };
  for (const Case& c : cases) {
    const Json old = {{"spec", Yaml(c.before)}}, object = {{"spec", Yaml(c.after)}};
    EXPECT_EQ(Texts(ValidateObject(CustomType(c.schema), object, &old)), c.expected) << c.after;
  }
}

TEST(Validate, KnowsFormats) {
  struct Case {
    const char* format;
    std::vector<const char*> good, bad;
  };
  const Case cases[] = {
      {"date", {"2024-02-29"}, {"2024-13-01", "2024-1-1", "x"}},
      {"date-time",
       {"2024-01-01T10:00:00Z", "2024-01-01t10:00:00.5+02:00"},
       {"2024-01-01", "10:00"}},
      {"duration", {"1h30m", "5s", "22 ns", "3 days", "0"}, {"", "x", "5"}},
      {"ipv6", {"::1"}, {"1.2.3.4", "x"}},
      {"cidr", {"10.0.0.0/8", "fd00::/64"}, {"10.0.0.0", "10.0.0.0/33"}},
      {"uuid", {"123e4567-e89b-12d3-a456-426614174000"}, {"123"}},
      {"uri", {"https://a.example/b?c=d", "/abs"}, {"a b", ""}},
      {"hostname", {"a.example.com", "host"}, {"-a", "a..b"}},
      {"email", {"a@b.c"}, {"a", "a@"}},
      {"byte", {"aGk="}, {"a", "*"}},
      {"mac", {"01:23:45:67:89:ab"}, {"01:23"}},
      {"isbn", {"0321751043", "978-0321751041"}, {"0321751044"}},
      {"creditcard", {"4111 1111 1111 1111"}, {"4111111111111112"}},
      {"hexcolor", {"#FFF", "aabbcc"}, {"#ffff"}},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(IsKnownFormat(Type::kString, c.format)) << c.format;
    for (const char* text : c.good)
      EXPECT_TRUE(HasFormat(c.format, text)) << c.format << " " << text;
    for (const char* text : c.bad)
      EXPECT_FALSE(HasFormat(c.format, text)) << c.format << " " << text;
  }
}

TEST(Validate, NamesWrongTypesOfBuiltins) {
  struct Case {
    GroupVersionKind gvk;
    const char* object;
    const char* expected;
  };
  const Case cases[] = {
      {{"apps", "v1", "Deployment"},
       "{spec: {replicas: two}}",
       "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {{"apps", "v1", "Deployment"},
       "{spec: {replicas: 1.5}}",
       "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of "
       "type "
       "int32"},
      {{"", "v1", "Pod"},
       "{spec: {containers: [{name: 1}]}}",
       "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type "
       "string"},
      {{"", "v1", "Pod"},
       "{spec: {containers: {}}}",
       "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {{"", "v1", "ConfigMap"},
       "{data: {a: 1}}",
       "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
      {{"", "v1", "ConfigMap"},
       "{metadata: {labels: [a]}}",
       "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type "
       "map[string]string"},
      {{"", "v1", "Service"},
       "{spec: {ports: [{targetPort: true}]}}",
       "json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type "
       "int32"},
      {{"", "v1", "Pod"},
       "{metadata: {creationTimestamp: 1}}",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of "
       "type string"},
      {{"", "v1", "Pod"},
       "{metadata: {creationTimestamp: '2021-02-29T00:00:00Z'}}",
       "parsing time \"2021-02-29T00:00:00Z\": day out of range"},
      {{"", "v1", "Pod"},
       "{spec: {containers: [{livenessProbe: {exec: {command: a}}}]}}",
       "json: cannot unmarshal string into Go struct field "
       "ExecAction.spec.containers.livenessProbe.ProbeHandler.exec.command of type []string"},
      {{"", "v1", "Pod"},
       "{spec: {volumes: [{emptyDir: a}]}}",
       "json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.emptyDir "
       "of type v1.EmptyDirVolumeSource"},
      {{"", "v1", "Pod"},
       "{spec: {containers: [{resources: {limits: [a]}}]}}",
       "json: cannot unmarshal array into Go struct field "
       "ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList"},
      {{"", "v1", "Secret"}, "{data: {a: '***'}}", "illegal base64 data at input byte 0"},
      {{"", "v1", "Pod"},
       "{spec: {containers: [{resources: {limits: {cpu: lots}}}]}}",
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {{"", "v1", "Pod"},
       "{spec: {containers: [{resources: {limits: {cpu: 1K}}}]}}",
       "unable to parse quantity's suffix"},
      {{"", "v1", "Pod"},
       "{spec: {containers: [{imagePullPolicy: 1}]}}",
       "json: cannot unmarshal number into Go struct field "
       "Container.spec.containers.imagePullPolicy "
       "of type v1.PullPolicy"},
      {{"", "v1", "Service"}, "{spec: {ports: [{port: 80, targetPort: web}]}}", ""},
      {{"", "v1", "Service"}, "{spec: null}", ""},
  };
  for (const Case& c : cases) {
    ResourceType type;
    type.gvk = c.gvk;
    type.schema = BuiltinKind(c.gvk);
    EXPECT_EQ(CheckBuiltinTypes(type, Yaml(c.object)).value_or(""), c.expected) << c.object;
  }
}

TEST(Validate, ManyFaultsAreToldInFewBytes) {
  const ResourceType type = CustomType(
      "{type: object, additionalProperties: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, "
      "properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}, i: {type: integer}}}}}");
  const Json item = {{"apiVersion", "v1"}, {"kind", "K"}, {"i", "no number"}};
  const Json items(50'000, item);
  const Json object = {{"spec", {{std::string(500'000, 'k'), items}}}};
  const auto causes = Texts(ValidateObject(type, object, nullptr));
  EXPECT_EQ(causes.size(), limits::kProblemsTold);
  for (const std::string& text : causes) EXPECT_LT(text.size(), 2 * limits::kProblemValueBytes);
  EXPECT_EQ(Texts(ValidateObject(type, {{"spec", {{"a", Json(2, item)}}}}, nullptr)),
            (std::vector<std::string>{
                "spec.a[0].i: Invalid value: \"string\": spec.a[0].i in body must be of type integer: \"string\"",
                "spec.a[1].i: Invalid value: \"string\": spec.a[1].i in body must be of type integer: \"string\""}));
}

}  // namespace
}  // namespace mailroom::openapi
