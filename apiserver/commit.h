// The only path from a proposed object to the store, shared by all writing verbs: normalise,
// fill in what the server owns, track ownership, validate, compare-and-swap with a bounded retry
// on the newest state. A write that changes nothing is answered with the stored object.
#pragma once

#include <functional>
#include <optional>

#include "apiserver/call.h"
#include "apiserver/write_options.h"

namespace mailroom::apiserver {

struct Outcome {
  ObjectPtr object;      // as stored; at revision 0 for a dry run
  bool created = false;
  bool removed = false;  // the write emptied the last finalizer of a deleted object
};

// A proposed object and what its text said twice.
struct Draft {
  Json object;
  std::vector<std::string> duplicates;
  bool tracked = false;  // managedFields are already right (apply)
  std::optional<std::string> patch = {};  // the patch, as errors about its result print it
  bool strategic = false;  // that patch is a strategic merge
  bool counts = true;  // a change of the spec is one of what is wanted: the generation rises
};

// Drops nulls and unknown fields and checks types, by the facts of `type`: that of the call, or of a
// subresource that has its own.
Result<void> CheckTree(Call& call, const WriteOptions& options, const openapi::ResourceType& type,
                       Draft& draft);
// Drops nulls and unknown fields, checks types, fills in defaults: the first step of every write.
Result<void> Normalize(Call& call, const WriteOptions& options, Draft& draft);

// Creates. AlreadyExists when the name is taken.
Result<Outcome> Insert(Call& call, const WriteOptions& options, Draft draft);

// Changes the object named by the call: `propose` is given the newest state in the request's
// version and may be called again when somebody else was faster. NotFound when absent.
using Propose = std::function<Result<Draft>(const Json& live)>;
Result<Outcome> Change(Call& call, const WriteOptions& options, const Propose& propose);

// Deletes one object: removes it, or marks it when finalizers (or grace) hold it.
Result<Outcome> Remove(Call& call, const std::string& name, const DeleteRequest& request);

}  // namespace mailroom::apiserver
