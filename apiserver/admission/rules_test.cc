#include "apiserver/admission/rules.h"

#include <gtest/gtest.h>

namespace mailroom::admission {
namespace {

struct Case {
  Json rule;           // what differs from a rule for everything
  const char* group;
  const char* plural;
  const char* subresource;
  bool matches;
};

TEST(RulesTest, Table) {
  const std::vector<Case> cases = {
      {Json::object(), "", "configmaps", "", true},
      {{{"resources", {"*"}}}, "", "configmaps", "status", false},
      {{{"resources", {"*/*"}}}, "", "pods", "status", true},
      {{{"resources", {"pods/*"}}}, "", "pods", "status", true},
      {{{"resources", {"*/status"}}}, "", "pods", "status", true},
      {{{"resources", {"*/scale"}}}, "", "pods", "status", false},
      {{{"resources", {"secrets", "pods"}}}, "", "pods", "", true},
      {{{"resources", {"secrets"}}}, "", "pods", "", false},
      {{{"apiGroups", {"apps"}}}, "", "pods", "", false},
      {{{"apiGroups", {"apps", ""}}}, "", "pods", "", true},
      {{{"apiVersions", {"v2"}}}, "", "pods", "", false},
      {{{"operations", {"DELETE"}}}, "", "pods", "", false},
      {{{"operations", {"CREATE"}}}, "", "pods", "", true},
      {{{"scope", "Cluster"}}, "", "pods", "", false},
      {{{"scope", "Namespaced"}}, "", "pods", "", true},
      {{{"scope", "Cluster"}}, "", "namespaces", "", true},
      {{{"scope", "Namespaced"}}, "", "namespaces", "", false},
      {{{"resourceNames", {"other"}}}, "", "pods", "", false},
      {{{"resourceNames", {"it"}}}, "", "pods", "", true},
  };
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kCluster);
  const apiserver::User user{"u", {}};
  for (const Case& one : cases) {
    Json rule = {{"operations", {"*"}}, {"apiGroups", {"*"}}, {"apiVersions", {"*"}},
                 {"resources", {"*", "*/*"}}};
    if (one.rule.contains("resources")) rule.erase("resources");
    rule.update(one.rule);
    if (one.subresource[0] == '\0' && !one.rule.contains("resources")) rule["resources"] = {"*"};
    const auto type = catalog->FindShared(one.group, "v1", one.plural);
    ASSERT_NE(type, nullptr) << one.plural;
    Attributes attributes{.workspace = Workspace("w"), .catalog = catalog, .type = type,
                          .subresource = one.subresource, .kind = type->gvk,
                          .operation = Operation::kCreate, .ns = type->namespaced ? "default" : "it",
                          .name = "it", .old = nullptr, .dry_run = false, .user = user,
                          .options = {}, .convert = {}};
    const Json object = {{"metadata", {{"name", "it"}}}};
    const auto matched =
        Match(ParseConstraints({{"rules", Json::array({rule})}}, "rules"), attributes, &object,
              [](const std::string&) -> ObjectPtr { return nullptr; });
    ASSERT_TRUE(matched.ok());
    EXPECT_EQ(matched->has_value(), one.matches) << rule << " " << one.plural << "/" << one.subresource;
  }
}

TEST(RulesTest, ANamespaceIsJudgedByItsOwnLabels) {
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kCluster);
  const auto type = catalog->FindShared("", "v1", "namespaces");
  const apiserver::User user{"u", {}};
  Attributes attributes{.workspace = Workspace("w"), .catalog = catalog, .type = type,
                        .subresource = "", .kind = type->gvk, .operation = Operation::kCreate,
                        .ns = "it", .name = "it", .old = nullptr, .dry_run = false, .user = user,
                        .options = {}, .convert = {}};
  const Json rule = {{"operations", {"*"}}, {"apiGroups", {"*"}}, {"apiVersions", {"*"}},
                     {"resources", {"*"}}};
  const auto constraints = ParseConstraints(
      {{"rules", Json::array({rule})}, {"namespaceSelector", {{"matchLabels", {{"a", "b"}}}}}},
      "rules");
  const auto none = [](const std::string&) -> ObjectPtr { return nullptr; };
  const Json labelled = {{"metadata", {{"labels", {{"a", "b"}}}}}};
  const Json plain = {{"metadata", Json::object()}};
  EXPECT_TRUE(Match(constraints, attributes, &labelled, none)->has_value());
  EXPECT_FALSE(Match(constraints, attributes, &plain, none)->has_value());
  // Its deletion by those of the stored one; without which there is no answer.
  attributes.operation = Operation::kDelete;
  EXPECT_FALSE(Match(constraints, attributes, nullptr, none).ok());
}

}  // namespace
}  // namespace mailroom::admission
