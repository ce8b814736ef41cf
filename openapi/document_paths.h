// The paths and operations of an API, as both OpenAPI dialects describe them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "openapi/catalog.h"
#include "openapi/document_parameters.h"
#include "openapi/document_schema.h"

namespace mailroom::openapi {

// What a body or an answer is.
struct Content {
  enum What { kNothing, kText, kObject, kList, kBuiltin, kVersionInfo };
  What what = kNothing;
  const ResourceType* type = nullptr;  // of kObject and kList; outlived by the catalogue
  std::string builtin;                 // fact name, such as `meta/v1.Status`
};

struct OperationFacts {
  std::string path;
  std::string method;  // get, post, put, patch, delete, head, options
  std::string id;      // operationId
  std::string tag;
  std::string description;
  std::string action;          // x-kubernetes-action: list, get, post, ...; "" has no kind either
  GroupVersionKind kind;       // of x-kubernetes-group-version-kind
  std::vector<std::string> consumes, produces;
  std::vector<ParameterFacts> parameters;  // by name, but for the body
  Content body;
  bool body_required = false;
  Content answer;
  std::vector<int> codes;  // with which that is answered
};

// Every operation on the resource and its subresources.
std::vector<OperationFacts> OperationsOf(const ResourceType& type);
// The documents about a version of a group, a group, and all of them: what is there.
OperationFacts VersionOperation(const std::string& group, const std::string& version);
OperationFacts GroupOperation(const std::string& group);
// Paths of the server itself, which belong to no group: `/version/`, `/apis/`, ...
std::vector<OperationFacts> ServerOperations();
// Whether the original would serve it itself, and not by a definition.
bool IsBuiltin(const GroupVersion& version);

}  // namespace mailroom::openapi
