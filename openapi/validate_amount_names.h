// Names of what can be counted (cpu, pods, requests.storage, example.com/gpu): which are known, and
// where they may stand. Pure functions; any thread.
#pragma once

#include <string_view>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// Unqualified, or below kubernetes.io.
bool IsNativeAmount(std::string_view name);
// Of somebody else, such that a quota could name it, too.
bool IsExtendedAmount(std::string_view name);
bool IsHugePages(std::string_view name);
// Known to quotas.
bool IsQuotaAmount(std::string_view name);
// Counted in whole numbers.
bool IsWholeAmount(std::string_view name);

// Standard or qualified.
void CheckAmountName(const BuiltinCheck& check, const std::string& name, const std::string& path);
// What a container may ask for.
void CheckContainerAmountName(const BuiltinCheck& check, const std::string& name,
                              const std::string& path);

}  // namespace mailroom::openapi
