// TLS as openssl and curl see it.
#include <gtest/gtest.h>

#include <thread>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/test_client.h"
#include "test/support/eventually.h"

namespace mailroom::apiserver {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Shell(const std::string& command) { return TestFront::Get().Shell(command); }

// Files in $DIR: an intermediate authority under the front's own, a client under that, and a
// client under an authority that nobody knows.
void MakeChains() {
  static const std::string made = Shell(R"sh(
cd $DIR || exit 1
key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key; }
sign() { # NAME SUBJECT ISSUER EXTENSIONS
  key $1
  openssl req -new -key $1.key -subj "$2" -out $1.csr
  printf "$4" > $1.ext
  openssl x509 -req -in $1.csr -CA $3.crt -CAkey $3.key -CAcreateserial -days 2 -extfile $1.ext -out $1.crt
}
cp pki/ca.crt top.crt; cp pki/ca.key top.key
sign middle /CN=middle top "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
sign deep /O=dev/CN=deep middle "extendedKeyUsage=clientAuth\n"
cat deep.crt middle.crt > deep-chain.crt
key foreign
openssl req -x509 -new -key foreign.key -subj /CN=foreign -days 2 -out foreign.crt
sign stranger /CN=stranger foreign "extendedKeyUsage=clientAuth\n"
cat stranger.crt middle.crt > stranger-chain.crt)sh");
  ASSERT_TRUE(ReadTextFile(TestFront::Get().dir() + "/stranger-chain.crt").ok()) << made;
}

std::string Echo(const std::string& arguments) {
  return Shell("curl -s --cacert $CA " + arguments + " https://localhost:$PORT/echo");
}

TEST(TlsTest, ClientsUnderAnIntermediateAreKnown) {
  MakeChains();
  for (const std::string protocol : {"--http1.1 ", "--http2 ", "--http2 --tls-max 1.2 "}) {
    const std::string chain = Echo(protocol + "--cert $DIR/deep-chain.crt --key $DIR/deep.key");
    EXPECT_TRUE(Has(chain, "cn=deep\no=dev\n")) << protocol << chain;
    EXPECT_FALSE(Has(chain, "rejected\n")) << protocol << chain;
    // Without the intermediate the way to the authority is not known.
    const std::string leaf = Echo(protocol + "--cert $DIR/deep.crt --key $DIR/deep.key");
    EXPECT_TRUE(Has(leaf, "cn=\nrejected\n")) << protocol << leaf;
    const std::string stranger =
        Echo(protocol + "--cert $DIR/stranger-chain.crt --key $DIR/stranger.key");
    EXPECT_TRUE(Has(stranger, "cn=\nrejected\n")) << protocol << stranger;
  }
}

TEST(TlsTest, SessionsAreResumedWithTheirIdentity) {
  MakeChains();
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    for (const std::string identity :
         {"", "-cert $DIR/deep.crt -key $DIR/deep.key -cert_chain $DIR/middle.crt"}) {
      const std::string ask =
          "printf 'GET /echo HTTP/1.1\\r\\nHost: t\\r\\nConnection: close\\r\\n\\r\\n' > $DIR/ask; "
          "timeout 15 openssl s_client -ign_eof " + version + " -connect localhost:$PORT "
          "-CAfile $CA " + identity;
      const std::string first = Shell(ask + " -sess_out $DIR/session < $DIR/ask");
      EXPECT_TRUE(Has(first, "New, TLS")) << first;
      EXPECT_TRUE(Has(first, "HTTP/1.1 200 ")) << first;
      const std::string second = Shell(ask + " -sess_in $DIR/session < $DIR/ask");
      EXPECT_TRUE(Has(second, "Reused, TLS")) << version << identity << second;
      EXPECT_TRUE(Has(second, "HTTP/1.1 200 ")) << second;
      EXPECT_TRUE(Has(second, identity.empty() ? "cn=\n" : "cn=deep\no=dev\n")) << second;
      EXPECT_FALSE(Has(second, "rejected\n")) << second;
    }
  }
}

TEST(TlsTest, AResumedSessionIsJudgedByTheAuthoritiesOfNow) {
  MakeChains();
  TestFront& front = TestFront::Get();
  const std::string ask =
      "printf 'GET /echo HTTP/1.1\\r\\nHost: t\\r\\nConnection: close\\r\\n\\r\\n' > $DIR/ask; "
      "timeout 15 openssl s_client -ign_eof -connect localhost:$PORT -CAfile $CA "
      "-cert $DIR/deep.crt -key $DIR/deep.key -cert_chain $DIR/middle.crt";
  EXPECT_TRUE(Has(Shell(ask + " -sess_out $DIR/session < $DIR/ask"), "cn=deep\n"));
  const std::string& file = front.options().client_ca_file;
  const std::string before = ReadTextFile(file).value();
  ASSERT_TRUE(WriteSecret(file, NewAuthority("other").value().cert_pem).ok());
  ASSERT_TRUE(front.front().ReloadCertificates().ok());
  const std::string after = Shell(ask + " -sess_in $DIR/session < $DIR/ask");
  EXPECT_TRUE(Has(after, "cn=\nrejected\n")) << after;
  ASSERT_TRUE(WriteSecret(file, before).ok());
  ASSERT_TRUE(front.front().ReloadCertificates().ok());
}

// Asks on connections that stay open, one of each protocol.
class Twins {
 public:
  explicit Twins(const KeyPair& identity)
      : plain_(TestFront::Get().port(), {.identity = identity}),
        frames_({.identity = identity, .alpn = "h2"}) {}
  // What both are taken for; "" when they are not taken for the same.
  std::string Who() {
    plain_.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
    const std::string one = Part(plain_.ReadUntil("address="));
    frames_.Send(GetFrame(id_, "/echo"));
    const std::string other = Part(frames_.Body(id_));
    id_ += 2;
    return one == other ? one : "";
  }

 private:
  static std::string Part(const std::string& answer) {
    const std::size_t from = answer.find("cn="), to = answer.find("address=");
    return from == std::string::npos ? answer : answer.substr(from, to - from);
  }
  RawClient plain_;
  FrameClient frames_;
  std::uint32_t id_ = 1;
};

TEST(TlsTest, OpenConnectionsAreJudgedByTheAuthoritiesOfNow) {
  TestFront& front = TestFront::Get();
  Twins twins(IssueClient(front.authority(), "jane", {"dev"}).value());
  EXPECT_EQ(twins.Who(), "cn=jane\no=dev\n");
  const std::string file = front.options().client_ca_file;
  const std::string ours = ReadTextFile(file).value();
  ASSERT_TRUE(WriteSecret(file, NewAuthority("others").value().cert_pem).ok());
  ASSERT_TRUE(front.front().ReloadCertificates().ok());
  EXPECT_EQ(twins.Who(), "cn=\nrejected\n");
  ASSERT_TRUE(WriteSecret(file, ours).ok());
  ASSERT_TRUE(front.front().ReloadCertificates().ok());
  EXPECT_EQ(twins.Who(), "cn=jane\no=dev\n");
}

TEST(TlsTest, AnIdentityEndsWithItsCertificate) {
  TestFront& front = TestFront::Get();
  // Good long enough for two handshakes on a loaded machine.
  Twins twins(IssueClient(front.authority(), "jane", {}, std::chrono::seconds(12)).value());
  std::string who = twins.Who();
  EXPECT_EQ(who, "cn=jane\n");
  EXPECT_TRUE(Eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // its HTTP/2 window is not opened again
    return (who = twins.Who()) == "cn=\nrejected\n";
  })) << who;
}

TEST(TlsTest, OldVersionsAndRenegotiationAreRefused) {
  const std::string old = Shell(
      "openssl s_client -tls1_1 -cipher DEFAULT@SECLEVEL=0 -connect localhost:$PORT </dev/null");
  EXPECT_FALSE(Has(old, "Server certificate")) << old;
  const std::string again = Shell(
      "(printf 'R\\n'; sleep 1; printf 'Q\\n') | timeout 15 openssl s_client -tls1_2 -connect "
      "localhost:$PORT -CAfile $CA");
  EXPECT_TRUE(Has(again, "no renegotiation") || Has(again, "RENEGOTIATING")) << again;
  EXPECT_TRUE(Has(Echo(""), "GET /echo\n"));
}

// What a client is told it speaks, by what it offers, in either version.
TEST(TlsTest, ProtocolsAreNegotiated) {
  const struct {
    const char* offered;
    const char* told;
  } kCases[] = {{"-alpn h2", "ALPN protocol: h2"},
                {"-alpn http/1.1", "ALPN protocol: http/1.1"},
                {"-alpn http/1.1,h2", "ALPN protocol: h2"},
                {"-alpn spdy/3,http/1.1", "ALPN protocol: http/1.1"},
                {"-alpn spdy/3", "No ALPN negotiated"},
                {"", "No ALPN negotiated"}};
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    for (const auto& [offered, told] : kCases) {
      const std::string said = Shell("timeout 15 openssl s_client " + version + " " + offered +
                                     " -connect localhost:$PORT -CAfile $CA </dev/null");
      EXPECT_TRUE(Has(said, told)) << version << offered << said;
      EXPECT_TRUE(Has(said, "Verify return code: 0 (ok)")) << said;
    }
  }
}

// Any certificate completes the handshake; whether it is believed shows in the request.
TEST(TlsTest, CertificatesAreJudgedAfterTheHandshake) {
  MakeChains();
  const struct {
    const char* identity;
    const char* shown;
  } kCases[] = {
      {"", "cn=\n"},
      {"-cert $DIR/deep.crt -key $DIR/deep.key -cert_chain $DIR/middle.crt", "cn=deep\no=dev\n"},
      {"-cert $DIR/deep.crt -key $DIR/deep.key", "cn=\nrejected\n"},
      {"-cert $DIR/stranger.crt -key $DIR/stranger.key", "cn=\nrejected\n"},
      {"-cert $DIR/foreign.crt -key $DIR/foreign.key", "cn=\nrejected\n"}};
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    for (const auto& [identity, shown] : kCases) {
      const std::string said = Shell(
          "printf 'GET /echo HTTP/1.1\\r\\nHost: t\\r\\nConnection: close\\r\\n\\r\\n' | timeout 15 "
          "openssl s_client -ign_eof " + version + " -connect localhost:$PORT -CAfile $CA " + identity);
      EXPECT_TRUE(Has(said, "HTTP/1.1 200 ")) << version << identity << said;
      EXPECT_TRUE(Has(said, shown)) << version << identity << said;
    }
  }
}

TEST(TlsTest, AcceptableAuthoritiesAreNamed) {
  const std::string offer = Shell("openssl s_client -connect localhost:$PORT </dev/null");
  EXPECT_TRUE(Has(offer, "Acceptable client certificate CA names")) << offer;
  EXPECT_TRUE(Has(offer, "CN = mailroom-ca")) << offer;
  EXPECT_TRUE(Has(offer, "CN = proxies")) << offer;
}

TEST(TlsTest, NoiseInsteadOfTlsHarmsNobody) {
  for (const std::string noise : {"GET / HTTP/1.1\\r\\n\\r\\n", "\\026\\003\\001\\377\\377", "\\377"}) {
    Shell("printf '" + noise + "' | timeout 5 curl -s telnet://localhost:$PORT");
  }
  EXPECT_TRUE(Has(Echo(""), "GET /echo\n"));
}

}  // namespace
}  // namespace mailroom::apiserver
