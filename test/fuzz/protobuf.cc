#include "openapi/protobuf.h"

#include "test/fuzz/fuzz.h"

namespace openapi = mailroom::openapi;

// What decodes can be encoded, and comes back as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto tree = openapi::DecodeProtobuf(FuzzText(data, size));
  if (!tree.ok()) return 0;
  auto bytes = openapi::EncodeProtobuf(*tree);
  if (!bytes.ok()) return 0;
  auto again = openapi::DecodeProtobuf(*bytes);
  FUZZ_CHECK(again.ok());
  auto twice = openapi::EncodeProtobuf(*again);
  FUZZ_CHECK(twice.ok() && *twice == *bytes);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds = {"k8s", std::string("k8s\0", 4)};
  for (const char* text : {
           R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"},
               "creationTimestamp":"2026-01-02T03:04:05Z"},"data":{"k":"v"}})",
           R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{
               "replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[
               {"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{
               "cpu":"1"}},"livenessProbe":{"httpGet":{"port":"http"}}}]}}}})",
           R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{
               "versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","default":{},
               "properties":{"a":{"items":{"type":"string"},"enum":[1,"x"]}}}}}]}})",
           R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0,"dryRun":["All"]})"}) {
    if (auto tree = mailroom::ParseJson(text); tree.ok()) {
      if (auto bytes = openapi::EncodeProtobuf(*tree); bytes.ok()) seeds.push_back(*bytes);
    }
  }
  return seeds;
}
