#include "apiserver/names.h"

#include <charconv>

#include "apiserver/auth/uid.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kBase = 63 - 5;  // and the ending

Result<void> PrepareNamespaceField(const Call& call, Json& object) {
  const std::string ns = StringAt(object, {"metadata", "namespace"});
  if (!call.type->namespaced) {
    if (!ns.empty()) Erase(object, {"metadata", "namespace"});
    return Ok();
  }
  if (!ns.empty() && ns != call.info.ns) {
    return BadRequest("the namespace of the provided object does not match the namespace sent on the "
                      "request");
  }
  Set(object, {"metadata", "namespace"}, call.info.ns);
  return Ok();
}

}  // namespace

Result<void> PrepareIdentity(const Call& call, Json& object) {
  for (const char* member : {"uid", "creationTimestamp", "deletionTimestamp", "selfLink",
                             "deletionGracePeriodSeconds", "resourceVersion"}) {
    Erase(object, {"metadata", member});
  }
  TRY(PrepareNamespaceField(call, object));
  const std::string name = StringAt(object, {"metadata", "name"});
  if (!call.info.name.empty()) {
    if (name.empty()) {
      Set(object, {"metadata", "name"}, call.info.name);
    } else if (name != call.info.name) {
      return BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                        call.info.name + ")");
    }
  }
  return Ok();
}

Result<void> CheckIdentity(const Call& call, Json& object) {
  TRY(PrepareNamespaceField(call, object));
  const std::string name = StringAt(object, {"metadata", "name"});
  if (name.empty()) {
    return BadRequest("the name of the object (" + call.info.name +
                      " based on URL) was undeterminable: name must be provided");
  }
  if (name != call.info.name) {
    return BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                      call.info.name + ")");
  }
  return Ok();
}

Revision GivenRevision(const Json& object) {
  const std::string text = StringAt(object, {"metadata", "resourceVersion"});
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? Revision(value) : Revision();
}

bool NeedsName(const Json& object) {
  return StringAt(object, {"metadata", "name"}).empty() &&
         !StringAt(object, {"metadata", "generateName"}).empty();
}

void GenerateName(Json& object) {
  const std::string name = StringAt(object, {"metadata", "generateName"}).substr(0, kBase);
  Set(object, {"metadata", "name"}, name + NameSuffix());
}

}  // namespace mailroom::apiserver
