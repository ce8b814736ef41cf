// Bytes on an HTTP/1.1 connection of a real front. Whatever they are, each answer begins as one,
// and the front serves the next connection.
#include "test/fuzz/front_peer.h"
#include "test/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static mailroom::FrontPeer peer({.http2 = false});
  const std::string answer = peer.Talk(FuzzText(data, size));
  FUZZ_CHECK(answer.empty() || answer.starts_with("HTTP/1."));
  peer.CheckAlive();
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  const std::string post = "POST /echo HTTP/1.1\r\nHost: t\r\n";
  return {"GET /echo?a=b HTTP/1.1\r\nHost: t\r\nX-A: b\r\n\r\n",
          "GET /watch HTTP/1.1\r\nHost: t\r\n\r\nGET /echo HTTP/1.0\r\n\r\n",
          post + "Content-Length: 5\r\n\r\nhello" + post + "Content-Length: 0\r\n\r\n",
          post + "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
          post + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
          "HEAD /big HTTP/1.1\r\nHost: t\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n",
          "GET /big HTTP/1.1\r\nHost: t\r\nAccept-Encoding: gzip\r\n\r\n"
          "OPTIONS http://t/echo HTTP/1.1\r\nHost: t\r\n\r\n"};
}
