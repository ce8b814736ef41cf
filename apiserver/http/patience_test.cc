// Peers that take their time, against a front that gives them little. The limits here are short
// only to keep the tests so; nothing asserts how soon a peer is cut.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

using std::chrono::milliseconds;

const bool kConfigured = [] {
  TestFront::Configure([](FrontOptions& options) {
    options.connections = 60;
    options.request_bytes = 1024 * 1024;
    // Long enough for a peer that means well and that the machine keeps waiting.
    options.timeouts = {.handshake = milliseconds(3000),
                        .idle = milliseconds(4000),
                        .request_arrival = milliseconds(3000),
                        .stall = milliseconds(4000),
                        .end_stall = milliseconds(200),
                        .linger = milliseconds(3000),
                        .ping_after = milliseconds(1000),
                        .ping_wait = milliseconds(6000),
                        .sweep = milliseconds(50)};
  });
  return true;
}();

bool Await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

// A TCP connection that says nothing by itself.
class Silent {
 public:
  Silent() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{kTestPatience.count(), 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(TestFront::Get().port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Silent(Silent&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Silent() {
    if (fd_ >= 0) close(fd_);
  }
  void Send(std::string_view bytes) { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // Ends it without a word of farewell.
  void Reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(std::exchange(fd_, -1));
  }
  // Whether the other side ends the connection.
  bool Ends() {
    char byte;
    ssize_t n;
    while ((n = recv(fd_, &byte, 1, 0)) > 0) {
    }
    return n == 0 || errno == ECONNRESET;
  }
  bool Ended() {
    char byte;
    const ssize_t n = recv(fd_, &byte, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
  }

 private:
  int fd_;
};

bool AwaitNobody() {
  return Await([] { return TestFront::Get().front().counts().connections == 0; });
}

TEST(PatienceTest, AHandshakeThatNeverBeginsIsCut) { EXPECT_TRUE(Silent().Ends()); }

TEST(PatienceTest, AHandshakeThatTricklesInIsCut) {
  Silent client;
  client.Send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  EXPECT_TRUE(Await([&] {
    client.Send("x");
    return client.Ended();
  }));
}

TEST(PatienceTest, IdleConnectionsAreClosed) {
  RawClient client(TestFront::Get().port());
  client.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_TRUE(client.ReadToEnd().starts_with("HTTP/1.1 200 "));
  RawClient quiet(TestFront::Get().port());
  EXPECT_EQ(quiet.ReadToEnd(), "");
  EXPECT_TRUE(AwaitNobody());
}

TEST(PatienceTest, IdleHttp2ConnectionsAreSentAway) {
  FrameClient client;
  client.Send(GetFrame(1, "/later"));
  EXPECT_EQ(client.Body(1), "later");
  const auto away = client.Await(NGHTTP2_GOAWAY);
  EXPECT_EQ(away.type, NGHTTP2_GOAWAY);
  EXPECT_EQ(FrameClient::ErrorOf(away), NGHTTP2_NO_ERROR);
  client.Await(254);
  EXPECT_TRUE(AwaitNobody());
}

TEST(PatienceTest, SlowHeadersAndSlowBodiesAreGivenUp) {
  RawClient headers(TestFront::Get().port());
  headers.Send("GET /echo HTTP/1.1\r\nHost: t\r\nX-Slow: ");
  EXPECT_TRUE(headers.ClosedWhileTrickling("s"));
  RawClient body(TestFront::Get().port());
  body.Send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_TRUE(body.ClosedWhileTrickling("s"));
  FrameClient frames;
  frames.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestFields("POST", "/echo")));
  EXPECT_EQ(FrameClient::ErrorOf(frames.Await(NGHTTP2_RST_STREAM)), NGHTTP2_CANCEL);
}

TEST(PatienceTest, ASlowRequestBehindAWatchIsGivenUp) {
  RawClient client(TestFront::Get().port());
  client.Send("GET /stream/before-slow HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  client.Send("GET /echo HTTP/1.1\r\nHost: t\r\nX-Slow: ");
  EXPECT_TRUE(client.ClosedWhileTrickling("s"));
  EXPECT_TRUE(TestFront::Get().stream("before-slow").AwaitCancelled());
}

TEST(PatienceTest, BodiesOfAllConnectionsTogetherAreBounded) {
  const std::string post = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: ";
  // Almost all of what may be held, by a request that does not end.
  FrameClient holder;
  holder.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestFields("POST", "/echo")));
  for (int i = 0; i < 255; ++i) holder.Send(Frame(NGHTTP2_DATA, 0, 1, std::string(4096, 'h')));
  // A second one is past it, whatever it speaks. Which comes to be known of a stream is that
  // the front has seen all of it.
  holder.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 3, RequestFields("POST", "/echo")) +
              Frame(NGHTTP2_DATA, 0, 3, std::string(10'000, 'h')));
  const auto reset = holder.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(reset.stream, 3u);
  EXPECT_EQ(FrameClient::ErrorOf(reset), NGHTTP2_REFUSED_STREAM);
  RawClient small(TestFront::Get().port());
  small.Send(post + "10000\r\n\r\n" + std::string(10'000, 's'));
  const std::string refused = small.ReadUntil("}\n");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 429 ")) << refused;
  EXPECT_NE(refused.find("retry-after: 1\r\n"), std::string::npos) << refused;
  RawClient large(TestFront::Get().port());
  large.Send(post + "1000000\r\n\r\n" + std::string(100'000, 'l'));
  EXPECT_TRUE(large.ReadToEnd().empty());
  // Requests without a body go on, and room that is made is given.
  RawClient next(TestFront::Get().port());
  next.Send("GET /later HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_TRUE(next.ReadUntil("later").starts_with("HTTP/1.1 200 "));
  holder.Send(Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, ""));
  EXPECT_NE(holder.Body(1).find("body=1044480\n"), std::string::npos);
  next.Send(post + "10000\r\n\r\n" + std::string(10'000, 's'));
  EXPECT_TRUE(next.ReadUntil("address=").starts_with("HTTP/1.1 200 "));
}

// A header list of `kListBytes` in a few: one field goes to the table and is named again and again.
constexpr std::size_t kListBytes = 60 * 4000;
std::string LongList(const std::string& method, const std::string& path, std::uint8_t flags) {
  return Frame(NGHTTP2_HEADERS, flags | NGHTTP2_FLAG_END_HEADERS, 1,
               RequestFields(method, path) + std::string("\x40\x01x\x7f", 4) + "\xa1\x1e" +
                   std::string(4000, 'v') + std::string(60, '\xbe'));
}

// The same over HTTP/1.1.
std::string LongFields() {
  std::string fields;
  for (int i = 0; i < 60; ++i) {
    fields += "X-" + std::to_string(i) + ": " + std::string(4000, 'v') + "\r\n";
  }
  return fields;
}

TEST(PatienceTest, HeaderListsOfAllConnectionsTogetherAreBounded) {
  const std::size_t allowed = 1024 * 1024 / kListBytes;
  std::vector<std::unique_ptr<FrameClient>> holders;
  for (std::size_t i = 0; i < allowed; ++i) {
    holders.push_back(std::make_unique<FrameClient>());
    // Some of the body comes too, lest they are too slow. What comes after it is answered after all
    // that was seen.
    holders.back()->Send(LongList("POST", "/echo", 0) +
                         Frame(NGHTTP2_DATA, 0, 1, std::string(10'000, 'b')) +
                         GetFrame(3, "/later"));
    ASSERT_EQ(holders.back()->Body(3), "later") << i;
  }
  FrameClient next;
  next.Send(LongList("POST", "/echo", 0));
  const auto refused = next.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(refused.stream, 1u);
  EXPECT_EQ(FrameClient::ErrorOf(refused), NGHTTP2_REFUSED_STREAM);
  // Short ones go on, and room that is made is given.
  next.Send(GetFrame(3, "/later"));
  EXPECT_EQ(next.Body(3), "later");
  holders.front()->Send(Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, ""));
  holders.front()->Await(NGHTTP2_HEADERS);
  FrameClient again;
  again.Send(LongList("GET", "/later", NGHTTP2_FLAG_END_STREAM));
  EXPECT_EQ(again.Body(1), "later");
}

TEST(PatienceTest, HeaderListsOfRequestsUnderWayAreBoundedToo) {
  const std::size_t allowed = 1024 * 1024 / kListBytes;
  std::vector<std::unique_ptr<FrameClient>> holders;
  for (std::size_t i = 0; i < allowed; ++i) {
    holders.push_back(std::make_unique<FrameClient>());
    holders.back()->Send(LongList("GET", "/hold", NGHTTP2_FLAG_END_STREAM));
    ASSERT_TRUE(TestFront::Get().AwaitHeld(i + 1));
  }
  FrameClient next;
  next.Send(LongList("GET", "/later", NGHTTP2_FLAG_END_STREAM));
  EXPECT_EQ(FrameClient::ErrorOf(next.Await(NGHTTP2_RST_STREAM)), NGHTTP2_REFUSED_STREAM);
  RawClient plain(TestFront::Get().port());
  plain.Send("GET /later HTTP/1.1\r\nHost: t\r\n" + LongFields() + "\r\n");
  const std::string refused = plain.ReadUntil("}\n");  // or cut while it still arrives
  EXPECT_TRUE(refused.empty() || refused.starts_with("HTTP/1.1 429 ")) << refused;
  TestFront::Get().Release();
  for (auto& holder : holders) EXPECT_EQ(holder->Await(NGHTTP2_HEADERS).stream, 1u);
  FrameClient again;
  again.Send(LongList("GET", "/later", NGHTTP2_FLAG_END_STREAM));
  EXPECT_EQ(again.Body(1), "later");
}

TEST(PatienceTest, RequestsInLineOfAllConnectionsTogetherAreBounded) {
  ASSERT_TRUE(TestFront::Get().AwaitStreams(0));
  const std::size_t allowed = 1024 * 1024 / (2 * kListBytes);
  std::vector<std::unique_ptr<RawClient>> holders;
  for (std::size_t i = 0; i <= allowed; ++i) {
    holders.push_back(std::make_unique<RawClient>(TestFront::Get().port()));
    const std::string path = "/stream/in-front-" + std::to_string(i);
    holders.back()->Send("GET " + path + " HTTP/1.1\r\nHost: t\r\n\r\n");
    holders.back()->ReadUntil("\r\n\r\n");
  }
  ASSERT_TRUE(TestFront::Get().AwaitStreams(allowed + 1));
  const std::string behind = "GET /echo HTTP/1.1\r\nHost: t\r\n" + LongFields() + "\r\n";
  for (auto& holder : holders) holder->Send(behind + behind);
  EXPECT_TRUE(Await([&] { return TestFront::Get().front().counts().streams <= allowed; }));
  EXPECT_GT(TestFront::Get().front().counts().streams, 0u);
}

// Whether a request arrives is judged by what is sent, not by what it becomes.
TEST(PatienceTest, ACompressedHeaderListBuysNoTime) {
  FrameClient client;
  client.Send(LongList("POST", "/echo", 0));
  const auto reset = client.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(reset.stream, 1u);
  EXPECT_EQ(FrameClient::ErrorOf(reset), NGHTTP2_CANCEL);
}

// The reset of what was too much waits behind answers that are not read; its bytes do not.
TEST(PatienceTest, WhatIsRefusedIsLetGoThoughThePeerDoesNotRead) {
  ASSERT_TRUE(AwaitNobody());
  const std::size_t cut = TestFront::Get().front().counts().cut;
  constexpr std::uint32_t kWide = 1u << 30;
  FrameClient stuck({.alpn = "h2", .receive_buffer = 4096});
  EXPECT_EQ(stuck.Await(NGHTTP2_SETTINGS).type, NGHTTP2_SETTINGS);  // they allow wide streams
  stuck.Send(Frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "") +
             Frame(NGHTTP2_SETTINGS, 0, 0,
                   Number(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + Number(kWide, 4)) +
             Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, Number(kWide, 4)) + GetFrame(1, "/flood"));
  std::this_thread::sleep_for(milliseconds(500));  // until nothing more goes out
  for (const std::uint32_t id : {3u, 5u}) {
    const std::string head = RequestFields("POST", "/echo");
    stuck.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, head));
    for (int i = 0; i < 60; ++i) stuck.Send(Frame(NGHTTP2_DATA, 0, id, std::string(10'000, 's')));
  }
  EXPECT_TRUE(Await([] {
    RawClient small(TestFront::Get().port());
    small.Send("POST /later HTTP/1.1\r\nHost: t\r\nContent-Length: 10000\r\n\r\n" +
               std::string(10'000, 's'));
    return small.ReadUntil("\r\n").starts_with("HTTP/1.1 200 ");
  }));
  EXPECT_EQ(TestFront::Get().front().counts().cut, cut);
}

TEST(PatienceTest, AnOpenWatchIsNotIdle) {
  FedStream& stream = TestFront::Get().stream("quiet");
  RawClient client(TestFront::Get().port());
  client.Send("GET /stream/quiet HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  // An idle connection that began later ends, this one does not.
  RawClient quiet(TestFront::Get().port());
  EXPECT_EQ(quiet.ReadToEnd(), "");
  stream.Feed("event\n");
  EXPECT_TRUE(client.ReadUntil("event\n").ends_with("event\n"));
}

TEST(PatienceTest, AReaderThatTakesNothingIsCut) {
  ASSERT_TRUE(AwaitNobody());
  const std::size_t before = TestFront::Get().front().counts().cut;
  for (const char* path : {"/flood", "/big/200000000", "/long/200000000"}) {
    RawClient client(TestFront::Get().port(), {.receive_buffer = 16 * 1024});
    client.Send("GET " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n\r\n");
    client.ReadUntil("\r\n\r\n");
    EXPECT_TRUE(AwaitNobody()) << path;
  }
  EXPECT_EQ(TestFront::Get().front().counts().cut, before + 3);
}

TEST(PatienceTest, AnHttp2StreamWithoutWindowIsReset) {
  for (const char* path : {"/flood", "/big/2000000", "/long/2000000"}) {
    FrameClient client;
    client.Send(GetFrame(1, path));
    auto reset = client.Await(NGHTTP2_RST_STREAM);
    EXPECT_EQ(FrameClient::ErrorOf(reset), NGHTTP2_ENHANCE_YOUR_CALM) << path;
    client.Send(GetFrame(3, "/echo"));  // the connection goes on
    auto head = client.Await(NGHTTP2_HEADERS);
    EXPECT_EQ(head.stream, 3u) << path;
  }
}

TEST(PatienceTest, AnHttp2ReaderThatIsSlowButSteadyGetsItAll) {
  constexpr std::uint32_t kWindow = 65'535, kStep = 16 * 1024;
  constexpr int kSteps = 30;  // together three times as long as a reader may stand still
  const std::size_t size = kWindow + kSteps * kStep;
  FrameClient client;
  client.Send(GetFrame(1, "/big/" + std::to_string(size)));
  // Two threads may use the connection once nothing of the handshake is left to be read.
  EXPECT_EQ(client.Await(NGHTTP2_HEADERS).stream, 1u);
  std::jthread slowly([&] {
    for (int i = 0; i < kSteps; ++i) {
      std::this_thread::sleep_for(milliseconds(400));
      client.Send(Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, Number(kStep, 4)) +
                  Frame(NGHTTP2_WINDOW_UPDATE, 0, 1, Number(kStep, 4)));
    }
  });
  EXPECT_EQ(client.Body(1).size(), size);
}

TEST(PatienceTest, AnHttp2PeerThatDoesNotAnswerPingsIsCut) {
  FrameClient client;
  client.Send(GetFrame(1, "/stream/mute"));
  EXPECT_EQ(client.Await(NGHTTP2_PING).type, NGHTTP2_PING);
  client.Await(254);
  EXPECT_TRUE(TestFront::Get().stream("mute").AwaitCancelled());
}

TEST(PatienceTest, AnHttp2PeerThatAnswersPingsStays) {
  FedStream& stream = TestFront::Get().stream("pinged");
  FrameClient client;
  client.Send(GetFrame(1, "/stream/pinged"));
  for (int i = 0; i < 4; ++i) {
    const auto ping = client.Await(NGHTTP2_PING);
    ASSERT_EQ(ping.type, NGHTTP2_PING);
    client.Send(Frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, ping.payload));
  }
  stream.Feed("event\n");
  stream.End();
  EXPECT_EQ(client.Body(1), "event\n");
}

TEST(PatienceTest, APeerThatDoesNotCloseIsCut) {
  RawClient client(TestFront::Get().port());
  client.Send("GET /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.ReadToEnd().starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(AwaitNobody());  // though the client still has its socket
}

TEST(PatienceTest, ConnectionsPastTheLimitAreRefused) {
  ASSERT_TRUE(AwaitNobody());
  const FrontCounts before = TestFront::Get().front().counts();
  std::vector<std::unique_ptr<RawClient>> held;
  for (int i = 0; i < 60; ++i) {
    held.push_back(std::make_unique<RawClient>(TestFront::Get().port()));
    held.back()->Send("GET /stream/held HTTP/1.1\r\nHost: t\r\n\r\n");
  }
  ASSERT_TRUE(TestFront::Get().AwaitStreams(60));
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    RawClient client(TestFront::Get().port());
    if (!client.connected()) ++refused;
  }
  EXPECT_EQ(refused, 200);
  const FrontCounts now = TestFront::Get().front().counts();
  EXPECT_EQ(now.accepted - before.accepted, 260u);
  EXPECT_EQ(now.refused - before.refused, 200u);
  EXPECT_EQ(now.connections, 60u);
  EXPECT_EQ(now.http1_requests - before.http1_requests, 60u);
  // Those inside are served on, and room that is made is given.
  EXPECT_EQ(TestFront::Get().front().counts().streams, 60u);
  held.clear();
  ASSERT_TRUE(AwaitNobody());
  RawClient next(TestFront::Get().port());
  next.Send("GET /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(next.ReadToEnd().starts_with("HTTP/1.1 200 "));
}

// Most of these are gone before they are accepted, and have no address any more.
TEST(PatienceTest, ThoseThatVanishAtTheDoorLeaveNothing) {
  ASSERT_TRUE(AwaitNobody());
  const std::size_t before = TestFront::Get().front().counts().accepted;
  for (int i = 0; i < 500; ++i) Silent().Reset();
  EXPECT_TRUE(Await([&] { return TestFront::Get().front().counts().accepted > before; }));
  {
    RawClient next(TestFront::Get().port());
    EXPECT_TRUE(next.connected());
  }
  EXPECT_TRUE(AwaitNobody());
  EXPECT_TRUE(Await([] { return TestFront::Get().front().counts().handshakes == 0; }));
}

TEST(PatienceTest, SilentConnectionsCountAgainstTheLimit) {
  ASSERT_TRUE(AwaitNobody());
  std::vector<Silent> many;
  for (int i = 0; i < 60; ++i) many.emplace_back();
  EXPECT_TRUE(Await([] { return TestFront::Get().front().counts().handshakes == 60; }));
  for (int i = 0; i < 240; ++i) many.emplace_back();
  for (Silent& one : many) EXPECT_TRUE(one.Ends());
  RawClient next(TestFront::Get().port());
  EXPECT_TRUE(next.connected());
}

}  // namespace
}  // namespace mailroom::apiserver
