// Resource quantities (`500m`, `1.5Gi`, `1e3`): recognising them and the one spelling under which
// the API shows each amount. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mailroom::openapi {

bool IsQuantity(std::string_view text);
// `1000m` becomes `1`, `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. Text that is not a quantity,
// or too long to compute with, is returned as it is.
std::string CanonicalQuantity(std::string_view text);
// The amount in thousandths, rounded up; nothing when it is not a quantity or out of range.
std::optional<long long> QuantityMillis(std::string_view text);

// Arithmetic on amounts; text that is no quantity counts as zero, and a sum too large to compute
// with as the largest. Results are canonical and keep the first one's kind of suffix.
int CompareQuantities(std::string_view a, std::string_view b);  // <0, 0, >0
std::string AddQuantities(std::string_view a, std::string_view b);
std::string SubtractQuantities(std::string_view a, std::string_view b);
// The amount rounded up to a whole number.
std::string WholeQuantity(std::string_view text);

}  // namespace mailroom::openapi
