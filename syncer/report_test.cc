#include "syncer/report.h"

#include <gtest/gtest.h>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::syncer {
namespace {

const std::string kConfig = "/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/the-one";

// Answers by path; remembers what was asked.
class Mailbox final : public client::Transport {
 public:
  Result<Response> Send(Request request) override {
    asked.push_back(request.path);
    bodies.push_back(request.body);
    const auto known = codes.find(request.path);
    const int code = known == codes.end() ? 404 : known->second;
    Response response;
    response.code = code;
    const Status refused(code == 405 ? Reason::kMethodNotAllowed : code == 403 ? Reason::kForbidden : Reason::kNotFound, "no");
    response.Append(code == 200 ? "{}" : refused.ToJson());
    return response;
  }
  std::unique_ptr<client::OpenStream> Open(Request, client::StreamSink&) override { return nullptr; }
  void After(std::chrono::milliseconds, std::function<void()>) override {}

  std::map<std::string, int> codes;
  std::vector<std::string> asked, bodies;
};

class Ticking final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override { return Real().Now(); }
  std::chrono::steady_clock::time_point Monotonic() const override { return at; }
  std::chrono::steady_clock::time_point at{std::chrono::hours(1)};
};

class ReportTest : public testing::Test {
 protected:
  // What is asked when the heartbeat is due.
  std::vector<std::string> Beat() {
    clock.at += limits::kHeartbeat;
    mailbox.asked.clear();
    const auto done = report.Write();
    ok = done.ok();
    return mailbox.asked;
  }
  Mailbox mailbox;
  Ticking clock;
  Report report{client::Client(mailbox, "", "test"), clock, [] {}, [] { return Json{{"a", 1}}; }};
  bool ok = false;
};

TEST_F(ReportTest, GoesToTheStatusAlone) {
  mailbox.codes[kConfig + "/status"] = 200;
  EXPECT_EQ(Beat(), std::vector<std::string>{kConfig + "/status"});
  EXPECT_TRUE(ok);
  const Json sent = *ParseJson(mailbox.bodies.back());
  EXPECT_EQ(sent.size(), 1u) << "nothing but status: " << DumpJson(sent);
  EXPECT_EQ(IntAt(sent, {"status", "a"}), 1);
}

TEST_F(ReportTest, GoesToTheObjectWhereItHasNoStatusOfItsOwn) {
  for (const int code : {404, 405}) {
    mailbox.codes = {{kConfig + "/status", code}, {kConfig, 200}};
    const std::vector<std::string> both = {kConfig + "/status", kConfig};
    EXPECT_EQ(Beat(), both);
    EXPECT_TRUE(ok);
    EXPECT_EQ(Beat(), std::vector<std::string>{kConfig}) << "which is remembered";
    // The definition was replaced by one with a status.
    mailbox.codes = {{kConfig + "/status", 200}, {kConfig, 403}};
    Beat();
    EXPECT_FALSE(ok);
    EXPECT_EQ(Beat(), std::vector<std::string>{kConfig + "/status"});
    EXPECT_TRUE(ok);
  }
}

TEST_F(ReportTest, WithoutTheObjectThereIsNothingToDo) {
  EXPECT_EQ(Beat().size(), 2u);
  EXPECT_TRUE(ok);
  EXPECT_EQ(Beat().size(), 2u) << "it may come later";
  // What a syncer is told of an object that is not there, and that it might not write.
  mailbox.codes[kConfig] = 403;
  EXPECT_EQ(Beat().size(), 2u);
  EXPECT_TRUE(ok) << "it waits";
  mailbox.codes[kConfig + "/status"] = 405;
  Beat();
  EXPECT_FALSE(ok) << "a definition without a status, and no right to the object";
  mailbox.codes[kConfig + "/status"] = 403;
  Beat();
  EXPECT_FALSE(ok) << "a refusal is no lack";
}

}  // namespace
}  // namespace mailroom::syncer
