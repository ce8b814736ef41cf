#include "openapi/gnostic.h"

#include <bit>

#include "openapi/protobuf_wire.h"

namespace mailroom::openapi::gnostic {
namespace {

// Any {yaml = 2}; JSON is YAML.
std::string AnyOf(const Json& value) {
  std::string out;
  PutBytes(2, DumpJson(value), out);
  return out;
}

std::string NamedValue(const std::string& name, const std::string& value) {
  std::string out;
  PutBytes(1, name, out);
  PutBytes(2, value, out);
  return out;
}

bool Fits(const Field& field, const Json& value) {
  switch (field.as) {
    case As::kText: return value.is_string();
    case As::kBool: return value.is_boolean();
    case As::kInt: return value.is_number_integer();
    case As::kDouble: return value.is_number();
    case As::kTexts:
    case As::kAnys:
    case As::kMessages: return value.is_array();
    case As::kMessage: return true;
    case As::kNamed: return value.is_object();
  }
  return false;
}

// What is of another shape is left out: documents of other servers pass here, too.
void EncodeField(const Tables& tables, const Field& field, const Json& value, std::string& out) {
  if (!Fits(field, value)) return;
  switch (field.as) {
    case As::kText:
      PutBytes(field.number, value.get_ref<const std::string&>(), out);
      return;
    case As::kBool:
      if (value.get<bool>()) PutNumber(field.number, 1, out);
      return;
    case As::kInt:
      PutNumber(field.number, static_cast<std::uint64_t>(value.get<std::int64_t>()), out);
      return;
    case As::kDouble:
      PutFixed64(field.number, std::bit_cast<std::uint64_t>(value.get<double>()), out);
      return;
    case As::kTexts:
      for (const Json& text : value) {
        if (text.is_string()) PutBytes(field.number, text.get_ref<const std::string&>(), out);
      }
      return;
    case As::kAnys:
      for (const Json& element : value) PutBytes(field.number, AnyOf(element), out);
      return;
    case As::kMessage:
      PutBytes(field.number, Encode(tables, field.message, value), out);
      return;
    case As::kMessages:
      for (const Json& element : value) PutBytes(field.number, Encode(tables, field.message, element), out);
      return;
    case As::kNamed:
      for (const auto& [name, element] : value.items()) {
        PutBytes(field.number, NamedValue(name, Encode(tables, field.message, element)), out);
      }
      return;
  }
}

}  // namespace

std::string Encode(const Tables& tables, std::string_view name, const Json& value) {
  const Message& message = tables.at(name);
  if (message.encode) return message.encode(tables, value);
  std::string out;
  for (const Field& field : message.fields) {
    const std::string_view member = field.member;
    if (member.empty() || member == "*") {
      EncodeField(tables, field, value, out);
    } else if (auto it = value.find(member); it != value.end()) {
      EncodeField(tables, field, *it, out);
    }
  }
  if (message.extensions == 0) return out;
  for (const auto& [key, extension] : value.items()) {
    if (!key.starts_with("x-")) continue;
    PutBytes(message.extensions, NamedValue(key, AnyOf(extension)), out);
  }
  return out;
}

}  // namespace mailroom::openapi::gnostic
