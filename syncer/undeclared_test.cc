#include "syncer/undeclared.h"

#include <gtest/gtest.h>

#include "storage/object/yaml.h"

namespace mailroom::syncer {
namespace {

struct Case {
  const char* name;
  const char* refusal;
  const char* after;
  std::size_t dropped;
};

TEST(DropUndeclared, Table) {
  const char* const body =
      "{spec: {new: 1, old: 2, c: [{name: 'a b', new: 3, x: 1}, {name: d, ports: "
      "[{port: 80, protocol: TCP, new: 4}]}]}}";
  const Case cases[] = {
      {"one field", "failed to create typed patch object: .spec.new: field not declared in schema",
       "{spec: {old: 2, c: [{name: 'a b', new: 3, x: 1}, {name: d, ports: "
       "[{port: 80, protocol: TCP, new: 4}]}]}}",
       1},
      {"several, in lists",
       "failed to create typed patch object: errors:\n"
       "  .spec.c[name=\"a b\"].new: field not declared in schema\n"
       "  .spec.c[name=\"d\"].ports[port=80,protocol=\"TCP\"].new: field not declared in schema",
       "{spec: {new: 1, old: 2, c: [{name: 'a b', x: 1}, {name: d, ports: "
       "[{port: 80, protocol: TCP}]}]}}",
       2},
      {"by place", ".spec.c[0].new: field not declared in schema",
       "{spec: {new: 1, old: 2, c: [{name: 'a b', x: 1}, {name: d, ports: "
       "[{port: 80, protocol: TCP, new: 4}]}]}}",
       1},
      {"not there", ".spec.c[7].new: field not declared in schema", body, 0},
      {"broken path", ".spec.c[name=\"a: field not declared in schema", body, 0},
      {"no path", ": field not declared in schema", body, 0},
      {"something else", "admission webhook denied .spec.new", body, 0},
  };
  for (const Case& c : cases) {
    Json value = *ParseYaml(body);
    EXPECT_EQ(DropUndeclared(c.refusal, value).size(), c.dropped) << c.name;
    EXPECT_EQ(value, *ParseYaml(c.after)) << c.name;
  }
}

}  // namespace
}  // namespace mailroom::syncer
