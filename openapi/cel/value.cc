#include "openapi/cel/value.h"

#include <algorithm>
#include <cmath>

#include "storage/object/json.h"
#include "storage/object/limits.h"
#include "storage/object/problems.h"

namespace mailroom::cel {
namespace {

struct TextNode : Node {
  explicit TextNode(std::string given) : text(std::move(given)) {}
  std::string text;
};
struct ListNode : Node {
  explicit ListNode(std::vector<Value> given) : items(std::move(given)) {}
  std::vector<Value> items;
};
struct MapNode : Node {
  explicit MapNode(Entries given) : entries(std::move(given)) {}
  Entries entries;
};
struct OptionalNode : Node {
  explicit OptionalNode(Value given) : value(std::move(given)) {}
  Value value;
};

// Years 1 to 9999.
constexpr std::int64_t kFirstSecond = -62135596800;
constexpr std::int64_t kLastSecond = 253402300799;

const Json* Member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

bool DecodeBase64(std::string_view text, std::string& out) {
  unsigned bits = 0;
  int count = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (char c : text) {
    unsigned digit = 0;
    if (c >= 'A' && c <= 'Z') digit = static_cast<unsigned>(c - 'A');
    else if (c >= 'a' && c <= 'z') digit = static_cast<unsigned>(c - 'a') + 26;
    else if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0') + 52;
    else if (c == '+') digit = 62;
    else if (c == '/') digit = 63;
    else if (c == '\n' || c == '\r') continue;
    else return false;
    bits = (bits << 6) | digit;
    if (++count % 4 != 1) out += static_cast<char>((bits >> (6 - 2 * ((count - 1) % 4))) & 0xff);
  }
  return count % 4 != 1;
}

Value ShapedText(const Json& json, const Type& shape) {
  const auto& text = json.get_ref<const std::string&>();
  switch (shape.kind) {
    case Kind::kTimestamp: {
      Moment moment;
      if (ParseMoment(text, moment) || ParseMoment(text + "T00:00:00Z", moment)) {
        return Value::Timestamp(moment);
      }
      return Value::Error("Invalid date-time formatted string " + text);
    }
    case Kind::kDuration: {
      std::int64_t nanos = 0;
      if (ParseDuration(text, nanos)) return Value::Duration(nanos);
      return Value::Error("Invalid duration " + text);
    }
    case Kind::kBytes: {
      std::string bytes;
      if (DecodeBase64(text, bytes)) return Value::Bytes(std::move(bytes));
      return Value::Error("Invalid byte formatted string " + text);
    }
    default:
      return Value::Borrowed(text);
  }
}

}  // namespace

Value Value::Bool(bool value) {
  Value out;
  out.kind_ = Kind::kBool;
  out.scalar_.integer = 0;
  out.scalar_.truth = value;
  return out;
}
Value Value::Int(std::int64_t value) {
  Value out;
  out.kind_ = Kind::kInt;
  out.scalar_.integer = value;
  return out;
}
Value Value::Uint(std::uint64_t value) {
  Value out;
  out.kind_ = Kind::kUint;
  out.scalar_.natural = value;
  return out;
}
Value Value::Double(double value) {
  Value out;
  out.kind_ = Kind::kDouble;
  out.scalar_.real = value;
  return out;
}
Value Value::Borrowed(std::string_view text) {
  Value out;
  out.kind_ = Kind::kString;
  out.text_ = text;
  return out;
}
Value Value::String(std::string text) {
  auto node = std::make_shared<TextNode>(std::move(text));
  Value out = Borrowed(node->text);
  out.node_ = std::move(node);
  return out;
}
Value Value::Bytes(std::string bytes) {
  Value out = String(std::move(bytes));
  out.kind_ = Kind::kBytes;
  return out;
}
Value Value::TypeNamed(std::string name) {
  Value out = String(std::move(name));
  out.kind_ = Kind::kType;
  return out;
}
Value Value::Error(const std::string& message) {
  Value out = String(CutText(message, limits::kProblemValueBytes));
  out.kind_ = Kind::kError;
  return out;
}
Value Value::Timestamp(Moment moment) {
  if (moment.seconds < kFirstSecond || moment.seconds > kLastSecond) {
    return Error("timestamp overflow");
  }
  Value out = Int(moment.seconds);
  out.kind_ = Kind::kTimestamp;
  out.fraction_ = moment.nanos;
  return out;
}
Value Value::Duration(std::int64_t nanos) {
  Value out = Int(nanos);
  out.kind_ = Kind::kDuration;
  return out;
}
Value Value::Holding(Kind kind, std::shared_ptr<const Node> node) {
  Value out;
  out.kind_ = kind;
  out.node_ = std::move(node);
  return out;
}
Value Value::List(std::vector<Value> items) {
  return Holding(Kind::kList, std::make_shared<ListNode>(std::move(items)));
}
Value Value::Map(Entries entries) {
  return Holding(Kind::kMap, std::make_shared<MapNode>(std::move(entries)));
}
Value Value::Optional(Value value) {
  return Holding(Kind::kOptional, std::make_shared<OptionalNode>(std::move(value)));
}
Value Value::None() { return Holding(Kind::kOptional, nullptr); }
Value Value::Of(std::shared_ptr<const Opaque> node) {
  return Holding(Kind::kOpaque, std::move(node));
}
Value Value::Of(std::shared_ptr<const Record> node) {
  return Holding(Kind::kObject, std::move(node));
}

Value Value::FromJson(const Json& json, const Type* shape) {
  if (shape != nullptr && shape->kind == Kind::kDyn) shape = nullptr;
  switch (json.type()) {
    case Json::value_t::boolean: return Bool(json.get<bool>());
    case Json::value_t::string:
      return shape != nullptr ? ShapedText(json, *shape)
                              : Borrowed(json.get_ref<const std::string&>());
    case Json::value_t::number_integer:
      if (shape != nullptr && shape->kind == Kind::kDouble) return Double(json.get<double>());
      return Int(json.get<std::int64_t>());
    case Json::value_t::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      if ((shape != nullptr && shape->kind == Kind::kDouble) || number > INT64_MAX) {
        return Double(static_cast<double>(number));
      }
      return Int(static_cast<std::int64_t>(number));
    }
    case Json::value_t::number_float: {
      const double number = json.get<double>();
      if (shape != nullptr && shape->kind == Kind::kInt && std::trunc(number) == number &&
          std::abs(number) < 9e18) {
        return Int(static_cast<std::int64_t>(number));
      }
      return Double(number);
    }
    case Json::value_t::array:
    case Json::value_t::object: {
      Value out;
      out.kind_ = json.is_array() ? Kind::kList : Kind::kMap;
      if (shape != nullptr && shape->kind == Kind::kObject && json.is_object()) {
        out.kind_ = Kind::kObject;
      }
      out.json_ = &json;
      out.shape_ = shape != nullptr && shape->kind == out.kind_ ? shape : nullptr;
      return out;
    }
    default: return {};
  }
}

Moment Value::moment() const { return {scalar_.integer, fraction_}; }

std::int64_t Value::size() const {
  switch (kind_) {
    case Kind::kString: return CountRunes(text_);
    case Kind::kBytes: return static_cast<std::int64_t>(text_.size());
    case Kind::kList:
      if (json_ != nullptr) return static_cast<std::int64_t>(json_->size());
      return static_cast<std::int64_t>(static_cast<const ListNode*>(node_.get())->items.size());
    case Kind::kMap:
    case Kind::kObject:
      if (json_ != nullptr) return static_cast<std::int64_t>(json_->size());
      if (const Record* fields = record()) {
        return static_cast<std::int64_t>(fields->Fields().size());
      }
      return static_cast<std::int64_t>(static_cast<const MapNode*>(node_.get())->entries.size());
    default: return -1;
  }
}

Value Value::At(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  if (json_ == nullptr) return static_cast<const ListNode*>(node_.get())->items[i];
  return FromJson((*json_)[i], shape_ != nullptr ? shape_->params[0].get() : nullptr);
}

void Value::Append(Value item) {
  if (json_ != nullptr || node_.use_count() != 1) {
    std::vector<Value> items;
    const std::int64_t count = size();
    items.reserve(static_cast<std::size_t>(count) + 1);
    for (std::int64_t i = 0; i < count; ++i) items.push_back(At(i));
    *this = List(std::move(items));
  }
  // The only holder may change the list that it made.
  const_cast<ListNode*>(static_cast<const ListNode*>(node_.get()))->items.push_back(std::move(item));
}

bool Value::LookupField(std::string_view field, Value& out) const {
  if (kind_ == Kind::kObject) {
    if (const Record* fields = record()) {
      if (!fields->Has(field)) return false;
      out = fields->Get(field);
      return true;
    }
    const Field* declared = shape_->FindField(field);
    if (declared == nullptr && !shape_->open) return false;
    const Json* member =
        Member(*json_, declared != nullptr ? std::string_view(declared->member) : field);
    // An explicit null is an absent field, as of a nullable property.
    if (member == nullptr || member->is_null()) return false;
    out = FromJson(*member, declared != nullptr ? declared->type.get() : nullptr);
    return true;
  }
  return Lookup(Borrowed(field), out);
}

bool Value::Lookup(const Value& key, Value& out) const {
  if (kind_ == Kind::kObject) return key.is(Kind::kString) && LookupField(key.text(), out);
  if (json_ != nullptr) {
    if (!key.is(Kind::kString)) return false;
    const Json* member = Member(*json_, key.text());
    if (member == nullptr) return false;
    out = FromJson(*member, shape_ != nullptr ? shape_->params[1].get() : nullptr);
    return true;
  }
  const Entries& entries = static_cast<const MapNode*>(node_.get())->entries;
  const auto at = entries.find(key);
  if (at == entries.end()) return false;
  out = at->second;
  return true;
}

std::vector<Value> Value::Keys() const {
  std::vector<Value> keys;
  if (const Record* fields = kind_ == Kind::kObject ? record() : nullptr) {
    for (std::string& name : fields->Fields()) keys.push_back(String(std::move(name)));
  } else if (json_ != nullptr) {
    keys.reserve(json_->size());
    for (const auto& [name, member] : json_->items()) keys.push_back(Borrowed(name));
  } else {
    for (const auto& [key, value] : static_cast<const MapNode*>(node_.get())->entries) {
      keys.push_back(key);
    }
  }
  return keys;
}

bool Value::has_value() const { return kind_ == Kind::kOptional && node_ != nullptr; }
Value Value::unwrap() const { return static_cast<const OptionalNode*>(node_.get())->value; }
const Opaque* Value::opaque() const {
  return kind_ == Kind::kOpaque ? static_cast<const Opaque*>(node_.get()) : nullptr;
}
const Record* Value::record() const {
  return kind_ == Kind::kObject && json_ == nullptr ? static_cast<const Record*>(node_.get())
                                                    : nullptr;
}

std::string Value::TypeName() const {
  if (const Opaque* own = opaque()) return std::string(own->type_name());
  if (const Record* fields = record()) return std::string(fields->type_name());
  if (kind_ == Kind::kObject && shape_ != nullptr) return shape_->name;
  return std::string(RuntimeName(*Simple(kind_)));
}

std::int64_t CountRunes(std::string_view text) {
  std::int64_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

namespace {

// Whether the steps suffice for a copy of the tree.
bool Afford(const Json& tree, Steps& steps) {
  const std::size_t length = tree.is_string() ? tree.get_ref<const std::string&>().size() : 0;
  if (!steps.Take() || length >= steps.left) {
    steps.left = 0;
    return false;
  }
  steps.left -= length;
  if (!tree.is_structured()) return true;
  return std::all_of(tree.begin(), tree.end(),
                     [&](const Json& member) { return Afford(member, steps); });
}

bool TreeOf(const Value& value, Json& out, std::string& error, Steps& steps) {
  // Texts and trees are copied, so their size counts.
  const bool textual = value.is(Kind::kString) || value.is(Kind::kBytes);
  if (!steps.Take() || (textual && value.text().size() >= steps.left) ||
      (value.json() != nullptr && !Afford(*value.json(), steps))) {
    steps.left = 0;
    error = "the value is too large";
    return false;
  }
  if (textual) steps.left -= value.text().size();
  if (value.json() != nullptr) {
    out = *value.json();
    return true;
  }
  switch (value.kind()) {
    case Kind::kNull: out = nullptr; return true;
    case Kind::kBool: out = value.truth(); return true;
    case Kind::kInt: out = value.integer(); return true;
    case Kind::kUint: out = value.natural(); return true;
    case Kind::kDouble: out = value.real(); return true;
    case Kind::kString: out = std::string(value.text()); return true;
    case Kind::kTimestamp: out = FormatMoment(value.moment()); return true;
    case Kind::kDuration: out = FormatSeconds(value.nanos()); return true;
    case Kind::kBytes: {
      static constexpr char kDigits[] =
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      std::string text;
      const std::string_view bytes = value.text();
      for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
          group = (group << 8) | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
          text += i + j <= bytes.size() ? kDigits[(group >> (18 - 6 * j)) & 63] : '=';
        }
      }
      out = std::move(text);
      return true;
    }
    case Kind::kOptional:
      if (value.has_value()) return TreeOf(value.unwrap(), out, error, steps);
      out = nullptr;
      return true;
    case Kind::kList:
      out = Json::array();
      for (std::int64_t i = 0; i < value.size(); ++i) {
        if (!TreeOf(value.At(i), out.emplace_back(), error, steps)) return false;
      }
      return true;
    case Kind::kMap:
    case Kind::kObject:
      out = Json::object();
      for (const Value& key : value.Keys()) {
        if (!key.is(Kind::kString)) {
          error = "unsupported type conversion to 'string'";
          return false;
        }
        Value member;
        value.Lookup(key, member);
        if (!TreeOf(member, out[std::string(key.text())], error, steps)) return false;
      }
      return true;
    case Kind::kError: error = value.text(); return false;
    default:
      error = "unsupported type conversion from '" + value.TypeName() + "'";
      return false;
  }
}

}  // namespace

bool ToJson(const Value& value, Json& out, std::string& error) {
  Steps steps;
  return TreeOf(value, out, error, steps);
}

bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return true;
    case Kind::kBool: return !value.truth();
    case Kind::kInt:
    case Kind::kDuration: return value.integer() == 0;
    case Kind::kUint: return value.natural() == 0;
    case Kind::kDouble: return value.real() == 0;
    case Kind::kString:
    case Kind::kBytes: return value.text().empty();
    case Kind::kTimestamp: return value.moment() == Moment{-62135596800, 0};
    case Kind::kList:
    case Kind::kMap:
    case Kind::kObject: return value.size() == 0;
    case Kind::kOptional: return !value.has_value() || IsZero(value.unwrap());
    default: return false;
  }
}

}  // namespace mailroom::cel
