// Numbers with a fraction as JSON text.
#pragma once

#include <string>

namespace mailroom {

// As the original writes them: the fewest digits that read back as the same number, no fraction
// when there is none, an exponent only below 1e-6 and from 1e21 on. `null` for what JSON cannot say.
void AppendNumber(std::string& out, double value);

}  // namespace mailroom
