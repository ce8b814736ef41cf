#include "openapi/cel/program.h"

#include "storage/object/json.h"
#include "test/fuzz/fuzz.h"

// Whatever the text is, compiling it ends, and running it stays within its limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace cel = mailroom::cel;
  static const mailroom::Json kObject = {{"a", 1}, {"b", {"x", "y"}}, {"c", {{"d", 2.5}}}};
  static const cel::Environment kEnvironment = [] {
    cel::Environment environment;
    environment.variables = {{"self", cel::Simple(cel::Kind::kDyn)}};
    return environment;
  }();
  auto program = cel::Compile(std::string(FuzzText(data, size)), kEnvironment);
  if (!program.ok()) return 0;
  const cel::Outcome outcome =
      (*program)->Run(std::vector{cel::Value::FromJson(kObject)}, 10'000);
  mailroom::Json tree;
  std::string error;
  (void)cel::ToJson(outcome.value, tree, error);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"self.a + 1 == 2 && has(self.c.d)",
          "self.b.all(x, x.size() > 0) || self.b.map(x, x + '!').join(',') != ''",
          "{'a': [1, 2.5, 3u], ?'b': optional.of(b'\\x00')}.?a[?0].orValue(dyn('x'))",
          "[3, 1, 2].sortBy(x, -x).transformMapEntry(i, v, {v: i}).size() in [1, 2, 3]",
          "quantity('1.5Gi').add(quantity('2')).asApproximateFloat() > double('1e3')",
          "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3')) ? url('https://a/b?c=d').getQuery() : {}",
          "'%s %d %x %.2f'.format(['a', 1, 255, 2.5]).split(' ')",
          "timestamp('2020-01-01T00:00:00Z') + duration('1h') > timestamp(0)",
          "'a'.matches('^(a+)+$') && 'abc'.findAll('[a-z]').size() == 3",
          "optional.of(self.a).optMap(x, x * x * 9223372036854775807) // comment"};
}
