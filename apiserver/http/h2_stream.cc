#include "apiserver/http/h2_stream.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "apiserver/http/exchange.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kFieldOverhead = 32;  // by RFC 9113, 10.5.1

constexpr std::array<std::string_view, 7> kConnectionFields = {
    "connection", "content-length",    "date",   "keep-alive",
    "upgrade",    "transfer-encoding", "trailer"};

}  // namespace

bool H2Stream::AddHeader(std::string_view name, std::string_view value, std::size_t room) {
  const std::size_t bytes = name.size() + value.size() + kFieldOverhead;
  if (bytes > room || header_bytes + bytes > limits::kHttp2HeaderBytes) return false;
  header_bytes += bytes;
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    const std::size_t mark = value.find('?');
    request.path = value.substr(0, mark);
    if (mark != std::string_view::npos) request.query = value.substr(mark + 1);
  } else if (name == ":authority") {
    request.headers.Add("host", std::string(value));
  } else if (!name.starts_with(':')) {
    request.headers.Add(std::string(name), std::string(value));
  }
  return true;
}

namespace {

std::vector<nghttp2_nv>& EmptyFields() {
  static thread_local std::vector<nghttp2_nv> fields;
  fields.clear();
  return fields;
}

}  // namespace

H2Head::H2Head(const Response& response) : fields_(EmptyFields()) {
  const auto digits = [](std::array<char, 24>& to, std::size_t number) {
    const char* end = std::to_chars(to.data(), to.data() + to.size(), number).ptr;
    return std::string_view(to.data(), static_cast<std::size_t>(end - to.data()));
  };
  constexpr std::uint8_t kLiteral = NGHTTP2_NV_FLAG_NO_COPY_NAME;
  Add(":status", digits(status_, static_cast<std::size_t>(response.code)), kLiteral);
  for (const auto& [name, value] : response.headers.fields()) {
    if (std::find(kConnectionFields.begin(), kConnectionFields.end(), name) ==
        kConnectionFields.end()) {
      Add(name, CleanValue(value) ? value : mended_.emplace_front(HeaderValue(value)),
          NGHTTP2_NV_FLAG_NONE);
    }
  }
  Add("date", drogon::utils::getHttpFullDateStr(trantor::Date::now()), kLiteral);
  if (!response.stream && response.code != 204 && response.code != 304) {
    Add("content-length", digits(length_, response.BodySize()), kLiteral);
  }
}

// nghttp2 copies the fields it is given, names in lower case; only literals may stay in place.
void H2Head::Add(std::string_view name, std::string_view value, std::uint8_t flags) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  fields_.push_back({bytes(name), bytes(value), name.size(), value.size(), flags});
}

}  // namespace mailroom::apiserver
