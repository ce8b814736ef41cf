// The judge over a real three-member etcd while members are killed, paused and restarted, and
// while history is compacted; and over TLS and password authentication.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "storage/etcd_store.h"
#include "storage/test_etcd.h"
#include "storage/test_workload.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using namespace std::chrono_literals;
using testing::ConnectEtcd;
using testing::EtcdProcess;
using testing::MustCommit;
using testing::Put;
using testing::RunAndJudge;
using testing::TemporaryDirectory;
using testing::Write;
using Lines = std::vector<std::string>;

class EtcdChaos : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string program = EtcdProcess::Program(GetParam());
    if (program.empty()) GTEST_SKIP() << "no etcd " << GetParam() << ": run hack/peer etcd";
    server_ = std::make_unique<EtcdProcess>(program, 3);
    Result<std::unique_ptr<Store>> store = ConnectEtcd({.endpoints = server_->endpoints()});
    ASSERT_TRUE(store.ok()) << store.error().message();
    store_ = std::move(*store);
  }
  std::unique_ptr<EtcdProcess> server_;
  std::unique_ptr<Store> store_;
};

TEST_P(EtcdChaos, MembersAreKilledInTurn) {
  std::atomic<bool> going = true;
  const Lines violations = RunAndJudge(
      *store_, {.clients = 4, .calls = 100'000, .go_on = [&] { return going.load(); }}, [&] {
        for (std::size_t member = 0; member < server_->size(); ++member) {
          std::this_thread::sleep_for(500ms);
          server_->Kill(member);
          std::this_thread::sleep_for(1500ms);
          server_->Start(member);
        }
        std::this_thread::sleep_for(1s);
        going = false;
      });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, AllMembersAreKilledAtOnce) {
  std::atomic<bool> going = true;
  const Lines violations = RunAndJudge(
      *store_, {.clients = 4, .calls = 100'000, .go_on = [&] { return going.load(); }}, [&] {
        std::this_thread::sleep_for(500ms);
        for (std::size_t member = 0; member < server_->size(); ++member) server_->Kill(member);
        std::this_thread::sleep_for(500ms);
        for (std::size_t member = 0; member < server_->size(); ++member) server_->Start(member);
        std::this_thread::sleep_for(3s);
        going = false;
      });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, HistoryIsCompactedUnderTheWatches) {
  std::atomic<bool> going = true;
  const Lines violations = RunAndJudge(
      *store_, {.clients = 4, .calls = 100'000, .go_on = [&] { return going.load(); }}, [&] {
        for (int i = 0; i < 20; ++i) {
          std::this_thread::sleep_for(100ms);
          const std::uint64_t now = store_->CurrentRevision()->value();
          EXPECT_TRUE(store_->Compact(Revision(now > 100 ? now - 100 : 1)).ok());
        }
        going = false;
      });
  EXPECT_EQ(violations, Lines{});
}

INSTANTIATE_TEST_SUITE_P(Versions, EtcdChaos, ::testing::Values("3.4", "3.5"),
                         [](const auto& test) { return test.param[2] == '4' ? "V34" : "V35"; });

// Certificates made by the openssl program, in `directory`.
bool MakeCertificates(const std::string& directory) {
  const std::string script =
      "cd " + directory +
      " && exec >openssl.log 2>&1"
      " && openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=ca -days "
      "2"
      " && for name in server client; do"
      "   openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=$name"
      "   && printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' >ext"
      "   && openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2"
      "      -extfile ext -out $name.crt || exit 1; done";
  return system(script.c_str()) == 0;
}

TEST(EtcdSecurity, ClientCertificatesAreUsedAndDemanded) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  TemporaryDirectory files;
  ASSERT_TRUE(MakeCertificates(files.path()));
  const std::string at = files.path() + "/";
  EtcdProcess server(program, 1,
                     {"--cert-file=" + at + "server.crt", "--key-file=" + at + "server.key",
                      "--trusted-ca-file=" + at + "ca.crt", "--client-cert-auth"},
                     "https");
  EtcdOptions good{.endpoints = server.endpoints(),
                   .ca_file = at + "ca.crt",
                   .cert_file = at + "client.crt",
                   .key_file = at + "client.key"};
  Result<std::unique_ptr<Store>> store = ConnectEtcd(good);
  ASSERT_TRUE(store.ok()) << store.error().message();
  MustCommit(**store, Write({Put("/a", "1")}));
  EtcdOptions nameless = good;
  nameless.cert_file = nameless.key_file = "";
  EXPECT_FALSE(OpenEtcd(nameless).ok());
  EtcdOptions credulous = good;
  credulous.ca_file = "";
  EXPECT_FALSE(OpenEtcd(credulous).ok()) << "a certificate of an unknown authority was accepted";
}

TEST(EtcdSecurity, PasswordsAreUsedAndDemanded) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  EtcdProcess server(program);
  ASSERT_TRUE(ConnectEtcd({.endpoints = server.endpoints()}).ok());
  auto ask = [&](const std::string& method, const std::string& body) {
    const std::string command =
        "curl -fsS -o /dev/null -d '" + body + "' " + server.endpoints()[0] + "/v3/auth/" + method;
    return system(command.c_str()) == 0;
  };
  ASSERT_TRUE(ask("user/add", R"({"name":"root","password":"secret"})"));
  ASSERT_TRUE(ask("role/add", R"({"name":"root"})"));
  ASSERT_TRUE(ask("user/grant", R"({"user":"root","role":"root"})"));
  ASSERT_TRUE(ask("enable", "{}"));
  EXPECT_FALSE(OpenEtcd({.endpoints = server.endpoints()}).ok());
  EXPECT_FALSE(
      OpenEtcd({.endpoints = server.endpoints(), .user = "root", .password = "wrong"}).ok());
  Result<std::unique_ptr<Store>> store =
      OpenEtcd({.endpoints = server.endpoints(), .user = "root", .password = "secret"});
  ASSERT_TRUE(store.ok()) << store.error().message();
  EXPECT_EQ(RunAndJudge(**store, {.clients = 2, .calls = 50}), Lines{});
  // A restarted server has forgotten all tokens.
  server.Kill(0);
  server.Start(0);
  EXPECT_EQ(RunAndJudge(**store, {.clients = 2, .calls = 50}), Lines{});
}

}  // namespace
}  // namespace mailroom::storage
