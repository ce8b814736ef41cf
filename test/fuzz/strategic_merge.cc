#include "apiserver/strategic_merge.h"

#include "test/fuzz/patching.h"

// Any patch of a stored object gives an object, or is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto documents = FuzzDocuments(FuzzText(data, size));
  if (!documents || !FuzzNormalize(documents->first)) return 0;
  if (!documents->second.is_object()) return 0;
  auto merged = mailroom::apiserver::StrategicMerge(FuzzDeployments().schema, documents->first,
                                                    documents->second);
  if (merged.ok()) FUZZ_CHECK(mailroom::ParseJson(mailroom::DumpJson(*merged)).ok());
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  const std::string live = FuzzDeployment(R"({"name":"c","image":"i","ports":[{"containerPort":80}]})");
  std::vector<std::string> seeds;
  for (const char* patch :
       {R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"},{"name":"d"}]}}}})",
        R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"d"},{"name":"c"}],
            "containers":[{"name":"d","image":"k"}]}}}})",
        R"({"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}}})",
        R"({"metadata":{"labels":{"$patch":"replace","n":"o"},"$deleteFromPrimitiveList/finalizers":["x/y"]}})",
        R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"},"replicas":null}})"}) {
    seeds.push_back(live + "\n" + patch);
  }
  return seeds;
}
