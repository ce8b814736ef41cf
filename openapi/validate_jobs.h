// Checks of how Jobs end: indexes, policies about failed pods and about success. They add field
// errors in kube-apiserver's words. Pure functions; any thread.
#pragma once

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

void CheckJobEnd(const BuiltinCheck& check);
// The same of the Jobs that a CronJob makes.
void CheckCronJobEnd(const BuiltinCheck& check);

}  // namespace mailroom::openapi
