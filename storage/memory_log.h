// A ChangeLog that lives as long as the process: for tests, development and throw-away hubs.
#pragma once

#include <memory>

#include "storage/change_log.h"

namespace mailroom::storage {

std::unique_ptr<ChangeLog> NewMemoryLog();

}  // namespace mailroom::storage
