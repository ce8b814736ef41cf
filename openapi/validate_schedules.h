// When CronJobs run. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// Whether the IANA database knows a zone under exactly this name.
bool IsTimeZone(std::string_view name);
// Why a schedule cannot be read, in the words of the parser that CronJobs are run with; "" when it
// can.
std::string ScheduleFault(const std::string& schedule);

// spec.schedule and spec.timeZone of a CronJob.
void CheckSchedule(const BuiltinCheck& check);
void CheckTimeZone(const BuiltinCheck& check);

}  // namespace mailroom::openapi
