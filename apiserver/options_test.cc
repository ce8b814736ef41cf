// The flags of `mailroom serve`: what each sets, which go together, what is refused and how.
#include "apiserver/options.h"

#include <gtest/gtest.h>

namespace mailroom::apiserver {
namespace {

Result<Options> Parse(std::vector<std::string> args) {
  args.insert(args.begin(), {"--data-dir", "d"});
  return ParseOptions(args);
}

TEST(Options, HaveDefaults) {
  const Options options = Parse({}).value();
  EXPECT_EQ(options.data_dir, "d");
  EXPECT_EQ(options.host, "127.0.0.1");
  EXPECT_EQ(options.port, 6443);
  EXPECT_TRUE(options.etcd_servers.empty());
  EXPECT_TRUE(options.controllers);
  EXPECT_EQ(options.body_bytes, limits::kBodyBytes);
  EXPECT_EQ(options.webhook_refuse, "");
}

TEST(Options, AreTakenInBothForms) {
  const Options options =
      Parse({"--listen=[::1]:0", "--etcd-servers", "https://a:1,https://b:2", "--etcd-user", "root",
             "--etcd-password-file=secret", "--etcd-cafile", "ca", "--etcd-certfile", "c",
             "--etcd-keyfile", "k", "--io-threads", "3", "--controllers=false", "--log-level",
             "debug", "--max-request-body-bytes", "1024", "--max-connections=7",
             "--max-request-bytes-inflight=4096", "--max-watch-pending-bytes=2097152"})
          .value();
  EXPECT_EQ(options.host, "::1");
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.etcd_servers, (std::vector<std::string>{"https://a:1", "https://b:2"}));
  EXPECT_EQ(options.etcd_user, "root");
  EXPECT_EQ(options.etcd_password_file, "secret");
  EXPECT_EQ(options.etcd_ca_file, "ca");
  EXPECT_EQ(options.etcd_cert_file, "c");
  EXPECT_EQ(options.etcd_key_file, "k");
  EXPECT_EQ(options.io_threads, 3u);
  EXPECT_FALSE(options.controllers);
  EXPECT_EQ(options.log_level, Level::kDebug);
  EXPECT_EQ(options.body_bytes, 1024u);
  EXPECT_EQ(options.connections, 7u);
  EXPECT_EQ(options.request_bytes, 4096u);
  EXPECT_EQ(options.watch_pending, 2'097'152u);
}

TEST(Options, OfUntrustedTenantsKeepWebhooksOffTheHub) {
  EXPECT_EQ(Parse({"--untrusted-tenants=true"})->webhook_refuse, "loopback,link-local");
  EXPECT_EQ(Parse({"--untrusted-tenants=true", "--webhook-refuse", "loopback"})->webhook_refuse,
            "loopback");
}

struct Wrong {
  std::vector<std::string> args;
  std::string says;
};

class WrongOptions : public testing::TestWithParam<Wrong> {};

TEST_P(WrongOptions, AreRefusedByName) {
  Result<Options> parsed = Parse(GetParam().args);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message(), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongOptions,
    testing::Values(
        Wrong{{"--nonsense", "1"}, "unknown flag --nonsense"},
        Wrong{{"--listen"}, "--listen wants a value"},
        Wrong{{"--listen", "6443"}, "--listen wants HOST:PORT"},
        Wrong{{"--listen", "h:65536"}, "--listen: \"65536\" is not a port"},
        Wrong{{"--listen", "h:"}, "--listen: \"\" is not a port"},
        Wrong{{"--log-level", "loud"}, "--log-level is one of debug, info, warn, error"},
        Wrong{{"--io-threads", "0"}, "\"0\" is not a positive number"},
        Wrong{{"--max-watch-pending-bytes", "65535"},
              "--max-watch-pending-bytes is between 65536 and 8388608"},
        Wrong{{"--max-watch-pending-bytes", "8388609"},
              "--max-watch-pending-bytes is between 65536 and 8388608"},
        Wrong{{"--max-connections", "7x"}, "\"7x\" is not a positive number"},
        Wrong{{"--controllers", "yes"}, "--controllers is true or false"},
        Wrong{{"--etcd-user", "root"}, "--etcd-user and --etcd-password-file go together"},
        Wrong{{"--etcd-password-file", "f"}, "--etcd-user and --etcd-password-file go together"},
        Wrong{{"--etcd-certfile", "f"}, "--etcd-certfile and --etcd-keyfile go together"},
        Wrong{{"--tls-cert-file", "f"}, "--tls-cert-file and --tls-private-key-file go together"},
        Wrong{{"--tls-ca-file", "f"}, "--tls-ca-file needs --tls-cert-file"},
        Wrong{{"--advertise-url", "hub:6443"},
              "--advertise-url is like https://hub.example.com:6443"},
        Wrong{{"--advertise-url", "https://"},
              "--advertise-url is like https://hub.example.com:6443"},
        Wrong{{"--advertise-url", "https://:1"},
              "--advertise-url is like https://hub.example.com:6443"},
        Wrong{{"--advertise-url", "ftp://hub"},
              "--advertise-url is like https://hub.example.com:6443"},
        Wrong{{"--advertise-url", "https://hub/path"},
              "--advertise-url is like https://hub.example.com:6443"},
        Wrong{{"--advertise-url", "https://me@hub"},
              "--advertise-url is like https://hub.example.com:6443"},
        Wrong{{"--requestheader-client-ca-file", "f"},
              "--requestheader-client-ca-file needs --requestheader-allowed-names"},
        Wrong{{"--audit-policy-file", "f"}, "--audit-policy-file needs --audit-log-path"}));

TEST(Options, NeedADataDirectory) {
  EXPECT_EQ(ParseOptions({}).error().message(), "--data-dir is required");
}

// Whoever asks for help sees every flag.
TEST(Options, AreAllInTheUsage) {
  const std::string usage = OptionsUsage();
  for (const std::string& flag : OptionNames()) {
    EXPECT_NE(usage.find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace mailroom::apiserver
