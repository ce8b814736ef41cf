// What pods have beyond other kinds: subresources that write parts of them, and orders (evictions,
// bindings) that come as objects of their own kind and are answered by a Status.
#pragma once

#include <string>

#include "apiserver/commit.h"

namespace mailroom::apiserver {

inline const GroupResource kPodsResource{"", "pods"};

// KindRules::restore and ::narrow: ephemeralcontainers writes those containers, resize the amounts
// of resources, both nothing of metadata.
void RestorePod(const Call& call, const Json& live, Json& object);
void NarrowPod(const Call& call, Json& config);

// The order in the request's body, of type `order`, allowed by admission. Its namespace is the
// URL's, its name is left to the caller. `older` as for DecodeBody.
Result<Json> ReadOrder(Call& call, const WriteOptions& options, const openapi::ResourceType& order,
                       std::string_view older = "");
// An order's kind as a type of its own, which nobody serves.
openapi::ResourceType OrderType(GroupVersionKind kind, std::string_view type);
// 201: the order was carried out.
Result<Response> OrderDone(const Call& call);

// A call of the server's own to carry out `call`, about an object in the same namespace. Nobody is
// asked about it: the order itself was allowed.
Call OwnCall(const Call& call, const openapi::ResourceTypePtr& type, const std::string& name,
             const std::string& subresource);

}  // namespace mailroom::apiserver
