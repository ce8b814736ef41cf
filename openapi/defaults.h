// What kube-apiserver fills into built-in objects: the rules of builtin/defaults.yaml and the
// functions they name. Rules hang on types, so a pod template gets the defaults of a pod's spec
// wherever it stands. Nothing is filled in that a running cluster must decide. Pure functions;
// any thread.
#pragma once

#include <string>
#include <string_view>

#include "openapi/schema.h"

namespace mailroom::openapi {

// Gives `value` the members that a server shows after decoding it: required values and nested
// structures appear, empty members that are left out when empty go, quantities become text.
void SettleShape(const Schema& schema, Json& value);
// Fills defaults along the schema, outer types first.
void ApplyBuiltinDefaults(const Schema& schema, Json& value);

// The quality of service of a pod by what it asks for; what its status says does not count.
std::string QosClassOf(const Json& pod);

// A computed default: changes the object of the type it is listed under.
using DefaultFunction = void (*)(Json& object);
// nullptr when there is no function of this name.
DefaultFunction FindDefaultFunction(std::string_view name);

}  // namespace mailroom::openapi
