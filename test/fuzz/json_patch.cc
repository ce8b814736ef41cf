#include "apiserver/json_patch.h"

#include "test/fuzz/patching.h"

// Patches of both RFCs give a document that prints, or refuse.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto documents = FuzzDocuments(FuzzText(data, size));
  if (!documents) return 0;
  const auto& [live, patch] = *documents;
  if (auto patched = mailroom::apiserver::JsonPatch(live, patch); patched.ok()) {
    FUZZ_CHECK(mailroom::ParseJson(mailroom::DumpJson(*patched)).ok());
  }
  if (auto merged = mailroom::apiserver::MergePatch(live, patch); merged.ok()) {
    auto again = mailroom::apiserver::MergePatch(*merged, patch);
    FUZZ_CHECK(again.ok() && *again == *merged);
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  const std::string live = R"({"a":{"b":[1,2,{"c":"d"}]},"x~y/z":null})";
  return {live + "\n" + R"([{"op":"add","path":"/a/b/-","value":3},{"op":"remove","path":"/a/b/0"}])",
          live + "\n" + R"([{"op":"move","from":"/a","path":"/q"},{"op":"copy","from":"/q/b","path":"/r"},
                            {"op":"test","path":"/x~0y~1z","value":null}])",
          live + "\n" + R"([{"op":"replace","path":"","value":{}},{"op":"copy","from":"","path":"/a"}])",
          live + "\n" + R"({"a":{"b":null,"n":{"m":null}}})"};
}
