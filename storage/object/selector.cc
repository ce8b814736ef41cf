#include "storage/object/selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/label_key.h"

namespace mailroom {
namespace {

std::optional<std::int64_t> Integer(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

}  // namespace

std::string CheckLabelKey(std::string_view key) {
  std::string out;
  for (const std::string& fault : LabelKeyFaults(key)) out += (out.empty() ? "" : "; ") + fault;
  return out;
}

std::string CheckLabelValue(std::string_view value) {
  if (value.size() > 63) return "must be no more than 63 bytes";
  if (!value.empty() && !IsNameText(value)) {
    return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
           "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
           "'my_value',  or '12345', regex used for validation is "
           "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  }
  return "";
}

// Tokens: identifiers, and the symbols ( ) , ! = == != > <.
struct LabelSelectorParser {
  using Op = LabelSelector::Operator;
  std::string_view text;
  std::size_t at = 0;

  static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  static bool IsSymbol(char c) {
    return c == '(' || c == ')' || c == ',' || c == '!' || c == '=' || c == '>' || c == '<';
  }

  std::string_view Peek() {
    const std::size_t before = at;
    std::string_view token = Next();
    at = before;
    return token;
  }

  std::string_view Next() {
    while (at < text.size() && IsSpace(text[at])) ++at;
    if (at == text.size()) return {};
    const std::size_t start = at;
    if (IsSymbol(text[at])) {
      ++at;
      if ((text[start] == '=' || text[start] == '!') && at < text.size() && text[at] == '=') ++at;
      return text.substr(start, at - start);
    }
    while (at < text.size() && !IsSymbol(text[at]) && !IsSpace(text[at])) ++at;
    return text.substr(start, at - start);
  }

  static Status Unexpected(std::string_view token, std::string_view expected) {
    return BadRequest("unable to parse requirement: found '" + std::string(token) +
                      "', expected: " + std::string(expected));
  }

  Result<std::string> Key() {
    std::string_view token = Next();
    if (token.empty() || IsSymbol(token.front())) {
      return Unexpected(token, "identifier");
    }
    if (std::string problem = CheckLabelKey(token); !problem.empty()) {
      return BadRequest("unable to parse requirement: <nil>: Invalid value: " + Quoted(token) + ": " +
                        problem);
    }
    return std::string(token);
  }

  static Result<void> CheckValue(const std::string& key, std::string_view value) {
    if (std::string problem = CheckLabelValue(value); !problem.empty()) {
      return BadRequest("unable to parse requirement: values[0][" + key +
                        "]: Invalid value: " + Quoted(value) + ": " + problem);
    }
    return Ok();
  }

  Result<std::vector<std::string>> ValueSet(const std::string& key) {
    if (std::string_view token = Next(); token != "(") {
      return BadRequest("unable to parse requirement: found '" + std::string(token) +
                        "' expected: '('");
    }
    std::vector<std::string> values;
    while (true) {
      std::string_view token = Peek();
      if (token == "," || token == ")") {
        values.emplace_back();
      } else if (token.empty() || IsSymbol(token.front())) {
        return Unexpected(token, "',', ')' or identifier");
      } else {
        Next();
        TRY(CheckValue(key, token));
        values.emplace_back(token);
      }
      std::string_view after = Next();
      if (after == ")") return values;
      if (after != ",") return Unexpected(after, "',' or ')'");
    }
  }

  Result<LabelSelector::Requirement> Requirement() {
    if (Peek() == "!") {
      Next();
      return LabelSelector::Requirement{TRY(Key()), Op::kNotExists, {}};
    }
    std::string key = TRY(Key());
    std::string_view op = Peek();
    if (op.empty() || op == ",") return LabelSelector::Requirement{key, Op::kExists, {}};
    Next();
    if (op == "in" || op == "notin") {
      auto values = TRY(ValueSet(key));
      return LabelSelector::Requirement{key, op == "in" ? Op::kIn : Op::kNotIn, std::move(values)};
    }
    if (op != "=" && op != "==" && op != "!=" && op != ">" && op != "<") {
      return Unexpected(op, "in, notin, =, ==, !=, gt, lt");
    }
    std::string_view value = Peek();
    if (value.empty() || value == ",") {
      value = {};
    } else if (IsSymbol(value.front())) {
      return Unexpected(value, "identifier");
    } else {
      Next();
    }
    TRY(CheckValue(key, value));
    if (op == ">" || op == "<") {
      if (!Integer(value)) {
        return BadRequest("unable to parse requirement: values[0]: Invalid value: " +
                          Quoted(value) + ": for 'Gt', 'Lt' operators, the value must be an integer");
      }
      return LabelSelector::Requirement{key, op == ">" ? Op::kGreater : Op::kLess,
                                        {std::string(value)}};
    }
    return LabelSelector::Requirement{key, op == "!=" ? Op::kNotIn : Op::kIn,
                                      {std::string(value)}};
  }
};

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  LabelSelector selector;
  LabelSelectorParser parser{text};
  if (parser.Peek().empty()) return selector;
  const char* expected = "!, identifier, or 'end of string'";
  while (true) {
    if (std::string_view token = parser.Peek();
        token.empty() || (LabelSelectorParser::IsSymbol(token.front()) && token != "!")) {
      return BadRequest("found '" + std::string(token) + "', expected: " + expected);
    }
    expected = "identifier after ','";
    selector.requirements_.push_back(TRY(parser.Requirement()));
    std::string_view token = parser.Next();
    if (token.empty()) return selector;
    if (token != ",") {
      return BadRequest("found '" + std::string(token) + "', expected: ',' or 'end of string'");
    }
  }
}

Result<LabelSelector> LabelSelector::FromJson(const Json& json) {
  LabelSelector selector;
  if (const Json* labels = Find(json, {"matchLabels"}); labels && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (!value.is_string()) return BadRequest("matchLabels values must be strings");
      selector.requirements_.push_back({key, Operator::kIn, {value.get<std::string>()}});
    }
  }
  const Json* expressions = Find(json, {"matchExpressions"});
  if (expressions == nullptr || !expressions->is_array()) return selector;
  for (const Json& expression : *expressions) {
    const std::string op = StringAt(expression, {"operator"});
    Requirement requirement{StringAt(expression, {"key"}), Operator::kIn,
                            StringsAt(expression, {"values"})};
    if (op == "In") {
      requirement.op = Operator::kIn;
    } else if (op == "NotIn") {
      requirement.op = Operator::kNotIn;
    } else if (op == "Exists") {
      requirement.op = Operator::kExists;
    } else if (op == "DoesNotExist") {
      requirement.op = Operator::kNotExists;
    } else {
      return BadRequest(Quoted(op) + " is not a valid label selector operator");
    }
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool LabelSelector::Test(const Requirement& requirement, const std::string_view* value) {
  auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kExists: return value != nullptr;
    case Operator::kNotExists: return value == nullptr;
    case Operator::kIn: return value != nullptr && listed();
    case Operator::kNotIn: return value == nullptr || !listed();
    case Operator::kGreater:
    case Operator::kLess: {
      if (value == nullptr) return false;
      auto actual = Integer(*value), bound = Integer(requirement.values.front());
      if (!actual || !bound) return false;
      return requirement.op == Operator::kGreater ? *actual > *bound : *actual < *bound;
    }
  }
  return false;
}

bool LabelSelector::Matches(const LabelViews& labels) const {
  // Of few, most keys differ in length already, so that their text is not looked at.
  constexpr std::size_t kFew = 16;
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    const std::string_view key = r.key;
    const auto it = labels.size() <= kFew
                        ? std::find_if(labels.begin(), labels.end(),
                                       [&](const auto& label) { return label.first == key; })
                        : std::lower_bound(labels.begin(), labels.end(), key,
                                           [](const auto& label, std::string_view wanted) {
                                             return label.first < wanted;
                                           });
    const bool there = it != labels.end() && it->first == key;
    return Test(r, there ? &it->second : nullptr);
  });
}

std::size_t LabelSelector::terms() const {
  std::size_t count = 0;
  for (const Requirement& r : requirements_) count += 1 + r.values.size();
  return count;
}

bool LabelSelector::MatchesJson(const Json& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
    const Json* value = Find(labels, {r.key});
    if (value == nullptr || !value->is_string()) return Test(r, nullptr);
    const std::string_view text = value->get_ref<const std::string&>();
    return Test(r, &text);
  });
}

std::string LabelSelector::ToString() const {
  std::string out;
  for (const Requirement& r : requirements_) {
    if (!out.empty()) out += ',';
    std::string list;
    for (const std::string& value : r.values) list += (&value == &r.values.front() ? "" : ",") + value;
    switch (r.op) {
      case Operator::kExists: out += r.key; break;
      case Operator::kNotExists: out += "!" + r.key; break;
      case Operator::kIn:
        out += r.values.size() == 1 ? r.key + "=" + list : r.key + " in (" + list + ")";
        break;
      case Operator::kNotIn:
        out += r.values.size() == 1 ? r.key + "!=" + list : r.key + " notin (" + list + ")";
        break;
      case Operator::kGreater: out += r.key + ">" + list; break;
      case Operator::kLess: out += r.key + "<" + list; break;
    }
  }
  return out;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  std::string field, value;
  std::string* target = &field;
  bool equal = true, have_operator = false;
  auto finish = [&]() -> Result<void> {
    if (field.empty() && value.empty() && !have_operator) return Ok();
    if (!have_operator) {
      return BadRequest("invalid selector: '" + std::string(text) + "'; can't understand '" +
                        field + "'");
    }
    selector.terms_.push_back({std::move(field), std::move(value), equal});
    field.clear();
    value.clear();
    target = &field;
    equal = true;
    have_operator = false;
    return Ok();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\') {
      if (next != '\\' && next != ',' && next != '=') {
        return BadRequest("invalid field selector: invalid escape sequence: " +
                          std::string(text.substr(i, 2)));
      }
      *target += next;
      ++i;
    } else if (c == ',') {
      TRY(finish());
    } else if (!have_operator && (c == '=' || (c == '!' && next == '='))) {
      have_operator = true;
      equal = c == '=';
      if (next == '=') ++i;
      target = &value;
    } else if (have_operator && c == '=') {
      return BadRequest("invalid field selector: unescaped character in value: 61");
    } else {
      *target += c;
    }
  }
  TRY(finish());
  return selector;
}

const std::string* FieldSelector::Exact(std::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) return &term.value;
  }
  return nullptr;
}

bool FieldSelector::Matches(
    const std::function<std::string(std::string_view field)>& value_of) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (value_of(term.field) == term.value) == term.equal;
  });
}

}  // namespace mailroom
