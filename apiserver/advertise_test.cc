#include "apiserver/advertise.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apiserver/pki.h"

namespace mailroom::apiserver {
namespace {

class Advertised : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/advertise.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    own_ = EnsurePki(dir_, {"localhost"}).value().ca_cert;
    own_pem_ = ReadTextFile(own_).value();
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
    return dir_ + "/" + name;
  }
  Options Parse(std::vector<std::string> args) {
    args.insert(args.begin(), {"--data-dir", dir_});
    return ParseOptions(args).value();
  }

  std::string dir_, own_, own_pem_;
};

TEST_F(Advertised, UrlAndNames) {
  EXPECT_EQ(AdvertisedUrl(Parse({}), 1), "https://127.0.0.1:1");
  EXPECT_EQ(AdvertisedUrl(Parse({"--listen", "0.0.0.0:0"}), 1), "https://127.0.0.1:1");
  EXPECT_EQ(AdvertisedUrl(Parse({"--listen", "[::1]:0"}), 1), "https://[::1]:1");
  EXPECT_EQ(AdvertisedUrl(Parse({"--listen", "hub:0", "--plain-http", "true"}), 1), "http://hub:1");
  const Options given =
      Parse({"--listen", "0.0.0.0:0", "--advertise-url", "https://hub.example.com:443/"});
  EXPECT_EQ(AdvertisedUrl(given, 1), "https://hub.example.com:443");
  EXPECT_EQ(LocalUrl(given, 1), "https://127.0.0.1:1");
  EXPECT_EQ(ServingNames(given), (std::vector<std::string>{"0.0.0.0", "127.0.0.1", "::1",
                                                           "hub.example.com", "localhost"}));
  EXPECT_EQ(ServingNames(Parse({"--advertise-url=https://[fd00::1]:1", "--tls-san", "a,localhost"})),
            (std::vector<std::string>{"127.0.0.1", "::1", "a", "fd00::1", "localhost"}));
  EXPECT_EQ(ServingNames(Parse({"--advertise-url=https://b"})),
            (std::vector<std::string>{"127.0.0.1", "::1", "b", "localhost"}));
}

TEST_F(Advertised, AuthorityIsTheOneThatSignedWhatIsServed) {
  const KeyPair company = NewAuthority("company").value();
  const KeyPair serving = IssueServing(company, {"hub"}).value();
  const std::string key = File("s.key", serving.key_pem), leaf = File("s.crt", serving.cert_pem);
  const std::string chain = File("c.crt", serving.cert_pem + company.cert_pem);
  const std::string ca = File("ca.crt", "# ours\n" + company.cert_pem);
  EXPECT_EQ(AdvertisedAuthority(Parse({}), own_).value(), own_pem_);
  auto with = [&](const std::string& cert, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--tls-cert-file", cert, "--tls-private-key-file", key});
    return AdvertisedAuthority(Parse(more), own_);
  };
  EXPECT_EQ(with(leaf, {"--tls-ca-file", ca}).value(), company.cert_pem);
  EXPECT_EQ(with(chain).value(), company.cert_pem) << "the self-signed end of the chain";
  EXPECT_EQ(with(ca).value(), company.cert_pem) << "a certificate that vouches for itself";
  EXPECT_EQ(with(leaf).value(), own_pem_) << "nothing better is known";
  EXPECT_FALSE(with(leaf, {"--tls-ca-file", key}).ok());
  EXPECT_FALSE(with(leaf, {"--tls-ca-file", dir_ + "/none"}).ok());
}

TEST_F(Advertised, ClientsOfBothAuthoritiesAreBelieved) {
  EXPECT_EQ(ClientAuthorities(Parse({}), own_).value(), own_);
  const KeyPair company = NewAuthority("company").value(), next = NewAuthority("next").value();
  const Options options = Parse({"--client-ca-file", File("clients.crt", company.cert_pem)});
  const std::string bundle = ClientAuthorities(options, own_).value();
  EXPECT_EQ(ReadTextFile(bundle).value(), own_pem_ + company.cert_pem);
  File("clients.crt", company.cert_pem + next.cert_pem);
  EXPECT_EQ(ClientAuthorities(options, own_).value(), bundle);
  EXPECT_EQ(ReadTextFile(bundle).value(), own_pem_ + company.cert_pem + next.cert_pem);
  for (const std::string& bad : {std::string(), std::string("nothing"),
                                 "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" +
                                     company.cert_pem}) {
    File("clients.crt", bad);
    EXPECT_FALSE(ClientAuthorities(options, own_).ok()) << bad;
    EXPECT_EQ(ReadTextFile(bundle).value(), own_pem_ + company.cert_pem + next.cert_pem);
  }
}

}  // namespace
}  // namespace mailroom::apiserver
