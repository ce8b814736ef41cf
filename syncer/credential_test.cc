#include "syncer/credential.h"

#include <gtest/gtest.h>

#include "apiserver/client/scripted_server.h"
#include "openapi/base64.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::syncer {
namespace {

// A hub that spends a token with the first request it is sent, and whose answers get lost.
class LossyHub {
 public:
  explicit LossyHub(int lost) : lost_(lost) {}

  JoinRequest Request() const {
    return {.server = server_.url(), .workspace = "root", .token = "t", .ca_pem = "",
            .mailbox = "its1-mb-a"};
  }
  std::vector<std::string> names() const {
    std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  void Serve(const mailroom::Request& request, client::ScriptedConnection& connection) {
    std::lock_guard lock(mutex_);
    const bool lose = lost_-- > 0;
    if (request.method == "POST") {
      const Json asked = *ParseJson(request.body);
      names_.push_back(StringAt(asked, {"metadata", "name"}));
      if (made_.is_null()) {
        made_ = asked;
      } else if (!lose) {
        return connection.Reply(403, R"({"kind":"Status","reason":"Forbidden","message":"spent","code":403})");
      }
    }
    if (lose) return connection.Break();
    if (request.method == "GET") {
      const bool own = request.path.ends_with("/" + StringAt(made_, {"metadata", "name"}));
      if (!own) return connection.Reply(404, R"({"kind":"Status","reason":"NotFound","code":404})");
      made_["status"]["certificate"] = openapi::EncodeBase64("the certificate");
    }
    connection.Reply(request.method == "POST" ? 201 : 200, DumpJson(made_));
  }

  mutable std::mutex mutex_;
  int lost_;                        // guarded by mutex_, as are the others
  Json made_;
  std::vector<std::string> names_;  // posted
  client::ScriptedServer server_{
      [this](const mailroom::Request& request, client::ScriptedConnection& connection) {
        Serve(request, connection);
      }};
};

TEST(Join, AsksOnceThoughAnswersAreLost) {
  for (const int lost : {0, 1, 2, 3, 4}) {
    LossyHub hub(lost);
    const auto joined = Join(hub.Request());
    ASSERT_TRUE(joined.ok()) << lost << ": " << joined.error().message();
    EXPECT_EQ(joined->certificate_pem, "the certificate");
    for (const std::string& name : hub.names()) EXPECT_EQ(name, hub.names().front()) << lost;
  }
}

TEST(Join, IsToldWhenTheTokenIsNoGood) {
  client::ScriptedServer server([](const mailroom::Request& request, client::ScriptedConnection& connection) {
    if (request.method == "POST") {
      return connection.Reply(403, R"({"kind":"Status","reason":"Forbidden","message":"spent","code":403})");
    }
    connection.Reply(404, R"({"kind":"Status","reason":"NotFound","code":404})");
  });
  const auto refused = Join({.server = server.url(), .workspace = "root", .token = "t", .ca_pem = "",
                             .mailbox = "its1-mb-a"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "spent");
}

}  // namespace
}  // namespace mailroom::syncer
