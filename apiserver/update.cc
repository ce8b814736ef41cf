#include "apiserver/commit.h"
#include "apiserver/implied.h"
#include "apiserver/names.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {

Result<Response> Update(Call& call) {
  const WriteOptions options = TRY(ParseWriteOptions(call, "UpdateOptions"));
  Body body = TRY(DecodeBody(call, call.type->gvk));
  TRY(CheckIdentity(call, body.tree));
  const bool exists = Present(call, call.Key()) != nullptr;
  if (!exists && call.type->create_on_update && call.info.subresource.empty()) {
    Erase(body.tree, {"metadata", "resourceVersion"});
    const Outcome outcome =
        TRY(Insert(call, options, {std::move(body.tree), std::move(body.duplicates), false}));
    return RenderObject(call, 201, outcome.object);
  }
  const std::string revision = StringAt(body.tree, {"metadata", "resourceVersion"});
  const bool names_one = revision.find_first_not_of('0') != std::string::npos;
  const bool unconditional = call.type->unconditional_update || names_one;
  const std::string uid = StringAt(body.tree, {"metadata", "uid"});
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    // Another object of that name is told of first.
    const bool same = uid.empty() || uid == StringAt(live, {"metadata", "uid"});
    if (!unconditional && same) {
      return Invalid(
          call.type->plural, call.type->gvk.group, call.info.name,
          {InvalidValue("metadata.resourceVersion", "0", "must be specified for an update")});
    }
    return Draft{body.tree, body.duplicates, false};
  }));
  return RenderObject(call, 200, outcome.object);
}

}  // namespace mailroom::apiserver
