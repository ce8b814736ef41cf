#include "openapi/validate_causes.h"

#include <utility>

#include "storage/object/status.h"

namespace mailroom::openapi {

void TellAtList(Causes& causes, std::string_view list) {
  for (Cause& cause : causes) {
    if (cause.field.starts_with(std::string(list) + "[")) cause.field = list;
  }
}

void TellAt(Causes& causes, std::string_view from, std::string_view to) {
  for (Cause& cause : causes) {
    if (!cause.field.starts_with(from)) continue;
    const std::string rest = cause.field.substr(from.size());
    if (rest.empty() || rest.front() == '.' || rest.front() == '[') cause.field = std::string(to) + rest;
  }
}

void TellRequired(Causes& causes, std::string_view field, const std::string& detail) {
  for (Cause& cause : causes) {
    if (cause.field == field && cause.reason == "FieldValueRequired") {
      cause = RequiredValue(std::string(field), detail);
    }
  }
}

void Untell(Causes& causes, std::string_view field) {
  Causes kept;
  for (Cause& cause : causes) {
    if (cause.field != field) kept.push_back(std::move(cause));
  }
  causes = std::move(kept);
}

}  // namespace mailroom::openapi
