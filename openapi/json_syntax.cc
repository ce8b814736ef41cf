#include "openapi/json_syntax.h"

#include <cctype>

#include "storage/object/json.h"
#include "storage/object/limits.h"
#include "storage/object/status.h"

namespace mailroom::openapi {
namespace {

// Reads one JSON text, remembering the first complaint.
class SyntaxReader {
 public:
  explicit SyntaxReader(std::string_view text) : text_(text) {}

  std::string Problem() {
    SkipBlanks();
    if (Value(0)) {
      SkipBlanks();
      if (at_ < text_.size()) Complain("after top-level value");
    }
    return problem_;
  }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  bool AtEnd() const { return at_ >= text_.size(); }
  void SkipBlanks() {
    while (!AtEnd() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' ||
                        text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool Complain(std::string_view where) {
    if (AtEnd()) {
      problem_ = "unexpected end of JSON input";
      return false;
    }
    const auto c = static_cast<unsigned char>(text_[at_]);
    std::string shown;
    if (c == '\'') {
      shown = "\\'";
    } else if (c == '"') {
      shown = "\"";
    } else if (c < 0x80) {
      shown = Quoted(std::string(1, static_cast<char>(c)));
      shown = shown.substr(1, shown.size() - 2);
    } else if (c < 0xa0 || c == 0xad) {
      static constexpr char kHex[] = "0123456789abcdef";
      shown = std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
    } else {
      shown = {static_cast<char>(0xc0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3f))};
    }
    problem_ = "invalid character '" + shown + "' " + std::string(where);
    return false;
  }

  bool Literal(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i, ++at_) {
      if (AtEnd() || text_[at_] != word[i]) {
        return Complain("in literal " + std::string(word) + " (expecting '" + word[i] + "')");
      }
    }
    return true;
  }

  bool String() {
    ++at_;
    while (!AtEnd() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return Complain("in string literal");
      if (text_[at_++] != '\\') continue;
      if (AtEnd()) return Complain("");
      if (text_[at_] == 'u') {
        ++at_;
        for (int i = 0; i < 4; ++i, ++at_) {
          if (AtEnd() || std::isxdigit(static_cast<unsigned char>(text_[at_])) == 0) {
            return Complain("in \\u hexadecimal character escape");
          }
        }
      } else if (std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
        return Complain("in string escape code");
      } else {
        ++at_;
      }
    }
    if (AtEnd()) return Complain("");
    ++at_;
    return true;
  }

  bool Digits(std::string_view where) {
    if (AtEnd() || !IsDigit(text_[at_])) return Complain(where);
    while (!AtEnd() && IsDigit(text_[at_])) ++at_;
    return true;
  }

  bool Number() {
    if (text_[at_] == '-') ++at_;
    if (!AtEnd() && text_[at_] == '0') {
      ++at_;
    } else if (!Digits("in numeric literal")) {
      return false;
    }
    if (!AtEnd() && text_[at_] == '.') {
      ++at_;
      if (!Digits("after decimal point in numeric literal")) return false;
    }
    if (!AtEnd() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (!AtEnd() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      return Digits("in exponent of numeric literal");
    }
    return true;
  }

  bool Members(int depth) {
    ++at_;
    SkipBlanks();
    if (!AtEnd() && text_[at_] == '}') return ++at_, true;
    while (true) {
      if (AtEnd() || text_[at_] != '"') return Complain("looking for beginning of object key string");
      if (!String()) return false;
      SkipBlanks();
      if (AtEnd() || text_[at_] != ':') return Complain("after object key");
      ++at_;
      SkipBlanks();
      if (!Value(depth)) return false;
      SkipBlanks();
      if (!AtEnd() && text_[at_] == '}') return ++at_, true;
      if (AtEnd() || text_[at_] != ',') return Complain("after object key:value pair");
      ++at_;
      SkipBlanks();
    }
  }

  bool Elements(int depth) {
    ++at_;
    SkipBlanks();
    if (!AtEnd() && text_[at_] == ']') return ++at_, true;
    while (true) {
      if (!Value(depth)) return false;
      SkipBlanks();
      if (!AtEnd() && text_[at_] == ']') return ++at_, true;
      if (AtEnd() || text_[at_] != ',') return Complain("after array element");
      ++at_;
      SkipBlanks();
    }
  }

  bool Value(int depth) {
    if (depth > static_cast<int>(limits::kJsonDepth)) {
      problem_ = "exceeded max depth";
      return false;
    }
    if (AtEnd()) return Complain("");
    switch (text_[at_]) {
      case '{': return Members(depth + 1);
      case '[': return Elements(depth + 1);
      case '"': return String();
      case 't': return Literal("true");
      case 'f': return Literal("false");
      case 'n': return Literal("null");
      default:
        if (text_[at_] == '-' || IsDigit(text_[at_])) return Number();
        return Complain("looking for beginning of value");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace

std::string JsonSyntaxProblem(std::string_view text) { return SyntaxReader(text).Problem(); }

std::string JsonObjectProblem(std::string_view text) {
  std::string problem = JsonSyntaxProblem(text);
  if (!problem.empty()) return problem;
  const auto parsed = ParseJson(std::string(text));
  if (!parsed.ok() || parsed->is_object() || parsed->is_null()) return "";
  const std::string kind = parsed->is_array()     ? "array"
                           : parsed->is_string()  ? "string"
                           : parsed->is_boolean() ? "bool"
                                                  : "number";
  return "json: cannot unmarshal " + kind + " into Go value of type map[string]interface {}";
}

}  // namespace mailroom::openapi
