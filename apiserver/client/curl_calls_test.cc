#include "apiserver/client/curl_calls.h"

#include <gtest/gtest.h>

#include "apiserver/client/scripted_server.h"

namespace mailroom::client {
namespace {

OutgoingCall CallTo(const ScriptedServer& server, const TestCertificates& certificates,
                    const std::string& host = "127.0.0.1") {
  OutgoingCall call;
  call.url = "https://" + host + ":" + std::to_string(server.port()) + "/a?b=c";
  call.ca_pem = certificates.ca_pem;
  call.body = "{}";
  call.timeout = std::chrono::seconds(30);
  call.max_bytes = 1000;
  return call;
}

TEST(OutgoingCallsTest, PostsAndKeepsTheConnection) {
  const TestCertificates certificates = MakeTestCertificates("127.0.0.1");
  ScriptedServer server(
      [](const Request& request, ScriptedConnection& connection) {
        EXPECT_EQ(request.method, "POST");
        EXPECT_EQ(request.path, "/a");
        EXPECT_EQ(request.query, "b=c");
        EXPECT_EQ(request.body, "{}");
        EXPECT_EQ(request.headers.Get("content-type"), "application/json");
        connection.Reply(200, "yes");
      },
      &certificates);
  OutgoingCalls calls({});
  for (int i = 0; i < 3; ++i) {
    const auto answers = calls.Run({CallTo(server, certificates)});
    EXPECT_EQ(answers[0].error, "");
    EXPECT_EQ(answers[0].code, 200);
    EXPECT_EQ(answers[0].body, "yes");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(OutgoingCallsTest, RefusesAddressesWhereverTheNameLeads) {
  const TestCertificates certificates = MakeTestCertificates("127.0.0.1");
  int asked = 0;
  ScriptedServer server([&](const Request&, ScriptedConnection& connection) {
    ++asked;
    connection.Reply(200, "yes");
  }, &certificates);
  OutgoingCalls calls({.refuse_loopback = true});
  OutgoingCall led = CallTo(server, certificates, "elsewhere.example");
  led.connect_to = "127.0.0.1:" + std::to_string(server.port());
  const auto answers = calls.Run(
      {CallTo(server, certificates), CallTo(server, certificates, "localhost"), led,
       CallTo(server, certificates, "[::ffff:127.0.0.1]"), CallTo(server, certificates, "0.0.0.0")});
  for (const OutgoingAnswer& answer : answers) {
    EXPECT_NE(answer.error.find("connecting to this address is not allowed"), std::string::npos)
        << answer.error;
  }
  EXPECT_EQ(asked, 0);
}

TEST(OutgoingCallsTest, LinkLocalAndPrivateAddressesCanBeRefused) {
  OutgoingCalls calls({.refuse_link_local = true, .refuse_private = true});
  OutgoingCall call;
  call.timeout = std::chrono::seconds(5);
  call.max_bytes = 10;
  std::vector<OutgoingCall> all;
  for (const char* host : {"169.254.169.254", "[fe80::1]", "10.1.2.3", "172.16.0.1", "192.168.1.1",
                           "100.64.0.1", "[fd00::1]"}) {
    call.url = std::string("https://") + host + "/";
    all.push_back(call);
  }
  for (const OutgoingAnswer& answer : calls.Run(all)) {
    EXPECT_NE(answer.error.find("connecting to this address is not allowed"), std::string::npos)
        << answer.error;
  }
}

TEST(OutgoingCallsTest, SpeaksOnlyHttps) {
  OutgoingCalls calls({});
  OutgoingCall call;
  call.url = "file:///etc/hostname";
  EXPECT_NE(calls.Run({call})[0].error, "");
  call.url = "http://127.0.0.1:1/";
  EXPECT_NE(calls.Run({call})[0].error, "");
}

TEST(AddressPolicyTest, Parses) {
  EXPECT_FALSE(AddressPolicy::Parse("")->refuse_loopback);
  EXPECT_FALSE(AddressPolicy::Parse("none")->refuse_link_local);
  EXPECT_TRUE(AddressPolicy::Parse("loopback,link-local")->refuse_loopback);
  EXPECT_TRUE(AddressPolicy::Parse("loopback,link-local")->refuse_link_local);
  EXPECT_TRUE(AddressPolicy::Parse("private")->refuse_private);
  EXPECT_FALSE(AddressPolicy::Parse("nonsense").ok());
}

}  // namespace
}  // namespace mailroom::client
