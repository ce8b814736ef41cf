#include "apiserver/http/h2_stream.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "apiserver/http/exchange.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kFieldOverhead = 32;  // by RFC 9113, 10.5.1

constexpr std::array<std::string_view, 7> kConnectionFields = {
    "connection", "content-length",    "date",   "keep-alive",
    "upgrade",    "transfer-encoding", "trailer"};

}  // namespace

bool H2Stream::AddHeader(std::string_view name, std::string_view value) {
  header_bytes += name.size() + value.size() + kFieldOverhead;
  if (header_bytes > limits::kHttp2HeaderBytes) return false;
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    const std::size_t mark = value.find('?');
    request.path = value.substr(0, mark);
    if (mark != std::string_view::npos) request.query = value.substr(mark + 1);
  } else if (name == ":authority") {
    request.headers.Set("host", std::string(value));
  } else if (!name.starts_with(':')) {
    request.headers.Add(std::string(name), std::string(value));
  }
  return true;
}

H2Head::H2Head(const Response& response) {
  text_.reserve(response.headers.fields().size() + 3);
  Add(":status", std::to_string(response.code));
  for (const auto& [name, value] : response.headers.fields()) {
    if (std::find(kConnectionFields.begin(), kConnectionFields.end(), name) ==
        kConnectionFields.end()) {
      Add(name, HeaderValue(value));
    }
  }
  Add("date", drogon::utils::getHttpFullDateStr(trantor::Date::now()));
  if (!response.stream && response.code != 204 && response.code != 304) {
    Add("content-length", std::to_string(response.BodySize()));
  }
  for (auto& [name, value] : text_) {
    fields_.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                       reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                       NGHTTP2_NV_FLAG_NONE});
  }
}

// A capital letter in a name would make the peer refuse the whole answer.
void H2Head::Add(std::string_view name, std::string value) {
  std::string& lower = text_.emplace_back(name, std::move(value)).first;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace mailroom::apiserver
