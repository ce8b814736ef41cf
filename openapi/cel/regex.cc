// Regular expressions by RE2: linear time, bounded memory, compiled once.
#include <re2/re2.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "openapi/cel/library.h"
#include "storage/object/limits.h"

namespace mailroom::cel {
namespace {

class Patterns {
 public:
  std::shared_ptr<const RE2> Get(std::string_view pattern) {
    const std::lock_guard lock(mutex_);
    const auto at = compiled_.find(std::string(pattern));
    if (at != compiled_.end()) return at->second;
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(limits::kPatternBytes);
    auto compiled = std::make_shared<const RE2>(
        re2::StringPiece(pattern.data(), pattern.size()), options);
    // Old ones are forgotten all at once: rare, and simpler than an order of use.
    if (compiled_.size() >= limits::kCompiledPatterns) compiled_.clear();
    compiled_.emplace(pattern, compiled);
    return compiled;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const RE2>> compiled_;
};

std::shared_ptr<const RE2> Compiled(std::string_view pattern) {
  static auto* patterns = new Patterns;
  return patterns->Get(pattern);
}

// In Go's words.
Value BadPattern(const RE2& pattern) {
  std::string fault = pattern.error().substr(0, pattern.error().find(": "));
  if (fault.starts_with("missing ")) fault.insert(8, "closing ");
  return Value::Error("error parsing regexp: " + fault + ": `" + pattern.error_arg() + "`");
}

Value FindFirst(Meter& meter, Args a) {
  const auto pattern = Compiled(a[1].text());
  if (!pattern->ok()) return BadPattern(*pattern);
  re2::StringPiece text(a[0].text().data(), a[0].text().size()), match;
  if (!pattern->Match(text, 0, text.size(), RE2::UNANCHORED, &match, 1)) return Value::Borrowed("");
  if (!meter.Allocate(match.size())) return {};
  return Value::String(std::string(match.data(), match.size()));
}

Value FindMany(Meter& meter, Args a, std::int64_t most) {
  const auto pattern = Compiled(a[1].text());
  if (!pattern->ok()) return BadPattern(*pattern);
  re2::StringPiece text(a[0].text().data(), a[0].text().size()), match;
  std::vector<Value> found;
  std::size_t at = 0;
  bool after_match = false;  // an empty match right behind another does not count
  while (at <= text.size() && (most < 0 || static_cast<std::int64_t>(found.size()) < most) &&
         pattern->Match(text, at, text.size(), RE2::UNANCHORED, &match, 1)) {
    const auto start = static_cast<std::size_t>(match.data() - text.data());
    if (!(match.empty() && after_match && start == at)) {
      if (!meter.Allocate(match.size() + sizeof(Value))) return {};
      found.push_back(Value::String(std::string(match.data(), match.size())));
    }
    after_match = !match.empty();
    at = start + match.size();
    if (match.empty()) {
      ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    }
  }
  return Value::List(std::move(found));
}
Value FindAll(Meter& meter, Args a) { return FindMany(meter, a, -1); }
Value FindSome(Meter& meter, Args a) { return FindMany(meter, a, a[2].integer()); }

constexpr Row kRows[] = {
    {"find", "string.(string) string", FindFirst, PriceOfRegex},
    {"findAll", "string.(string) list<string>", FindAll, PriceOfRegex},
    {"findAll", "string.(string, int) list<string>", FindSome, PriceOfRegex},
};

}  // namespace

Value Matches(std::string_view text, std::string_view pattern) {
  const auto compiled = Compiled(pattern);
  if (!compiled->ok()) return BadPattern(*compiled);
  return Value::Bool(RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled));
}

std::string PatternError(std::string_view pattern) {
  const auto compiled = Compiled(pattern);
  return compiled->ok() ? "" : compiled->error();
}

std::span<const Row> RegexRows() { return kRows; }

}  // namespace mailroom::cel
