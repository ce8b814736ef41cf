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

}  // namespace
}  // namespace mailroom::admission
