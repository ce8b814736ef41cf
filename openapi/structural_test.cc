#include "openapi/structural.h"

#include <gtest/gtest.h>

#include "openapi/crd.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

Json Yaml(const char* text) { return *ParseYaml(text); }

// Without versions.
Json Definition() {
  Json crd = Yaml(
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, "
      "kind: Widget}}}");
  DefaultCrd(crd);
  return crd;
}

std::vector<std::string> Texts(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) texts.push_back(cause.field + ": " + cause.message);
  return texts;
}

// Schemas at the root of a single version, and the complaints about them.
TEST(Structural, NamesWhatIsWrong) {
  struct Case {
    const char* schema;
    std::vector<std::string> expected;  // below spec.validation.openAPIV3Schema
  };
  const Case cases[] = {
      {"{type: object}", {}},
      {"{}", {".type: Required value: must not be empty at the root"}},
      {"{type: array, items: {type: string}}",
       {".type: Invalid value: \"array\": must be object at the root"}},
      {"{type: object, properties: {spec: {}}}",
       {".properties[spec].type: Required value: must not be empty for specified object fields"}},
      {"{type: object, properties: {a: {type: array}}}",
       {".properties[a].items: Required value: must be specified"}},
      {"{type: object, properties: {a: {type: array, items: {}}}}",
       {".properties[a].items.type: Required value: must not be empty for specified array items"}},
      {"{type: object, properties: {a: {x-kubernetes-int-or-string: true}, "
       "b: {x-kubernetes-preserve-unknown-fields: true}}}",
       {}},
      {"{type: object, properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, "
       "{type: string}]}}}",
       {}},
      {"{type: object, properties: {a: {type: string, anyOf: [{type: integer}]}}}",
       {".properties[a].anyOf[0].type: Forbidden: must be empty to be structural"}},
      {"{type: object, anyOf: [{required: [b], properties: {b: {minimum: 1}}}]}",
       {".properties[b]: Required value: because it is defined in "
        "spec.validation.openAPIV3Schema.anyOf[0].properties[b]"}},
      {"{type: object, additionalProperties: {type: string}}",
       {".additionalProperties: Forbidden: must not be used at the root"}},
      {"{type: object, properties: {metadata: {type: object, properties: {labels: {type: "
       "object}}}}}",
       {".properties[metadata]: Forbidden: must not specify anything other than name and "
        "generateName, but metadata is implicitly specified"}},
      {"{type: object, properties: {metadata: {type: object, properties: {name: {type: string, "
       "maxLength: 5}}}}}",
       {}},
      {"{type: object, properties: {a: {type: string, pattern: '('}}}",
       {".properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but "
        "isn't: error parsing regexp: missing closing ): `(`"}},
      {"{type: object, properties: {a: {type: text}}}",
       {".properties[a].type: Unsupported value: \"text\": supported values: \"array\", "
        "\"boolean\", \"integer\", \"number\", \"object\", \"string\""}},
      {"{type: object, properties: {a: {type: object, $ref: b}}}",
       {".properties[a].$ref: Forbidden: $ref is not supported"}},
      // What cannot be read as a structural schema at all has no complaints about its structure.
      {"{type: object, properties: {a: {type: array, items: [{}, {type: string}]}}}",
       {".properties[a].items: Forbidden: items must be a schema object and not an array"}},
      {"{type: object, properties: {a: {$ref: ''}}}",
       {".properties[a].type: Required value: must not be empty for specified object fields",
        ".properties[a].$ref: Forbidden: $ref is not supported"}},
      {"{properties: {a: {$ref: b}}}", {".properties[a].$ref: Forbidden: $ref is not supported"}},
      {"{type: object, properties: {a: {type: 'null'}}}",
       {".properties[a].type: Unsupported value: \"null\": supported values: \"array\", \"boolean\", "
        "\"integer\", \"number\", \"object\", \"string\"",
        ".properties[a].type: Forbidden: type cannot be set to null, use nullable as an "
        "alternative"}},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, "
       "x-kubernetes-list-map-keys: ['n', 'n', m], items: {type: object, nullable: true, "
       "properties: {'n': {type: object}}}}}}",
       {".properties[a].items.properties[n].type: Invalid value: \"object\": must be a scalar type "
        "if parent array's x-kubernetes-list-type is map",
        ".properties[a].items.properties[n].type: Invalid value: \"object\": must be a scalar type "
        "if parent array's x-kubernetes-list-type is map",
        ".properties[a].x-kubernetes-list-map-keys: Invalid value: [\"n\",\"n\",\"m\"]: must not "
        "contain duplicate entries",
        ".properties[a].x-kubernetes-list-map-keys: Invalid value: [\"n\",\"n\",\"m\"]: entries "
        "must all be names of item properties",
        ".properties[a].items.nullable: Forbidden: cannot be nullable when "
        "x-kubernetes-list-type is map",
        ".properties[a].items.properties[n].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ".properties[a].items.properties[n].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property"}},
      {"{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}}}",
       {".properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the "
        "runtime "
        "complexity becomes quadratic"}},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: "
       "object, properties: {'n': {type: string}}}}}}",
       {".properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
        "x-kubernetes-list-type is map"}},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, "
       "x-kubernetes-list-map-keys: ['n'], items: {type: object, properties: {'n': {type: string}}}}}}",
       {".properties[a].items.properties[n].default: Required value: this property is in "
        "x-kubernetes-list-map-keys, so it must have a default or be a required property"}},
      {"{type: object, properties: {a: {type: integer, default: x}}}",
       {".properties[a].default: Invalid value: \"string\":  in body must be of type integer: "
        "\"string\""}},
      {"{type: object, properties: {a: {type: object, default: {b: 1}}}}",
       {".properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields"}},
      {"{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: 'self != "
       "\"\"'}]}}}",
       {}},
  };
  for (const Case& c : cases) {
    Json crd = Definition();
    Json version = {{"name", "v1"}, {"served", true}, {"storage", true}};
    Set(version, {"schema", "openAPIV3Schema"}, Yaml(c.schema));
    Set(crd, {"spec", "versions"}, Json::array({version}));
    std::vector<std::string> expected;
    for (const std::string& text : c.expected) {
      expected.push_back("spec.validation.openAPIV3Schema" + text);
    }
    EXPECT_EQ(Texts(ValidateCrd(crd, nullptr)), expected) << c.schema;
  }
}

}  // namespace
}  // namespace mailroom::openapi
