// The gnostic project's protobuf form of OpenAPI documents, by tables of messages. Used by
// gnostic*.cc only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"

namespace mailroom::openapi::gnostic {

enum class As { kText, kBool, kInt, kDouble, kTexts, kAnys, kMessage, kMessages, kNamed };

// One member of a JSON object as a field of a message. The member "*" stands for all members,
// "" for the value itself.
struct Field {
  const char* member;
  int number;
  As as;
  const char* message = nullptr;  // of kMessage, kMessages and the values of kNamed
};

struct Message;
using Tables = std::map<std::string_view, Message>;

// Only members that our documents hold are listed.
struct Message {
  std::vector<Field> fields;
  int extensions = 0;  // number of the x-... members, which travel as named YAML text
  // Instead of fields, where the message depends on the value.
  std::function<std::string(const Tables& tables, const Json& value)> encode = {};
};

std::string Encode(const Tables& tables, std::string_view message, const Json& value);

}  // namespace mailroom::openapi::gnostic
