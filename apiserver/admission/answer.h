// What a webhook answered, as far as it does not matter what it was asked.
#pragma once

#include <optional>
#include <string>

#include "storage/object/json_fwd.h"

namespace mailroom::admission {

// The JSON object of an answer, or nothing and what Go's client says instead in `problem`.
std::optional<Json> ParseAnswer(int code, const std::string& body, std::string& problem);
// `admission.k8s.io/v1, Kind=AdmissionReview`, as Go prints the kind of a document.
std::string KindText(const Json& tree);

}  // namespace mailroom::admission
