// Bytes after the preface of an HTTP/2 connection of a real front, which must survive them and
// serve the next connection.
#include "test/fuzz/front_peer.h"
#include "test/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static mailroom::FrontPeer peer({.http2 = true});
  peer.Talk("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(FuzzText(data, size)));
  peer.CheckAlive();
  return 0;
}

namespace {

std::string Frame(char type, char flags, char stream, const std::string& payload) {
  return std::string{'\0', static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size()),
                     type, flags, '\0', '\0', '\0', stream} +
         payload;
}

std::string Field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

std::string Head(const std::string& method, const std::string& path) {
  return Field(":method", method) + Field(":scheme", "https") + Field(":path", path) +
         Field(":authority", "t");
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  const std::string settings = Frame(4, 0, 0, "");
  const std::string window = Frame(8, 0, 0, std::string("\0\1\0\0", 4));
  return {settings + Frame(1, 5, 1, Head("GET", "/echo")),
          settings + Frame(1, 4, 1, Head("POST", "/echo")) + Frame(0, 1, 1, "hello"),
          settings + window + Frame(1, 5, 1, Head("GET", "/big")) + Frame(8, 0, 1, std::string("\0\1\0\0", 4)),
          settings + Frame(1, 5, 1, Head("GET", "/watch")) + Frame(3, 0, 1, std::string("\0\0\0\10", 4)),
          settings + Frame(1, 1, 1, Head("GET", "/echo")) + Frame(9, 4, 1, Field("a", "b")),
          settings + Frame(6, 0, 0, "12345678") + Frame(4, 1, 0, "") +
              Frame(7, 0, 0, std::string(8, '\0')),
          settings + Frame(1, 4, 1, Head("POST", "/echo")) + Frame(0, 0, 1, "abc") +
              Frame(1, 5, 1, Field("x-trailer", "t"))};
}
