// Looks after the servers that APIServices name: whether they answer, which the condition
// `Available` tells, and what they serve, which discovery shows. Every hub on a store looks, for its
// own discovery; the one that runs controllers writes the condition.
#pragma once

#include <memory>

#include "apiserver/aggregator.h"
#include "apiserver/call.h"

namespace mailroom::apiserver {

class Availability {
 public:
  static Result<std::unique_ptr<Availability>> Start(const Hub& hub, Aggregator& aggregator);
  virtual ~Availability() = default;  // stops and joins
  // Whether conditions are written; not at first.
  virtual void Write(bool on) = 0;
};

}  // namespace mailroom::apiserver
