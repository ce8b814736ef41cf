#include "apiserver/implied.h"
#include "apiserver/read_options.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {

Result<Response> Get(Call& call) {
  if (call.info.query.Bool("export")) {
    return BadRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  const auto revision = TRY(ParseGetRevision(call));
  storage::CachedStore& store = call.hub.store;
  if (!revision) {
    TRY(store.Freshen());
  } else if (*revision != Revision()) {
    TRY(store.WaitFor(*revision, call.Patience()));
  }
  const ObjectPtr object = Present(call, call.Key());
  if (object == nullptr) return call.NotFoundHere();
  return RenderObject(call, 200, object);
}

}  // namespace mailroom::apiserver
