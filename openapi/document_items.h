// Path items: the operations of a path, and what they share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "openapi/document_paths.h"

namespace mailroom::openapi {

struct PathItem {
  std::vector<ParameterFacts> parameters;  // those that all of the operations have
  std::vector<OperationFacts> operations;  // without those
};

// By path.
std::map<std::string, PathItem> PathItemsOf(std::vector<OperationFacts> operations);

// A schema of a body or an answer; null for none.
Json SchemaOf(const Content& content, SchemaWriter& schemas);
// Words for a status code: OK, Created, ...
const char* AnswerText(int code);
// The extensions that say what an operation does, and to which kind.
void WriteAction(const OperationFacts& facts, Json& out);
// How clients may say who they are.
Json SecurityJson();

}  // namespace mailroom::openapi
