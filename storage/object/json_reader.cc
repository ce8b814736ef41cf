#include "storage/object/json_reader.h"

#include <charconv>

#include "storage/object/json_text.h"
#include "storage/object/limits.h"

namespace mailroom {
namespace {

// Each function returns false when the text is not plain from there on.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : text_(text) {}

  bool Document(Json& out) {
    SkipBlanks();
    if (!Value(out, 0)) return false;
    SkipBlanks();
    return at_ == text_.size();
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }
  bool Take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
      ++at_;
    }
  }

  bool Value(Json& out, std::size_t depth) {
    switch (Peek()) {
      case '{':
        return Object(out, depth);
      case '[':
        return Array(out, depth);
      case '"':
        out = Json::value_t::string;
        return String(out.get_ref<std::string&>());
      case 't':
        out = true;
        return Take("true");
      case 'f':
        out = false;
        return Take("false");
      case 'n':
        out = nullptr;
        return Take("null");
      default:
        return Number(out);
    }
  }

  bool Object(Json& out, std::size_t depth) {
    if (depth >= limits::kJsonDepth) return false;
    ++at_;
    out = Json::value_t::object;
    auto& members = out.get_ref<Json::object_t&>();
    SkipBlanks();
    if (Take('}')) return true;
    std::string name;
    do {
      SkipBlanks();
      name.clear();
      if (!String(name)) return false;
      SkipBlanks();
      if (!Take(':')) return false;
      SkipBlanks();
      // Mostly keys come in order, so the last place is a good guess.
      const std::size_t before = members.size();
      const auto member = members.emplace_hint(members.end(), std::move(name), nullptr);
      if (members.size() == before || !Value(member->second, depth + 1)) return false;
      SkipBlanks();
    } while (Take(','));
    return Take('}');
  }

  bool Array(Json& out, std::size_t depth) {
    if (depth >= limits::kJsonDepth) return false;
    ++at_;
    out = Json::value_t::array;
    auto& elements = out.get_ref<Json::array_t&>();
    SkipBlanks();
    if (Take(']')) return true;
    do {
      SkipBlanks();
      if (!Value(elements.emplace_back(), depth + 1)) return false;
      SkipBlanks();
    } while (Take(','));
    return Take(']');
  }

  bool String(std::string& out) {
    if (!Take('"')) return false;
    while (true) {
      const std::size_t end = EndOfPlain(text_, at_);
      out.append(text_, at_, end - at_);
      at_ = end;
      const char c = Peek();
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!Escape(out)) return false;
        continue;
      }
      const std::size_t length = Utf8Length(text_.substr(at_));
      if (length == 0) return false;
      out.append(text_, at_, length);
      at_ += length;
    }
  }

  bool Escape(std::string& out) {
    ++at_;
    const char c = Peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return true;
      case 'b':
        out += '\b';
        return true;
      case 'f':
        out += '\f';
        return true;
      case 'n':
        out += '\n';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'u':
        return Codepoint(out);
      default:
        return false;
    }
  }

  bool Codepoint(std::string& out) {
    unsigned code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, code, 16);
    if (digits.size() != 4 || parsed.ec != std::errc() || parsed.ptr != end) return false;
    if (code >= 0xd800 && code < 0xe000) return false;  // half of a pair
    at_ += 4;
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      out += static_cast<char>(0xe0 | (code >> 12));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
    }
    return true;
  }

  bool Digits() {
    const std::size_t start = at_;
    while (Peek() >= '0' && Peek() <= '9') ++at_;
    return at_ > start;
  }

  bool Number(Json& out) {
    constexpr std::size_t kSureDigits = 18;
    const std::size_t start = at_;
    const bool negative = Take('-');
    const std::size_t digits = at_;
    if (!Digits() || (text_[digits] == '0' && at_ > digits + 1)) return false;
    const char* first = text_.data() + start;
    if (Peek() != '.' && Peek() != 'e' && Peek() != 'E') {
      if (at_ - digits > kSureDigits) return false;
      std::int64_t value = 0;
      std::from_chars(first, text_.data() + at_, value);
      // As the library's parser has it: only what has a sign is signed.
      if (negative) {
        out = value;
      } else {
        out = static_cast<std::uint64_t>(value);
      }
      return true;
    }
    if (Take('.') && !Digits()) return false;
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!Digits()) return false;
    }
    double value = 0;
    if (std::from_chars(first, text_.data() + at_, value).ec != std::errc()) return false;
    out = value;
    return true;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Json> ReadPlainJson(std::string_view text) {
  std::optional<Json> tree(std::in_place);
  if (!PlainReader(text).Document(*tree)) tree.reset();
  return tree;
}

}  // namespace mailroom
