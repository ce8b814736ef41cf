// Parts of pods and their like as field errors show them: by the names that kube-apiserver has for their members
// itself, each with a value. Pure functions; any thread.
#pragma once

#include <string>

#include "storage/object/json.h"

namespace mailroom::openapi {

std::string ShownSecurityContext(const Json& context);
// Of seccomp or AppArmor; null is null.
std::string ShownProfile(const Json* profile);
std::string ShownClaim(const Json& claim);  // a resource claim of a pod
// One term of a selector of nodes, and a list of them; an empty one is null.
std::string ShownTerm(const Json& term);
std::string ShownTerms(const Json& terms);
std::string ShownTaint(const Json& taint);
std::string ShownAddress(const Json& address);  // of a node
// A reference to any object; null is null.
std::string ShownReference(const Json* reference);

}  // namespace mailroom::openapi
