// From text to tokens. Positions count code points, as messages do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/cel/ast.h"

namespace mailroom::cel {

enum class Token {
  kEnd,
  kIdent,
  kQuotedIdent,  // `a-b`
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kSign,  // an operator or bracket; `text` says which. `in`, `true`, `false` and `null` too.
};

struct Lexeme {
  Token token = Token::kEnd;
  std::uint32_t position = 0;
  std::string_view text;  // as written
  std::string value;      // strings and bytes, unescaped
};

// The tokens with a final kEnd. Unknown characters are reported and left out.
std::vector<Lexeme> Lex(std::string_view text, std::vector<Issue>& issues);

}  // namespace mailroom::cel
