#include "apiserver/commit.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"

namespace mailroom::apiserver {

Result<Response> Create(Call& call) {
  const WriteOptions options = TRY(ParseWriteOptions(call, "CreateOptions"));
  Body body = TRY(DecodeBody(call, call.type->gvk));
  const Outcome outcome =
      TRY(Insert(call, options, {std::move(body.tree), std::move(body.duplicates), false}));
  return RenderObject(call, 201, outcome.object);
}

}  // namespace mailroom::apiserver
