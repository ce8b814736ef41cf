#include "storage/object/selector.h"
#include "test/fuzz/fuzz.h"

// What parses prints to text that parses and selects the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = FuzzText(data, size);
  const mailroom::LabelViews labels = {{"a", "b"}, {"example.com/tier", "3"}};
  if (auto selector = mailroom::LabelSelector::Parse(text); selector.ok()) {
    auto again = mailroom::LabelSelector::Parse(selector->ToString());
    FUZZ_CHECK(again.ok());
    FUZZ_CHECK(again->Matches(labels) == selector->Matches(labels));
  }
  if (auto fields = mailroom::FieldSelector::Parse(text); fields.ok()) {
    (void)fields->Matches([](std::string_view) { return std::string("b"); });
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"a=b,c!=d,e in (f,g),!h,i>3", "a notin (,x),example.com/tier<4", "a==b",
          "metadata.name=x,status.phase!=Running", "f=a\\,b\\=c"};
}
