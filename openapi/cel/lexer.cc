#include "openapi/cel/lexer.h"

#include <array>

namespace mailroom::cel {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void AppendRune(std::string& out, std::uint32_t rune) {
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xc0 | (rune >> 6));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xe0 | (rune >> 12));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (rune >> 18));
    out += static_cast<char>(0x80 | ((rune >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  }
}

class Lexer {
 public:
  Lexer(std::string_view text, std::vector<Issue>& issues) : text_(text), issues_(issues) {}

  std::vector<Lexeme> Run() {
    while (SkipBlank(), at_ < text_.size()) {
      const std::size_t start = at_;
      const std::uint32_t position = position_;
      Lexeme lexeme;
      lexeme.position = position;
      if (!One(lexeme)) {
        std::size_t length = at_ > start ? at_ - start : RuneBytes(start);
        if (at_ == start) Advance(length);
        issues_.push_back({position, "Syntax error: token recognition error at: '" +
                                         std::string(text_.substr(start, length)) + "'"});
        continue;
      }
      lexeme.text = text_.substr(start, at_ - start);
      out_.push_back(std::move(lexeme));
    }
    Lexeme end;
    end.position = position_;
    end.text = "<EOF>";
    out_.push_back(std::move(end));
    return std::move(out_);
  }

 private:
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::size_t RuneBytes(std::size_t at) const {
    std::size_t end = at + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    return end - at;
  }
  void Advance(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      if ((static_cast<unsigned char>(text_[at_ + i]) & 0xc0) != 0x80) ++position_;
    }
    at_ += bytes;
  }

  void SkipBlank() {
    for (;;) {
      const char c = Peek();
      if (at_ >= text_.size()) return;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
        Advance(1);
      } else if (c == '/' && Peek(1) == '/') {
        while (at_ < text_.size() && Peek() != '\n') Advance(1);
      } else {
        return;
      }
    }
  }

  bool One(Lexeme& out) {
    const char c = Peek();
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number(out);
    if (c == '"' || c == '\'') return Text(out, false, false);
    if (IsLetter(c)) return Prefixed(out) || Identifier(out);
    if (c == '`') return Quoted(out);
    return Sign(out);
  }

  bool Identifier(Lexeme& out) {
    const std::size_t start = at_;
    while (IsLetter(Peek()) || IsDigit(Peek())) Advance(1);
    const std::string_view word = text_.substr(start, at_ - start);
    const bool sign = word == "in" || word == "true" || word == "false" || word == "null";
    out.token = sign ? Token::kSign : Token::kIdent;
    return true;
  }

  bool Quoted(Lexeme& out) {
    std::size_t length = 1;
    auto allowed = [](char c) {
      return IsLetter(c) || IsDigit(c) || c == '.' || c == '-' || c == '/' || c == ' ';
    };
    while (allowed(Peek(length))) ++length;
    if (length == 1 || Peek(length) != '`') return false;
    out.token = Token::kQuotedIdent;
    out.value = text_.substr(at_ + 1, length - 1);
    Advance(length + 1);
    return true;
  }

  // r'', b'', rb'', br'' in any case.
  bool Prefixed(Lexeme& out) {
    bool raw = false, bytes = false;
    std::size_t length = 0;
    for (; length < 2; ++length) {
      const char c = Peek(length);
      if ((c == 'r' || c == 'R') && !raw) raw = true;
      else if ((c == 'b' || c == 'B') && !bytes && length == 0) bytes = true;
      else break;
    }
    if (length == 0 || (Peek(length) != '"' && Peek(length) != '\'')) return false;
    Advance(length);
    return Text(out, raw, bytes);
  }

  bool Text(Lexeme& out, bool raw, bool bytes) {
    const char quote = Peek();
    const bool triple = Peek(1) == quote && Peek(2) == quote;
    Advance(triple ? 3 : 1);
    while (at_ < text_.size()) {
      const char c = Peek();
      if (c == quote && (!triple || (Peek(1) == quote && Peek(2) == quote))) {
        Advance(triple ? 3 : 1);
        out.token = bytes ? Token::kBytes : Token::kString;
        return true;
      }
      if (!triple && (c == '\n' || c == '\r')) return false;
      if (c == '\\' && !raw) {
        if (!EscapeSequence(out.value, bytes)) return false;
        continue;
      }
      out.value += c;
      Advance(1);
    }
    return false;
  }

  bool EscapeSequence(std::string& out, bool bytes) {
    static constexpr std::array<std::pair<char, char>, 11> kSimple = {{{'a', '\a'},
        {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'v', '\v'},
        {'"', '"'}, {'\'', '\''}, {'\\', '\\'}, {'?', '?'}}};
    const char c = Peek(1);
    if (c == '`') {
      out += '`';
      Advance(2);
      return true;
    }
    for (const auto& [letter, value] : kSimple) {
      if (letter != c) continue;
      out += value;
      Advance(2);
      return true;
    }
    std::size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    std::uint32_t rune = 0;
    if (digits > 0) {
      for (std::size_t i = 0; i < digits; ++i) {
        const char d = Peek(2 + i);
        if (!IsHex(d)) return false;
        rune = rune * 16 + static_cast<std::uint32_t>(IsDigit(d) ? d - '0' : (d | 32) - 'a' + 10);
      }
      digits += 2;
    } else if (c >= '0' && c <= '3') {
      for (std::size_t i = 1; i <= 3; ++i) {
        const char d = Peek(i);
        if (d < '0' || d > '7') return false;
        rune = rune * 8 + static_cast<std::uint32_t>(d - '0');
      }
      digits = 4;
    } else {
      return false;
    }
    const bool unicode = c == 'u' || c == 'U';
    if (bytes && unicode) return false;
    if (unicode && (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000))) return false;
    if (bytes) out += static_cast<char>(rune);
    else AppendRune(out, rune);
    Advance(digits);
    return true;
  }

  bool Number(Lexeme& out) {
    out.token = Token::kInt;
    if (Peek() == '0' && Peek(1) == 'x' && IsHex(Peek(2))) {
      Advance(2);
      while (IsHex(Peek())) Advance(1);
    } else {
      while (IsDigit(Peek())) Advance(1);
      if (Peek() == '.' && IsDigit(Peek(1))) {
        out.token = Token::kDouble;
        Advance(1);
        while (IsDigit(Peek())) Advance(1);
      }
      const std::size_t signs = Peek(1) == '+' || Peek(1) == '-' ? 2 : 1;
      if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(signs))) {
        out.token = Token::kDouble;
        Advance(signs);
        while (IsDigit(Peek())) Advance(1);
      }
    }
    if (out.token == Token::kInt && (Peek() == 'u' || Peek() == 'U')) {
      out.token = Token::kUint;
      Advance(1);
    }
    return true;
  }

  bool Sign(Lexeme& out) {
    out.token = Token::kSign;
    static constexpr std::array<std::string_view, 6> kDouble = {"==", "!=", "<=",
                                                                ">=", "&&", "||"};
    for (std::string_view sign : kDouble) {
      if (text_.substr(at_).starts_with(sign)) {
        Advance(2);
        return true;
      }
    }
    static constexpr std::string_view kSingle = "<>[]{}().,-!?:+*/%";
    if (kSingle.find(Peek()) == std::string_view::npos) return false;
    Advance(1);
    return true;
  }

  std::string_view text_;
  std::vector<Issue>& issues_;
  std::size_t at_ = 0;
  std::uint32_t position_ = 0;
  std::vector<Lexeme> out_;
};

}  // namespace

std::vector<Lexeme> Lex(std::string_view text, std::vector<Issue>& issues) {
  return Lexer(text, issues).Run();
}

}  // namespace mailroom::cel
