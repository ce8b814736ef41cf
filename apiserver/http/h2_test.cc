// HTTP/2 over real TLS sockets: curl for what ordinary clients do, hand-made frames for the rest.
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <thread>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/front.h"
#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kCurl = "curl -s --http2 --cacert $CA ";

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string Curl(const std::string& arguments, const std::string& path) {
  return TestFront::Get().Shell(std::string(kCurl) + arguments + " \"https://localhost:$PORT" +
                                path + "\"");
}

TEST(Http2Test, IsNegotiatedAndFallsBack) {
  TestFront& front = TestFront::Get();
  EXPECT_EQ(RawClient(front.port(), {.alpn = "h2"}).protocol(), "h2");
  EXPECT_EQ(RawClient(front.port(), {.alpn = "http/1.1"}).protocol(), "http/1.1");
  EXPECT_EQ(RawClient(front.port(), {.alpn = "spdy/9"}).protocol(), "");
  EXPECT_EQ(Curl("-o /dev/null -w '%{http_version}'", "/echo"), "2");
  EXPECT_EQ(Curl("--tls-max 1.2 -o /dev/null -w '%{http_version}'", "/echo"), "2");
  EXPECT_EQ(Curl("--tls-max 1.1 -o /dev/null -w '%{http_code}'", "/echo"), "000");
}

TEST(Http2Test, RequestsArriveWhole) {
  const std::string answer =
      Curl("-X PATCH -d hello -H 'Impersonate-Group: a' -H 'Impersonate-Group: b'",
           "/a%2Fb/+?x=%41&x=2");
  EXPECT_TRUE(Has(answer, "PATCH /a%2Fb/+\nquery=x=%41&x=2\n")) << answer;
  EXPECT_TRUE(Has(answer, "impersonate-group=a\nimpersonate-group=b\n")) << answer;
  EXPECT_TRUE(Has(answer, "host=localhost:")) << answer;
  EXPECT_TRUE(Has(answer, "body=5\n")) << answer;
}

TEST(Http2Test, HeadersOfTheAnswer) {
  const std::string head = Curl("-I", "/big/200000");
  EXPECT_TRUE(head.starts_with("HTTP/2 200")) << head;
  EXPECT_TRUE(Has(head, "content-length: 200000\r\n")) << head;
  EXPECT_TRUE(Has(head, "date: ")) << head;
  const std::string warned = Curl("-D - -o /dev/null", "/warn");
  EXPECT_TRUE(Has(warned, "warning: 299 - \"one\"\r\nwarning: 299 - \"two\"\r\n")) << warned;
  EXPECT_FALSE(Has(warned, "\nx-injected")) << warned;
  EXPECT_TRUE(Has(warned, "x-capital: c\r\n")) << warned;
}

TEST(Http2Test, LargeBodiesBothWays) {
  EXPECT_EQ(Curl("-o /dev/null -w '%{size_download}'", "/big/30000000"), "30000000");
  EXPECT_EQ(Curl("--compressed", "/big/300000"), std::string(300'000, 'b'));
  const std::string fits = TestFront::Get().Shell(
      "head -c 3145728 /dev/zero | curl -s --http2 --cacert $CA --data-binary @- "
      "https://localhost:$PORT/echo");
  EXPECT_TRUE(Has(fits, "body=3145728\n")) << fits;
  const std::string over = TestFront::Get().Shell(
      "head -c 3145729 /dev/zero | curl -s --http2 --cacert $CA --data-binary @- -w '%{http_code}' "
      "https://localhost:$PORT/echo");
  EXPECT_TRUE(Has(over, "limit is 3145728")) << over;
  EXPECT_TRUE(over.ends_with("413")) << over;
}

TEST(Http2Test, LateAndDroppedAnswers) {
  EXPECT_EQ(Curl("", "/later"), "later");
  EXPECT_EQ(Curl("-o /dev/null -w '%{http_code}'", "/drop"), "500");
}

TEST(Http2Test, CertificatesGiveIdentity) {
  TestFront& front = TestFront::Get();
  const auto ask = [&](const KeyPair& pair) {
    EXPECT_TRUE(WriteSecret(front.dir() + "/c.crt", pair.cert_pem).ok());
    EXPECT_TRUE(WriteSecret(front.dir() + "/c.key", pair.key_pem).ok());
    return Curl("--cert $DIR/c.crt --key $DIR/c.key", "/echo");
  };
  EXPECT_TRUE(
      Has(ask(IssueClient(front.authority(), "jane", {"dev"}).value()), "cn=jane\no=dev\n"));
  EXPECT_TRUE(
      Has(ask(IssueClient(NewAuthority("other").value(), "jane", {}).value()), "rejected\n"));
}

TEST(Http2Test, StreamsAreFlushedAtOnceAndEndCleanly) {
  FrameClient client;
  FedStream& stream = TestFront::Get().stream("h2-flush");
  client.Send(GetFrame(1, "/stream/h2-flush"));
  EXPECT_EQ(client.Await(NGHTTP2_HEADERS).stream, 1u);
  for (int i = 0; i < 100; ++i) {
    const std::string event = "event " + std::to_string(i) + "\n";
    stream.Feed(event);
    ASSERT_EQ(client.Await(NGHTTP2_DATA).payload, event);
  }
  stream.End();
  const auto last = client.Await(NGHTTP2_DATA);
  EXPECT_EQ(last.payload, "");
  EXPECT_EQ(last.flags & NGHTTP2_FLAG_END_STREAM, NGHTTP2_FLAG_END_STREAM);
  EXPECT_TRUE(TestFront::Get().AwaitStreams(0));
}

TEST(Http2Test, ABodyThatBreaksOffIsReset) {
  FedStream& stream = TestFront::Get().stream("broken2");
  FrameClient client;
  client.Send(GetFrame(1, "/stream/broken2"));
  EXPECT_TRUE(stream.AwaitOpen());
  stream.Feed("the first part");
  const auto part = client.Await(NGHTTP2_DATA);
  EXPECT_EQ(part.payload, "the first part");
  stream.Abort();
  const auto reset = client.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(reset.stream, 1u);
  EXPECT_EQ(FrameClient::ErrorOf(reset), NGHTTP2_INTERNAL_ERROR);
  EXPECT_TRUE(stream.AwaitCancelled());
  client.Send(GetFrame(3, "/big/10"));
  EXPECT_EQ(client.Body(3), "bbbbbbbbbb") << "the connection goes on";
}

// Bytes and the break in one: none of them are lost.
TEST(Http2Test, WhatCameBeforeABreakIsSent) {
  FedStream& stream = TestFront::Get().stream("broken3");
  stream.Feed("all there is");
  stream.Abort();
  FrameClient client;
  client.Send(GetFrame(1, "/stream/broken3"));
  EXPECT_EQ(client.Body(1), "all there is");
}

TEST(Http2Test, ManyEventsArriveCompleteAndInOrder) {
  FedStream& stream = TestFront::Get().stream("h2-many");
  std::jthread feeder([&] {
    for (int i = 0; i < 20'000; ++i) stream.Feed(std::to_string(i) + std::string(200, '.') + "\n");
    stream.End();
  });
  EXPECT_EQ(TestFront::Get().Shell(
                "curl -sN --http2 --cacert $CA https://localhost:$PORT/stream/h2-many | tr -d . | "
                "awk '$1 != NR - 1 {bad = 1} END {print NR, bad + 0}'"),
            "20000 0\n");
}

TEST(Http2Test, StreamsOfOneConnectionDoNotBlockEachOther) {
  FrameClient client;
  client.Send(GetFrame(1, "/flood"));  // stops at its window
  EXPECT_EQ(client.Await(NGHTTP2_DATA).stream, 1u);
  FedStream& stream = TestFront::Get().stream("h2-other");
  // The connection's window is opened, the flood's is not.
  client.Send(Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, Number(1 << 20, 4)));
  client.Send(GetFrame(3, "/stream/h2-other"));
  stream.Feed("event\n");
  stream.End();
  EXPECT_EQ(client.Body(3), "event\n");
}

TEST(Http2Test, ResetAndDisconnectCancelTheStream) {
  FrameClient client;
  FedStream& reset = TestFront::Get().stream("h2-reset");
  FedStream& gone = TestFront::Get().stream("h2-gone");
  client.Send(GetFrame(1, "/stream/h2-reset") + GetFrame(3, "/stream/h2-gone"));
  EXPECT_TRUE(reset.AwaitOpen());
  EXPECT_TRUE(gone.AwaitOpen());
  client.Send(Frame(NGHTTP2_RST_STREAM, 0, 1, Number(NGHTTP2_CANCEL, 4)));
  EXPECT_TRUE(reset.AwaitCancelled());
  client.raw().Close();
  EXPECT_TRUE(gone.AwaitCancelled());
}

TEST(Http2Test, AStuckStreamIsResetOnceItsSourceHasEnded) {
  FrameClient client;
  FedStream& stream = TestFront::Get().stream("h2-stuck");
  client.Send(GetFrame(1, "/stream/h2-stuck"));
  for (int i = 0; i < 5000; ++i) stream.Feed(std::string(1024, 'e'));
  while (stream.pulled() < 60'000) std::this_thread::yield();
  EXPECT_LT(stream.pulled(), 200'000u);  // the client's window and a little
  stream.Overflow();
  const auto reset = client.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(reset.stream, 1u);
  EXPECT_EQ(FrameClient::ErrorOf(reset), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST(Http2Test, HalfClosedConnectionsEndTheirStreams) {
  FedStream& tcp = TestFront::Get().stream("h2-half-tcp");
  FrameClient half;
  half.Send(GetFrame(1, "/stream/h2-half-tcp"));
  EXPECT_TRUE(tcp.AwaitOpen());
  half.raw().HalfClose();
  EXPECT_TRUE(tcp.AwaitCancelled());

  const std::size_t cut = TestFront::Get().front().counts().cut;
  FedStream& tls = TestFront::Get().stream("h2-half-tls");
  FrameClient alert;
  alert.Send(GetFrame(1, "/stream/h2-half-tls"));
  EXPECT_TRUE(tls.AwaitOpen());
  alert.raw().AlertClose();
  EXPECT_TRUE(tls.AwaitCancelled());
  EXPECT_EQ(TestFront::Get().front().counts().cut, cut);  // it went by itself
}

TEST(Http2Test, AStoppedReaderOfADocumentHoldsLittle) {
  FrameClient client;
  const std::size_t before = TestFront::Get().flooded();
  client.Send(GetFrame(1, "/long/200000000"));
  EXPECT_EQ(client.Await(NGHTTP2_DATA).stream, 1u);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(TestFront::Get().flooded() - before, 1u * 1024 * 1024);  // its window, and a block
}

TEST(Http2Test, MoreStreamsThanAllowedAreRefused) {
  std::string frames;
  for (std::uint32_t i = 0; i < limits::kHttp2Streams + 1; ++i) {
    frames += GetFrame(2 * i + 1, "/stream/h2-cap-" + std::to_string(i));
  }
  FrameClient unaware;  // has not seen the limit yet
  unaware.Send(frames);
  const auto refused = unaware.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(refused.stream, 2 * limits::kHttp2Streams + 1);
  EXPECT_EQ(FrameClient::ErrorOf(refused), NGHTTP2_REFUSED_STREAM);

  FrameClient aware;
  aware.Send(Frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "") + frames);
  EXPECT_EQ(FrameClient::ErrorOf(aware.Await(NGHTTP2_GOAWAY)), NGHTTP2_PROTOCOL_ERROR);
}

TEST(Http2Test, AnEndlessHeaderListIsRefused) {
  FrameClient client;
  // One entry of 4 KB goes to the table and is named again and again, a byte each.
  std::string block = RequestFields("GET", "/echo");
  block += std::string("\x40\x01x\x7f", 4) + "\xa1\x1e" + std::string(4000, 'v');
  block += std::string(200, '\xbe');
  client.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS, 1, block));
  EXPECT_EQ(client.Await(NGHTTP2_RST_STREAM).stream, 1u);
  client.Send(GetFrame(3, "/later"));
  EXPECT_EQ(client.Body(3), "later");
}

// A request for that target, in as many frames as it takes. Compressed, for nghttp2 bounds what it
// reads.
std::string LongGet(std::uint32_t stream, std::string target) {
  const auto field = [](std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NO_INDEX};
  };
  const nghttp2_nv fields[] = {field(":method", "GET"), field(":scheme", "https"),
                               field(":authority", "localhost"), field(":path", target)};
  nghttp2_hd_deflater* deflater = nullptr;
  nghttp2_hd_deflate_new(&deflater, 4096);
  std::string block(target.size() + 1000, ' ');
  const auto size = nghttp2_hd_deflate_hd(deflater, reinterpret_cast<std::uint8_t*>(block.data()),
                                          block.size(), fields, std::size(fields));
  nghttp2_hd_deflate_del(deflater);
  block.resize(static_cast<std::size_t>(size));
  constexpr std::size_t kFrame = 16'000;
  std::string frames =
      Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, stream, block.substr(0, kFrame));
  for (std::size_t at = kFrame; at < block.size(); at += kFrame) {
    const bool last = at + kFrame >= block.size();
    frames += Frame(NGHTTP2_CONTINUATION, last ? NGHTTP2_FLAG_END_HEADERS : 0, stream,
                    block.substr(at, kFrame));
  }
  return frames;
}

TEST(Http2Test, ATargetIsAsLongAsOverHttp1) {
  FrameClient client;
  const std::string fits = "/later?" + std::string(limits::kTargetBytes - 6, 'a');
  client.Send(LongGet(1, fits));
  EXPECT_EQ(client.Body(1), "later");
  client.Send(LongGet(3, fits + "a"));
  const std::string refused = client.Body(3);
  EXPECT_TRUE(Has(refused, "\"kind\":\"Status\"")) << refused;
  EXPECT_TRUE(Has(refused, "\"code\":414")) << refused;
  client.Send(LongGet(5, "/" + std::string(limits::kTargetBytes, 'a')));
  EXPECT_TRUE(Has(client.Body(5), "\"code\":414"));
}

TEST(Http2Test, HeaderListsThatOnlyArriveAreBoundedTogether) {
  FrameClient client;
  // Each list is under its own bound, and its request never ends.
  const auto request = [](std::uint32_t id) {
    std::string block = RequestFields("POST", "/later");
    if (id == 1) block += std::string("\x40\x01x\x7f", 4) + "\xa1\x1e" + std::string(4000, 'v');
    return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, block + std::string(60, '\xbe'));
  };
  const std::size_t each = 60 * 4033;
  const auto allowed = static_cast<std::uint32_t>(limits::kHttp2HeadersBytes / each);
  std::string frames;
  for (std::uint32_t i = 0; i <= allowed; ++i) frames += request(2 * i + 1);
  client.Send(frames);
  const auto refused = client.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(refused.stream, 2 * allowed + 1);
  // The room comes back with the streams that held it.
  std::string ends;
  for (std::uint32_t i = 0; i < allowed; ++i) {
    ends += Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 2 * i + 1, "x");
  }
  client.Send(ends);
  const std::uint32_t next = 2 * allowed + 3;
  client.Send(request(next) + Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, next, "x"));
  EXPECT_EQ(client.Body(next), "later");
}

struct Flood {
  const char* name;
  std::string (*frame)(std::uint32_t);
  friend void PrintTo(const Flood& self, std::ostream* out) { *out << self.name; }
};

class Http2FloodTest : public ::testing::TestWithParam<Flood> {};

TEST_P(Http2FloodTest, EndsTheConnectionAndNothingElse) {
  FrameClient client;
  // Two threads may use the connection once nothing of the handshake is left to be read.
  EXPECT_EQ(client.Await(NGHTTP2_SETTINGS).type, NGHTTP2_SETTINGS);
  std::string frames;
  for (std::uint32_t i = 0; i < 20'000; ++i) frames += GetParam().frame(2 * i + 1);
  std::jthread sender([&] { client.Send(frames); });
  const auto end = client.Await(NGHTTP2_GOAWAY);
  EXPECT_EQ(end.type, NGHTTP2_GOAWAY);
  EXPECT_NE(FrameClient::ErrorOf(end), NGHTTP2_NO_ERROR);
  client.Await(254);  // until it ends
  sender.join();
  EXPECT_EQ(Curl("", "/later"), "later");
}

INSTANTIATE_TEST_SUITE_P(
    All, Http2FloodTest,
    ::testing::Values(
        Flood{"Ping", [](std::uint32_t) { return Frame(NGHTTP2_PING, 0, 0, "12345678"); }},
        Flood{"Settings", [](std::uint32_t) { return Frame(NGHTTP2_SETTINGS, 0, 0, ""); }},
        Flood{"Priority",
              [](std::uint32_t id) {
                return Frame(NGHTTP2_PRIORITY, 0, id, std::string(4, '\0') + "\x10");
              }},
        Flood{"RapidReset",
              [](std::uint32_t id) {
                return GetFrame(id, "/stream/h2-rapid") +
                       Frame(NGHTTP2_RST_STREAM, 0, id, Number(NGHTTP2_CANCEL, 4));
              }},
        Flood{"StreamsPastTheLimit",
              [](std::uint32_t id) { return GetFrame(id, "/flood"); }},
        Flood{"EmptyData",
              [](std::uint32_t id) {
                return id == 1 ? Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1,
                                       RequestFields("POST", "/echo"))
                               : Frame(NGHTTP2_DATA, 0, 1, "");
              }},
        Flood{"Continuation",
              [](std::uint32_t id) {
                return id == 1 ? Frame(NGHTTP2_HEADERS, 0, 1, RequestFields("GET", "/echo"))
                               : Frame(NGHTTP2_CONTINUATION, 0, 1, Field("a", "b"));
              }},
        Flood{"Garbage", [](std::uint32_t) { return std::string(64, '\xff'); }}),
    [](const auto& flood) { return std::string(flood.param.name); });

TEST(Http2Test, ARequestThatNeverEndsIsReset) {
  FrameClient client;
  client.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestFields("POST", "/echo")));
  EXPECT_EQ(FrameClient::ErrorOf(client.Await(NGHTTP2_RST_STREAM)), NGHTTP2_CANCEL);
}

TEST(Http2Test, TrailersAreIgnored) {
  FrameClient client;
  client.Send(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RequestFields("POST", "/echo")) +
              Frame(NGHTTP2_DATA, 0, 1, "hello") +
              Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1,
                    Field("x-trailer", "t")));
  const std::string body = client.Body(1);
  EXPECT_TRUE(Has(body, "body=5\n")) << body;
  EXPECT_FALSE(Has(body, "x-trailer")) << body;
}

}  // namespace
}  // namespace mailroom::apiserver
