#include "openapi/descriptions.h"

#include <algorithm>
#include <cctype>

#include "openapi/builtin.h"

namespace mailroom::openapi {
namespace {

// More values than these are not spelled out; clients show them apart.
constexpr std::size_t kValuesShown = 8;

struct Words {
  std::string_view member;
  std::string_view text;
};

// What objects of every kind have.
constexpr Words kCommon[] = {
    {"apiVersion", "APIVersion defines the schema that this object is written in."},
    {"kind", "Name of the kind this object is of."},
    {"metadata", "Standard object's metadata: its name, labels and the like."},
    {"spec", "What is wanted."},
    {"status", "What was last observed."},
    {"creationTimestamp", "CreationTimestamp is a timestamp set by the server."},
    {"deletionTimestamp", "When the object is to be gone; set by a delete."},
    {"resourceVersion", "Changes with every write of the object."},
    {"generateName", "Beginning of a name that the server completes."},
    {"finalizers", "Who must agree before a deleted object is gone."},
    {"ownerReferences", "Objects without which this one is garbage."},
    {"managedFields", "Which manager last wrote which fields."},
};

// What recurs in many types and means the same in all of them.
constexpr Words kRecurring[] = {
    {"annotations", "Unstructured notes of tools, by key; nothing is selected by them."},
    {"labels", "Short values by key, by which objects are selected and grouped."},
    {"namespace", "Namespace it is in."},
    {"uid", "Told by the server, never given twice, not even to the same name."},
    {"generation", "Grows with every change of what is wanted."},
    {"observedGeneration", "The generation that the rest of the status is about."},
    {"deletionGracePeriodSeconds", "Seconds that a deleted object is given to end well."},
    {"selfLink", "Not set any more."},
    {"conditions", "What holds at present, each aspect by its type."},
    {"lastTransitionTime", "When the condition last became what it is."},
    {"lastUpdateTime", "When the condition was last looked at."},
    {"reason", "Why, in one word for programs."},
    {"message", "Why, in words for people."},
    {"selector", "Which objects are meant, by their labels."},
    {"matchLabels", "Labels that must all be there with these values."},
    {"matchExpressions", "Requirements on labels that must all hold."},
    {"template", "What the objects to be made look like."},
    {"replicas", "How many are wanted, or were counted."},
    {"readyReplicas", "How many are ready."},
    {"availableReplicas", "How many have been ready for long enough."},
    {"resources", "What it needs and what it may use at most."},
    {"limits", "The most that may be used, by resource."},
    {"requests", "The least that must be there, by resource."},
    {"immutable", "Whether the content may never change again."},
    {"stringData", "Values as plain text, written into data; never read back."},
    {"binaryData", "Values that are not text, by key, in base64."},
    {"items", "The objects of the list."},
    {"remainingItemCount", "How many follow after this page, where that is known."},
    {"continue", "Token for the next page; empty on the last."},
};

template <std::size_t N>
std::string_view Lookup(const Words (&table)[N], std::string_view member) {
  for (const Words& words : table) {
    if (words.member == member) return words.text;
  }
  return "";
}

bool Upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool Lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

// `podCIDRs` as `Pod CIDRs`: a new word at every capital, abbreviations whole.
std::string InWords(std::string_view name) {
  std::string out;
  std::size_t start = 0;
  auto add = [&](std::size_t end) {
    if (end == start) return;
    std::string word(name.substr(start, end - start));
    const bool abbreviation = word.size() > 1 && Upper(word[0]) && Upper(word[1]);
    if (!abbreviation) word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    if (!out.empty()) out += ' ';
    out += word;
    start = end;
  };
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (!Upper(name[i])) continue;
    // The last capital of a run begins a word, unless only a plural follows it.
    const bool plural = i + 1 < name.size() && name[i + 1] == 's' &&
                        (i + 2 == name.size() || Upper(name[i + 2]));
    const bool begins = i + 1 < name.size() && Lower(name[i + 1]) && !plural;
    if (!Upper(name[i - 1]) || begins) add(i);
  }
  add(name.size());
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

// `core/v1.PodSpec` as `PodSpec`.
std::string_view ShortName(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string Joined(const std::vector<std::string>& parts, const char* last) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? last : ", ";
    out += parts[i];
  }
  return out;
}

std::string ScalarText(const Schema& schema) {
  switch (schema.wire) {
    case Wire::kTime:
    case Wire::kMicroTime: return "a time";
    case Wire::kDuration: return "a duration such as 90s";
    case Wire::kQuantity: return "a quantity such as 500m or 2Gi";
    case Wire::kIntOrString: return "a number or text";
    case Wire::kBytes: return "bytes in base64";
    case Wire::kRaw: return "anything";
    default: break;
  }
  switch (schema.type) {
    case Type::kString: return "text";
    case Type::kInteger: return "a whole number";
    case Type::kNumber: return "a number";
    case Type::kBoolean: return "true or false";
    case Type::kObject: return schema.name.empty() ? "an object" : std::string(ShortName(schema.name));
    default: return "anything";
  }
}

// Of what a list or map is made.
std::string ElementText(const Schema& schema) {
  if (schema.type == Type::kArray) return "lists";
  std::string text = ScalarText(schema);
  for (const std::string_view article : {"a ", "an "}) {
    if (text.starts_with(article)) text.erase(0, article.size());
  }
  return text;
}

std::string ShapeText(const Property& property) {
  const Schema& schema = *property.schema;
  if (schema.type == Type::kArray && schema.items != nullptr && schema.wire != Wire::kBytes) {
    const bool set = schema.list_type == ListType::kSet;
    std::string text = (set ? "a set of " : "a list of ") + ElementText(*schema.items);
    std::vector<std::string> keys = schema.list_map_keys;
    if (keys.empty() && !property.patch_merge_key.empty()) keys = {property.patch_merge_key};
    if (!keys.empty()) text += ", merged by " + Joined(keys, " and ");
    return text;
  }
  if (schema.type == Type::kObject && schema.additional != nullptr) {
    return "a map from names to " + ElementText(*schema.additional);
  }
  return ScalarText(schema);
}

std::string ValuesText(const Schema& schema) {
  const std::vector<Json>& values = schema.type == Type::kArray && schema.items != nullptr
                                        ? schema.items->enum_values
                                        : schema.enum_values;
  std::vector<std::string> shown;
  for (const Json& value : values) {
    const std::string text = value.is_string() ? value.get<std::string>() : DumpJson(value);
    if (!text.empty()) shown.push_back(text);
  }
  if (shown.empty() || shown.size() > kValuesShown) return "";
  return (schema.type == Type::kArray ? "; of " : "; one of ") + Joined(shown, " or ");
}

}  // namespace

Result<ApiDocs> ApiDocs::Parse(std::string_view text) {
  const Json tree = TRY(ParseJson(text));
  ApiDocs docs;
  if (!tree.is_object()) return BadRequest("API docs are no JSON object");
  for (const auto& [model, members] : tree.items()) {
    if (!members.is_object()) return BadRequest("API docs of " + Quoted(model) + " are no object");
    for (const auto& [member, words] : members.items()) {
      if (!words.is_string()) {
        return BadRequest("API docs of " + Quoted(model + "." + member) + " are no text");
      }
      docs.models_[model][member] = words.get<std::string>();
    }
  }
  return docs;
}

const std::string* ApiDocs::Find(std::string_view model, std::string_view member) const {
  const auto members = models_.find(model);
  if (members == models_.end()) return nullptr;
  const auto found = members->second.find(member);
  return found == members->second.end() || found->second.empty() ? nullptr : &found->second;
}

std::string_view DescribeCommon(std::string_view member) { return Lookup(kCommon, member); }

std::string DescribeType(const Schema& schema, const ApiDocs* docs) {
  if (docs != nullptr) {
    if (const std::string* text = docs->Find(BuiltinModelName(schema.name), "")) return *text;
  }
  const std::string name(ShortName(schema.name));
  const std::string words = InWords(name);
  const bool kind = schema.Find("metadata") != nullptr && schema.Find("kind") != nullptr;
  if (kind) return name + " is an object of the API: " + words + ".";
  std::vector<std::string> members;
  for (const Property& property : schema.properties) members.push_back(property.name);
  if (members.empty()) return words + ".";
  std::string text = words + ", which has ";
  if (members.size() > kValuesShown) {
    const std::size_t more = members.size() - (kValuesShown - 1);
    members.resize(kValuesShown - 1);
    members.push_back(std::to_string(more) + " more members");
  }
  return text + Joined(members, " and ") + ".";
}

std::string DescribeMember(const Schema& owner, const Property& property, const ApiDocs* docs) {
  if (docs != nullptr) {
    if (const std::string* text = docs->Find(BuiltinModelName(owner.name), property.name)) {
      return *text;
    }
  }
  if (const auto words = Lookup(kCommon, property.name); !words.empty()) return std::string(words);
  const std::string_view recurring = Lookup(kRecurring, property.name);
  std::string text =
      recurring.empty() ? InWords(property.name) + ": " : std::string(recurring) + " It is ";
  text += ShapeText(property) + ValuesText(*property.schema);
  if (property.required) text += "; required";
  return text + ".";
}

}  // namespace mailroom::openapi
