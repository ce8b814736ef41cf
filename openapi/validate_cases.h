// Objects and what is said of them, for tests of validations: each case is one row.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openapi/builtin.h"
#include "openapi/normalize.h"
#include "openapi/validate.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {

struct NewCase {
  GroupVersionKind gvk;
  const char* object;
  std::vector<std::string> expected;
};

struct ChangeCase {
  GroupVersionKind gvk;
  const char *before, *after;
  std::vector<std::string> expected;
};

inline std::vector<std::string> FaultsOf(const GroupVersionKind& gvk, const char* before,
                                         const char* after, std::string_view subresource = "") {
  ResourceType type;
  type.gvk = gvk;
  type.schema = BuiltinKind(gvk);
  Json object = *ParseYaml(after), old;
  ApplyDefaults(type, object);
  if (before != nullptr) {
    old = *ParseYaml(before);
    ApplyDefaults(type, old);
  }
  std::vector<std::string> texts;
  for (const Cause& cause :
       ValidateObject(type, object, before == nullptr ? nullptr : &old, subresource)) {
    texts.push_back(cause.field + ": " + cause.message);
  }
  return texts;
}

inline void ExpectFaults(const std::vector<NewCase>& cases) {
  for (const NewCase& c : cases) {
    EXPECT_EQ(FaultsOf(c.gvk, nullptr, c.object), c.expected) << c.object;
  }
}

inline void ExpectFaults(const std::vector<ChangeCase>& cases) {
  for (const ChangeCase& c : cases) {
    EXPECT_EQ(FaultsOf(c.gvk, c.before, c.after), c.expected) << c.after;
  }
}

}  // namespace mailroom::openapi
