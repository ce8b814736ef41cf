#include <gtest/gtest.h>

#include "apiserver/options.h"

namespace mailroom::admission {
namespace {

TEST(WebhookAddresses, TenantsWhoAreNotTrustedReachNothingLocal) {
  auto refused = [](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"--data-dir", "d"};
    args.insert(args.end(), more.begin(), more.end());
    return apiserver::ParseOptions(args)->webhook_refuse;
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({"--untrusted-tenants", "true"}), "loopback,link-local");
  EXPECT_EQ(refused({"--untrusted-tenants", "true", "--webhook-refuse", "private"}), "private");
  EXPECT_EQ(refused({"--untrusted-tenants", "true", "--webhook-refuse", "none"}), "none");
}

TEST(PluginOptions, NamePluginsThereAre) {
  auto parse = [](const std::string& names) {
    return apiserver::ParseOptions({"--data-dir", "d", "--disable-admission-plugins", names});
  };
  const auto known = parse("ServiceAccount,Priority");
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->disabled_admission, (std::vector<std::string>{"ServiceAccount", "Priority"}));
  const auto unknown = parse("Priority,Sorcery");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message(), "there is no admission plugin \"Sorcery\" to disable");
}

}  // namespace
}  // namespace mailroom::admission
