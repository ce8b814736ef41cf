#include <gtest/gtest.h>

#include "openapi/crd.h"
#include "openapi/validate.h"
#include "storage/object/json_path.h"
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

ResourceType TypeOf(const char* group, const char* kind, bool namespaced, bool builtin = true) {
  ResourceType type;
  type.gvk = {group, "v1", kind};
  type.namespaced = namespaced;
  type.builtin = builtin;
  return type;
}

const std::string kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const std::string kNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

TEST(Metadata, ChecksNewObjects) {
  const ResourceType config = TypeOf("", "ConfigMap", true);
  const ResourceType space = TypeOf("", "Namespace", false);
  const ResourceType service = TypeOf("", "Service", true);
  const ResourceType role = TypeOf("rbac.authorization.k8s.io", "ClusterRole", false);
  const ResourceType request = TypeOf("certificates.k8s.io", "CertificateSigningRequest", false);
  const ResourceType budget = TypeOf("policy", "PodDisruptionBudget", true);
  const ResourceType address = TypeOf("networking.k8s.io", "IPAddress", false);
  const ResourceType custom = TypeOf("e.com", "E", false, false);
  struct Case {
    const ResourceType& type;
    const char* metadata;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {config, "{name: a.b-1, namespace: 'n'}", {}},
      {config,
       "{namespace: 'n'}",
       {"metadata.name: Required value: name or generateName is required"}},
      {config,
       "{name: A_b, namespace: 'n'}",
       {"metadata.name: Invalid value: \"A_b\": " + kSubdomain}},
      {config, "{name: a}", {"metadata.namespace: Required value"}},
      {space,
       "{name: a, namespace: 'n'}",
       {"metadata.namespace: Forbidden: not allowed on this type"}},
      {space, "{name: a.b}", {"metadata.name: Invalid value: \"a.b\": must not contain dots"}},
      {service, "{name: 1a, namespace: 'n'}", {}},
      {service,
       "{name: a.b, namespace: 'n'}",
       {"metadata.name: Invalid value: \"a.b\": must not contain dots"}},
      {request, "{name: 'system:Bad_Name'}", {}},
      {request, "{name: ..}", {"metadata.name: Invalid value: \"..\": may not be '..'"}},
      {budget, "{name: 'A', namespace: 'n'}", {}},
      {config,
       "{name: a, namespace: 'n', labels: {a/: x, a/b/c: x, /d: x}}",
       {"metadata.labels: Invalid value: \"/d\": prefix part must be non-empty",
        "metadata.labels: Invalid value: \"a/\": name part must be non-empty",
        "metadata.labels: Invalid value: \"a/\": " + kNamePart,
        "metadata.labels: Invalid value: \"a/b/c\": a valid label key must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
        "(e.g. 'example.com/MyName')"}},
      {address, "{name: '10.0.0.1'}", {}},
      {address,
       "{name: a/b}",
       {"metadata.name: Invalid value: \"a/b\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)"}},
      {role, "{name: 'system:x'}", {}},
      {role, "{name: a/b}", {"metadata.name: Invalid value: \"a/b\": may not contain '/'"}},
      {config, "{name: a-x, generateName: a-, namespace: 'n'}", {}},
      {custom,
       "{name: a, labels: {'a b': c}}",
       {"metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {custom, "{name: a, annotations: {'Foo.Example/Bar': x}}", {}},
      {custom,
       "{name: a, generation: -1}",
       {"metadata.generation: Invalid value: -1: must be greater than or equal to 0"}},
      {space,
       "{name: a, ownerReferences: [{apiVersion: a/b/c, kind: K, name: nn, uid: u}, {apiVersion: /v1, "
       "kind: K, name: nn, uid: u}]}",
       {"metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be "
        "empty"}},
      {space,
       "{name: a, labels: {a/b/c: x, '/': x}}",
       {"metadata.labels: Invalid value: \"/\": prefix part must be non-empty",
        "metadata.labels: Invalid value: \"/\": name part must be non-empty",
        "metadata.labels: Invalid value: \"/\": name part must consist of alphanumeric characters, "
        "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
        "'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "metadata.labels: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
        "(e.g. 'example.com/MyName')"}},
      {space,
       "{name: a, ownerReferences: [{apiVersion: v1, kind: K, name: 'n'}]}",
       {"metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"}},
      {custom,
       "{name: a, ownerReferences: [{apiVersion: v1, kind: K, name: 'n', uid: u, controller: true}, "
       "{apiVersion: v1, kind: L, name: m, uid: v, controller: true}]}",
       {"metadata.ownerReferences: Invalid value: "
        "[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\",\"controller\":true},"
        "{\"apiVersion\":\"v1\",\"kind\":\"L\",\"name\":\"m\",\"uid\":\"v\",\"controller\":true}]: "
        "Only one reference can have Controller set to true. Found \"true\" in references for K/n "
        "and L/m"}},
      {space,
       "{name: a, finalizers: [mine]}",
       {"metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer "
        "name "
        "nor is it fully qualified"}},
      {custom, "{name: a, finalizers: [mine]}", {}},
      {custom,
       "{name: a, finalizers: [orphan, foregroundDeletion]}",
       {"metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan "
        "and foregroundDeletion cannot be both set"}},
  };
  for (const Case& c : cases) {
    const Json object = {{"metadata", Yaml(c.metadata)}};
    EXPECT_EQ(Texts(ValidateMetadata(c.type, object, nullptr)), c.expected) << c.metadata;
  }
}

ResourceType DefinedType() {
  auto set = std::make_shared<SchemaSet>();
  ResourceType type = TypeOf("e.com", "E", false, false);
  type.schema = *RootSchemaFromOpenApi(
      Yaml("{type: object, properties: {r: {type: object, x-kubernetes-embedded-resource: true, "
           "x-kubernetes-preserve-unknown-fields: true}}}"),
      *set);
  type.schema_owner = std::move(set);
  return type;
}

TEST(Metadata, WantsTextInCustomResources) {
  const ResourceType type = DefinedType();
  const std::pair<const char*, const char*> cases[] = {
      {"{metadata: {name: a, labels: {b: c}}, r: {metadata: {name: b}}}", ""},
      {"{metadata: {labels: {b: 1}}}",
       "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"},
      {"{metadata: 5}", "json: cannot unmarshal number into Go value of type v1.ObjectMeta"},
      {"{metadata: {}, r: {apiVersion: 1}}", "r.apiVersion: Invalid value: 1: must be a string"},
      {"{metadata: {}, r: {metadata: {finalizers: a}}}",
       "r.metadata: Invalid value: {\"finalizers\":\"a\"}: json: cannot unmarshal string into Go "
       "struct field ObjectMeta.finalizers of type []string"},
  };
  for (const auto& [object, expected] : cases) {
    EXPECT_EQ(CheckBuiltinTypes(type, Yaml(object)).value_or(""), expected);
    EXPECT_EQ(ValidateMetadata(type, Yaml(object), nullptr).size() == 1 &&
                  ValidateMetadata(type, Yaml(object), nullptr)[0].field == "metadata",
              *expected != 0)
        << object;
  }
}

TEST(Metadata, WarnsAboutPlainFinalizers) {
  const Json object = Yaml("{metadata: {finalizers: [mine, my.org, my.org/x, orphan]}}");
  EXPECT_EQ(WarningsFor(DefinedType(), object, nullptr),
            (std::vector<std::string>{
                "metadata.finalizers: \"mine\": prefer a domain-qualified finalizer name to avoid "
                "accidental conflicts with other finalizer writers",
                "metadata.finalizers: \"my.org\": prefer a domain-qualified finalizer name "
                "including a path (/) to avoid accidental conflicts with other finalizer "
                "writers"}));
}

TEST(Metadata, LimitsAnnotations) {
  Json object = Yaml("{metadata: {name: a}}");
  Set(object, {"metadata", "annotations", "k"}, std::string(262143, 'x'));
  const ResourceType type = TypeOf("e.com", "E", false, false);
  EXPECT_TRUE(ValidateMetadata(type, object, nullptr).empty());
  Set(object, {"metadata", "annotations", "k"}, std::string(262144, 'x'));
  EXPECT_EQ(Texts(ValidateMetadata(type, object, nullptr)),
            std::vector<std::string>{
                "metadata.annotations: Too long: may not be more than 262144 bytes"});
}

TEST(Metadata, ChecksUpdates) {
  const ResourceType type = TypeOf("e.com", "E", false, false);
  const Json old = Yaml(
      "{metadata: {name: a, uid: u, deletionTimestamp: '2024-01-01T00:00:00Z', "
      "finalizers: [e.com/a]}}");
  Json object = old;
  EXPECT_TRUE(ValidateMetadata(type, object, &old).empty());
  Set(object, {"metadata", "finalizers"}, Json::array({"e.com/a", "e.com/b"}));
  EXPECT_EQ(Texts(ValidateMetadata(type, object, &old)),
            std::vector<std::string>{
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
                "being deleted, found new finalizers []string{\"e.com/b\"}"});
  object = old;
  Set(object, {"metadata", "uid"}, "v");
  EXPECT_EQ(Texts(ValidateMetadata(type, object, &old)),
            std::vector<std::string>{"metadata.uid: Invalid value: \"v\": field is immutable"});
}

TEST(Metadata, ManyFaultsAreToldInFewBytes) {
  const ResourceType config = TypeOf("", "ConfigMap", true);
  Json owners = Json::array();
  for (int i = 0; i < 5000; ++i) {
    owners.push_back({{"apiVersion", "v1"}, {"kind", "K"}, {"name", "n" + std::to_string(i)}, {"uid", "u"}, {"controller", true}});
  }
  const Json object = {{"metadata", {{"name", "a"}, {"namespace", "ns"}, {"ownerReferences", owners}}}};
  const auto causes = Texts(ValidateMetadata(config, object, nullptr));
  EXPECT_EQ(causes.size(), limits::kProblemsTold);
  for (const std::string& text : causes) EXPECT_LT(text.size(), 2 * limits::kProblemValueBytes);
  EXPECT_TRUE(causes.front().ends_with("in references for K/n0 and K/n1")) << causes.front();

  Json labels = Json::object();
  for (int i = 0; i < 50'000; ++i) labels["bad key " + std::to_string(i)] = "v";
  EXPECT_EQ(ValidateLabels(&labels, "metadata.labels").size(), limits::kProblemsTold);
}

}  // namespace
}  // namespace mailroom::openapi
