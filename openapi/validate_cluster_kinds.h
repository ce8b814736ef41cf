// Checks of kinds with few rules that belong to a whole cluster, and of what may not change in them.
// They add field errors in kube-apiserver's words. Pure functions; any thread.
#pragma once

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// `example.com/path`
void CheckPrefixedPath(const BuiltinCheck& check, const std::string& text, const std::string& field);

void CheckNode(const BuiltinCheck& check);
void CheckRevision(const BuiltinCheck& check);
void CheckRuntimeClass(const BuiltinCheck& check);
void CheckIngressClass(const BuiltinCheck& check);
void CheckIpObject(const BuiltinCheck& check);
void CheckServiceRange(const BuiltinCheck& check);

}  // namespace mailroom::openapi
