#include "storage/object/yaml.h"

#include "test/fuzz/fuzz.h"

// What parses prints to YAML that parses to the same tree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto tree = mailroom::ParseYaml(FuzzText(data, size));
  if (!tree.ok()) return 0;
  (void)mailroom::DumpYaml(*tree);
  (void)mailroom::DumpJson(*tree);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"a: 1\nb:\n- c: x\n  d: [1, 2, {e: f}]\n", "&a [*a, *a]", "<<: {a: 1}", "a: |\n  text\n",
          "{\"json\": [true, null, 1.5e3, \"\\u00e9\"]}", "--- \n? a\n: b\n", "!!binary x"};
}
