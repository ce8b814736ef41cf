// The etcd engine's ways to prove itself and to be refused: TLS, client certificates, passwords;
// several endpoints; the server's limits.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "storage/etcd_store.h"
#include "storage/test_etcd.h"
#include "storage/test_proxy.h"
#include "storage/test_workload.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using testing::ConnectEtcd;
using testing::EtcdProcess;
using testing::MustCommit;
using testing::Put;
using testing::RecordingSink;
using testing::RunAndJudge;
using testing::TemporaryDirectory;
using testing::TestProxy;
using testing::Write;
using Lines = std::vector<std::string>;

// Certificates made by the openssl program, in `directory`.
bool MakeCertificates(const std::string& directory) {
  const std::string script =
      "cd " + directory +
      " && exec >openssl.log 2>&1"
      " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key "
      "-out ca.crt -subj /CN=ca -days "
      "2"
      " && for name in server client; do"
      "   openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out "
      "$name.csr -subj /CN=$name"
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
  TemporaryDirectory files;
  std::ofstream(files.path() + "/password") << "secret\n";
  Result<std::unique_ptr<Store>> store = OpenEtcd({.endpoints = server.endpoints(),
                                                   .user = "root",
                                                   .password_file = files.path() + "/password"});
  ASSERT_TRUE(store.ok()) << store.error().message();
  EXPECT_EQ(RunAndJudge(**store, {.clients = 2, .calls = 50}), Lines{});
  // A restarted server has forgotten all tokens.
  server.Kill(0);
  server.Start(0);
  EXPECT_EQ(RunAndJudge(**store, {.clients = 2, .calls = 50}), Lines{});
}

TEST(EtcdEndpoints, AnyOneThatAnswersIsEnough) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  EtcdProcess server(program);
  ASSERT_TRUE(ConnectEtcd({.endpoints = server.endpoints()}).ok());
  for (const bool dead_first : {true, false}) {
    std::vector<std::string> endpoints = {"http://127.0.0.1:1", server.endpoints()[0]};
    if (!dead_first) std::swap(endpoints[0], endpoints[1]);
    Result<std::unique_ptr<Store>> store = OpenEtcd({.endpoints = endpoints});
    ASSERT_TRUE(store.ok()) << store.error().message();
    EXPECT_EQ(RunAndJudge(**store, {.clients = 2, .calls = 50}), Lines{});
  }
}

TEST(EtcdEndpoints, AnotherClustersAnswersAreRefused) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  EtcdProcess one(program), two(program);
  two.Kill(0);
  Result<std::unique_ptr<Store>> store =
      ConnectEtcd({.endpoints = {one.endpoints()[0], two.endpoints()[0]}});
  ASSERT_TRUE(store.ok()) << store.error().message();
  MustCommit(**store, Write({Put("/a", "1")}));
  one.Kill(0);
  two.Start(0);
  ASSERT_TRUE(ConnectEtcd({.endpoints = two.endpoints()}).ok());
  // The other cluster answers, with nothing in it.
  Result<GetResult> got = (*store)->Get("/a");
  EXPECT_FALSE(got.ok());
  EXPECT_FALSE(CommitAndWait(**store, Write({Put("/a", "2")})).ok());
}

TEST(EtcdLimits, AreNamed) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  EtcdProcess server(program, 1, {"--max-request-bytes=100000", "--max-txn-ops=16"});
  Result<std::unique_ptr<Store>> store = ConnectEtcd({.endpoints = server.endpoints()});
  ASSERT_TRUE(store.ok()) << store.error().message();
  Result<TxnResult> large =
      CommitAndWait(**store, Write({Put("/large", std::string(200'000, 'x'))}));
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code(), 413) << large.error().message();
  std::vector<Operation> many;
  for (int i = 0; i < 17; ++i) many.push_back(Put("/" + std::to_string(i), "x"));
  Result<TxnResult> wide = CommitAndWait(**store, Write(many));
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().code(), 413) << wide.error().message();
  many.pop_back();
  MustCommit(**store, Write(many));
}

TEST(EtcdLimits, AFullDatabaseIsNamedAndCanStillBeRead) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  EtcdProcess server(program, 1, {"--quota-backend-bytes=4000000", "--unsafe-no-fsync"});
  Result<std::unique_ptr<Store>> store = ConnectEtcd({.endpoints = server.endpoints()});
  ASSERT_TRUE(store.ok()) << store.error().message();
  MustCommit(**store, Write({Put("/first", "1")}));
  Result<TxnResult> full = TxnResult{};
  for (int i = 0; i < 200 && full.ok(); ++i) {
    full = CommitAndWait(**store, Write({Put("/" + std::to_string(i), std::string(100'000, 'x'))}));
  }
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code(), 507) << full.error().message();
  EXPECT_EQ(*(*store)->Get("/first")->entry->value, "1");
}

// A server that has fallen silent without closing anything is noticed by keepalive pings, and the
// watch goes on elsewhere.
TEST(EtcdKeepalive, ASilentConnectionIsGivenUp) {
  const std::string program = EtcdProcess::Program("3.5");
  if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
  EtcdProcess server(program);
  TestProxy proxy(server.port(0));
  // The watch begins with the first endpoint.
  Result<std::unique_ptr<Store>> store = ConnectEtcd(
      {.endpoints = {"http://127.0.0.1:" + std::to_string(proxy.port()), server.endpoints()[0]}});
  ASSERT_TRUE(store.ok()) << store.error().message();
  RecordingSink sink;
  auto watch = (*store)->Watch("/", *(*store)->CurrentRevision(), sink);
  ASSERT_TRUE(watch.ok());
  sink.WaitFor(MustCommit(**store, Write({Put("/a", "1")})));
  proxy.FallSilent();
  std::unique_ptr<Store> other = ConnectEtcd({.endpoints = server.endpoints()}).value();
  const Revision last = MustCommit(*other, Write({Put("/a", "2")}));
  EXPECT_EQ(sink.WaitFor(last).size(), 2u);
  EXPECT_FALSE(sink.ended());
}

}  // namespace
}  // namespace mailroom::storage
