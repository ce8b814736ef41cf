#include "openapi/cel/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "openapi/cel/lexer.h"
#include "storage/object/limits.h"

namespace mailroom::cel {
namespace {

constexpr std::string_view kPrimaries =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}";

constexpr std::array<std::string_view, 17> kReserved = {
    "as",     "break", "const", "continue",  "else",   "for", "function", "if",   "import",
    "let",    "loop",  "package", "namespace", "return", "var", "void",     "while"};

class Parser {
 public:
  Parser(std::vector<Lexeme> tokens, Ast& ast, std::vector<Issue>& issues)
      : tokens_(std::move(tokens)), ast_(ast), issues_(issues) {}

  void Run() {
    ast_.root = Ternary();
    if (failed_ || Now().token == Token::kEnd) return;
    const bool single = tokens_[at_ + 1].token == Token::kEnd;
    Syntax(std::string(single ? "extraneous" : "mismatched") + " input '" +
           std::string(Now().text) + "' expecting <EOF>");
  }

 private:
  // Counts nesting for as long as it lives.
  struct Depth {
    explicit Depth(Parser& parser) : owner(parser) {
      if (++owner.depth_ > limits::kCelDepth && !owner.failed_) {
        owner.Fail(0, "expression recursion limit exceeded: " + std::to_string(limits::kCelDepth));
      }
    }
    ~Depth() { --owner.depth_; }
    Parser& owner;
  };

  const Lexeme& Now() const { return tokens_[at_]; }
  bool Is(std::string_view sign) const {
    return Now().token == Token::kSign && Now().text == sign;
  }
  bool Take(std::string_view sign) {
    if (failed_ || !Is(sign)) return false;
    ++at_;
    return true;
  }
  // Only the first fault is told: what follows it is guesswork.
  Expr* Fail(std::uint32_t position, std::string message) {
    if (!failed_) issues_.push_back({position, std::move(message)});
    failed_ = true;
    return ast_.New(Shape::kConstant, position);
  }
  Expr* Syntax(const std::string& message) {
    return Fail(Now().position, "Syntax error: " + message);
  }
  void Expect(std::string_view sign) {
    if (failed_ || Take(sign)) return;
    Syntax("mismatched input '" + std::string(Now().text) + "' expecting '" + std::string(sign) +
           "'");
  }

  Expr* Call(std::uint32_t position, std::string name, std::vector<Expr*> args) {
    Expr* node = ast_.New(Shape::kCall, position);
    node->name = std::move(name);
    node->args = std::move(args);
    return node;
  }

  Expr* Ternary() {
    Depth depth(*this);
    if (failed_) return Fail(0, "");
    Expr* condition = Logic("||", "_||_");
    if (!Is("?") || failed_) return condition;
    const std::uint32_t position = Now().position;
    ++at_;
    Expr* truthy = Logic("||", "_||_");
    Expect(":");
    Expr* falsy = Ternary();
    return Call(position, "_?_:_", {condition, truthy, falsy});
  }

  // Chains of && and || become balanced trees, so that long ones are not deep.
  Expr* Logic(std::string_view sign, const char* function) {
    auto next = [&] { return sign == "||" ? Logic("&&", "_&&_") : Relation(); };
    std::vector<Expr*> terms = {next()};
    std::vector<std::uint32_t> positions;
    while (Is(sign) && !failed_) {
      positions.push_back(Now().position);
      ++at_;
      terms.push_back(next());
    }
    return Balance(function, terms, positions, 0, positions.size());
  }

  // Operators [low, high) join the terms [low, high].
  Expr* Balance(const char* function, const std::vector<Expr*>& terms,
                const std::vector<std::uint32_t>& positions, std::size_t low, std::size_t high) {
    if (low == high) return terms[low];
    const std::size_t middle = (low + high) / 2;
    return Call(positions[middle], function,
                {Balance(function, terms, positions, low, middle),
                 Balance(function, terms, positions, middle + 1, high)});
  }

  Expr* Chain(std::initializer_list<std::string_view> signs, auto next) {
    Expr* left = next();
    int length = 0;
    for (;;) {
      bool found = false;
      for (std::string_view sign : signs) {
        if (failed_ || !Is(sign)) continue;
        const std::uint32_t position = Now().position;
        ++at_;
        const std::string name = sign == "in" ? "@in" : "_" + std::string(sign) + "_";
        left = Call(position, name, {left, next()});
        if (++length + depth_ > limits::kCelDepth) {
          return Fail(0, "expression recursion limit exceeded: " +
                             std::to_string(limits::kCelDepth));
        }
        found = true;
        break;
      }
      if (!found) return left;
    }
  }

  Expr* Relation() {
    return Chain({"<", "<=", ">=", ">", "==", "!=", "in"}, [this] { return Sum(); });
  }
  Expr* Sum() {
    return Chain({"+", "-"}, [this] { return Product(); });
  }
  Expr* Product() {
    return Chain({"*", "/", "%"}, [this] { return Unary(); });
  }

  Expr* Unary() {
    for (const char* sign : {"!", "-"}) {
      if (!Is(sign) || failed_) continue;
      const std::uint32_t position = Now().position;
      int count = 0;
      while (Take(sign)) ++count;
      const Token next = Now().token;
      if (*sign == '-' && count == 1 && (next == Token::kInt || next == Token::kDouble)) {
        --at_;
        return Member();
      }
      Expr* operand = Member();
      if (count % 2 == 0) return operand;
      return Call(position, *sign == '!' ? "!_" : "-_", {operand});
    }
    return Member();
  }

  Expr* Member() {
    Expr* left = Primary();
    int length = 0;
    while (!failed_) {
      if (++length + depth_ > limits::kCelDepth) {
        return Fail(0,
                    "expression recursion limit exceeded: " + std::to_string(limits::kCelDepth));
      }
      if (Is(".")) {
        left = Selection(left);
      } else if (Is("[")) {
        left = Index(left);
      } else {
        break;
      }
    }
    return left;
  }

  Expr* Selection(Expr* left) {
    const std::uint32_t position = Now().position;
    ++at_;
    const bool optional = Take("?");
    const Lexeme& name = Now();
    if (name.token != Token::kIdent && name.token != Token::kQuotedIdent) {
      return Syntax("no viable alternative at input '." + std::string(name.text) + "'");
    }
    ++at_;
    if (!optional && name.token == Token::kIdent && Is("(")) return MemberCall(left, name);
    const std::string field =
        name.token == Token::kIdent ? std::string(name.text) : name.value;
    if (optional) {
      Expr* text = ast_.New(Shape::kConstant, name.position);
      text->constant = Value::String(field);
      return Call(position, "_?._", {left, text});
    }
    Expr* node = ast_.New(Shape::kSelect, position);
    node->operand = left;
    node->name = field;
    return node;
  }

  Expr* MemberCall(Expr* target, const Lexeme& name) {
    const std::uint32_t position = Now().position;
    std::vector<Expr*> args = Arguments();
    if (failed_) return target;
    const std::string function(name.text);
    if (Expr* expanded = ExpandMacro(ast_, position, function, target, args, issues_)) {
      failed_ |= !issues_.empty();
      return expanded;
    }
    Expr* node = Call(position, function, std::move(args));
    node->operand = target;
    return node;
  }

  Expr* Index(Expr* left) {
    const std::uint32_t position = Now().position;
    ++at_;
    const bool optional = Take("?");
    Expr* index = Ternary();
    Expect("]");
    return Call(position, optional ? "_[?_]" : "_[_]", {left, index});
  }

  // `(` a, b `)`
  std::vector<Expr*> Arguments() {
    std::vector<Expr*> args;
    Expect("(");
    if (Take(")")) return args;
    do args.push_back(Ternary());
    while (Take(","));
    Expect(")");
    return args;
  }

  Expr* Primary() {
    const Lexeme& token = Now();
    if (failed_) return Fail(token.position, "");
    switch (token.token) {
      case Token::kIdent: return Identifier(false);
      case Token::kInt:
      case Token::kUint:
      case Token::kDouble: return Number(false);
      case Token::kString:
      case Token::kBytes: {
        Expr* node = ast_.New(Shape::kConstant, token.position);
        node->constant = token.token == Token::kString ? Value::String(token.value)
                                                       : Value::Bytes(token.value);
        ++at_;
        return node;
      }
      case Token::kSign: return SignPrimary();
      default: return Unexpected();
    }
  }

  Expr* Unexpected() {
    const std::size_t next = at_ + 1 < tokens_.size() ? at_ + 1 : at_;
    const bool single = Now().token != Token::kEnd && StartsPrimary(tokens_[next]);
    return Syntax(std::string(single ? "extraneous" : "mismatched") + " input '" +
                  std::string(Now().text) + "' expecting " + std::string(kPrimaries));
  }

  static bool StartsPrimary(const Lexeme& token) {
    if (token.token == Token::kEnd || token.token == Token::kQuotedIdent) return false;
    if (token.token != Token::kSign) return true;
    static constexpr std::string_view kSigns = "[{(.-!";
    return token.text == "true" || token.text == "false" || token.text == "null" ||
           (token.text.size() == 1 && kSigns.find(token.text) != std::string_view::npos);
  }

  Expr* SignPrimary() {
    const Lexeme& token = Now();
    for (const char* word : {"true", "false", "null"}) {
      if (!Take(word)) continue;
      Expr* node = ast_.New(Shape::kConstant, token.position);
      if (*word != 'n') node->constant = Value::Bool(*word == 't');
      return node;
    }
    if (Is("-")) {
      ++at_;
      return Number(true);
    }
    if (Is(".")) {
      ++at_;
      if (Now().token == Token::kIdent) return Identifier(true);
      return Unexpected();
    }
    if (Take("(")) {
      Expr* inner = Ternary();
      Expect(")");
      return inner;
    }
    if (Is("[")) return ListLiteral();
    if (Is("{")) return MapLiteral();
    return Unexpected();
  }

  Expr* Identifier(bool leading_dot) {
    const Lexeme& token = Now();
    const std::uint32_t start = leading_dot ? token.position - 1 : token.position;
    std::string name(token.text);
    ++at_;
    for (std::string_view word : kReserved) {
      if (name == word && !Is("(")) return Fail(start, "reserved identifier: " + name);
    }
    if (Is("(")) {
      const std::uint32_t position = Now().position;
      std::vector<Expr*> args = Arguments();
      if (failed_) return Fail(position, "");
      if (Expr* expanded = ExpandMacro(ast_, position, name, nullptr, args, issues_)) {
        failed_ |= !issues_.empty();
        return expanded;
      }
      return Call(position, std::move(name), std::move(args));
    }
    if (const std::size_t length = MessageName(); length > 0 || Is("{")) {
      for (std::size_t i = 0; i < length; i += 2) name += "." + std::string(tokens_[at_ + i + 1].text);
      at_ += length;
      return MessageLiteral(std::move(name));
    }
    Expr* node = ast_.New(Shape::kIdent, start);
    node->name = std::move(name);
    return node;
  }

  // Tokens of `.a.b` before a `{`; 0 when a message literal does not begin here.
  std::size_t MessageName() const {
    std::size_t length = 0;
    while (at_ + length + 2 < tokens_.size() && tokens_[at_ + length].text == "." &&
           tokens_[at_ + length].token == Token::kSign &&
           tokens_[at_ + length + 1].token == Token::kIdent) {
      length += 2;
    }
    const Lexeme& after = tokens_[at_ + length];
    return after.token == Token::kSign && after.text == "{" ? length : 0;
  }

  Expr* MessageLiteral(std::string name) {
    Expr* node = ast_.New(Shape::kStruct, Now().position);
    node->name = std::move(name);
    Expect("{");
    while (!failed_ && !Is("}")) {
      node->optional.push_back(Take("?"));
      const Lexeme& field = Now();
      if (field.token != Token::kIdent && field.token != Token::kQuotedIdent) return Unexpected();
      ++at_;
      node->fields.push_back(field.token == Token::kIdent ? std::string(field.text) : field.value);
      node->field_positions.push_back(Now().position);
      Expect(":");
      node->args.push_back(Ternary());
      if (!Take(",")) break;
    }
    Expect("}");
    return node;
  }

  Expr* ListLiteral() {
    Expr* node = ast_.New(Shape::kList, Now().position);
    ++at_;
    while (!failed_ && !Is("]")) {
      node->optional.push_back(Take("?"));
      node->args.push_back(Ternary());
      if (!Take(",")) break;
    }
    Expect("]");
    return node;
  }

  Expr* MapLiteral() {
    Expr* node = ast_.New(Shape::kMap, Now().position);
    ++at_;
    while (!failed_ && !Is("}")) {
      node->optional.push_back(Take("?"));
      node->keys.push_back(Ternary());
      Expect(":");
      node->args.push_back(Ternary());
      if (!Take(",")) break;
    }
    Expect("}");
    return node;
  }

  Expr* Number(bool minus) {
    const Lexeme& token = Now();
    if (token.token != Token::kInt && token.token != Token::kUint &&
        token.token != Token::kDouble) {
      return Unexpected();
    }
    ++at_;
    const std::uint32_t start = minus ? token.position - 1 : token.position;
    Expr* node = ast_.New(Shape::kConstant, start);
    std::string digits(token.text);
    if (token.token == Token::kDouble) {
      double number = 0;
      const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (end.ec != std::errc()) return Fail(start, "invalid double literal");
      node->constant = Value::Double(minus ? -number : number);
      return node;
    }
    if (token.token == Token::kUint) digits.pop_back();
    const bool hex = digits.starts_with("0x");
    const char* first = digits.data() + (hex ? 2 : 0);
    std::uint64_t number = 0;
    const auto end =
        std::from_chars(first, digits.data() + digits.size(), number, hex ? 16 : 10);
    const bool whole = end.ec == std::errc() && end.ptr == digits.data() + digits.size();
    if (token.token == Token::kUint) {
      if (!whole || minus) return Fail(start, "invalid uint literal");
      node->constant = Value::Uint(number);
      return node;
    }
    const std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX) + (minus ? 1 : 0);
    if (!whole || number > most) return Fail(start, "invalid int literal");
    node->constant = Value::Int(static_cast<std::int64_t>(minus ? ~number + 1 : number));
    return node;
  }

  std::vector<Lexeme> tokens_;
  Ast& ast_;
  std::vector<Issue>& issues_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

void Parse(const std::string& text, Ast& ast, std::vector<Issue>& issues) {
  if (static_cast<std::size_t>(CountRunes(text)) > limits::kCelTextRunes) {
    issues.push_back({0, "expression code point size exceeds limit: size: " +
                             std::to_string(CountRunes(text)) +
                             ", limit " + std::to_string(limits::kCelTextRunes)});
    return;
  }
  std::vector<Lexeme> tokens = Lex(text, issues);
  Parser(std::move(tokens), ast, issues).Run();
}

std::string Describe(const std::string& text, std::vector<Issue> issues) {
  std::stable_sort(issues.begin(), issues.end(),
                   [](const Issue& a, const Issue& b) { return a.position < b.position; });
  std::string out;
  const std::size_t more =
      issues.size() > limits::kCelIssues ? issues.size() - limits::kCelIssues : 0;
  issues.resize(issues.size() - more);
  for (const Issue& issue : issues) {
    // The line in which the position lies, and the code points before it there.
    std::size_t start = 0, at = 0;
    std::uint32_t left = issue.position;
    int line = 1, column = 0;
    while (at < text.size() && left > 0) {
      std::size_t next = at + 1;
      while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
      ++column;
      if (text[at] == '\n') {
        ++line;
        column = 0;
        start = next;
      }
      at = next;
      --left;
    }
    if (text.empty()) return "ERROR: <input>:1:0: " + issue.message;  // nothing to point at
    const std::string shown = text.substr(start, text.find('\n', start) - start);
    if (!out.empty()) out += "\n";
    out += "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " +
           issue.message;
    if (shown.size() > limits::kCelSnippetBytes) continue;
    std::string marks;
    std::string plain = shown;
    for (char& c : plain) {
      if (c == '\t') c = ' ';
    }
    std::size_t seen = 0;
    auto wide = [&] { return seen < plain.size() && (plain[seen] & 0x80) != 0; };
    for (int i = 0; i < column && seen < plain.size(); ++i) {
      marks += wide() ? "\xef\xbc\x8e" : ".";
      ++seen;
      while (seen < plain.size() && (static_cast<unsigned char>(plain[seen]) & 0xc0) == 0x80) ++seen;
    }
    marks += wide() ? "\xef\xbc\xbe" : "^";
    out += "\n | " + plain + "\n | " + marks;
  }
  if (more > 0) out += "\n" + std::to_string(more) + " more errors were truncated";
  return out;
}

}  // namespace mailroom::cel
