// What one object counts for against quotas, by kind: pods by what they ask for, services by
// their ports, claims by their storage, everything else by number. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "apiserver/admission/attributes.h"
#include "apiserver/admission/resource_list.h"

namespace mailroom::admission {

// One requirement of spec.scopes or spec.scopeSelector.
struct QuotaScope {
  std::string name, op;
  std::vector<std::string> values;
};
std::vector<QuotaScope> ScopesOf(const Json& quota);

// Whether quotas count objects of this kind at all.
bool IsCounted(const openapi::ResourceType& type);
// Whether only the number of objects matters.
bool IsCountedByNumber(const openapi::ResourceType& type);
// Of the names a quota limits, those that this kind counts towards.
std::vector<std::string> CountedAs(const openapi::ResourceType& type, const ResourceList& hard);
bool InScopes(const openapi::ResourceType& type, const std::vector<QuotaScope>& scopes,
              const Json& object);
// `now` in seconds since the epoch: a pod past its grace period counts no more.
ResourceList UsageOf(const openapi::ResourceType& type, const Json& object, std::int64_t now);
// Whether this write can change any usage upwards.
bool MayCharge(const Attributes& attributes, const Json& object);
// Quotas on cpu and memory demand that every container says what it needs; "" when it does.
std::string MissingRequirements(const openapi::ResourceType& type,
                                const std::vector<std::string>& counted, const Json& object);

}  // namespace mailroom::admission
