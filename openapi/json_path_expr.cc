#include "openapi/json_path_expr.h"

#include <algorithm>
#include <charconv>

namespace mailroom::openapi {

struct JsonPathExpr::Filter {
  JsonPathExpr left;  // relative to the item
  Compare compare = Compare::kExists;
  Json literal;
};

struct JsonPathParser {
  using Step = JsonPathExpr::Step;
  using StepKind = JsonPathExpr::StepKind;
  using Compare = JsonPathExpr::Compare;

  std::string_view text;
  std::size_t at = 0;

  bool Done() const { return at >= text.size(); }
  char Peek() const { return Done() ? '\0' : text[at]; }
  bool Accept(std::string_view token) {
    if (!text.substr(at).starts_with(token)) return false;
    at += token.size();
    return true;
  }
  void SkipSpaces() {
    while (Peek() == ' ') ++at;
  }
  Status Fail(std::string_view why) const {
    return BadRequest("invalid JSONPath at offset " + std::to_string(at) + ": " + std::string(why));
  }

  // A member name after a dot; a backslash takes the next character literally.
  Result<std::string> Name() {
    std::string name;
    while (!Done() && std::string_view(".[]() =!<>").find(Peek()) == std::string_view::npos) {
      if (Peek() == '\\' && at + 1 < text.size()) ++at;
      name += text[at++];
    }
    if (name.empty()) return Fail("a member name is missing");
    return name;
  }

  Result<std::string> QuotedText() {
    const char quote = text[at++];
    std::string out;
    while (!Done() && Peek() != quote) {
      if (Peek() == '\\' && at + 1 < text.size()) ++at;
      out += text[at++];
    }
    if (Done()) return Fail("unterminated quoted string");
    ++at;
    return out;
  }

  Result<long> Number() {
    long value = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc()) return Fail("a number is missing");
    at = static_cast<std::size_t>(end - text.data());
    return value;
  }

  Result<Json> Literal() {
    if (Peek() == '"' || Peek() == '\'') return Json(TRY(QuotedText()));
    const std::size_t end = std::min(text.find_first_of(") ", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    auto value = ParseJson(word);
    if (!value.ok()) return Fail("a literal is missing");
    at = end;
    return std::move(value).value();
  }

  Result<Step> FilterStep() {
    auto filter = std::make_shared<JsonPathExpr::Filter>();
    SkipSpaces();
    if (!Accept("@")) return Fail("a filter must start with @");
    filter->left.steps_ = TRY(Steps());
    SkipSpaces();
    static constexpr std::pair<std::string_view, Compare> kOperators[] = {
        {"==", Compare::kEqual},        {"!=", Compare::kNotEqual}, {"<=", Compare::kLessEqual},
        {">=", Compare::kGreaterEqual}, {"<", Compare::kLess},      {">", Compare::kGreater}};
    for (const auto& [token, compare] : kOperators) {
      if (!Accept(token)) continue;
      filter->compare = compare;
      SkipSpaces();
      filter->literal = TRY(Literal());
      break;
    }
    SkipSpaces();
    if (!Accept(")]")) return Fail("a filter must end with )]");
    Step step;
    step.kind = StepKind::kFilter;
    step.filter = std::move(filter);
    return step;
  }

  // After '['.
  Result<Step> BracketStep() {
    Step step;
    if (Accept("?(")) return FilterStep();
    if (Accept("*]")) {
      step.kind = StepKind::kWildcard;
      return step;
    }
    if (Peek() == '\'' || Peek() == '"') {
      do {
        SkipSpaces();
        if (Peek() != '\'' && Peek() != '"') return Fail("a quoted member name is missing");
        step.members.push_back(TRY(QuotedText()));
        SkipSpaces();
      } while (Accept(","));
    } else {
      step.kind = StepKind::kIndex;
      if (Peek() != ':') step.first = TRY(Number());
      if (Accept(":")) {
        step.kind = StepKind::kSlice;
        if (Peek() != ']') {
          step.last = TRY(Number());
          step.has_last = true;
        }
      }
    }
    if (!Accept("]")) return Fail("] is missing");
    return step;
  }

  Result<std::vector<Step>> Steps() {
    std::vector<Step> steps;
    while (true) {
      if (Accept("..")) {
        Step step;
        step.kind = StepKind::kDescend;
        steps.push_back(std::move(step));
        if (Peek() == '[') continue;
        step.kind = StepKind::kMember;
        step.members = {TRY(Name())};
        steps.push_back(std::move(step));
      } else if (Accept(".")) {
        if (Done() || Peek() == '[') continue;
        Step step;
        if (Accept("*")) {
          step.kind = StepKind::kWildcard;
        } else {
          step.members = {TRY(Name())};
        }
        steps.push_back(std::move(step));
      } else if (Accept("[")) {
        steps.push_back(TRY(BracketStep()));
      } else {
        return steps;
      }
    }
  }
};

Result<JsonPathExpr> JsonPathExpr::Parse(std::string_view text) {
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  JsonPathParser parser{text};
  parser.Accept("$");
  JsonPathExpr path;
  if (!parser.Done() && parser.Peek() != '.' && parser.Peek() != '[') {
    path.steps_.emplace_back().members = {TRY(parser.Name())};
  }
  std::vector<Step> rest = TRY(parser.Steps());
  path.steps_.insert(path.steps_.end(), std::make_move_iterator(rest.begin()),
                     std::make_move_iterator(rest.end()));
  if (!parser.Done()) return parser.Fail("unexpected character");
  return path;
}

namespace {

// Total order of two scalars of one kind; 2 when they cannot be compared.
int Order(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    return x < y ? -1 : (x > y ? 1 : 0);
  }
  if (a.is_string() && b.is_string()) {
    const int order = a.get_ref<const std::string&>().compare(b.get_ref<const std::string&>());
    return order < 0 ? -1 : (order > 0 ? 1 : 0);
  }
  if (a.is_boolean() && b.is_boolean()) return a == b ? 0 : 2;
  return 2;
}

void Descend(const Json& node, std::vector<const Json*>& out) {
  out.push_back(&node);
  if (!node.is_structured()) return;
  for (const Json& child : node) Descend(child, out);
}

}  // namespace

bool JsonPathExpr::Passes(const Filter& filter, const Json& item) {
  const Json* left = filter.left.First(item);
  if (left == nullptr) return false;
  const int order = filter.compare == Compare::kExists ? 0 : Order(*left, filter.literal);
  switch (filter.compare) {
    case Compare::kExists:
      return true;
    case Compare::kEqual:
      return order == 0;
    case Compare::kNotEqual:
      return order != 0;
    case Compare::kLess:
      return order == -1;
    case Compare::kLessEqual:
      return order == -1 || order == 0;
    case Compare::kGreater:
      return order == 1;
    case Compare::kGreaterEqual:
      return order == 1 || order == 0;
  }
  return false;
}

void JsonPathExpr::Take(const Step& step, const Json& node, std::vector<const Json*>& out) {
  const long size = node.is_array() ? static_cast<long>(node.size()) : 0;
  switch (step.kind) {
    case StepKind::kMember:
      for (const std::string& member : step.members) {
        if (!node.is_object()) break;
        if (auto found = node.find(member); found != node.end()) out.push_back(&*found);
      }
      break;
    case StepKind::kIndex: {
      const long index = step.first < 0 ? size + step.first : step.first;
      if (index >= 0 && index < size) out.push_back(&node[static_cast<std::size_t>(index)]);
      break;
    }
    case StepKind::kSlice: {
      long first = step.first < 0 ? size + step.first : step.first;
      long last = !step.has_last ? size : (step.last < 0 ? size + step.last : step.last);
      first = std::max(first, 0L);
      last = std::min(last, size);
      for (long i = first; i < last; ++i) out.push_back(&node[static_cast<std::size_t>(i)]);
      break;
    }
    case StepKind::kWildcard:
      if (node.is_structured()) {
        for (const Json& child : node) out.push_back(&child);
      }
      break;
    case StepKind::kDescend:
      Descend(node, out);
      break;
    case StepKind::kFilter:
      if (node.is_array()) {
        for (const Json& child : node) {
          if (Passes(*step.filter, child)) out.push_back(&child);
        }
      }
      break;
  }
}

std::vector<const Json*> JsonPathExpr::Select(const Json& root) const {
  std::vector<const Json*> nodes = {&root};
  for (const Step& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* node : nodes) Take(step, *node, next);
    nodes = std::move(next);
    if (nodes.empty()) break;
  }
  return nodes;
}

const Json* JsonPathExpr::First(const Json& root) const {
  const std::vector<const Json*> nodes = Select(root);
  return nodes.empty() ? nullptr : nodes.front();
}

std::vector<std::string> JsonPathExpr::PlainMembers() const {
  std::vector<std::string> members;
  for (const Step& step : steps_) {
    if (step.kind != StepKind::kMember || step.members.size() != 1) return {};
    members.push_back(step.members.front());
  }
  return members;
}

}  // namespace mailroom::openapi
