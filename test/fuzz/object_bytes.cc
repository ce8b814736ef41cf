#include "storage/object/json.h"
#include "storage/object/object.h"
#include "test/fuzz/fuzz.h"

// Reading metadata from any bytes never reads past them; what the strict parser also accepts is
// read alike, and changing the revision changes nothing else.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = FuzzText(data, size);
  if (auto object = mailroom::Object::Decode(text, mailroom::Revision(7)); object.ok()) {
    (void)(*object)->ScalarAt("spec.size");
    if (auto parsed = mailroom::ParseJson((*object)->bytes()); parsed.ok()) {
      auto later = (*object)->AtRevision(mailroom::Revision(8));
      FUZZ_CHECK(later != nullptr);
      FUZZ_CHECK(mailroom::ParseJson(later->bytes()).ok());
    }
  }
  if (auto tree = mailroom::ParseJson(text); tree.ok() && tree->is_object()) {
    const auto made = mailroom::Object::Make(*tree, mailroom::Revision(9));
    FUZZ_CHECK(made != nullptr);
    FUZZ_CHECK(mailroom::ParseJson(made->bytes()).ok());
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"a":"b"},"name":"x"},"data":{}})",
          R"({"apiVersion":"v1","kind":"X","metadata":{},"spec":{"size":"\"q\"","n":[1,{"a":"}"}]}})",
          R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":"\u0041\\","ownerReferences":[{"uid":"u"}]}})"};
}
