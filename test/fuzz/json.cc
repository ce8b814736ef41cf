#include "storage/object/json.h"

#include <cstdint>
#include <limits>

#include "storage/object/limits.h"

#include "test/fuzz/fuzz.h"

namespace {

// As printing has it: what has no place in 64 bits with a sign is no integer.
mailroom::Json Rounded(mailroom::Json value) {
  if (value.is_structured()) {
    for (mailroom::Json& part : value) part = Rounded(std::move(part));
  } else if (value.is_number_unsigned() &&
             value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    value = value.get<double>();
  }
  return value;
}

}  // namespace

// What parses prints to JSON that parses to the same tree, with and without the strict reading. What is
// told of keys given twice is bounded, whatever their number and the length of names above them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto strict = mailroom::ParseJsonStrict(FuzzText(data, size));
  auto plain = mailroom::ParseJson(FuzzText(data, size));
  FUZZ_CHECK(strict.ok() == plain.ok());
  if (!plain.ok()) return 0;
  FUZZ_CHECK(strict->value == *plain);
  FUZZ_CHECK(strict->duplicates.size() <= mailroom::limits::kProblemsTold);
  for (const std::string& path : strict->duplicates) {
    FUZZ_CHECK(path.size() <= mailroom::limits::kProblemPathBytes + 3);
  }
  auto again = mailroom::ParseJson(mailroom::DumpJson(*plain));
  FUZZ_CHECK(again.ok() && Rounded(*again) == Rounded(*plain));
  FUZZ_CHECK(mailroom::ParseJson(mailroom::DumpJsonPretty(*plain)).ok());
  return 0;
}

namespace {

std::string ManyDuplicates() {
  std::string text = "{\"" + std::string(mailroom::limits::kProblemPathBytes + 100, 'n') + "\":[{";
  for (std::size_t i = 0; i < mailroom::limits::kProblemsTold + 10; ++i) {
    const std::string key = "\"" + std::to_string(i) + "\":0,";
    text += key + key;
  }
  return text + "\"a\":0}]}";
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {ManyDuplicates(), R"({"a":[1,-0.5e3,true,null,"x\u00e9\ud83d\ude00"],"a":{}})", R"([[[[[[]]]]]])",
          R"(18446744073709551616)", "\"\xc3\x28\"", R"({"kind":"Pod","metadata":{"name":"a"}})"};
}
