// The mutable JSON tree used on write paths, and its only parser and printer. Reads never build
// a tree: they send stored bytes. Parsing is bounded in depth while it runs, because copying or
// printing a very deep tree recurses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json_fwd.h"
#include "storage/object/result.h"

namespace mailroom {

struct ParsedJson {
  Json value;
  // Paths such as `spec.replicas` of keys given twice; the last value wins.
  std::vector<std::string> duplicates;
};

// Parses one JSON document. Errors are BadRequest with the parser's reason.
Result<Json> ParseJson(std::string_view text);
// The same, also reporting duplicate keys.
Result<ParsedJson> ParseJsonStrict(std::string_view text);

// Compact text, keys sorted. Never fails: invalid UTF-8 was refused at parse, and is replaced here.
std::string DumpJson(const Json& value);
// The same, after what `out` holds.
void AppendJson(std::string& out, const Json& value);
// Two-space indentation, for people.
std::string DumpJsonPretty(const Json& value);
// Only the quoted, escaped form of one string.
std::string JsonQuote(std::string_view text);
void AppendQuoted(std::string& out, std::string_view text);

}  // namespace mailroom
