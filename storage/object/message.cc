#include "storage/object/message.h"

#include <algorithm>

namespace mailroom {
namespace {

constexpr std::size_t kGatherBytes = 1024 * 1024;
constexpr std::size_t kUsualFields = 4;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class DocumentStream final : public Stream {
 public:
  using Next = std::function<bool(std::vector<SharedBytes>&, std::size_t)>;
  explicit DocumentStream(Next next) : next_(std::move(next)) {}

  void OnReady(std::function<void()>) override {}
  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    if (next_ && next_(out, max_bytes)) return State::kMore;
    next_ = nullptr;
    return State::kEnd;
  }
  void Cancel() override { next_ = nullptr; }
  bool finite() const override { return true; }

 private:
  Next next_;
};

}  // namespace

std::unique_ptr<Stream> StreamDocument(DocumentStream::Next next) {
  return std::make_unique<DocumentStream>(std::move(next));
}

void Headers::Add(std::string name, std::string value) {
  if (fields_.empty()) fields_.reserve(kUsualFields);
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::Set(std::string name, std::string value) {
  Remove(name);
  Add(std::move(name), std::move(value));
}

std::string_view Headers::Get(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string_view> Headers::All(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : fields_) {
    if (key == name) out.push_back(value);
  }
  return out;
}

void Headers::Remove(std::string_view name) {
  std::erase_if(fields_, [&](const auto& field) { return field.first == name; });
}

void Response::Append(std::string piece) {
  body.push_back(std::make_shared<const std::string>(std::move(piece)));
}

std::size_t Response::BodySize() const {
  std::size_t size = 0;
  for (const SharedBytes& piece : body) size += piece->size();
  return size;
}

void Response::Gather() {
  if (!stream || !stream->finite()) return;
  while (stream->Pull(body, kGatherBytes) == Stream::State::kMore) {
  }
  stream.reset();
}

std::string Response::BodyText() const {
  std::string text;
  text.reserve(BodySize());
  for (const SharedBytes& piece : body) text += *piece;
  return text;
}

std::string HostOf(std::string_view address) {
  if (address.starts_with('[')) return std::string(address.substr(1, address.find(']') - 1));
  const std::size_t colon = address.find(':');
  const bool one = colon != std::string_view::npos && colon == address.rfind(':');
  return std::string(one ? address.substr(0, colon) : address);
}

bool PercentDecode(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = HexValue(text[i + 1]);
    const int low = HexValue(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
        c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    std::string pair(query.substr(0, end));
    std::replace(pair.begin(), pair.end(), '+', ' ');
    const std::size_t equals = pair.find('=');
    std::string key, value;
    if (PercentDecode(std::string_view(pair).substr(0, equals), key) && !key.empty() &&
        (equals == std::string::npos ||
         PercentDecode(std::string_view(pair).substr(equals + 1), value))) {
      out.emplace_back(std::move(key), std::move(value));
    }
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace mailroom
