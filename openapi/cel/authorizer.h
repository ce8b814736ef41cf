// The variables `authorizer` and `authorizer.requestResource` of admission: expressions ask
// whether the user of the request may do something else. Whoever evaluates brings the answers.
#pragma once

#include <memory>
#include <string>

#include "openapi/cel/value.h"

namespace mailroom::cel {

// What is asked. `path` is set for URLs, the rest for resources.
struct AccessQuestion {
  std::string user;  // "": the user of the request; else a service account's user name
  std::string path;
  std::string group, resource, subresource, namespace_, name;
  std::string field_selector, label_selector;
  std::string verb;
};

struct AccessAnswer {
  bool allowed = false;
  std::string reason;
  std::string error;  // not empty: asking failed
};

class AccessOracle {
 public:
  virtual ~AccessOracle() = default;
  virtual AccessAnswer Ask(const AccessQuestion& question) const = 0;
};

// The declared type of the variable `authorizer`, with its field `requestResource` when asked.
TypePtr AuthorizerType();
TypePtr ResourceCheckType();
// Values of these types.
Value MakeAuthorizer(std::shared_ptr<const AccessOracle> oracle);
Value MakeResourceCheck(std::shared_ptr<const AccessOracle> oracle, AccessQuestion about);

}  // namespace mailroom::cel
