// One function per verb, generic over kinds. Each runs one whole request on the calling thread
// and returns the response or the error to render; none writes a response for an error itself.
#pragma once

#include "apiserver/call.h"

namespace mailroom::apiserver {

Result<Response> Get(Call& call);
Result<Response> List(Call& call);
Result<Response> Watch(Call& call);
Result<Response> Create(Call& call);
Result<Response> Update(Call& call);
Result<Response> Patch(Call& call);
Result<Response> Delete(Call& call);
Result<Response> DeleteCollection(Call& call);

// Create of kinds that are questions and are not stored: access and token reviews.
Result<Response> Review(Call& call);

// Create of a service account's token.
Result<Response> RequestToken(Call& call);

// Create of an eviction: the pod is deleted when its disruption budget allows it.
Result<Response> Evict(Call& call);
// Create of a binding: the pod gets its node, once.
Result<Response> Bind(Call& call);

// The scale subresource of any kind that has one; get, update and patch.
Result<Response> Scale(Call& call);

}  // namespace mailroom::apiserver
