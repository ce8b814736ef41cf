// The paths and operations of a resource, as both OpenAPI dialects describe them.
#pragma once

#include <string>
#include <vector>

#include "openapi/document_schema.h"

namespace mailroom::openapi {

struct OperationFacts {
  std::string path;
  std::string method;        // get, post, put, patch, delete
  std::string action;        // x-kubernetes-action: list, get, post, ...
  GroupVersionKind kind;     // of x-kubernetes-group-version-kind
  std::string id;            // operationId
  std::vector<std::string> query;  // query parameters
  bool has_body = false;
  bool answers_list = false;
  bool names_object = false;
  bool names_namespace = false;
};

// Every operation on the resource and its subresources, in path order.
std::vector<OperationFacts> OperationsOf(const ResourceType& type);
// Type of a query parameter: string, integer or boolean.
const char* ParameterType(std::string_view name);

}  // namespace mailroom::openapi
