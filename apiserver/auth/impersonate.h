// Acting as somebody else: the Impersonate headers, each of which needs its own right.
#pragma once

#include <optional>

#include "apiserver/auth/authorizer.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

// The user the request is to be taken for; nothing when it does not ask for it. `asked` tells the
// workspace. BadRequest for incomplete headers, Forbidden without the right.
Result<std::optional<User>> Impersonate(const Authorizer& authorizer, const User& user,
                                        const Headers& headers, const Attributes& asked);

// The groups every service account of a namespace is in.
std::vector<std::string> ServiceAccountGroups(std::string_view ns);
// Namespace and name of a service account's user name; nothing when it is not one.
std::optional<std::pair<std::string, std::string>> SplitServiceAccount(std::string_view user_name);

}  // namespace mailroom::apiserver
