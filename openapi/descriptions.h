// Words about built-in types, for `kubectl explain` and people who read the documents: from a file
// of them where the operator gave one, else our own for members that recur, else a line made from
// what is known of the shape.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "openapi/schema.h"
#include "storage/object/result.h"

namespace mailroom::openapi {

// Texts by model name (`io.k8s.api.core.v1.PodSpec`) and member; the member "" is the type itself.
class ApiDocs {
 public:
  // JSON: {model: {member: text}}.
  static Result<ApiDocs> Parse(std::string_view text);
  // The text, or nullptr.
  const std::string* Find(std::string_view model, std::string_view member) const;

 private:
  using Members = std::map<std::string, std::string, std::less<>>;
  std::map<std::string, Members, std::less<>> models_;
};

// A sentence on a type of that name, such as `core/v1.PodSpec`. `docs` may be null.
std::string DescribeType(const Schema& schema, const ApiDocs* docs);
// A sentence on a member of such a type.
std::string DescribeMember(const Schema& owner, const Property& property, const ApiDocs* docs);
// Words on members that objects of every kind have; "" for others.
std::string_view DescribeCommon(std::string_view member);

}  // namespace mailroom::openapi
