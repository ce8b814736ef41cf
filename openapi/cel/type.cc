#include "openapi/cel/type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "storage/object/limits.h"
#include "storage/object/problems.h"

namespace mailroom::cel {
namespace {

constexpr std::array<std::string_view, 18> kNames = {
    "!error!", "dyn",       "null_type", "bool",
    "int",     "uint",      "double",    "string",
    "bytes",   "google.protobuf.Timestamp", "google.protobuf.Duration", "list",
    "map",     "object",    "optional_type", "type",
    "opaque",  "param"};

constexpr std::array<std::string_view, 21> kReserved = {
    "true", "false",  "null", "in",     "as",      "break",     "const",
    "continue", "else", "for", "function", "if",   "import",    "let",
    "loop", "package", "namespace", "return", "var", "void",    "while"};

TypePtr Make(Kind kind, std::vector<TypePtr> params, std::string name = "") {
  auto type = std::make_shared<Type>();
  type->kind = kind;
  type->params = std::move(params);
  type->name = std::move(name);
  return type;
}

bool Named(Kind kind) {
  return kind == Kind::kObject || kind == Kind::kOpaque || kind == Kind::kParam;
}

}  // namespace

const Field* Type::FindField(std::string_view field) const {
  auto at = std::lower_bound(fields.begin(), fields.end(), field,
                             [](const Field& a, std::string_view b) { return a.name < b; });
  return at != fields.end() && at->name == field ? &*at : nullptr;
}

const TypePtr& Simple(Kind kind) {
  static const auto* kTypes = [] {
    auto* types = new std::array<TypePtr, kNames.size()>;
    for (std::size_t i = 0; i < types->size(); ++i) (*types)[i] = Make(static_cast<Kind>(i), {});
    return types;
  }();
  return (*kTypes)[static_cast<std::size_t>(kind)];
}

TypePtr MakeList(TypePtr element) { return Make(Kind::kList, {std::move(element)}); }
TypePtr MakeMap(TypePtr key, TypePtr value) {
  return Make(Kind::kMap, {std::move(key), std::move(value)});
}
TypePtr MakeOptional(TypePtr value) { return Make(Kind::kOptional, {std::move(value)}); }
TypePtr MakeTypeOf(TypePtr type) { return Make(Kind::kType, {std::move(type)}); }
TypePtr MakeOpaque(std::string name) { return Make(Kind::kOpaque, {}, std::move(name)); }
TypePtr MakeParam(std::string name) { return Make(Kind::kParam, {}, std::move(name)); }

TypePtr MakeObject(std::string name, std::vector<Field> fields) {
  auto type = std::make_shared<Type>();
  type->kind = Kind::kObject;
  type->name = std::move(name);
  type->fields = std::move(fields);
  std::sort(type->fields.begin(), type->fields.end(),
            [](const Field& a, const Field& b) { return a.name < b.name; });
  return type;
}

std::string_view RuntimeName(const Type& type) {
  return Named(type.kind) ? std::string_view(type.name)
                          : kNames[static_cast<std::size_t>(type.kind)];
}

namespace {

std::string_view ShownName(const Type& type) {
  switch (type.kind) {
    case Kind::kTimestamp: return "timestamp";
    case Kind::kDuration: return "duration";
    case Kind::kNull: return "null";
    default: return RuntimeName(type);
  }
}

// Stops once the text is longer than `most`.
void Write(const Type& type, std::size_t most, std::string& text) {
  text += ShownName(type);
  if (type.params.empty()) return;
  text += "(";
  for (std::size_t i = 0; i < type.params.size() && text.size() <= most; ++i) {
    if (i > 0) text += ", ";
    Write(*type.params[i], most, text);
  }
  text += ")";
}

}  // namespace

std::string Display(const Type& type) {
  std::string text;
  Write(type, std::string::npos, text);
  return text;
}

std::string DisplayCut(const Type& type) {
  std::string text;
  Write(type, limits::kProblemPathBytes, text);
  return CutText(text, limits::kProblemPathBytes);
}

bool SameType(const Type& a, const Type& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.params.size() != b.params.size()) return false;
  if (Named(a.kind) && a.name != b.name) return false;
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (!SameType(*a.params[i], *b.params[i])) return false;
  }
  return true;
}

std::string Escape(std::string_view property) {
  if (property.empty() || (property[0] >= '0' && property[0] <= '9')) return "";
  if (std::find(kReserved.begin(), kReserved.end(), property) != kReserved.end()) {
    return "__" + std::string(property) + "__";
  }
  std::string out;
  for (std::size_t i = 0; i < property.size(); ++i) {
    const char c = property[i];
    if (c == '_' && i + 1 < property.size() && property[i + 1] == '_') {
      out += "__underscores__";
      ++i;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_') {
      out += c;
    } else {
      return "";
    }
  }
  return out;
}

}  // namespace mailroom::cel
