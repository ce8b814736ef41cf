#include "openapi/crd.h"

#include <gtest/gtest.h>

#include "openapi/validate.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kWidgets = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color, description: its colour}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas, priority: 1}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Parts, type: string, jsonPath: .spec.parts}
    - {name: Since, type: date, jsonPath: .spec.since}
    selectableFields:
    - {jsonPath: .spec.color}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [color]
            properties:
              color: {type: string, enum: [red, blue]}
              replicas: {type: integer, minimum: 0, default: 1}
              since: {type: string}
              parts: {type: array, items: {type: string}}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v1alpha1
    served: false
    storage: false
    schema:
      openAPIV3Schema: {type: object}
)";

Json Widgets() {
  Json crd = *ParseYaml(kWidgets);
  DefaultCrd(crd);
  return crd;
}

Json Yaml(const char* text) { return *ParseYaml(text); }

using Strings = std::vector<std::string>;

std::vector<std::string> Texts(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) texts.push_back(cause.field + ": " + cause.message);
  return texts;
}

TEST(Crd, FillsNamesAndConversion) {
  const Json crd = Widgets();
  EXPECT_EQ(StringAt(crd, {"spec", "names", "singular"}), "widget");
  EXPECT_EQ(StringAt(crd, {"spec", "names", "listKind"}), "WidgetList");
  EXPECT_EQ(StringAt(crd, {"spec", "conversion", "strategy"}), "None");
  EXPECT_EQ(StringsAt(crd, {"status", "storedVersions"}), std::vector<std::string>{"v1"});
}

TEST(Crd, MakesTypesOfServedVersions) {
  auto types = TypesOfCrd(Widgets());
  ASSERT_TRUE(types.ok()) << types.error().message();
  ASSERT_EQ(types->size(), 2U);
  const ResourceType& v1 = *types->at(0);
  EXPECT_EQ(v1.gvk, (GroupVersionKind{"example.com", "v1", "Widget"}));
  EXPECT_EQ(v1.plural, "widgets");
  EXPECT_EQ(v1.singular, "widget");
  EXPECT_EQ(v1.list_kind, "WidgetList");
  EXPECT_EQ(v1.short_names, std::vector<std::string>{"wd"});
  EXPECT_EQ(v1.categories, std::vector<std::string>{"all"});
  EXPECT_TRUE(v1.namespaced);
  EXPECT_FALSE(v1.builtin);
  EXPECT_TRUE(v1.has_status);
  EXPECT_TRUE(v1.tracks_generation);
  EXPECT_FALSE(v1.unconditional_update);
  EXPECT_EQ(v1.verbs.size(), 8U);
  EXPECT_EQ(v1.storage_version, "v1");
  ASSERT_EQ(v1.selectable_fields.size(), 1u);
  EXPECT_EQ(v1.selectable_fields[0].name, "spec.color");
  EXPECT_EQ(v1.selectable_fields[0].paths, std::vector<std::string>{"spec.color"});
  ASSERT_NE(v1.FindSubresource("scale"), nullptr);
  EXPECT_EQ(v1.scale.spec_replicas, "spec.replicas");
  EXPECT_EQ(v1.scale.label_selector, "status.selector");
  for (const char* name : {"apiVersion", "kind", "metadata", "spec", "status"}) {
    EXPECT_NE(v1.schema->Find(name), nullptr) << name;
  }
  EXPECT_TRUE(v1.schema->Find("metadata")->schema->is_object_meta);
  const ResourceType& beta = *types->at(1);
  EXPECT_FALSE(beta.has_status);
  EXPECT_EQ(beta.storage_version, "v1");
  EXPECT_EQ(beta.deprecation_warning,
            "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget");
}

TEST(Crd, RendersColumns) {
  auto types = TypesOfCrd(Widgets());
  const std::vector<Column>& columns = types->at(0)->columns;
  ASSERT_EQ(columns.size(), 6U);
  const Json full = Yaml(R"(
metadata: {name: one}
spec: {color: red, replicas: 2, parts: [a, b], since: never}
status: {conditions: [{type: Ready, status: "True"}]}
)");
  Json cells = Json::array(), empty = Json::array();
  for (const Column& column : columns) {
    cells.push_back(column.cell(full));
    empty.push_back(column.cell(Json::object()));
  }
  EXPECT_EQ(DumpJson(cells), R"(["one","red",2,"True","[\"a\",\"b\"]","<invalid>"])");
  EXPECT_EQ(DumpJson(empty), R"(["",null,null,null,null,null])");
  EXPECT_EQ(columns[0].format, "name");
  EXPECT_EQ(columns[2].priority, 1);
  EXPECT_EQ(types->at(1)->columns.size(), 2U);
  EXPECT_EQ(types->at(1)->columns[1].name, "Age");
}

TEST(Crd, SharesTypesOfEqualDefinitions) {
  Json one = Widgets(), two = Widgets();
  Set(two, {"metadata", "uid"}, "other");
  auto first = TypesOfCrd(one), second = TypesOfCrd(two);
  EXPECT_EQ(first->at(0).get(), second->at(0).get());
  Set(two, {"spec", "names", "shortNames"}, Json::array({"wdg"}));
  EXPECT_NE(TypesOfCrd(two)->at(0).get(), first->at(0).get());
}

TEST(Crd, EstablishesFreeNames) {
  Json crd = Widgets();
  EXPECT_FALSE(IsEstablished(crd));
  EstablishCrd(crd, {}, "2024-01-01T00:00:00Z");
  EXPECT_TRUE(IsEstablished(crd));
  EXPECT_EQ(
      DumpJson(*Find(crd, {"status", "conditions"})),
      R"([{"lastTransitionTime":"2024-01-01T00:00:00Z","message":"no conflicts found","reason":"NoConflicts","status":"True","type":"NamesAccepted"},)"
      R"({"lastTransitionTime":"2024-01-01T00:00:00Z","message":"the initial names have been accepted","reason":"InitialNamesAccepted","status":"True","type":"Established"}])");
  EXPECT_EQ(*Find(crd, {"status", "acceptedNames"}), *Find(crd, {"spec", "names"}));
  const Json before = crd;
  EstablishCrd(crd, {}, "2025-01-01T00:00:00Z");
  EXPECT_EQ(crd, before);
}

TEST(Crd, RefusesTakenNames) {
  struct Case {
    TakenNames taken;
    const char* reason;
    const char* message;
  };
  const Case cases[] = {
      {{.plurals = {"widgets"}, .singulars = {}, .short_names = {}, .kinds = {}, .list_kinds = {}},
       "PluralConflict",
       "\"widgets\" is already in use"},
      {{.plurals = {}, .singulars = {"widget"}, .short_names = {}, .kinds = {}, .list_kinds = {}},
       "SingularConflict",
       "\"widget\" is already in use"},
      {{.plurals = {"wd"}, .singulars = {}, .short_names = {}, .kinds = {}, .list_kinds = {}},
       "ShortNamesConflict",
       "\"wd\" is already in use"},
      {{.plurals = {}, .singulars = {}, .short_names = {}, .kinds = {"Widget"}, .list_kinds = {}},
       "KindConflict",
       "\"Widget\" is already in use"},
      {{.plurals = {},
        .singulars = {},
        .short_names = {},
        .kinds = {"WidgetList"},
        .list_kinds = {}},
       "ListKindConflict",
       "\"WidgetList\" is already in use"},
  };
  for (const Case& c : cases) {
    Json crd = Widgets();
    EstablishCrd(crd, c.taken, "2024-01-01T00:00:00Z");
    EXPECT_FALSE(IsEstablished(crd));
    const Json& names = Find(crd, {"status", "conditions"})->at(0);
    EXPECT_EQ(StringAt(names, {"status"}), "False");
    EXPECT_EQ(StringAt(names, {"reason"}), c.reason);
    EXPECT_EQ(StringAt(names, {"message"}), c.message);
  }
}

TEST(Crd, AcceptsAGoodDefinition) {
  EXPECT_EQ(Texts(ValidateCrd(Widgets(), nullptr)), std::vector<std::string>{});
}

// One change to the good definition each; the errors that must follow.
TEST(Crd, NamesWhatIsWrong) {
  struct Case {
    std::vector<std::string> path;
    const char* value;  // YAML
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {{"spec", "group"},
       "example",
       {"spec.group: Invalid value: \"example\": should be a domain with at least one dot"}},
      {{"spec", "scope"},
       "Everywhere",
       {"spec.scope: Unsupported value: \"Everywhere\": supported values: \"Cluster\", "
        "\"Namespaced\""}},
      {{"spec", "names", "plural"}, "", {"spec.names.plural: Required value"}},
      {{"spec", "names", "listKind"},
       "Widget",
       {"spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same"}},
      {{"spec", "preserveUnknownFields"},
       "true",
       {"spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in "
        "the schema",
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
        "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"}},
      {{"spec", "conversion", "strategy"},
       "Webhook",
       {"spec.conversion.webhookClientConfig: Required value: required when strategy is set to "
        "Webhook",
        "spec.conversion.conversionReviewVersions: Required value"}},
      {{"spec", "conversion"},
       "{strategy: None, webhook: {clientConfig: {url: 'https://a.example'}, "
       "conversionReviewVersions: [v1]}}",
       {"spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not "
        "set to Webhook",
        "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is "
        "not set to Webhook"}},
      {{"spec", "conversion"},
       "{strategy: Webhook, webhook: {clientConfig: {url: 'https://a.example', service: {name: a, "
       "namespace: b}}, conversionReviewVersions: [v2]}}",
       {"spec.conversion.webhookClientConfig: Required value: exactly one of url or service is "
        "required",
        "spec.conversion.conversionReviewVersions: Invalid value: [\"v2\"]: must include at least "
        "one of v1, v1beta1"}},
      {{"spec", "conversion"},
       "{strategy: Webhook, webhook: {clientConfig: {url: 'http://a.example'}, "
       "conversionReviewVersions: [v1, v1]}}",
       {"spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only "
        "allowed URL scheme; desired format: https://host[/path]",
        "spec.conversion.conversionReviewVersions[1]: Invalid value: \"v1\": duplicate version"}},
      {{"spec", "conversion"},
       "{strategy: Webhook, webhook: {clientConfig: {service: {name: a, port: 0}}, "
       "conversionReviewVersions: [v1]}}",
       {"spec.conversion.webhookClientConfig.service.namespace: Required value",
        "spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: "
        "must be between 1 and 65535, inclusive"}},
      {{"spec", "conversion"},
       "{strategy: Sometimes}",
       {"spec.conversion.strategy: Unsupported value: \"Sometimes\": supported values: \"None\", "
        "\"Webhook\""}},
      {{"spec", "group"},
       "apps.k8s.io",
       {"metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must "
        "have approval annotation \"api-approved.kubernetes.io\", see "
        "https://github.com/kubernetes/enhancements/pull/1111"}},
  };
  for (const Case& c : cases) {
    Json crd = Widgets();
    Json* at = &crd;
    for (const std::string& name : c.path) at = &(*at)[name];
    *at = *c.value ? Yaml(c.value) : Json("");
    EXPECT_EQ(Texts(ValidateCrd(crd, nullptr)), c.expected);
  }
}

TEST(Crd, CountsStorageVersions) {
  Json crd = Widgets();
  crd["spec"]["versions"][1]["storage"] = true;
  auto causes = ValidateCrd(crd, nullptr);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "spec.versions");
  EXPECT_TRUE(
      causes[0].message.ends_with("must have exactly one version marked as storage version"));
}

// Parts of the only version of a definition, and what is wrong with them.
TEST(Crd, NamesWhatIsWrongWithAVersion) {
  struct Case {
    const char* version;
    std::vector<std::string> expected;
  };
  const std::string only_at_root =
      ": only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum "
      "MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items "
      "Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at "
      "the root of the schema if the status subresource is enabled";
  const std::string field = "spec.selectableFields[0].jsonPath: Invalid value: ";
  const Case cases[] = {
      {"{deprecated: true, deprecationWarning: \"a\\nb\"}",
       {"spec.versions[0].deprecationWarning: Invalid value: \"a\\nb\": must only contain printable "
        "UTF-8 characters; non-printable character found at index 1"}},
      {"{deprecated: true, deprecationWarning: ''}",
       {"spec.versions[0].deprecationWarning: Invalid value: \"\": must not be an empty string"}},
      {"{deprecated: true, deprecationWarning: 'größer ✓'}", {}},
      {"{deprecationWarning: <a>}",
       {"spec.versions[0].deprecationWarning: Invalid value: \"\\u003ca\\u003e\": can only be set "
        "for deprecated versions"}},
      {"{storage: false}",
       {"spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,"
        "\"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,"
        "\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: must have exactly one "
        "version marked as storage version",
        "status.storedVersions: Invalid value: null: must have at least one stored version"}},
      {"{selectableFields: [{jsonPath: .spec.none}]}",
       {field + "\".spec.none\": is an invalid path: does not refer to a valid field"}},
      {"{selectableFields: [{jsonPath: .metadata.name}]}",
       {field + "\".metadata.name\": is an invalid path: does not refer to a valid field"}},
      {"{selectableFields: [{jsonPath: \".spec['a']\"}]}",
       {field + "\".spec['a']\": is an invalid path: array notation is not allowed"}},
      {"{selectableFields: [{jsonPath: spec.a}]}",
       {field + "\"spec.a\": is an invalid path: expected [ or . but got: spec"}},
      {"{selectableFields: [{jsonPath: .spec.}]}",
       {field + "\".spec.\": is an invalid path: unexpected end of JSON path"}},
      {"{subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, minProperties: 1}}}",
       {"spec.validation.openAPIV3Schema: Invalid value: {\"ID\":\"\",\"Schema\":\"\",\"Ref\":null,"
        "\"Description\":\"\",\"Type\":\"object\",\"Nullable\":false,\"Format\":\"\",\"Title\":\"\","
        "\"Default\":null,\"Maximum\":null,\"ExclusiveMaximum\":false,\"Minimum\":null,"
        "\"ExclusiveMinimum\":false,\"MaxLength\":null,\"MinLength\":null,\"Pattern\":\"\","
        "\"MaxItems\":null,\"MinItems\":null,\"UniqueItems\":false,\"MultipleOf\":null,"
        "\"Enum\":null,\"MaxProperties\":null,\"MinProperties\":1,\"Required\":null,"
        "\"Items\":null,\"AllOf\":null,\"OneOf\":null,\"AnyOf\":null,\"Not\":null,"
        "\"Properties\":null,\"AdditionalProperties\":null,\"PatternProperties\":null,"
        "\"Dependencies\":null,\"AdditionalItems\":null,\"Definitions\":null,"
        "\"ExternalDocs\":null,\"Example\":null,\"XPreserveUnknownFields\":null,"
        "\"XEmbeddedResource\":false,\"XIntOrString\":false,\"XListMapKeys\":null,"
        "\"XListType\":null,\"XMapType\":null,\"XValidations\":null}" + only_at_root}},
  };
  for (const Case& c : cases) {
    Json crd = Widgets();
    Json version = Yaml(
        "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
        "properties: {spec: {type: object, properties: {a: {type: string}}}}}}}");
    version.update(Yaml(c.version));
    Set(crd, {"spec", "versions"}, Json::array({version}));
    EXPECT_EQ(Texts(ValidateCrd(crd, nullptr)), c.expected) << c.version;
  }
}

TEST(Crd, JudgesReplicasOfItsObjects) {
  const auto types = TypesOfCrd(Widgets());
  ASSERT_TRUE(types.ok());
  const ResourceType& type = *types->at(0);
  const auto told = [&](const char* parts) {
    Json object = Yaml(parts);
    object["apiVersion"] = "example.com/v1";
    object["kind"] = "Widget";
    return Texts(ValidateObject(type, object, nullptr));
  };
  EXPECT_EQ(told("{spec: {color: red, replicas: 3}}"), Strings());
  EXPECT_EQ(told("{spec: {color: red}, status: {replicas: 3000000000, selector: 4}}"),
            (Strings{".status.replicas: Invalid value: 3000000000: should be less than or equal to "
                     "2147483647",
                     ".status.selector: Invalid value: \"\": .status.selector accessor error: 4 is "
                     "of the type int64, expected string"}));
  EXPECT_EQ(told("{spec: {color: red}, status: {replicas: -1}}"),
            (Strings{".status.replicas: Invalid value: -1: should be a non-negative integer"}));
  EXPECT_EQ(told("{spec: []}"),
            (Strings{"spec: Invalid value: \"array\": spec in body must be of type object: \"array\"",
                     ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: [] is of the "
                     "type []interface {}, expected map[string]interface{}"}));
  // Of a status it is told as if that were the whole.
  Json object = Yaml("{apiVersion: example.com/v1, kind: Widget, spec: {color: blue}}");
  Json changed = object;
  changed["status"] = 3;
  EXPECT_EQ(Texts(ValidateObject(type, changed, &object, "status")),
            (Strings{"status: Invalid value: \"integer\":  in body must be of type object: "
                     "\"integer\"",
                     ".status.replicas: Invalid value: 0: .status.replicas accessor error: 3 is of "
                     "the type int64, expected map[string]interface{}",
                     ".status.selector: Invalid value: \"\": .status.selector accessor error: 3 is "
                     "of the type int64, expected map[string]interface{}"}));
}

TEST(Crd, KeepsEstablishedNames) {
  Json old = Widgets();
  EstablishCrd(old, {}, "2024-01-01T00:00:00Z");
  Json crd = old;
  Set(crd, {"spec", "scope"}, "Cluster");
  Set(crd, {"spec", "names", "kind"}, "Gadget");
  EXPECT_EQ(
      Texts(ValidateCrd(crd, &old)),
      (std::vector<std::string>{"spec.scope: Invalid value: \"Cluster\": field is immutable",
                                "spec.names.kind: Invalid value: \"Gadget\": field is immutable"}));
  crd = old;
  crd["spec"]["versions"].erase(0);
  crd["spec"]["versions"][0]["storage"] = true;
  EstablishCrd(crd, {}, "2024-01-01T00:00:00Z");
  auto causes = ValidateCrd(crd, &old);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "status.storedVersions[0]");
}

}  // namespace
}  // namespace mailroom::openapi
