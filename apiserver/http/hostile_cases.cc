#include "apiserver/http/hostile_cases.h"

namespace mailroom::apiserver {
namespace {

const std::string kChunked = "Transfer-Encoding: chunked\r\n";

HostileCase Fields(const char* name, const std::string& fields, const std::string& body = "",
                   int code = 400) {
  return {name, kHostileHead + fields + "\r\n" + body, code};
}

}  // namespace

const std::vector<HostileCase>& HostileCases() {
  static const std::vector<HostileCase> cases = {
      Fields("NegativeChunk", kChunked, "-5\r\nhello\r\n0\r\n\r\n"),
      Fields("NegativeChunkAfterAGoodOne", kChunked, "2\r\nab\r\n-2\r\nab\r\n0\r\n\r\n"),
      Fields("OverlongChunkSize", kChunked, "fffffffffffffffff\r\n"),
      Fields("ChunkSizeOfAllBits", kChunked, "ffffffffffffffff\r\n"),
      Fields("HugeChunk", kChunked, "7ffffff\r\n", 413),
      Fields("ChunkWithSign", kChunked, "+5\r\nhello\r\n0\r\n\r\n"),
      Fields("ChunkWithPrefix", kChunked, "0x5\r\nhello\r\n0\r\n\r\n"),
      Fields("ChunkOfNothing", kChunked, "\r\nhello\r\n0\r\n\r\n"),
      Fields("ChunkThatRunsOn", kChunked, "2\r\nabc\r\n0\r\n\r\n"),
      Fields("ChunkSizeEndedByLineFeed", kChunked, "5\nhello\r\n0\r\n\r\n"),
      Fields("BlankInAChunkSize", kChunked, "1 0\r\nhello\r\n0\r\n\r\n"),
      Fields("BlankInALength", "Content-Length: 5 5\r\n", "hello"),
      Fields("EncodingBehindAControl", "Transfer-Encoding: \x0b" "chunked\r\n", "0\r\n\r\n"),
      Fields("EndlessChunkExtension", kChunked, "2;" + std::string(2000, 'x') + "\r\nab\r\n"),
      Fields("LineFeedInAChunkExtension", kChunked, "2;a\nb\r\nab\r\n0\r\n\r\n"),
      Fields("LineFeedInATrailer", kChunked, "0\r\nX-A: b\nX-C: d\r\n\r\n"),
      Fields("TrailerWithoutColon", kChunked, "0\r\nbad\r\n\r\n"),
      Fields("LengthAndEncoding", "Content-Length: 5\r\n" + kChunked, "0\r\n\r\n"),
      Fields("EncodingAndLength", kChunked + "Content-Length: 5\r\n", "0\r\n\r\n"),
      Fields("TwoLengths", "Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"),
      Fields("LengthList", "Content-Length: 5, 5\r\n", "hello"),
      Fields("LengthWithTail", "Content-Length: 5abc\r\n", "hello"),
      Fields("LengthWithPlus", "Content-Length: +5\r\n", "hello"),
      Fields("LengthWithMinus", "Content-Length: -5\r\n", "hello"),
      Fields("LengthInHex", "Content-Length: 0x5\r\n", "hello"),
      Fields("LengthOfNothing", "Content-Length:\r\n"),
      Fields("LengthPastAllBits", "Content-Length: 99999999999999999999999\r\n"),
      Fields("LengthPastTheLimit", "Content-Length: 99999999999\r\n", "", 413),
      Fields("BlankBeforeColon", "Content-Length : 5\r\n", "hello"),
      Fields("BlankBeforeColonOfEncoding", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
      Fields("UnknownEncoding", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n", 501),
      Fields("EncodingTwice", kChunked + kChunked, "0\r\n\r\n", 501),
      Fields("EncodingThenIdentity", "Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n", 501),
      Fields("EncodingOfNothing", "Transfer-Encoding:\r\n", "0\r\n\r\n", 501),
      Fields("NoColon", "no colon here\r\n"), Fields("NoName", ": value\r\n"),
      Fields("FoldedLine", "X-A: b\r\n c: d\r\n"), Fields("BareLineFeed", "X-A: b\nX-C: d\r\n"),
      Fields("BareReturn", "X-A: b\rX-C: d\r\n"),
      Fields("Nul", std::string("X-A: b\0c\r\n", 10)), Fields("Bell", "X-A: b\ac\r\n"),
      Fields("UnknownExpectation", "Expect: miracles\r\n", "", 417),
      HostileCase{"EncodingOfHttp10", "POST /echo HTTP/1.0\r\n" + kChunked + "\r\n0\r\n\r\n", 400},
      HostileCase{"NoHost", "GET /echo HTTP/1.1\r\n\r\n", 400},
      HostileCase{"TwoHosts", "GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      HostileCase{"UnknownMethod", "BREW /echo HTTP/1.1\r\nHost: t\r\n\r\n", 405},
      HostileCase{"Http2OnHttp1", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 405},
      HostileCase{"VersionTwo", "GET /echo HTTP/2.0\r\nHost: t\r\n\r\n", 400},
      HostileCase{"BlankInTheTarget", "GET /a b HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      HostileCase{"TabInTheTarget", "GET /a\tb HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", 400},
      HostileCase{"PathOf64K", "GET /" + std::string(80'000, 'p') + " HTTP/1.1\r\nHost: t\r\n\r\n", 414},
      HostileCase{"HeaderLineOf64K",
           "GET / HTTP/1.1\r\nHost: t\r\nX-A: " + std::string(140'000, 'h') + "\r\n\r\n", 400}};
  return cases;
}

}  // namespace mailroom::apiserver
