// Inputs of the patch targets: two JSON documents, one to a line, and a kind to read them by.
#pragma once

#include <optional>
#include <utility>

#include "openapi/catalog.h"
#include "openapi/normalize.h"
#include "openapi/validate.h"
#include "storage/object/limits.h"
#include "test/fuzz/fuzz.h"

inline std::optional<std::pair<mailroom::Json, mailroom::Json>> FuzzDocuments(std::string_view text) {
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  auto first = mailroom::ParseJson(text.substr(0, line));
  auto second = mailroom::ParseJson(text.substr(line + 1));
  if (!first.ok() || !second.ok()) return std::nullopt;
  return std::pair(std::move(*first), std::move(*second));
}

inline const mailroom::openapi::ResourceType& FuzzDeployments() {
  static const auto catalog =
      mailroom::openapi::BaseCatalog(mailroom::openapi::WorkspaceType::kCluster);
  return *catalog->Find("apps", "v1", "deployments");
}

// As a write does before it is stored; false when the object would be refused.
inline bool FuzzNormalize(mailroom::Json& object) {
  const auto& type = FuzzDeployments();
  if (!object.is_object()) return false;
  mailroom::openapi::DropNulls(type, object);
  if (mailroom::openapi::CheckBuiltinTypes(type, object)) return false;
  FUZZ_CHECK(mailroom::openapi::PruneUnknown(type, object).size() <= mailroom::limits::kProblemsTold);
  mailroom::openapi::ApplyDefaults(type, object);
  return true;
}

inline std::string FuzzDeployment(const char* container) {
  return std::string(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a",)"
                     R"("labels":{"l":"m"},"finalizers":["x/y"]},"spec":{"replicas":2,)"
                     R"("selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
                     R"({"a":"b"}},"spec":{"containers":[)") + container + "]}}}}";
}
