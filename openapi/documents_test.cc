#include "openapi/documents.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "openapi/protobuf_wire.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

const Json& V2() {
  static const Json document = DocumentV2(*BaseCatalog(WorkspaceType::kWds));
  return document;
}

// Every `$ref` below `node` names a member of `models`, or of `parameters`.
void CheckRefs(const Json& node, const Json& models, const std::string& prefix,
               const Json& parameters = Json::object()) {
  if (node.is_object()) {
    for (const auto& [key, value] : node.items()) {
      if (key == "$ref" && value.is_string()) {
        const std::string text = value.get<std::string>();
        constexpr std::string_view kParameters = "#/parameters/";
        if (text.starts_with(kParameters)) {
          EXPECT_TRUE(parameters.contains(text.substr(kParameters.size()))) << text;
          continue;
        }
        ASSERT_TRUE(text.starts_with(prefix)) << text;
        EXPECT_TRUE(models.contains(text.substr(prefix.size()))) << text;
      } else {
        CheckRefs(value, models, prefix, parameters);
      }
    }
  } else if (node.is_array()) {
    for (const Json& element : node) CheckRefs(element, models, prefix, parameters);
  }
}

TEST(DocumentsV2, EveryKindHasADefinitionAndAPatchOperation) {
  const Json* definitions = Find(V2(), {"definitions"});
  CheckRefs(V2(), *definitions, "#/definitions/", V2().at("parameters"));
  std::set<std::string> kinds;
  for (const auto& [name, schema] : definitions->items()) {
    if (const Json* gvks = Find(schema, {"x-kubernetes-group-version-kind"})) {
      for (const Json& gvk : *gvks) {
        kinds.insert(StringAt(gvk, {"group"}) + "/" + StringAt(gvk, {"kind"}));
      }
    }
  }
  for (const ResourceTypePtr& type : BaseCatalog(WorkspaceType::kWds)->Preferred()) {
    if (!type->HasVerb("patch")) continue;
    EXPECT_TRUE(kinds.contains(type->gvk.group + "/" + type->gvk.kind)) << type->gvk.kind;
  }
  const Json* patch = Find(V2(), {"paths", "/api/v1/namespaces/{namespace}/configmaps/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  bool dry_run = false;
  for (const Json& parameter : *Find(*patch, {"parameters"})) {
    dry_run = dry_run || StringAt(parameter, {"name"}) == "dryRun";
  }
  EXPECT_TRUE(dry_run);
}

TEST(DocumentsV3, ServicePortsKeepTheirMergeKeys) {
  const Json document = DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "", "v1");
  const Json* schemas = Find(document, {"components", "schemas"});
  CheckRefs(document, *schemas, "#/components/schemas/");
  const Json* ports = Find(*schemas, {"io.k8s.api.core.v1.ServiceSpec", "properties", "ports"});
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(StringAt(*ports, {"x-kubernetes-patch-merge-key"}), "port");
  EXPECT_EQ(StringAt(*ports, {"x-kubernetes-list-type"}), "map");
  EXPECT_EQ(StringsAt(*ports, {"x-kubernetes-list-map-keys"}),
            (std::vector<std::string>{"port", "protocol"}));
  EXPECT_TRUE(DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "none", "v1").is_null());
}

// `kubectl explain` shows nothing but what stands there.
TEST(Documents, NumbersThatMayBeTextAreBoth) {
  const Json v3 = DocumentV3(*BaseCatalog(WorkspaceType::kWds), "", "v1");
  const Json* models = Find(v3, {"components", "schemas"});
  ASSERT_NE(models, nullptr);
  const auto without_words = [](Json model) {
    model.erase("description");
    return model;
  };
  const Json text = {{"type", "string"}};
  constexpr const char* kPort = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  constexpr const char* kAmount = "io.k8s.apimachinery.pkg.api.resource.Quantity";
  EXPECT_EQ(without_words(models->at(kPort)),
            (Json{{"format", "int-or-string"}, {"oneOf", {{{"type", "integer"}}, text}}}));
  EXPECT_EQ(without_words(models->at(kAmount)), (Json{{"oneOf", {text, {{"type", "number"}}}}}));
  const Json& v2 = V2().at("definitions");
  EXPECT_EQ(without_words(v2.at(kPort)), (Json{{"type", "string"}, {"format", "int-or-string"}}));
  EXPECT_EQ(without_words(v2.at(kAmount)), text);
}

TEST(Descriptions, EveryBuiltinTypeAndMemberHasOne) {
  const CatalogPtr catalog = BaseCatalog(WorkspaceType::kCluster);
  std::size_t models = 0, members = 0;
  for (const Group& group : catalog->groups()) {
    for (const GroupVersion& version : group.versions) {
      const Json document = DocumentV3(*catalog, group.name, version.version);
      for (const auto& [name, model] : Find(document, {"components", "schemas"})->items()) {
        EXPECT_FALSE(StringAt(model, {"description"}).empty()) << name;
        ++models;
        if (!name.starts_with("io.k8s.") || !model.contains("properties")) continue;
        for (const auto& [member, schema] : model.at("properties").items()) {
          EXPECT_FALSE(StringAt(schema, {"description"}).empty()) << name << "." << member;
          ++members;
        }
      }
    }
  }
  EXPECT_GT(models, 500u);
  EXPECT_GT(members, 3000u);
}

TEST(Descriptions, TellTheShape) {
  const Json document = DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "", "v1");
  auto text = [&](const std::string& model, const std::string& member) {
    return StringAt(document, {"components", "schemas", "io.k8s.api.core.v1." + model,
                               "properties", member, "description"});
  };
  EXPECT_EQ(text("ServiceSpec", "ports"),
            "Ports: a list of ServicePort, merged by port and protocol.");
  EXPECT_EQ(text("ServiceSpec", "clusterIPs"), "Cluster IPs: a list of text.");
  EXPECT_EQ(text("ServiceSpec", "externalTrafficPolicy"),
            "External traffic policy: text; one of Cluster or Local.");
  EXPECT_EQ(text("Container", "name"), "Name: text; required.");
  EXPECT_EQ(text("PodSpec", "hostPID"), "Host PID: true or false.");
  EXPECT_EQ(text("PodSpec", "nodeSelector"), "Node selector: a map from names to text.");
  EXPECT_EQ(text("PodSpec", "terminationGracePeriodSeconds"),
            "Termination grace period seconds: a whole number.");
  EXPECT_EQ(text("PodStatus", "startTime"), "Start time: a time.");
  EXPECT_EQ(text("ResourceRequirements", "limits"),
            "The most that may be used, by resource. It is a map from names to quantity such as "
            "500m or 2Gi.");
}

TEST(Descriptions, MayComeFromAFile) {
  const auto docs = ApiDocs::Parse(
      R"({"io.k8s.api.core.v1.PodSpec": {"": "Of pods.", "hostPID": "Sees others.", "dnsPolicy": ""}})");
  ASSERT_TRUE(docs.ok());
  const Json document = DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "", "v1", &*docs);
  const Json* spec = Find(document, {"components", "schemas", "io.k8s.api.core.v1.PodSpec"});
  EXPECT_EQ(StringAt(*spec, {"description"}), "Of pods.");
  EXPECT_EQ(StringAt(*spec, {"properties", "hostPID", "description"}), "Sees others.");
  EXPECT_NE(StringAt(*spec, {"properties", "dnsPolicy", "description"}), "");
  EXPECT_NE(StringAt(*spec, {"properties", "hostIPC", "description"}), "");
  for (const char* wrong : {"", "[]", R"({"a": 1})", R"({"a": {"b": 1}})"}) {
    EXPECT_FALSE(ApiDocs::Parse(wrong).ok()) << wrong;
  }
}

TEST(Gnostic, CarriesTheSameDefinitionsAndPaths) {
  const std::string bytes = EncodeGnosticV2(V2());
  std::size_t definitions = 0, paths = 0;
  std::string swagger;
  WireReader document(bytes);
  for (WireField field; document.Next(field);) {
    if (field.number == 1) swagger = field.bytes;
    if (field.number != 8 && field.number != 9) continue;
    WireReader entries(field.bytes);
    for (WireField entry; entries.Next(entry);) {
      std::string name;
      WireReader named(entry.bytes);
      for (WireField part; named.Next(part);) {
        if (part.number == 1) name = part.bytes;
      }
      EXPECT_TRUE(named.ok());
      const Json* all = Find(V2(), {field.number == 8 ? "paths" : "definitions"});
      EXPECT_TRUE(all->contains(name)) << name;
      ++(field.number == 8 ? paths : definitions);
    }
    EXPECT_TRUE(entries.ok());
  }
  EXPECT_TRUE(document.ok());
  EXPECT_EQ(swagger, "2.0");
  EXPECT_EQ(definitions, Find(V2(), {"definitions"})->size());
  EXPECT_EQ(paths, Find(V2(), {"paths"})->size());
}

// The bytes of the first field of that number; "" when there is none.
std::string Part(std::string_view message, std::uint32_t number) {
  WireReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number == number) return std::string(field.bytes);
  }
  return "";
}

// Values of the named entries in the fields of that number.
std::map<std::string, std::string> NamedParts(std::string_view message, std::uint32_t number) {
  std::map<std::string, std::string> out;
  WireReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number == number) out[Part(field.bytes, 1)] = Part(field.bytes, 2);
  }
  EXPECT_TRUE(reader.ok());
  return out;
}

TEST(Gnostic, CarriesVersionThree) {
  const Json document = DocumentV3(*BaseCatalog(WorkspaceType::kCluster), "apps", "v1");
  const std::string bytes = EncodeGnosticV3(document);
  EXPECT_EQ(Part(bytes, 1), "3.0.0");
  EXPECT_EQ(Part(Part(bytes, 2), 6), kDocumentVersion);
  const auto paths = NamedParts(Part(bytes, 4), 1);
  EXPECT_EQ(paths.size(), document["paths"].size());
  const auto schemas = NamedParts(Part(Part(bytes, 5), 1), 1);
  EXPECT_EQ(schemas.size(), document["components"]["schemas"].size());

  const std::string deployment = Part(schemas.at("io.k8s.api.apps.v1.Deployment"), 1);
  EXPECT_EQ(Part(deployment, 25), "object");
  EXPECT_NE(NamedParts(deployment, 36).at("x-kubernetes-group-version-kind").find("Deployment"),
            std::string::npos);
  const std::string spec = Part(NamedParts(Part(deployment, 31), 1).at("spec"), 1);
  const std::string reference = Part(Part(spec, 26), 2);
  EXPECT_EQ(Part(reference, 1), "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec");

  const std::string item = paths.at("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
  const std::string patch = Part(item, 10);
  EXPECT_EQ(Part(NamedParts(patch, 13).at("x-kubernetes-action"), 2), "\"patch\"");
  const auto bodies = NamedParts(Part(Part(Part(patch, 7), 1), 2), 1);
  EXPECT_TRUE(bodies.contains("application/strategic-merge-patch+json"));
  const std::string parameter = Part(Part(patch, 6), 1);
  EXPECT_EQ(Part(parameter, 2), "query");
}

}  // namespace
}  // namespace mailroom::openapi
