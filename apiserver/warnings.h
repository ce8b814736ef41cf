// Warnings of a request as Warning headers: each text once, all of them within a budget, past
// which long texts are cut short rather than later ones left out. Pure function.
#pragma once

#include <string>
#include <vector>

#include "storage/object/message.h"

namespace mailroom::apiserver {

void AddWarnings(const std::vector<std::string>& texts, Headers& headers);

}  // namespace mailroom::apiserver
