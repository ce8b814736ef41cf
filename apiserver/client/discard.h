// Whether a call succeeded, for those who do not read its answer.
#pragma once

#include <utility>

#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::client {

inline Result<void> Discard(Result<Json> answer) {
  if (!answer.ok()) return std::move(answer).error();
  return Ok();
}

}  // namespace mailroom::client
