#include "storage/object/json.h"

#include <set>

#include "storage/object/limits.h"

namespace mailroom {
namespace {

// Builds a tree from parser events, bounding depth as it goes and noting duplicate keys.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::vector<std::string> duplicates;
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
      duplicates.push_back(PathOf(name));
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
        path += "[" + std::to_string(frame.node->size() - 1) + "]";
      } else if (&frame != &stack_.back()) {
        path += (path.empty() ? "" : ".") + frame.name;
      }
    }
    return path + (path.empty() ? "" : ".") + leaf;
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
  TreeBuilder builder;
  bool ok = false;
  try {
    ok = Json::sax_parse(text.begin(), text.end(), &builder);
  } catch (const nlohmann::json::exception& e) {
    builder.error = e.what();
  }
  if (!ok) return BadRequest(builder.error.empty() ? "invalid JSON" : builder.error);
  return ParsedJson{std::move(builder.root), std::move(builder.duplicates)};
}

Result<Json> ParseJson(std::string_view text) {
  ParsedJson parsed = TRY(ParseJsonStrict(text));
  return std::move(parsed.value);
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string DumpJsonPretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string JsonQuote(std::string_view text) {
  bool plain = true;
  for (char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ||
        static_cast<unsigned char>(c) >= 0x7f) {
      plain = false;
      break;
    }
  }
  if (plain) {
    std::string out;
    out.reserve(text.size() + 2);
    out += '"';
    out += text;
    out += '"';
    return out;
  }
  return DumpJson(Json(std::string(text)));
}

}  // namespace mailroom
