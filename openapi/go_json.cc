#include "openapi/go_json.h"

#include "storage/object/json.h"

namespace mailroom::openapi {

std::string PageSafe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string GoJson(const Json& value) { return PageSafe(DumpJson(value)); }

std::string GoJsonQuote(std::string_view text) { return PageSafe(JsonQuote(text)); }

}  // namespace mailroom::openapi
