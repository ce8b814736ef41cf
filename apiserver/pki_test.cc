#include "apiserver/pki.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace mailroom::apiserver {
namespace {

class PkiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/pki.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // OpenSSL's own verdict on a certificate of `ca`.
  bool Verifies(const std::string& ca, const std::string& cert, const std::string& purpose) {
    const std::string command =
        "openssl verify -purpose " + purpose + " -CAfile " + ca + " " + cert + " >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  }

  std::string dir_;
};

TEST_F(PkiTest, IssuesWhatWasAskedFor) {
  const KeyPair ca = NewAuthority("test-ca").value();
  const std::vector<std::string> sans = {"localhost", "mailroom.example", "127.0.0.1", "::1"};
  const KeyPair serving = IssueServing(ca, sans).value();
  EXPECT_TRUE(Matches(serving));
  EXPECT_EQ(ReadCertificate(serving.cert_pem).value().sans, sans);

  const KeyPair client = IssueClient(ca, "jane", {"dev", "ops"}).value();
  const CertificateFacts facts = ReadCertificate(client.cert_pem).value();
  EXPECT_EQ(facts.common_name, "jane");
  EXPECT_EQ(facts.organizations, (std::vector<std::string>{"dev", "ops"}));
  EXPECT_FALSE(Matches({client.cert_pem, serving.key_pem}));
}

TEST_F(PkiTest, CertificatesVerifyForTheirPurposeOnly) {
  const PkiFiles files = EnsurePki(dir_, {"localhost"}).value();
  EXPECT_TRUE(Verifies(files.ca_cert, files.server_cert, "sslserver"));
  EXPECT_FALSE(Verifies(files.ca_cert, files.server_cert, "sslclient"));
  EXPECT_TRUE(Verifies(files.ca_cert, files.admin_cert, "sslclient"));
  EXPECT_FALSE(Verifies(files.ca_cert, files.admin_cert, "sslserver"));
}

TEST_F(PkiTest, NegativeValidityHasExpired) {
  const KeyPair ca = NewAuthority("test-ca").value();
  const KeyPair old = IssueClient(ca, "jane", {}, std::chrono::seconds(-60)).value();
  const CertificateFacts facts = ReadCertificate(old.cert_pem).value();
  EXPECT_LT(facts.not_after, std::chrono::system_clock::now());
  EXPECT_LT(facts.not_before, facts.not_after);
}

TEST_F(PkiTest, ReadsGarbageAsAnError) {
  EXPECT_FALSE(ReadCertificate("-----BEGIN CERTIFICATE-----\nAAAA\n").ok());
  EXPECT_FALSE(IssueClient({"", ""}, "jane", {}).ok());
  EXPECT_FALSE(IssueServing(NewAuthority("ca").value(), {}).ok());
}

TEST_F(PkiTest, EnsureMakesTheFilesOnceAndKeepsThem) {
  const PkiFiles files = EnsurePki(dir_, {"localhost", "127.0.0.1"}).value();
  for (const std::string& key :
       {files.ca_key, files.server_key, files.admin_key, files.service_account_key}) {
    struct stat facts {};
    ASSERT_EQ(stat(key.c_str(), &facts), 0) << key;
    EXPECT_EQ(facts.st_mode & 0777, 0600u) << key;
  }
  const CertificateFacts admin = ReadCertificate(ReadTextFile(files.admin_cert).value()).value();
  EXPECT_EQ(admin.common_name, "admin");
  EXPECT_EQ(admin.organizations, std::vector<std::string>{"system:masters"});

  const std::string server = ReadTextFile(files.server_cert).value();
  const std::string account = ReadTextFile(files.service_account_key).value();
  ASSERT_TRUE(EnsurePki(dir_, {"127.0.0.1", "localhost"}).ok());
  EXPECT_EQ(ReadTextFile(files.server_cert).value(), server);
  EXPECT_EQ(ReadTextFile(files.service_account_key).value(), account);
}

TEST_F(PkiTest, EnsureRenewsTheServingCertificate) {
  const PkiFiles files = EnsurePki(dir_, {"localhost"}).value();
  const std::string ca = ReadTextFile(files.ca_cert).value();

  ASSERT_TRUE(EnsurePki(dir_, {"localhost", "other.example"}).ok());
  const std::string renamed = ReadTextFile(files.server_cert).value();
  EXPECT_EQ(ReadCertificate(renamed).value().sans.size(), 2u);

  const KeyPair authority{ca, ReadTextFile(files.ca_key).value()};
  const KeyPair ending = IssueServing(authority, {"localhost"}, std::chrono::hours(24)).value();
  ASSERT_TRUE(WriteSecret(files.server_cert, ending.cert_pem).ok());
  ASSERT_TRUE(WriteSecret(files.server_key, ending.key_pem).ok());
  ASSERT_TRUE(EnsurePki(dir_, {"localhost"}).ok());
  EXPECT_NE(ReadTextFile(files.server_cert).value(), ending.cert_pem);
  EXPECT_EQ(ReadTextFile(files.ca_cert).value(), ca);
}

TEST_F(PkiTest, EnsureIssuesAgainUnderANewAuthority) {
  const PkiFiles files = EnsurePki(dir_, {"localhost"}).value();
  std::filesystem::remove(files.ca_key);
  std::filesystem::remove(files.ca_cert);
  ASSERT_TRUE(EnsurePki(dir_, {"localhost"}).ok());
  EXPECT_TRUE(Verifies(files.ca_cert, files.server_cert, "sslserver"));
  EXPECT_TRUE(Verifies(files.ca_cert, files.admin_cert, "sslclient"));
}

TEST_F(PkiTest, EnsureRefusesAnAuthorityWithoutItsKey) {
  const PkiFiles files = EnsurePki(dir_, {"localhost"}).value();
  std::filesystem::remove(files.ca_key);
  EXPECT_FALSE(EnsurePki(dir_, {"localhost"}).ok());
}

}  // namespace
}  // namespace mailroom::apiserver
