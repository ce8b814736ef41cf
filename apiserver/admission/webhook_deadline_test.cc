#include <gtest/gtest.h>

#include <chrono>

#include "apiserver/admission/webhook_stand.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

// A webhook may take as long as its configuration says, but never longer than whoever asked.
TEST(WebhookDeadline, IsThatOfTheRequest) {
  TestHub hub;
  const std::string ws = hub.NewWorkspace("c1", "cluster");
  WebhookStand stand([](const Json&, client::ScriptedConnection& connection) {
    connection.WaitForClose();
  });
  for (const char* policy : {"Fail", "Ignore"}) {
    const std::string configurations =
        ws + "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    const Json hooks = Json::array({stand.Hook("a.example.com", {{"failurePolicy", policy}})});
    ASSERT_EQ(hub.Do("POST", configurations,
                     WebhookConfiguration("ValidatingWebhookConfiguration", "v", hooks)).code, 201);
    const std::string maps = ws + "/api/v1/namespaces/default/configmaps";
    const std::size_t before = stand.paths().size();
    // A machine that is too slow itself does not come to ask the webhook; then it tries again.
    ASSERT_TRUE(Eventually([&] {
      const auto start = std::chrono::steady_clock::now();
      const auto late = hub.Do("POST", maps + "?timeout=900ms", ConfigMap("late"));
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
      EXPECT_EQ(late.code, 504) << late.text;
      EXPECT_EQ(StringAt(late.body, {"message"}),
                "Timeout: request did not complete within the allotted timeout");
      EXPECT_EQ(hub.Get(maps + "/late").code, 404) << policy;
      return stand.paths().size() > before;
    })) << policy;
    ASSERT_EQ(hub.Do("DELETE", configurations + "/v").code, 200);
  }
  EXPECT_EQ(stand.paths()[0], "/?timeout=1s") << "what is left, in whole seconds";
}

}  // namespace
}  // namespace mailroom::admission
