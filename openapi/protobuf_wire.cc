#include "openapi/protobuf_wire.h"

#include <algorithm>
#include <unordered_map>

#include "openapi/builtin.h"

namespace mailroom::openapi {

bool WireReader::Fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

bool WireReader::NextVarint(std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return Fail();
}

bool WireReader::Fixed(std::size_t size, std::uint64_t& value) {
  if (rest_.size() < size) return Fail();
  value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::Next(WireField& field) {
  if (rest_.empty()) return false;
  std::uint64_t tag = 0;
  if (!NextVarint(tag)) return false;
  if (tag >> 3 == 0 || tag >> 3 > 536'870'911) return Fail();
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  switch (field.type) {
    case WireType::kVarint:
      return NextVarint(field.value);
    case WireType::kFixed64:
      return Fixed(8, field.value);
    case WireType::kFixed32:
      return Fixed(4, field.value);
    case WireType::kBytes: {
      std::uint64_t size = 0;
      if (!NextVarint(size)) return false;
      if (size > rest_.size()) return Fail();
      field.bytes = rest_.substr(0, static_cast<std::size_t>(size));
      rest_.remove_prefix(static_cast<std::size_t>(size));
      return true;
    }
  }
  return Fail();  // groups are not used by Kubernetes
}

void PutVarint(std::uint64_t value, std::string& out) {
  while (value > 0x7f) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

namespace {

void PutTag(int field, WireType type, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type), out);
}

struct Layout {
  std::vector<MessageField> fields;  // by number
};

Layout LayoutOf(const Schema& type) {
  Layout layout;
  for (const Property& property : type.properties) {
    if (!property.embedded && property.number != 0) layout.fields.push_back({&property, false});
  }
  for (const Property& embed : type.embeds) layout.fields.push_back({&embed, true});
  std::sort(layout.fields.begin(), layout.fields.end(),
            [](const MessageField& a, const MessageField& b) {
              return a.property->number < b.property->number;
            });
  return layout;
}

const Layout& FindLayout(const Schema& type) {
  static const auto* layouts = [] {
    auto* made = new std::unordered_map<const Schema*, Layout>;
    for (const Schema& node : BuiltinSchemas().nodes) {
      if (node.wire == Wire::kMessage && node.type == Type::kObject) {
        made->emplace(&node, LayoutOf(node));
      }
    }
    return made;
  }();
  static const auto* none = new Layout;
  auto at = layouts->find(&type);
  return at == layouts->end() ? *none : at->second;
}

}  // namespace

void PutNumber(int field, std::uint64_t value, std::string& out) {
  PutTag(field, WireType::kVarint, out);
  PutVarint(value, out);
}

void PutFixed64(int field, std::uint64_t value, std::string& out) {
  PutTag(field, WireType::kFixed64, out);
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

void PutBytes(int field, std::string_view bytes, std::string& out) {
  PutLength(field, bytes.size(), out);
  out.append(bytes);
}

void PutLength(int field, std::uint64_t bytes, std::string& out) {
  PutTag(field, WireType::kBytes, out);
  PutVarint(bytes, out);
}

const std::vector<MessageField>& MessageFields(const Schema& type) {
  return FindLayout(type).fields;
}

const MessageField* FindMessageField(const Schema& type, std::uint32_t number) {
  const std::vector<MessageField>& fields = FindLayout(type).fields;
  auto at = std::lower_bound(fields.begin(), fields.end(), number,
                             [](const MessageField& field, std::uint32_t wanted) {
                               return static_cast<std::uint32_t>(field.property->number) < wanted;
                             });
  const bool found =
      at != fields.end() && static_cast<std::uint32_t>(at->property->number) == number;
  return found ? &*at : nullptr;
}

}  // namespace mailroom::openapi
