#include "storage/object/json.h"

#include "test/fuzz/fuzz.h"

// What parses prints to JSON that parses to the same tree, with and without the strict reading.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto strict = mailroom::ParseJsonStrict(FuzzText(data, size));
  auto plain = mailroom::ParseJson(FuzzText(data, size));
  FUZZ_CHECK(strict.ok() == plain.ok());
  if (!plain.ok()) return 0;
  FUZZ_CHECK(strict->value == *plain);
  auto again = mailroom::ParseJson(mailroom::DumpJson(*plain));
  FUZZ_CHECK(again.ok() && *again == *plain);
  FUZZ_CHECK(mailroom::ParseJson(mailroom::DumpJsonPretty(*plain)).ok());
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {R"({"a":[1,-0.5e3,true,null,"x\u00e9\ud83d\ude00"],"a":{}})", R"([[[[[[]]]]]])",
          R"(18446744073709551616)", "\"\xc3\x28\"", R"({"kind":"Pod","metadata":{"name":"a"}})"};
}
