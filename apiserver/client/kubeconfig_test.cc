#include "apiserver/client/kubeconfig.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace mailroom::client {
namespace {

class Kubeconfig : public ::testing::Test {
 protected:
  Kubeconfig() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kubeconfig-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Kubeconfig() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  // A config with one context, given the bodies of its cluster and its user.
  std::string WriteConfig(const std::string& cluster, const std::string& user) {
    return Write("config",
                 "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                 "clusters: [{name: k, cluster: " +
                     cluster +
                     "}]\n"
                     "users: [{name: u, user: " +
                     user +
                     "}]\n"
                     "contexts: [{name: c, context: {cluster: k, user: u, namespace: 'n'}}]\n");
  }
  std::filesystem::path folder_;
};

TEST_F(Kubeconfig, ReadsEmbeddedAndFileMaterial) {
  Write("ca.crt", "CA");
  Write("token", "abc\n");
  const auto config = LoadKubeconfig(
      WriteConfig("{server: 'https://h:6443/clusters/wds1/', certificate-authority: ca.crt, "
                  "tls-server-name: other}",
                  "{client-certificate-data: Q0VSVA==, client-key-data: S0VZ, tokenFile: token}"),
      "");
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(config->url, "https://h:6443");
  EXPECT_EQ(config->base_path, "/clusters/wds1");
  EXPECT_EQ(config->ca_pem, "CA");
  EXPECT_EQ(config->certificate_pem, "CERT");
  EXPECT_EQ(config->key_pem, "KEY");
  EXPECT_EQ(config->token, "abc");
  EXPECT_EQ(config->tls_server_name, "other");
  EXPECT_EQ(config->ns, "n");
}

TEST_F(Kubeconfig, Refuses) {
  const struct {
    const char* cluster;
    const char* user;
    const char* says;
  } cases[] = {
      {"{server: 'https://h'}", "{exec: {command: aws}}", "exec"},
      {"{server: 'https://h'}", "{auth-provider: {name: gcp}}", "auth-provider"},
      {"{server: 'ftp://h'}", "{}", "not an http"},
      {"{server: 'https://u:p@h'}", "{}", "credentials"},
      {"{}", "{}", "not an http"},
      {"{server: 'https://h', certificate-authority-data: '%'}", "{}", "base64"},
      {"{server: 'https://h', certificate-authority: missing.crt}", "{}", "cannot read"},
      {"{server: 'https://h'}", "{client-certificate-data: Q0VSVA==}", "key"},
      {"{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority-data: Q0E=}",
       "{}", "insecure"},
  };
  for (const auto& c : cases) {
    const auto config = LoadKubeconfig(WriteConfig(c.cluster, c.user), "");
    ASSERT_FALSE(config.ok()) << c.cluster << c.user;
    EXPECT_NE(config.error().message().find(c.says), std::string::npos) << config.error().message();
  }
  EXPECT_FALSE(LoadKubeconfig((folder_ / "absent").string(), "").ok());
  EXPECT_FALSE(LoadKubeconfig(WriteConfig("{server: 'https://h'}", "{}"), "nope").ok());
}

TEST_F(Kubeconfig, RenderedConfigReadsBack) {
  ServerConfig config;
  config.url = "https://127.0.0.1:1234";
  config.base_path = "/clusters/m1";
  config.ca_pem = "CA\n";
  config.certificate_pem = "C\n";
  config.key_pem = "K\n";
  config.token = "t";
  config.tls_server_name = "s";
  config.ns = "n";
  const auto read = LoadKubeconfig(Write("out", RenderKubeconfig(config, "name")), "name");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->url + read->base_path, config.url + config.base_path);
  EXPECT_EQ(read->ca_pem, config.ca_pem);
  EXPECT_EQ(read->certificate_pem, config.certificate_pem);
  EXPECT_EQ(read->key_pem, config.key_pem);
  EXPECT_EQ(read->token, config.token);
  EXPECT_EQ(read->tls_server_name, config.tls_server_name);
  EXPECT_EQ(read->ns, config.ns);
}

}  // namespace
}  // namespace mailroom::client
