#include <bit>
#include <chrono>
#include <cstdio>

#include "openapi/base64.h"
#include "openapi/protobuf.h"
#include "openapi/protobuf_wire.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

// First and last second that RFC 3339 can write.
constexpr std::int64_t kFirstSecond = -62'135'596'800, kLastSecond = 253'402'300'799;

bool ValidUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
    if (size == 0 || i + size > text.size()) return false;
    for (std::size_t k = 1; k < size; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    }
    const auto next = size > 1 ? static_cast<unsigned char>(text[i + 1]) : 0;
    // Overlong forms, surrogates, and what lies past the last code point.
    if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
        (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) {
      return false;
    }
    i += size;
  }
  return true;
}

Status Malformed(std::string_view what) {
  return BadRequest("the protobuf body is malformed: " + std::string(what));
}

bool IsZero(const Schema& schema, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text.empty() || (schema.wire == Wire::kQuantity && text == "0");
  }
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  return schema.wire == Wire::kMessage && value.empty();
}

class Decoder {
 public:
  // Fields of `bytes` are merged into `out`, as protobuf does for a message met twice.
  Result<void> Message(const Schema& type, std::string_view bytes, Json& out) {
    if (++depth_ > limits::kJsonDepth) return Malformed("nested too deeply");
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(field)) {
      const MessageField* known = FindMessageField(type, field.number);
      if (known == nullptr) continue;
      if (known->embedded) {
        if (field.type != WireType::kBytes) return Malformed("wrong wire type");
        TRY(Message(*known->property->schema, field.bytes, out));
      } else {
        TRY(Member(*known->property, field, out));
      }
    }
    if (!reader.ok()) return Malformed("unexpected end");
    --depth_;
    return Ok();
  }

 private:
  Result<void> Member(const Property& property, const WireField& field, Json& out) {
    const Schema& schema = *property.schema;
    if (schema.type == Type::kArray && schema.wire != Wire::kItems) {
      return Repeated(schema, field, out[property.name]);
    }
    if (schema.wire == Wire::kMap) return Entry(schema, field, out[property.name]);
    Json value;
    if (schema.wire == Wire::kMessage) {
      if (field.type != WireType::kBytes) return Malformed("wrong wire type");
      auto before = out.find(property.name);
      value = before == out.end() ? Json::object() : std::move(*before);
      TRY(Message(schema, field.bytes, value));
    } else {
      value = TRY(Value(schema, field));
    }
    const bool unset =
        value.is_null() || (!property.pointer && !property.always && IsZero(schema, value));
    if (unset) {
      out.erase(property.name);
    } else {
      out[property.name] = std::move(value);
    }
    return Ok();
  }

  Result<void> Repeated(const Schema& schema, const WireField& field, Json& list) {
    if (!list.is_array()) list = Json::array();
    const bool number = schema.items->wire == Wire::kInt32 || schema.items->wire == Wire::kInt64 ||
                        schema.items->wire == Wire::kBool;
    if (!number || field.type != WireType::kBytes) {
      list.push_back(TRY(Value(*schema.items, field)));
      return Ok();
    }
    WireReader packed(field.bytes);
    WireField single;
    single.type = WireType::kVarint;
    while (!packed.empty()) {
      if (!packed.NextVarint(single.value)) return Malformed("unexpected end");
      list.push_back(TRY(Value(*schema.items, single)));
    }
    return Ok();
  }

  Result<void> Entry(const Schema& schema, const WireField& field, Json& map) {
    if (field.type != WireType::kBytes) return Malformed("wrong wire type");
    if (!map.is_object()) map = Json::object();
    WireReader reader(field.bytes);
    WireField part, value;
    value.type = SchemaWireType(*schema.additional);
    std::string_view key;
    while (reader.Next(part)) {
      if (part.number == 1 && part.type == WireType::kBytes) key = part.bytes;
      if (part.number == 2) value = part;
    }
    if (!reader.ok()) return Malformed("unexpected end");
    if (!ValidUtf8(key)) return Malformed("a string is not UTF-8");
    map[std::string(key)] = TRY(Value(*schema.additional, value));
    return Ok();
  }

  static WireType SchemaWireType(const Schema& schema) {
    switch (schema.wire) {
      case Wire::kBool:
      case Wire::kInt32:
      case Wire::kInt64:
        return WireType::kVarint;
      case Wire::kDouble:
        return WireType::kFixed64;
      default:
        return WireType::kBytes;
    }
  }

  Result<Json> Value(const Schema& schema, const WireField& field) {
    if (field.type != SchemaWireType(schema)) return Malformed("wrong wire type");
    switch (schema.wire) {
      case Wire::kString:
        if (!ValidUtf8(field.bytes)) return Malformed("a string is not UTF-8");
        return Json(std::string(field.bytes));
      case Wire::kBool:
        return Json(field.value != 0);
      case Wire::kInt32:
        return Json(static_cast<std::int32_t>(field.value));
      case Wire::kInt64:
        return Json(static_cast<std::int64_t>(field.value));
      case Wire::kDouble:
        return Json(std::bit_cast<double>(field.value));
      case Wire::kBytes:
        return Json(EncodeBase64(field.bytes));
      case Wire::kTime:
      case Wire::kMicroTime:
        return Time(field.bytes, schema.wire == Wire::kMicroTime);
      case Wire::kQuantity:
        return Quantity(field.bytes);
      case Wire::kIntOrString:
        return IntOrString(field.bytes);
      case Wire::kRaw:
        return Raw(field.bytes);
      case Wire::kItems:
        return Items(schema, field.bytes);
      case Wire::kSchemaOrBool:
      case Wire::kSchemaOrArray:
      case Wire::kSchemaOrStrings:
        return SchemaOr(schema, field.bytes);
      case Wire::kMessage: {
        Json value = Json::object();
        TRY(Message(schema, field.bytes, value));
        return value;
      }
      case Wire::kNone:
      case Wire::kDuration:  // of configuration files only
      case Wire::kMap:
        break;
    }
    return Malformed("a field has no protobuf form");
  }

  static Result<Json> Time(std::string_view bytes, bool micro) {
    if (bytes.empty()) return Json();
    std::int64_t seconds = 0, nanos = 0;
    WireReader reader(bytes);
    for (WireField field; reader.Next(field);) {
      if (field.number == 1) seconds = static_cast<std::int64_t>(field.value);
      if (field.number == 2) nanos = static_cast<std::int32_t>(field.value);
    }
    if (!reader.ok()) return Malformed("unexpected end");
    if (seconds < kFirstSecond || seconds > kLastSecond || nanos < 0 || nanos > 999'999'999) {
      return Malformed("a time is out of range");
    }
    const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
    const auto midnight = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{midnight};
    const std::chrono::hh_mm_ss clock{time - midnight};
    char text[64];
    int size = std::snprintf(
        text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()));
    std::string result(text, static_cast<std::size_t>(size));
    if (micro) {
      size = std::snprintf(text, sizeof(text), ".%06d", static_cast<int>(nanos / 1000));
      result.append(text, static_cast<std::size_t>(size));
    }
    return Json(result + "Z");
  }

  static Result<Json> Quantity(std::string_view bytes) {
    std::string_view text = "0";
    WireReader reader(bytes);
    for (WireField field; reader.Next(field);) {
      if (field.number == 1 && field.type == WireType::kBytes) text = field.bytes;
    }
    if (!reader.ok()) return Malformed("unexpected end");
    if (!ValidUtf8(text)) return Malformed("a string is not UTF-8");
    return Json(std::string(text));
  }

  static Result<Json> IntOrString(std::string_view bytes) {
    bool is_string = false;
    std::int32_t number = 0;
    std::string_view text;
    WireReader reader(bytes);
    for (WireField field; reader.Next(field);) {
      if (field.number == 1) is_string = field.value != 0;
      if (field.number == 2) number = static_cast<std::int32_t>(field.value);
      if (field.number == 3 && field.type == WireType::kBytes) text = field.bytes;
    }
    if (!reader.ok()) return Malformed("unexpected end");
    if (!is_string) return Json(number);
    if (!ValidUtf8(text)) return Malformed("a string is not UTF-8");
    return Json(std::string(text));
  }

  // Extensions hold JSON text, also in a protobuf body.
  static Result<Json> Raw(std::string_view bytes) {
    std::string_view raw;
    WireReader reader(bytes);
    for (WireField field; reader.Next(field);) {
      if (field.number == 1 && field.type == WireType::kBytes) raw = field.bytes;
    }
    if (!reader.ok()) return Malformed("unexpected end");
    if (raw.empty()) return Json();
    return ParseJson(raw);
  }

  Result<Json> Items(const Schema& schema, std::string_view bytes) {
    Json list = Json::array();
    WireReader reader(bytes);
    for (WireField field; reader.Next(field);) {
      if (field.number == 1) list.push_back(TRY(Value(*schema.items, field)));
    }
    if (!reader.ok()) return Malformed("unexpected end");
    return list;
  }

  // A schema, or in its place a boolean, a list of schemas or a list of names.
  Result<Json> SchemaOr(const Schema& schema, std::string_view bytes) {
    const bool boolean = schema.wire == Wire::kSchemaOrBool;
    const std::uint32_t schema_number = boolean ? 2 : 1;
    bool allows = false;
    Json single, list = Json::array();
    WireReader reader(bytes);
    for (WireField field; reader.Next(field);) {
      if (field.number == schema_number && field.type == WireType::kBytes) {
        single = Json::object();
        TRY(Message(*schema.items, field.bytes, single));
      } else if (boolean && field.number == 1) {
        allows = field.value != 0;
      } else if (!boolean && field.number == 2 && field.type == WireType::kBytes) {
        if (schema.wire == Wire::kSchemaOrStrings) {
          if (!ValidUtf8(field.bytes)) return Malformed("a string is not UTF-8");
          list.push_back(std::string(field.bytes));
        } else {
          Json element = Json::object();
          TRY(Message(*schema.items, field.bytes, element));
          list.push_back(std::move(element));
        }
      }
    }
    if (!reader.ok()) return Malformed("unexpected end");
    if (!single.is_null()) return single;
    if (boolean) return Json(allows);
    return list.empty() ? Json() : list;
  }

  std::size_t depth_ = 0;
};

}  // namespace

Result<Json> DecodeMessage(const Schema& type, std::string_view bytes) {
  Json value = Json::object();
  TRY(Decoder().Message(type, bytes, value));
  return value;
}

}  // namespace mailroom::openapi
