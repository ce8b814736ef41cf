// HTTP/1.1 as nobody should speak it. After each case the front still serves.
#include <gtest/gtest.h>

#include <fstream>

#include "apiserver/http/hostile_cases.h"
#include "apiserver/http/test_client.h"
#include "storage/object/log.h"
#include "test/support/eventually.h"

namespace mailroom::apiserver {
namespace {

const bool kConfigured = [] {
  TestFront::Configure([](FrontOptions& options) { options.access_log = true; });
  return true;
}();

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t Count(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// What sanitizers keep of freed memory says nothing about ours.
std::size_t ResidentBytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#endif

  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

const std::string kChunked = "Transfer-Encoding: chunked\r\n";

class HostileTest : public ::testing::TestWithParam<HostileCase> {
 protected:
  ~HostileTest() override {
    RawClient client(TestFront::Get().port());
    client.Send("GET /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(client.ReadToEnd().starts_with("HTTP/1.1 200 "));
  }
};

// The request is refused in the words of the protocol, the connection ends, and the bytes after
// it are never taken for another request.
TEST_P(HostileTest, IsRefusedAndNothingIsSmuggled) {
  RawClient client(TestFront::Get().port());
  client.Send(GetParam().request + std::string(kSmuggled));
  const std::string answer = client.ReadToEnd();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(GetParam().code) + " ") ||
              answer.starts_with("HTTP/1.0 " + std::to_string(GetParam().code) + " "))
      << answer;
  EXPECT_TRUE(Has(answer, "connection: close\r\n")) << answer;
  EXPECT_TRUE(Has(answer, "{\"kind\":\"Status\"") || Has(answer, "\"kind\": \"Status\"")) << answer;
  EXPECT_EQ(Count(answer, "HTTP/1."), 1u) << answer;
  EXPECT_FALSE(Has(answer, "smuggled")) << answer;
}

INSTANTIATE_TEST_SUITE_P(All, HostileTest, ::testing::ValuesIn(HostileCases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

// A request inside a body is text. The request after the body is the next one, and the last.
TEST_F(HostileTest, RequestsInsideBodiesAreNotRequests) {
  const std::string inner = "GET /smuggled HTTP/1.1\r\nHost: t\r\n\r\n";
  const std::string length = "Content-Length: " + std::to_string(inner.size()) + "\r\n\r\n";
  char size[8];
  snprintf(size, sizeof size, "%zx", inner.size());
  const std::string chunk = std::string(size) + "\r\n" + inner + "\r\n0\r\n\r\n";
  for (const std::string& outer :
       {"POST /echo HTTP/1.1\r\nHost: t\r\n" + length + inner,
        "GET /echo HTTP/1.1\r\nHost: t\r\n" + length + inner,
        "POST /echo HTTP/1.1\r\nHost: t\r\n" + kChunked + "\r\n" + chunk,
        "GET /echo HTTP/1.1\r\nHost: t\r\n" + kChunked + "\r\n" + chunk}) {
    RawClient client(TestFront::Get().port());
    client.Send(outer + "GET /later HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    const std::string answer = client.ReadToEnd();
    EXPECT_EQ(Count(answer, "HTTP/1.1 200 "), 2u) << outer << answer;
    EXPECT_TRUE(Has(answer, "body=" + std::to_string(inner.size()) + "\n")) << answer;
    EXPECT_FALSE(Has(answer, "/smuggled")) << answer;
    EXPECT_TRUE(answer.ends_with("later")) << answer;
  }
}

TEST_F(HostileTest, AnErrorWaitsForTheAnswersBeforeIt) {
  RawClient client(TestFront::Get().port());
  client.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\nGET /echo HTTP/1.1\r\nbad\r\n\r\n");
  const std::string all = client.ReadToEnd();
  EXPECT_TRUE(all.starts_with("HTTP/1.1 200 ")) << all;
  EXPECT_LT(all.find("later"), all.find("HTTP/1.1 400 ")) << all;
}

TEST_F(HostileTest, HeadersWithoutEndCostNoMemory) {
  const std::size_t before = ResidentBytes();
  RawClient client(TestFront::Get().port());
  client.Send("GET /echo HTTP/1.1\r\nHost: t\r\n");
  const std::string line = "X-Filler: " + std::string(32 * 1024, 'f') + "\r\n";
  for (std::size_t sent = 0; sent < 200'000'000; sent += line.size()) client.Send(line);
  EXPECT_TRUE(client.ReadToEnd().starts_with("HTTP/1.1 431 "));
  EXPECT_LT(ResidentBytes(), before + 64 * 1024 * 1024);
}

TEST_F(HostileTest, ABodyPastTheLimitIsAnsweredWhileItArrives) {
  for (const std::string fields : {"Content-Length: 50000000\r\n\r\n",
                                   "Transfer-Encoding: chunked\r\n\r\n2ffffff\r\n"}) {
    const std::size_t before = ResidentBytes();
    RawClient client(TestFront::Get().port());
    client.Send(kHostileHead + fields);
    for (int i = 0; i < 50; ++i) client.Send(std::string(1'000'000, 'x'));
    const std::string answer = client.ReadToEnd();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 ")) << answer;
    EXPECT_TRUE(Has(answer, "Request entity too large: limit is 3145728")) << answer;
    EXPECT_LT(ResidentBytes(), before + 32 * 1024 * 1024);
  }
}

TEST_F(HostileTest, TrailersAndExtensionsAreDropped) {
  RawClient client(TestFront::Get().port());
  client.Send(std::string(kHostileHead) + "Transfer-Encoding: CHUNKED\r\nConnection: close\r\n\r\n"
              "5;a=b\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  EXPECT_TRUE(Has(answer, "body=5\n")) << answer;
  EXPECT_FALSE(Has(answer, "x-trailer")) << answer;
}

TEST_F(HostileTest, RequestsInLineBehindAStreamAreBounded) {
  FedStream& stream = TestFront::Get().stream("line");
  RawClient client(TestFront::Get().port());
  client.Send("GET /stream/line HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  for (int i = 0; i < 1000; ++i) client.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_TRUE(stream.AwaitCancelled());
}

TEST_F(HostileTest, HeadersOfRequestsInLineAreBoundedTogether) {
  FedStream& stream = TestFront::Get().stream("long-line");
  RawClient client(TestFront::Get().port());
  client.Send("GET /stream/long-line HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  std::string request = "GET /echo HTTP/1.1\r\nHost: t\r\n";
  for (int i = 0; i < 60; ++i) {
    request += "X-" + std::to_string(i) + ": " + std::string(15'000, 'v') + "\r\n";
  }
  const std::size_t allowed = limits::kPipelinedBytes / request.size();
  ASSERT_LT(allowed + 1, limits::kPipelined);
  for (std::size_t i = 0; i <= allowed; ++i) client.Send(request + "\r\n");
  EXPECT_TRUE(stream.AwaitCancelled());
}

TEST_F(HostileTest, RefusalsAreInTheAccessLogAndHaveAnAuditId) {
  SetLogLevel(Level::kError);  // which is about other lines
  testing::internal::CaptureStderr();
  RawClient client(TestFront::Get().port());
  client.Send("GET /refused?token=s3cret HTTP/1.1\r\nHost: t\r\nAudit-ID: mine\r\nNo colon\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  const std::string log = testing::internal::GetCapturedStderr();
  SetLogLevel(Level::kInfo);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_TRUE(Has(answer, "audit-id: mine\r\n")) << answer;
  EXPECT_TRUE(Has(log, " access \"request\" request=\"GET /refused\" peer=\"127.0.0.1:")) << log;
  EXPECT_TRUE(Has(log, " code=\"400\"")) << log;
  EXPECT_FALSE(Has(log, "s3cret")) << log;
  RawClient second(TestFront::Get().port());
  second.Send("GET /refused HTTP/1.1\r\n\r\n");
  const std::string named = second.ReadToEnd();
  EXPECT_TRUE(Has(named, "audit-id: audited\r\n")) << named;
}

TEST_F(HostileTest, HalfClosedConnectionsEndTheirStreams) {
  FedStream& tcp = TestFront::Get().stream("half-tcp");
  RawClient half(TestFront::Get().port());
  half.Send("GET /stream/half-tcp HTTP/1.1\r\nHost: t\r\n\r\n");
  half.ReadUntil("\r\n\r\n");
  half.HalfClose();
  EXPECT_TRUE(tcp.AwaitCancelled());

  FedStream& tls = TestFront::Get().stream("half-tls");
  RawClient alert(TestFront::Get().port());
  alert.Send("GET /stream/half-tls HTTP/1.1\r\nHost: t\r\n\r\n");
  alert.ReadUntil("\r\n\r\n");
  alert.AlertClose();
  EXPECT_TRUE(tls.AwaitCancelled());
}

TEST_F(HostileTest, PeersThatVanishInMidSentenceLeaveNothing) {
  for (int i = 0; i < 200; ++i) {
    RawClient client(TestFront::Get().port());
    client.Send(std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nabc")
                    .substr(0, static_cast<std::size_t>(i) % 60));
  }
  // The last ones may still be on their way in.
  EXPECT_TRUE(Eventually([] {
    const FrontCounts counts = TestFront::Get().front().counts();
    return counts.handshakes == 0 && counts.connections == 0;
  }));
}

}  // namespace
}  // namespace mailroom::apiserver
