// What an expression may cost at most and at least, from the sizes that types declare. Definitions
// are refused by this figure, so it follows kube-apiserver's estimate.
#pragma once

#include "openapi/cel/program.h"

namespace mailroom::cel {

// REQUIRES: checked without issues.
CostEstimate EstimateCost(const Expr& root);

// Arithmetic that stays at the largest number instead of overflowing.
std::uint64_t AddSaturated(std::uint64_t a, std::uint64_t b);
std::uint64_t MultiplySaturated(std::uint64_t a, std::uint64_t b);

}  // namespace mailroom::cel
