// Documents about paths of the server itself, which belong to no group.
#include "openapi/documents.h"

namespace mailroom::openapi {
namespace {

Json Describe(const std::string& path, const char* id, const char* description, const char* tag,
              const char* media, Json schema, Json schemas) {
  const Json operation = {
      {"description", description},
      {"operationId", id},
      {"tags", {tag}},
      {"responses",
       {{"200", {{"description", "OK"}, {"content", {{media, {{"schema", std::move(schema)}}}}}}},
        {"401", {{"description", "Unauthorized"}}}}}};
  Json components = {{"securitySchemes",
                      {{"BearerToken",
                        {{"description", "Bearer Token authentication"},
                         {"in", "header"},
                         {"name", "authorization"},
                         {"type", "apiKey"}}}}}};
  if (!schemas.is_null()) components["schemas"] = std::move(schemas);
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "unversioned"}}},
          {"paths", {{"/" + path + "/", {{"get", operation}}}}},
          {"components", std::move(components)}};
}

Json VersionInfo() {
  Json properties = Json::object(), required = Json::array();
  for (const char* member : {"major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate",
                             "goVersion", "compiler", "platform"}) {
    properties[member] = {{"type", "string"}, {"default", ""}};
    required.push_back(member);
  }
  for (const char* member :
       {"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"}) {
    properties[member] = {{"type", "string"}};
  }
  return {{"type", "object"},
          {"description", "What is known about the build of the server."},
          {"properties", std::move(properties)},
          {"required", std::move(required)}};
}

}  // namespace

const std::vector<std::string>& ServerPaths() {
  static const std::vector<std::string> paths = {".well-known/openid-configuration",
                                                 "openid/v1/jwks", "version"};
  return paths;
}

Json ServerDocumentV3(std::string_view path) {
  const Json text = {{"type", "string"}};
  if (path == "version") {
    const std::string name = "io.k8s.apimachinery.pkg.version.Info";
    return Describe("version", "getCodeVersion", "get the version information for this server",
                    "version", "application/json", {{"$ref", "#/components/schemas/" + name}},
                    {{name, VersionInfo()}});
  }
  if (path == ".well-known/openid-configuration") {
    return Describe(std::string(path), "getServiceAccountIssuerOpenIDConfiguration",
                    "get the OpenID discovery document of the issuer of ServiceAccount tokens",
                    "WellKnown", "application/json", text, nullptr);
  }
  if (path == "openid/v1/jwks") {
    return Describe(std::string(path), "getServiceAccountIssuerOpenIDKeyset",
                    "get the keys that ServiceAccount tokens are verified with", "openid",
                    "application/jwk-set+json", text, nullptr);
  }
  return nullptr;
}

}  // namespace mailroom::openapi
