// A client for tests that speaks HTTP/2 in hand-made frames, good and bad.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string>

#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {

inline std::string Number(std::uint32_t value, int bytes) {
  std::string out;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out += static_cast<char>((value >> shift) & 0xff);
  }
  return out;
}

inline std::string Frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                  const std::string& payload) {
  return Number(static_cast<std::uint32_t>(payload.size()), 3) + static_cast<char>(type) +
         static_cast<char>(flags) + Number(stream, 4) + payload;
}

// A literal field that is not indexed; lengths below 127.
inline std::string Field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

inline std::string RequestFields(const std::string& method, const std::string& path) {
  return Field(":method", method) + Field(":scheme", "https") + Field(":path", path) +
         Field(":authority", "localhost");
}

inline std::string GetFrame(std::uint32_t stream, const std::string& path) {
  return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS, stream,
               RequestFields("GET", path));
}

// A client that speaks frames.
class FrameClient {
 public:
  struct Received {
    std::uint8_t type = 255;  // 255: the connection has ended
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;
    std::string payload;
  };

  explicit FrameClient(const RawClient::Options& options = {.alpn = "h2"})
      : raw_(TestFront::Get().port(), options) {
    EXPECT_EQ(raw_.protocol(), "h2");
    raw_.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(NGHTTP2_SETTINGS, 0, 0, ""));
  }

  void Send(const std::string& frames) { raw_.Send(frames); }

  Received Read() {
    const std::string head = raw_.ReadExactly(9);
    if (head.size() < 9) return {};
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(head[i]); };
    Received out;
    out.type = byte(3);
    out.flags = byte(4);
    out.stream = static_cast<std::uint32_t>(byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8));
    out.payload =
        raw_.ReadExactly(static_cast<std::size_t>(byte(0) << 16 | byte(1) << 8 | byte(2)));
    return out;
  }
  // The next frame of that type; the end of the connection if there is none.
  Received Await(std::uint8_t type) {
    while (true) {
      Received frame = Read();
      if (frame.type == type || frame.type == 255) return frame;
    }
  }
  // The bytes of the stream's DATA frames until END_STREAM, a reset, or the end.
  std::string Body(std::uint32_t stream) {
    std::string body;
    while (true) {
      const Received frame = Read();
      if (frame.type == 255 || (frame.type == NGHTTP2_RST_STREAM && frame.stream == stream)) break;
      if (frame.type != NGHTTP2_DATA || frame.stream != stream) continue;
      body += frame.payload;
      if ((frame.flags & NGHTTP2_FLAG_END_STREAM) != 0) break;
    }
    return body;
  }
  static std::uint32_t ErrorOf(const Received& frame) {
    const std::size_t at = frame.type == NGHTTP2_GOAWAY ? 4 : 0;
    std::uint32_t code = 0;
    for (std::size_t i = at; i < at + 4 && i < frame.payload.size(); ++i) {
      code = code << 8 | static_cast<std::uint8_t>(frame.payload[i]);
    }
    return code;
  }
  RawClient& raw() { return raw_; }

 private:
  RawClient raw_;
};

}  // namespace mailroom::apiserver
