// HTTP/1.1 over real TLS sockets. What both protocols share is in here too.
#include "apiserver/http/front.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

// Everything that makes temporary files makes them here.
const std::string kTemporary = [] {
  std::string pattern = std::filesystem::temp_directory_path() / "front_test.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  setenv("TMPDIR", pattern.c_str(), 1);
  return pattern;
}();

std::string Get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: test\r\n" + headers + "\r\n";
}

// Sends one request on a connection of its own and returns the whole answer.
std::string Ask(const std::string& request, const RawClient::Options& options = {}) {
  RawClient client(TestFront::Get().port(), options);
  EXPECT_TRUE(client.connected());
  client.Send(request);
  return client.ReadToEnd();
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The value once it has stopped changing: the sockets between source and reader are full.
template <typename Value>
std::size_t Settled(Value value) {
  std::size_t now = value(), last = now + 1;
  while (now != last) {
    last = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    now = value();
  }
  return now;
}

TEST(FrontTest, PathAndQueryAreRaw) {
  const std::string answer = Ask(Get("/a%2Fb/../c+d//%00?x=%41&x=2&y=+", "Connection: close\r\n"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(Has(answer, "GET /a%2Fb/../c+d//%00\nquery=x=%41&x=2&y=+\n")) << answer;
  EXPECT_TRUE(Has(Lower(answer), "\r\ndate: ")) << answer;
  EXPECT_FALSE(Has(Lower(answer), "\r\nserver: ")) << answer;
}

TEST(FrontTest, RepeatedHeadersAreKept) {
  const std::string answer =
      Ask(Get("/echo", "Impersonate-Group: a\r\nImpersonate-Group: b, c\r\nConnection: close\r\n"));
  EXPECT_TRUE(Has(answer, "impersonate-group=a\n")) << answer;
  EXPECT_TRUE(Has(answer, "impersonate-group=b, c\n")) << answer;
}

TEST(FrontTest, MethodsArriveAsTheyAre) {
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const std::string answer =
        Ask(method +
            " /echo HTTP/1.1\r\nHost: t\r\nContent-Type: application/apply-patch+yaml\r\n"
            "Content-Length: 5\r\nConnection: close\r\n\r\nhello");
    EXPECT_TRUE(Has(answer, method + " /echo\n")) << answer;
    EXPECT_TRUE(Has(answer, "body=5\n")) << answer;
  }
}

TEST(FrontTest, HeadHasTheLengthAndNoBody) {
  for (const auto& [path, length] :
       {std::pair("/big/11", "11"), std::pair("/big/3000000", "3000000")}) {
    const std::string answer = Lower(
        Ask("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"));
    EXPECT_TRUE(Has(answer, "content-length: " + std::string(length) + "\r\n")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
  }
}

TEST(FrontTest, ChunkedBodiesArriveWhole) {
  const std::string answer = Ask(
      "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
  EXPECT_TRUE(Has(answer, "body=11\n")) << answer;
}

TEST(FrontTest, ABodyPastTheLimitIsAKubernetesStatus) {
  const std::string head = "POST /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n";
  const std::size_t limit = limits::kBodyBytes;
  const std::string fits =
      Ask(head + "Content-Length: " + std::to_string(limit) + "\r\n\r\n" + std::string(limit, 'x'));
  EXPECT_TRUE(Has(fits, "body=" + std::to_string(limit))) << fits.substr(0, 300);
  const std::string over = Ask(head + "Content-Length: " + std::to_string(limit + 1) + "\r\n\r\n" +
                               std::string(limit + 1, 'x'));
  EXPECT_TRUE(over.starts_with("HTTP/1.1 413 ")) << over.substr(0, 300);
  EXPECT_TRUE(Has(over, "\"reason\":\"RequestEntityTooLarge\"")) << over;
  EXPECT_TRUE(Has(over, "limit is 3145728")) << over;
}

TEST(FrontTest, HostileFramingIsRefused) {
  for (const std::string fields :
       {"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        "Content-Length: 5abc\r\n\r\nhello", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "no colon here\r\n\r\n"}) {
    const std::string answer = Ask("POST /echo HTTP/1.1\r\nHost: t\r\n" + fields);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << fields << "\n" << answer;
  }
  EXPECT_TRUE(Has(Ask(Get("/echo", "Connection: close\r\n")), "200 OK"));
}

TEST(FrontTest, ABodyThatBreaksOffIsNeverEnded) {
  FedStream& stream = TestFront::Get().stream("broken");
  RawClient client(TestFront::Get().port());
  client.Send(Get("/stream/broken") + Get("/echo"));
  EXPECT_TRUE(stream.AwaitOpen());
  stream.Feed("the first part");
  EXPECT_TRUE(client.ReadUntil("the first part").ends_with("the first part"));
  stream.Abort();
  EXPECT_EQ(client.ReadToEnd(), "\r\n") << "neither a last chunk nor another answer";
  EXPECT_TRUE(stream.AwaitCancelled());
}

TEST(FrontTest, KeepAliveAndPipeliningAnswerInOrder) {
  RawClient client(TestFront::Get().port());
  client.Send(Get("/later") + Get("/big/200000") + Get("/echo?n=3"));
  EXPECT_TRUE(client.ReadUntil("\r\n\r\nlater").ends_with("later"));
  EXPECT_TRUE(Has(Lower(client.ReadUntil("\r\n\r\n")), "content-length: 200000\r\n"));
  EXPECT_EQ(client.ReadUntil("HTTP/1.1"), std::string(200000, 'b') + "HTTP/1.1");
  EXPECT_TRUE(client.ReadUntil("address=").ends_with("address="));
  client.Send(Get("/echo?n=4"));
  EXPECT_TRUE(Has(client.ReadUntil("query=n=4\n"), "query=n=4\n"));
}

TEST(FrontTest, ExpectContinueIsAnswered) {
  RawClient client(TestFront::Get().port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 100 "));
  client.Send("hello");
  EXPECT_TRUE(Has(client.ReadUntil("body=5\n"), "200 OK"));
}

// Between the chunks of an earlier answer, 100 Continue would be taken for part of it.
TEST(FrontTest, ExpectContinueIsAnsweredInItsTurn) {
  RawClient client(TestFront::Get().port());
  const std::string expecting =
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  client.Send(Get("/later") + Get("/big/200000") + expecting + "first" + expecting);
  EXPECT_TRUE(client.ReadUntil("\r\n\r\nlater").ends_with("later"));
  EXPECT_FALSE(Has(client.ReadUntil("\r\n\r\nb"), " 100 "));
  EXPECT_EQ(client.ReadUntil("HTTP/1.1"), std::string(199999, 'b') + "HTTP/1.1");
  EXPECT_FALSE(Has(client.ReadUntil("body=5\n"), " 100 ")) << "its body had come unasked";
  EXPECT_TRUE(Has(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n"));
  client.Send("later");
  EXPECT_TRUE(Has(client.ReadUntil("body=5\n"), "200 OK"));
}

TEST(FrontTest, WebSocketsAreDeclined) {
  const std::string answer =
      Ask(Get("/echo",
              "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nConnection: close\r\n"));
  EXPECT_FALSE(Has(answer, "101 ")) << answer;
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 ")) << answer;
}

TEST(FrontTest, ARequestThatTricklesInIsGivenUp) {
  RawClient headers(TestFront::Get().port());
  headers.Send("GET /echo HTTP/1.1\r\nHost: t\r\nX-Slow: ");
  EXPECT_TRUE(headers.ClosedWhileTrickling("s"));
  RawClient body(TestFront::Get().port());
  body.Send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_TRUE(body.ClosedWhileTrickling("s"));
}

TEST(FrontTest, ADroppedRequestIsA500) {
  const std::string answer = Ask(Get("/drop", "Connection: close\r\n"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 ")) << answer;
}

TEST(FrontTest, HeaderValuesCannotSplitTheResponse) {
  const std::string answer = Lower(Ask(Get("/warn", "Connection: close\r\n")));
  EXPECT_FALSE(Has(answer, "\r\nx-injected")) << answer;
  EXPECT_TRUE(Has(answer, "warning: 299 - \"one\"\r\nwarning: 299 - \"two\"\r\n")) << answer;
}

TEST(FrontTest, LargeBodiesAreCompressedOnRequestOnly) {
  EXPECT_EQ(TestFront::Get().Shell("curl -s --http1.1 --compressed --cacert $CA "
                                   "https://localhost:$PORT/big/200000 | wc -c"),
            "200000\n");
  const std::string zipped = Lower(TestFront::Get().Shell(
      "curl -s --http1.1 -D - -o /dev/null -H 'accept-encoding: gzip' --cacert $CA "
      "https://localhost:$PORT/big/131073"));
  EXPECT_TRUE(Has(zipped, "content-encoding: gzip\r\n")) << zipped;
  EXPECT_TRUE(Has(zipped, "vary: accept-encoding\r\n")) << zipped;
  for (const std::string request : {"/big/200000", "-H 'accept-encoding: gzip' /big/131072"}) {
    const std::size_t path = request.find("/big");
    const std::string plain = Lower(
        TestFront::Get().Shell("curl -s --http1.1 -D - -o /dev/null " + request.substr(0, path) +
                               " --cacert $CA https://localhost:$PORT" + request.substr(path)));
    EXPECT_FALSE(Has(plain, "content-encoding")) << plain;
  }
}

TEST(FrontTest, StreamsAreFlushedAtOnceAndEndCleanly) {
  RawClient client(TestFront::Get().port());
  FedStream& stream = TestFront::Get().stream("flush");
  client.Send(Get("/stream/flush"));
  const std::string head = Lower(client.ReadUntil("\r\n\r\n"));
  EXPECT_TRUE(Has(head, "transfer-encoding: chunked\r\n")) << head;
  for (int i = 0; i < 100; ++i) {
    const std::string event = "event " + std::to_string(i) + "\n";
    stream.Feed(event);
    ASSERT_TRUE(client.ReadUntil(event).ends_with(event));
  }
  stream.End();
  EXPECT_EQ(client.ReadExactly(7), "\r\n0\r\n\r\n");
  EXPECT_TRUE(stream.AwaitCancelled());
  // The connection goes on.
  client.Send(Get("/echo?next"));
  EXPECT_TRUE(Has(client.ReadUntil("address="), "query=next\n"));
}

TEST(FrontTest, StreamsOfHttp10AndClosingClientsWork) {
  FedStream& old = TestFront::Get().stream("http10");
  old.Feed("one\n");
  old.End();
  const std::string answer = Ask("GET /stream/http10 HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("\r\n\r\none\n")) << answer;
  EXPECT_FALSE(Has(Lower(answer), "chunked")) << answer;
  FedStream& closing = TestFront::Get().stream("closing");
  closing.Feed("one\n");
  closing.End();
  const std::string closed = Ask(Get("/stream/closing", "Connection: close\r\n"));
  EXPECT_TRUE(closed.ends_with("\r\n\r\n4\r\none\n\r\n0\r\n\r\n")) << closed;
}

TEST(FrontTest, AStreamBehindPipelinedRequestsWaitsItsTurn) {
  RawClient client(TestFront::Get().port());
  FedStream& stream = TestFront::Get().stream("piped");
  stream.Feed("event\n");
  stream.End();
  client.Send(Get("/later") + Get("/big/500000") + Get("/stream/piped") +
              Get("/echo", "Connection: close\r\n"));
  const std::string all = client.ReadToEnd();
  const std::size_t later = all.find("later"), big = all.find("bbbb"), event = all.find("event\n"),
                    echo = all.find("GET /echo");
  EXPECT_LT(later, big);
  EXPECT_LT(big, event);
  EXPECT_LT(event, echo);
  EXPECT_NE(echo, std::string::npos);
}

TEST(FrontTest, DisconnectCancelsTheStream) {
  FedStream& stream = TestFront::Get().stream("gone");
  RawClient client(TestFront::Get().port());
  client.Send(Get("/stream/gone"));
  client.ReadUntil("\r\n\r\n");
  client.Close();
  EXPECT_TRUE(stream.AwaitCancelled());
}

TEST(FrontTest, AReaderThatStopsIsNotPulledFor) {
  RawClient client(TestFront::Get().port(), {.receive_buffer = 16 * 1024});
  const std::size_t before = TestFront::Get().flooded();
  client.Send(Get("/flood"));
  client.ReadUntil("xxxx");
  const std::size_t drawn = Settled([&] { return TestFront::Get().flooded() - before; });
  EXPECT_LT(drawn, 8u * 1024 * 1024);  // the kernel's socket buffers, and a block
  // A reader that comes back gets the rest.
  for (int i = 0; i < 2000; ++i) client.ReadUntil("xxxx");
  client.Close();
}

TEST(FrontTest, AStoppedReaderOfADocumentHoldsLittle) {
  for (const std::string accept : {"", "Accept-Encoding: gzip\r\n"}) {
    RawClient client(TestFront::Get().port(), {.receive_buffer = 16 * 1024});
    const std::size_t before = TestFront::Get().flooded();
    client.Send(Get("/noise/200000000", accept));
    const std::string head = Lower(client.ReadUntil("\r\n\r\n"));
    EXPECT_EQ(Has(head, "content-encoding: gzip"), !accept.empty()) << head;
    const std::size_t drawn = Settled([&] { return TestFront::Get().flooded() - before; });
    EXPECT_LT(drawn, 8u * 1024 * 1024) << accept;  // the kernel's socket buffers, and a block
  }
}

TEST(FrontTest, WatchersThatCloseGetEventsAsTheyCome) {
  for (const std::string& request :
       {std::string("GET /stream/late-http10 HTTP/1.0\r\n\r\n"),
        Get("/stream/late-closing", "Connection: close\r\n")}) {
    const std::size_t at = request.find("/stream/") + 8;
    FedStream& stream =
        TestFront::Get().stream(request.substr(at, request.find(' ', at) - at));
    RawClient client(TestFront::Get().port());
    client.Send(request);
    EXPECT_TRUE(Has(client.ReadUntil("\r\n\r\n"), " 200 ")) << request;
    for (const std::string event : {"one\n", "two\n"}) {
      stream.Feed(event);
      EXPECT_TRUE(client.ReadUntil(event).ends_with(event)) << request;
    }
    stream.End();
    client.ReadToEnd();
    EXPECT_TRUE(stream.AwaitCancelled());
  }
}

TEST(FrontTest, LongBodiesLeaveNoFiles) {
  TestFront& front = TestFront::Get();
  const std::string answer = Ask("POST /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n"
                                 "Content-Length: 3145728\r\n\r\n" + std::string(3145728, 'b'));
  EXPECT_TRUE(Has(answer, "body=3145728\n"));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(kTemporary)) {
    if (entry.path() != front.dir()) left.push_back(entry.path().filename());
  }
  EXPECT_EQ(left, std::vector<std::string>()) << left.front();
  EXPECT_FALSE(std::filesystem::exists("uploads"));
}

TEST(FrontTest, AStuckReaderIsCutOnceTheSourceHasEnded) {
  FedStream& stream = TestFront::Get().stream("stuck");
  RawClient client(TestFront::Get().port(), {.receive_buffer = 16 * 1024});
  client.Send(Get("/stream/stuck"));
  client.ReadUntil("\r\n\r\n");
  for (int i = 0; i < 20'000; ++i) stream.Feed(std::string(1024, 'e'));
  const std::size_t pulled = Settled([&] { return stream.pulled(); });
  EXPECT_LT(pulled, 12u * 1024 * 1024);
  stream.Overflow();
  EXPECT_TRUE(TestFront::Get().AwaitStreams(0));
  EXPECT_FALSE(client.ReadToEnd().ends_with("0\r\n\r\n"));
}

TEST(FrontTest, CertificatesGiveIdentity) {
  TestFront& front = TestFront::Get();
  const std::string request = Get("/echo", "Connection: close\r\n");
  const std::string none = Ask(request);
  EXPECT_TRUE(Has(none, "cn=\n")) << none;
  EXPECT_FALSE(Has(none, "rejected\n")) << none;
  EXPECT_TRUE(Has(none, "address=127.0.0.1:")) << none;

  const std::string jane =
      Ask(request, {.identity = IssueClient(front.authority(), "jane", {"dev", "ops"}).value()});
  EXPECT_TRUE(Has(jane, "cn=jane\no=dev\no=ops\n")) << jane;
  EXPECT_FALSE(Has(jane, "rejected\n")) << jane;
  EXPECT_FALSE(Has(jane, "front-proxy\n")) << jane;
}

TEST(FrontTest, BadCertificatesAreRejectedByFlagNotByHandshake) {
  TestFront& front = TestFront::Get();
  const KeyPair foreign = NewAuthority("mailroom-ca").value();
  const std::string request = Get("/echo", "Connection: close\r\n");
  const struct {
    const char* name;
    KeyPair identity;
  } kCases[] = {
      {"foreign", IssueClient(foreign, "admin", {"system:masters"}).value()},
      {"expired", IssueClient(front.authority(), "admin", {}, std::chrono::seconds(-60)).value()},
      {"server", IssueServing(front.authority(), {"localhost"}).value()},
      {"proxy of another name", IssueClient(front.proxy_authority(), "mallory", {}).value()},
  };
  for (const auto& [name, identity] : kCases) {
    const std::string answer = Ask(request, {.identity = identity});
    EXPECT_TRUE(Has(answer, "rejected\n")) << name << "\n" << answer;
    EXPECT_TRUE(Has(answer, "cn=\n")) << name << "\n" << answer;
    EXPECT_FALSE(Has(answer, "front-proxy\n")) << name << "\n" << answer;
  }
}

TEST(FrontTest, TheFrontProxyIsKnownByItsOwnAuthority) {
  TestFront& front = TestFront::Get();
  const std::string answer =
      Ask(Get("/echo", "Connection: close\r\n"),
          {.identity = IssueClient(front.proxy_authority(), "aggregator", {"x"}).value()});
  EXPECT_TRUE(Has(answer, "front-proxy\n")) << answer;
  EXPECT_TRUE(Has(answer, "cn=\n")) << answer;
  EXPECT_FALSE(Has(answer, "rejected\n")) << answer;
}

TEST(FrontTest, ResumingClientsAreServed) {
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    const std::string first = TestFront::Get().Shell(
        "printf 'GET /echo HTTP/1.1\\r\\nHost: t\\r\\nConnection: close\\r\\n\\r\\n' | openssl "
        "s_client " +
        version +
        " -quiet -no_ign_eof -connect localhost:$PORT -CAfile $CA "
        "-sess_out $DIR/session; sleep 0.3; true");
    const std::string second = TestFront::Get().Shell(
        "test -s $DIR/session && IN=\"-sess_in $DIR/session\"; "
        "(printf 'GET /echo HTTP/1.1\\r\\nHost: t\\r\\nConnection: close\\r\\n\\r\\n'; sleep 1) | "
        "openssl s_client " +
        version + " -quiet -connect localhost:$PORT -CAfile $CA $IN");
    EXPECT_TRUE(Has(second, "200 OK")) << second;
  }
}

TEST(FrontTest, CertificatesReloadAndBadFilesChangeNothing) {
  TestFront& front = TestFront::Get();
  const auto serial = [&] {
    return front.Shell(
        "openssl s_client -connect localhost:$PORT </dev/null 2>/dev/null | "
        "openssl x509 -noout -serial");
  };
  const std::string before = serial();
  ASSERT_TRUE(Has(before, "serial="));
  const FrontOptions& options = front.options();
  const std::string cert = ReadTextFile(options.cert_file).value();
  const std::string key = ReadTextFile(options.key_file).value();

  ASSERT_TRUE(WriteSecret(options.cert_file, "not a certificate").ok());
  EXPECT_FALSE(front.front().ReloadCertificates().ok());
  EXPECT_EQ(serial(), before);

  const KeyPair fresh = IssueServing(front.authority(), {"localhost", "127.0.0.1"}).value();
  ASSERT_TRUE(WriteSecret(options.cert_file, fresh.cert_pem).ok());
  EXPECT_FALSE(front.front().ReloadCertificates().ok());  // the key is still the old one's
  EXPECT_EQ(serial(), before);

  ASSERT_TRUE(WriteSecret(options.key_file, fresh.key_pem).ok());
  EXPECT_TRUE(front.front().ReloadCertificates().ok());
  EXPECT_NE(serial(), before);
}

TEST(FrontTest, ASecondFrontAndATakenPortAreErrors) {
  TestFront& front = TestFront::Get();
  FrontOptions options = front.options();
  EXPECT_FALSE(Front::Start(options, [](Request, auto) {}).ok());
  options.port = front.port();
  const auto taken = Front::Start(options, [](Request, auto) {});
  ASSERT_FALSE(taken.ok());
  EXPECT_TRUE(Has(taken.error().message(), "cannot listen on")) << taken.error().message();
  options.port = 0;
  options.plain_http = true;
  for (const std::string host : {"0.0.0.0", ""}) {
    options.host = host;
    const auto plain = Front::Start(options, [](Request, auto) {});
    ASSERT_FALSE(plain.ok());
    EXPECT_TRUE(Has(plain.error().message(), "plain HTTP is served on loopback addresses only"));
  }
}

}  // namespace
}  // namespace mailroom::apiserver
