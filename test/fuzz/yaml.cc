#include "storage/object/yaml.h"

#include "storage/object/limits.h"

#include "test/fuzz/fuzz.h"

// What parses prints to YAML that parses to the same tree, and bodies are read as other texts are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = FuzzText(data, size);
  auto body = mailroom::ParseYamlStrict(text);
  auto tree = mailroom::ParseYaml(text);
  FUZZ_CHECK(body.ok() == tree.ok());
  (void)mailroom::ParseYamlDocuments(text);
  if (!tree.ok()) return 0;
  FUZZ_CHECK(body->value == *tree);
  FUZZ_CHECK(body->duplicates.size() <= mailroom::limits::kProblemsTold);
  auto again = mailroom::ParseYaml(mailroom::DumpYaml(*tree));
  FUZZ_CHECK(again.ok() && *again == *tree);
  (void)mailroom::DumpJson(*tree);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"a: 1\nb:\n- c: x\n  d: [1, 2, {e: f}]\n", "&a [*a, *a]", "<<: {a: 1}", "a: |\n  text\n",
          "{\"json\": [true, null, 1.5e3, \"\\u00e9\"]}", "--- \n? a\n: b\n", "!!binary x",
          "a: 1\na: 2\n", "\"<<\": y\nn: .inf\n1_000: 0b1\n-.inf: 2001-01-01\n1e3: 1:30\n", "a: 'x'\nb: \"1\"\nc: ~\nd: yes\ne: 0x1f\nf: 1e999\n", "- - - a\n- []\n- {}\n"};
}
