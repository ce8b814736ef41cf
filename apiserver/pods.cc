#include "apiserver/pods.h"

#include <algorithm>

#include "apiserver/admit.h"
#include "apiserver/render.h"
#include "openapi/builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kLists[] = {"containers", "initContainers"};
constexpr const char* kAmounts[] = {"resources", "resizePolicy"};

const Json& ListAt(const Json& object, const char* list) {
  static const Json kNone = Json::array();
  const Json* found = Find(object, {"spec", list});
  return found != nullptr && found->is_array() ? *found : kNone;
}

void Take(const Json& from, Json& to, const char* member) {
  if (const Json* value = Find(from, {member})) {
    Set(to, {member}, *value);
  } else {
    Erase(to, {member});
  }
}

bool SameNames(const Json& a, const Json& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Json& x, const Json& y) {
    return StringAt(x, {"name"}) == StringAt(y, {"name"});
  });
}

// The live pod with the amounts of `object`. Containers that were added, removed or renamed are
// left for validation to refuse.
Json Resized(const Json& live, const Json& object) {
  Json out = live;
  for (const char* list : kLists) {
    const Json& wanted = ListAt(object, list);
    if (wanted.size() != ListAt(live, list).size()) return object;
    if (wanted.empty()) continue;
    if (!SameNames(wanted, ListAt(live, list))) {
      Set(out, {"spec", list}, wanted);
      continue;
    }
    Json& kept = *Find(out, {"spec", list});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (const char* member : kAmounts) Take(wanted[i], kept[i], member);
    }
  }
  if (const Json* spec = Find(object, {"spec"})) Take(*spec, out["spec"], "resources");
  return out;
}

}  // namespace

void RestorePod(const Call& call, const Json& live, Json& object) {
  const Json* managed = Find(object, {"metadata", "managedFields"});
  const Json owners = managed != nullptr ? *managed : Json();
  Json kept;
  if (call.info.subresource == "ephemeralcontainers") {
    kept = live;
    const Json* later = Find(object, {"spec", "ephemeralContainers"});
    if (later != nullptr) {
      Set(kept, {"spec", "ephemeralContainers"}, *later);
    } else {
      Erase(kept, {"spec", "ephemeralContainers"});
    }
  } else if (call.info.subresource == "resize") {
    kept = Resized(live, object);
  } else {
    return;
  }
  if (!owners.is_null()) Set(kept, {"metadata", "managedFields"}, owners);
  object = std::move(kept);
}

void NarrowPod(const Call& call, Json& config) {
  const std::string& part = call.info.subresource;
  if (part != "ephemeralcontainers" && part != "resize") return;
  Json metadata = Json::object();
  for (const char* member : {"name", "namespace", "uid", "resourceVersion"}) {
    if (const Json* value = Find(config, {"metadata", member})) metadata[member] = *value;
  }
  Json spec = Json::object();
  if (part == "ephemeralcontainers") {
    const Json* later = Find(config, {"spec", "ephemeralContainers"});
    if (later != nullptr) spec["ephemeralContainers"] = *later;
  } else {
    for (const char* list : kLists) {
      for (const Json& container : ListAt(config, list)) {
        Json amounts = {{"name", StringAt(container, {"name"})}};
        for (const char* member : kAmounts) Take(container, amounts, member);
        spec[list].push_back(std::move(amounts));
      }
    }
    if (const Json* amounts = Find(config, {"spec", "resources"})) spec["resources"] = *amounts;
  }
  config = {{"apiVersion", config["apiVersion"]},
            {"kind", config["kind"]},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
}

openapi::ResourceType OrderType(GroupVersionKind kind, std::string_view type) {
  openapi::ResourceType out;
  out.gvk = std::move(kind);
  out.schema = openapi::BuiltinType(type);
  return out;
}

Result<Json> ReadOrder(Call& call, const WriteOptions& options, const openapi::ResourceType& order,
                       std::string_view older) {
  Body body = TRY(DecodeBody(call, order.gvk, older));
  Draft draft{std::move(body.tree), std::move(body.duplicates)};
  TRY(CheckTree(call, options, order, draft));
  const std::string ns = StringAt(draft.object, {"metadata", "namespace"});
  if (!ns.empty() && ns != call.info.ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  Set(draft.object, {"metadata", "namespace"}, call.info.ns);
  Admit admit(call, options, admission::Operation::kCreate);
  admit.OfKind(order.gvk);
  TRY(admit.Mutate(&draft.object, nullptr));
  TRY(admit.Validate(&draft.object, nullptr));
  return std::move(draft.object);
}

Result<Response> OrderDone(const Call& call) {
  const Json done = {{"kind", "Status"},
                     {"apiVersion", "v1"},
                     {"metadata", Json::object()},
                     {"status", "Success"},
                     {"code", 201}};
  return RenderTree(call, *call.type, 201, done);
}

Call OwnCall(const Call& call, const openapi::ResourceTypePtr& type, const std::string& name,
             const std::string& subresource) {
  static const Request kOwn = [] {
    Request request;
    request.headers.Add("user-agent", "mailroom");
    return request;
  }();
  Call own{call.hub, kOwn, call.info, call.user, call.workspace, type, {}};
  own.deadline = call.deadline;
  own.info.verb = "update";
  own.info.group = type->gvk.group;
  own.info.version = type->gvk.version;
  own.info.resource = type->plural;
  own.info.name = name;
  own.info.subresource = subresource;
  own.info.query = Query();
  return own;
}

}  // namespace mailroom::apiserver
