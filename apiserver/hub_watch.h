// One watch over every object of the hub for a controller inside the server: begins with what is
// there, restarts by itself when it fell behind, and hands changes to its owner on a thread of its
// own. After a restart objects are told again; none is missed, but those that went meanwhile are
// not told of.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/call.h"

namespace mailroom::apiserver {

class HubWatch {
 public:
  struct Options {
    std::string name;  // for the log
    storage::Scope scope = {};  // the whole hub unless it says less
    // Which objects, before or after a change, are of interest. Runs on the river's thread.
    storage::Filter filter;
    // Everything is about to be told anew. What goes from here on will be told.
    std::function<void()> restart = [] {};
    // `before` or `now` is null when the object was or is not there (or was there at the start).
    std::function<void(const ResourceKey&, const Object* before, const Object* now)> change;
  };
  static Result<std::unique_ptr<HubWatch>> Start(storage::CachedStore& store, Options options);
  virtual ~HubWatch() = default;  // stops and joins; nothing is told afterwards
};

}  // namespace mailroom::apiserver
