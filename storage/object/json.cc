#include "storage/object/json.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "storage/object/json_number.h"
#include "storage/object/json_reader.h"
#include "storage/object/json_text.h"
#include "storage/object/limits.h"
#include "storage/object/problems.h"

namespace mailroom {
namespace {

// Builds a tree from parser events, bounding depth as it goes and noting duplicate keys.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json root;
  Problems duplicates;
  std::string error;

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool key(string_t& name) override {
    Frame& top = stack_.back();
    auto [it, fresh] = top.node->emplace(name, nullptr);
    if (!fresh) {
      if (!duplicates.full()) duplicates.Add(PathOf(name));
      it.value() = nullptr;
    }
    top.slot = &it.value();
    top.name = std::move(name);
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    error = e.what();
    if (auto at = error.find("] "); at != std::string::npos) error.erase(0, at + 2);
    return false;
  }

 private:
  struct Frame {
    Json* node;
    Json* slot = nullptr;  // where the next member's value goes
    std::string name;      // of that member
  };

  std::string PathOf(const std::string& leaf) const {
    std::string path;
    for (const Frame& frame : stack_) {
      if (frame.node->is_array()) {
        path = ElementPath(path, frame.node->size() - 1);
      } else if (&frame != &stack_.back()) {
        path = MemberPath(path, frame.name);
      }
    }
    return MemberPath(path, leaf);
  }

  Json* Place(Json value) {
    if (stack_.empty()) {
      root = std::move(value);
      return &root;
    }
    Frame& top = stack_.back();
    if (top.node->is_array()) {
      top.node->push_back(std::move(value));
      return &top.node->back();
    }
    *top.slot = std::move(value);
    return top.slot;
  }
  bool Put(Json value) {
    Place(std::move(value));
    return true;
  }
  bool Open(Json container) {
    if (stack_.size() >= limits::kJsonDepth) {
      error = "exceeded max depth";
      return false;
    }
    stack_.push_back({Place(std::move(container)), nullptr, ""});
    return true;
  }
  bool Close() {
    stack_.pop_back();
    return true;
  }

  std::vector<Frame> stack_;
};

}  // namespace

Result<ParsedJson> ParseJsonStrict(std::string_view text) {
  if (std::optional<Json> plain = ReadPlainJson(text)) return ParsedJson{std::move(*plain), {}};
  // The library passes over a byte order mark; Go's decoder does not, nor does the standard want it.
  if (text.starts_with("\xef\xbb\xbf")) return BadRequest("a byte order mark is no JSON");
  TreeBuilder builder;
  bool ok = false;
  try {
    ok = Json::sax_parse(text.begin(), text.end(), &builder);
  } catch (const nlohmann::json::exception& e) {
    builder.error = e.what();
  }
  if (!ok) return BadRequest(builder.error.empty() ? "invalid JSON" : builder.error);
  return ParsedJson{std::move(builder.root), std::move(builder.duplicates).Take()};
}

Result<Json> ParseJson(std::string_view text) {
  ParsedJson parsed = TRY(ParseJsonStrict(text));
  return std::move(parsed.value);
}

namespace {

void AppendEscaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

template <typename Number>
void AppendDigits(std::string& out, Number value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

void AppendQuoted(std::string& out, std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // of what is not UTF-8
  out += '"';
  for (std::size_t at = 0;;) {
    const std::size_t end = EndOfPlain(text, at);
    out.append(text, at, end - at);
    if (end == text.size()) break;
    at = end + 1;
    if (static_cast<unsigned char>(text[end]) < 0x80) {
      AppendEscaped(out, text[end]);
    } else if (const std::size_t length = Utf8Length(text.substr(end)); length > 0) {
      out.append(text, end, length);
      at = end + length;
    } else {
      out += kReplacement;
    }
  }
  out += '"';
}

void AppendJson(std::string& out, const Json& value) {
  char separator = 0;
  const auto separate = [&] {
    if (separator != 0) out += separator;
    separator = ',';
  };
  switch (value.type()) {
    case Json::value_t::object:
      out += '{';
      for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
        separate();
        AppendQuoted(out, name);
        out += ':';
        AppendJson(out, member);
      }
      out += '}';
      break;
    case Json::value_t::array:
      out += '[';
      for (const Json& element : value) {
        separate();
        AppendJson(out, element);
      }
      out += ']';
      break;
    case Json::value_t::string:
      AppendQuoted(out, value.get_ref<const std::string&>());
      break;
    case Json::value_t::number_integer:
      AppendDigits(out, value.get<std::int64_t>());
      break;
    case Json::value_t::number_unsigned:
      // The original has integers of 64 bits with a sign; what is larger is no integer to it.
      if (value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        AppendNumber(out, value.get<double>());
      } else {
        AppendDigits(out, value.get<std::uint64_t>());
      }
      break;
    case Json::value_t::number_float:
      AppendNumber(out, value.get<double>());
      break;
    default:
      out += value.dump();
  }
}

std::string DumpJson(const Json& value) {
  std::string out;
  AppendJson(out, value);
  return out;
}

std::string DumpJsonPretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string JsonQuote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  AppendQuoted(out, text);
  return out;
}

}  // namespace mailroom
