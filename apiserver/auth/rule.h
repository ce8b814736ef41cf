// One RBAC rule: what it allows, and its texts. Pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/attributes.h"
#include "storage/object/json_fwd.h"

namespace mailroom::apiserver {

struct Rule {
  std::vector<std::string> verbs = {}, groups = {}, resources = {}, names = {}, urls = {};
  friend auto operator<=>(const Rule&, const Rule&) = default;
};
using Rules = std::vector<Rule>;
using RulesPtr = std::shared_ptr<const Rules>;

// The `rules` of a role; anything malformed allows nothing.
Rules ParseRules(const Json& rules);
// The same from JSON text; equal texts share one parsed value while somebody holds it.
RulesPtr ShareRules(std::string_view text);
Json RuleToJson(const Rule& rule);

bool Allows(const Rule& rule, const Attributes& asked);
// `pattern` is a path, `*`, or a prefix followed by `*`.
bool PathCovers(std::string_view pattern, std::string_view path);

// `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`.
std::string CompactText(const Rule& rule);
// `["a" "b"]`, as Go prints a list of quoted strings.
std::string QuotedList(const std::vector<std::string>& texts);

}  // namespace mailroom::apiserver
