// The text forms that names in objects must have, and how field errors print values. Each check
// returns the complaints, in kube-apiserver's words; none means valid. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

using Complaints = std::vector<std::string>;

Complaints CheckSubdomain(std::string_view text);      // DNS-1123 subdomain, 253
Complaints CheckLabel(std::string_view text);          // DNS-1123 label, 63
Complaints Check1035Label(std::string_view text);      // DNS-1035 label, 63
Complaints CheckPathSegment(std::string_view text);    // no '/', no '%', not '.' or '..'
Complaints CheckQualifiedName(std::string_view text);  // [prefix/]name
Complaints CheckConfigKey(std::string_view text);      // key of a ConfigMap or Secret
Complaints CheckPortName(std::string_view text);
Complaints CheckPort(std::int64_t port);

bool IsIpAddress(std::string_view text);
bool IsIpv4(std::string_view text);

// A value as field errors print it: strings quoted, scalars plain, the rest as JSON.
std::string Rendered(const Json& value);
// Whether Go holds the number of a JSON document as float64: also whole ones that no int64 can be.
bool IsFloat(const Json& value);
// A number as Go's %v prints it.
std::string RenderedNumber(double value);

// "Unsupported value", naming the supported ones in the order given.
Cause NotSupported(std::string field, const Json& value, const std::vector<std::string>& supported);
// One Invalid cause per complaint.
void AddInvalid(Causes& causes, const std::string& field, const Json& value,
                const Complaints& complaints);
// "field is immutable" when the values differ; absent members are null.
void CheckImmutable(Causes& causes, const std::string& field, const Json* value,
                    const Json* old_value);

}  // namespace mailroom::openapi
