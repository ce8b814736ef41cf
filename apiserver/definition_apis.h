// Keeps an APIService for every group version that definitions bring to a workspace in which
// APIServices act, as the original does: makes it, puts its spec back, removes it when nobody serves
// the version any more, and leaves alone what somebody else made under its name. One for all
// workspaces.
#pragma once

#include <memory>

#include "apiserver/call.h"

namespace mailroom::apiserver {

class DefinitionApis {
 public:
  static Result<std::unique_ptr<DefinitionApis>> Start(const Hub& hub);
  virtual ~DefinitionApis() = default;  // stops and joins
};

}  // namespace mailroom::apiserver
