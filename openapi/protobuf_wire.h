// Protobuf's wire format and the layout of messages known from the fact files. Used by
// protobuf*.cc only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/schema.h"

namespace mailroom::openapi {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // kVarint, kFixed64, kFixed32
  std::string_view bytes;   // kBytes
};

// Reads the fields of one message. Next is false at the end and on malformed bytes, which ok()
// tells apart.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool Next(WireField& field);
  // One number of a packed list.
  bool NextVarint(std::uint64_t& value);
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }

 private:
  bool Fixed(std::size_t size, std::uint64_t& value);
  bool Fail();

  std::string_view rest_;
  bool ok_ = true;
};

void PutVarint(std::uint64_t value, std::string& out);
void PutNumber(int field, std::uint64_t value, std::string& out);
void PutFixed64(int field, std::uint64_t value, std::string& out);
void PutBytes(int field, std::string_view bytes, std::string& out);
// The beginning of PutBytes: what comes before that many bytes.
void PutLength(int field, std::uint64_t bytes, std::string& out);

// A field as protobuf sees the message: embedded types are fields of their own.
struct MessageField {
  const Property* property = nullptr;
  bool embedded = false;
};

// Fields of a built-in message in order of their numbers.
const std::vector<MessageField>& MessageFields(const Schema& type);
// The field with this number, or nullptr.
const MessageField* FindMessageField(const Schema& type, std::uint32_t number);

}  // namespace mailroom::openapi
