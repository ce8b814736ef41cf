#include "storage/object/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "storage/object/limits.h"
#include "storage/object/problems.h"
#include "storage/object/yaml_scalar.h"

namespace mailroom {
namespace {

// Plain, or tagged as one; quoted it is a name like others.
bool IsMergeKey(const YAML::Node& key) {
  const std::string& tag = key.Tag();
  return key.Scalar() == "<<" && (tag.empty() || tag == "?" || tag == "tag:yaml.org,2002:merge");
}

// Converts one document, counting nodes and their bytes as often as aliases name them, so that the
// work per body is bounded.
class Converter {
 public:
  Problems duplicates;

  Result<Json> Convert(const YAML::Node& node, std::size_t depth) {
    TRY(Count(depth));
    switch (node.Type()) {
      case YAML::NodeType::Map: return Map(node, depth);
      case YAML::NodeType::Sequence: return Sequence(node, depth);
      case YAML::NodeType::Scalar: return Value(node);
      default: return Json(nullptr);
    }
  }

 private:
  Result<Json> Map(const YAML::Node& node, std::size_t depth) {
    Json out = Json::object();
    TRY(Fill(node, depth, out));
    return out;
  }

  // In the order of the text: what is merged takes the place of what stands before it, and what
  // stands behind it the place of what was merged.
  Result<void> Fill(const YAML::Node& node, std::size_t depth, Json& out) {
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) return BadRequest("error decoding YAML: map keys must be scalars");
      if (IsMergeKey(pair.first)) {
        TRY(Merge(pair.first, pair.second, depth, out));
        continue;
      }
      const Json given = TRY(Scalar(pair.first));
      const Json text = KeyOfScalar(given);
      if (text.is_null()) return BadRequest("error decoding YAML: unsupported map key");
      const std::string& key = text.get_ref<const std::string&>();
      Json value = TRY(Convert(pair.second, depth + 1));
      const auto [member, fresh] = out.emplace(key, nullptr);
      if (!fresh) NoteDuplicate(pair.first, given.is_string() ? Quoted(key) : key);
      *member = std::move(value);
    }
    return Ok();
  }

  // One map, or several of which the first to name a key wins.
  Result<void> Merge(const YAML::Node& key, const YAML::Node& value, std::size_t depth, Json& out) {
    if (value.IsMap()) return MergeMap(value, depth, out);
    // An alias stands for one map only; what it stands for lies before the key.
    const bool alias = value.Mark().pos < key.Mark().pos;
    const bool maps = value.IsSequence() && !alias &&
                      std::all_of(value.begin(), value.end(),
                                  [](const YAML::Node& element) { return element.IsMap(); });
    if (!maps) {
      return BadRequest(
          "error decoding YAML: yaml: map merge requires map or sequence of maps as the value");
    }
    for (std::size_t i = value.size(); i-- > 0;) TRY(MergeMap(value[i], depth, out));
    return Ok();
  }
  Result<void> MergeMap(const YAML::Node& node, std::size_t depth, Json& out) {
    TRY(Count(depth));
    return Fill(node, depth + 1, out);
  }

  Result<void> Count(std::size_t depth) {
    if (depth > limits::kJsonDepth) return BadRequest("error decoding YAML: exceeded max depth");
    if (++nodes_ > limits::kYamlNodes) return BadRequest("error decoding YAML: too many nodes");
    return Ok();
  }

  void NoteDuplicate(const YAML::Node& key, const std::string& shown) {
    if (duplicates.full()) return;
    duplicates.Add("line " + std::to_string(key.Mark().line + 1) + ": key " +
                   CutText(shown, limits::kProblemPathBytes) + " already set in map");
  }

  Result<Json> Sequence(const YAML::Node& node, std::size_t depth) {
    Json out = Json::array();
    for (const YAML::Node& element : node) {
      out.push_back(TRY(Convert(element, depth + 1)));
    }
    return out;
  }

  Result<Json> Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    const std::string& tag = node.Tag();
    bytes_ += text.size();
    if (bytes_ > limits::kBodyBytes) {
      return BadRequest("error decoding YAML: yaml: document contains excessive aliasing");
    }
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return Json(text);  // quoted
    if (!tag.empty() && tag != "?" && !tag.starts_with("tag:yaml.org,2002:")) {
      return BadRequest("error decoding YAML: tag " + tag + " is not supported");
    }
    return PlainScalar(text);
  }

  // The original writes values as JSON before it decodes them: there are no infinities there, and what
  // has no fraction is an integer.
  Result<Json> Value(const YAML::Node& node) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    Json value = TRY(Scalar(node));
    if (!value.is_number_float()) return value;
    const double number = value.get<double>();
    if (!std::isfinite(number)) {
      return BadRequest("error decoding YAML: json: unsupported value: " + node.Scalar());
    }
    if (std::fabs(number) > kExact || number != std::trunc(number)) return value;
    return Json(static_cast<std::int64_t>(number));
  }

  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;  // of scalars
};

// What must be known before a tree is built: yaml-cpp finds empty documents for ever in some
// malformed text.
class Survey final : public YAML::EventHandler {
 public:
  std::size_t nodes = 0;
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { ++nodes; }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { ++nodes; }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {
    ++nodes;
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    ++nodes;
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    ++nodes;
  }
  void OnMapEnd() override {}
};

// The length of the character at the start of `text`, which must not be empty; 0 when it is not
// UTF-8.
std::size_t ReadCharacter(std::string_view text, char32_t& character) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  character = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    character = character << 6 | (next & 0x3f);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return character < kSmallest[length] || character > 0x10ffff || surrogate ? 0 : length;
}

// Characters that may stand in a YAML text as they are.
bool IsPrintable(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || c == 0x85 ||
         (c >= 0xa0 && c <= 0xfffd && c != 0xfeff) || c >= 0x10000;
}

// yaml-cpp takes any bytes.
Result<void> CheckCharacters(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    char32_t character = 0;
    const std::size_t length = ReadCharacter(text, character);
    if (length == 0) return BadRequest("error decoding YAML: yaml: invalid UTF-8");
    if (!IsPrintable(character)) {
      return BadRequest("error decoding YAML: yaml: control characters are not allowed");
    }
    text.remove_prefix(length);
  }
  return Ok();
}

Result<void> Check(const std::string& text) {
  TRY(CheckCharacters(text));
  // An open quote would be closed by the end of a text that ends in a line break.
  std::istringstream stream(text + (text.ends_with('\n') ? "#" : ""));
  YAML::Parser parser(stream);
  Survey survey;
  std::size_t documents = 0;
  while (parser.HandleNextDocument(survey)) {
    if (++documents > limits::kYamlDocuments || survey.nodes > limits::kYamlNodes) {
      return BadRequest("error decoding YAML: too many documents or nodes");
    }
  }
  return Ok();
}

// All line breaks as yaml-cpp knows them; it takes a lone carriage return for a letter.
std::string WithPlainBreaks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

Result<std::vector<ParsedJson>> Load(std::string_view text) {
  if (text.size() > limits::kBodyBytes) return RequestTooLarge("YAML body");
  try {
    const std::string copy = WithPlainBreaks(text);
    TRY(Check(copy));
    std::vector<ParsedJson> out;
    for (const YAML::Node& node : YAML::LoadAll(copy)) {
      Converter converter;
      Json value = TRY(converter.Convert(node, 1));
      out.push_back({std::move(value), std::move(converter.duplicates).Take()});
    }
    return out;
  } catch (const YAML::Exception& e) {
    return BadRequest("error decoding YAML: " + std::string(e.what()));
  }
}

// Most keys and names, which mean themselves; asking the parser about each would be slow.
bool IsWord(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kOthers = "0123456789-_./";
  constexpr std::size_t kLongestKeyword = 5;  // "false"
  return text.size() > kLongestKeyword && kLetters.find(text.front()) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kLetters.find(c) != std::string_view::npos ||
                  kOthers.find(c) != std::string_view::npos;
         });
}

bool NeedsQuotes(const std::string& text) {
  if (IsWord(text)) return false;
  if (text.empty() || text.find_first_of("\n\r\t") != std::string::npos) return true;
  for (std::string_view line_break : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    if (text.find(line_break) != std::string::npos) return true;
  }
  if (MayMisleadOthers(text)) return true;
  auto parsed = Load(text);
  return !parsed.ok() || parsed->size() != 1 || parsed->front().value != Json(text);
}

void Emit(const Json& value, std::size_t indent, std::string& out, bool in_sequence);

// JSON, but for characters that YAML does not have as they are.
std::string YamlQuote(const std::string& text) {
  const std::string quoted = JsonQuote(text);
  std::string out;
  for (std::string_view rest = quoted; !rest.empty();) {
    char32_t character = 0;
    const std::size_t length = std::max<std::size_t>(ReadCharacter(rest, character), 1);
    const bool breaks = character == 0x85 || character == 0x2028 || character == 0x2029;
    if (IsPrintable(character) && !breaks) {
      out += rest.substr(0, length);
    } else {
      constexpr const char* kHex = "0123456789abcdef";
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += kHex[character >> shift & 15];
    }
    rest.remove_prefix(length);
  }
  return out;
}

void EmitScalar(const Json& value, std::string& out) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    out += NeedsQuotes(text) ? YamlQuote(text) : text;
  } else {
    out += DumpJson(value);
  }
}

void EmitMember(const Json& value, std::size_t indent, std::string& out) {
  const bool nested = value.is_structured() && !value.empty();
  if (!nested) {
    out += ' ';
    EmitScalar(value, out);
    out += '\n';
    return;
  }
  out += '\n';
  Emit(value, value.is_array() ? indent : indent + 2, out, false);
}

constexpr std::size_t kSimpleKey = 128;  // bytes; go-yaml writes longer ones so, and 1024 is the most read

// With the colon behind it. Bare, a key of that name would ask to merge what it holds.
void EmitKey(const std::string& key, std::size_t indent, std::string& out) {
  const bool simple = key.size() <= kSimpleKey;
  if (!simple) out += "? ";
  out += key == "<<" || NeedsQuotes(key) ? YamlQuote(key) : key;
  if (!simple) out.append("\n").append(indent, ' ');
  out += ':';
}

void Emit(const Json& value, std::size_t indent, std::string& out, bool in_sequence) {
  if (value.is_object() && !value.empty()) {
    bool first = in_sequence;
    for (const auto& [key, member] : value.items()) {
      if (!first) out.append(indent, ' ');
      first = false;
      EmitKey(key, indent, out);
      // Below a question mark even a list is moved in.
      EmitMember(member, indent + (key.size() > kSimpleKey ? 2 : 0), out);
    }
  } else if (value.is_array() && !value.empty()) {
    bool first = in_sequence;
    for (const Json& element : value) {
      if (!first) out.append(indent, ' ');
      first = false;
      out += "- ";
      if (element.is_structured() && !element.empty()) {
        Emit(element, indent + 2, out, true);
      } else {
        EmitScalar(element, out);
        out += '\n';
      }
    }
  } else {
    EmitScalar(value, out);
    out += '\n';
  }
}

}  // namespace

Result<ParsedJson> ParseYamlStrict(std::string_view text) {
  // JSON is YAML, most bodies are JSON, and its parser is much faster.
  if (!text.empty() && text.front() == '{') {
    auto json = ParseJsonStrict(text);
    if (json.ok() && json->duplicates.empty()) return json;
  }
  std::vector<ParsedJson> documents = TRY(Load(text));
  if (documents.empty()) return ParsedJson{};
  if (documents.size() > 1) return BadRequest("error decoding YAML: more than one document");
  return std::move(documents.front());
}

Result<Json> ParseYaml(std::string_view text) {
  ParsedJson parsed = TRY(ParseYamlStrict(text));
  return std::move(parsed.value);
}

Result<std::vector<Json>> ParseYamlDocuments(std::string_view text) {
  std::vector<Json> out;
  for (ParsedJson& document : TRY(Load(text))) {
    if (!document.value.is_null()) out.push_back(std::move(document.value));
  }
  return out;
}

std::string DumpYaml(const Json& value) {
  std::string out;
  Emit(value, 0, out, false);
  return out;
}

}  // namespace mailroom
