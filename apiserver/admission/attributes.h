// What admission is asked about: one write on its way to the store. Lives for one attempt of one
// request, on one thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apiserver/auth/user.h"
#include "openapi/catalog.h"
#include "openapi/cel/authorizer.h"
#include "storage/object/deadline.h"
#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::admission {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };
std::string_view OperationText(Operation operation);

struct Attributes {
  Workspace workspace;
  openapi::CatalogPtr catalog;       // what the workspace serves, for equivalent versions
  openapi::ResourceTypePtr type;     // of the resource in the URL
  std::string subresource;
  GroupVersionKind kind;             // of the object: the type's, or the subresource's own
  Operation operation = Operation::kCreate;
  std::string ns;                    // of the request; a Namespace is in the one it names
  std::string name;                  // "" before it is generated
  const Json* old = nullptr;         // null on create
  bool dry_run = false;
  const apiserver::User& user;
  std::function<Json()> options;     // the operation's options object, made when asked for
  // The object in the version of `to`; may wait for a conversion webhook.
  std::function<Result<Json>(const openapi::ResourceType& to, const Json& object)> convert;
  Deadline deadline = {};            // of the request that asks

  // Answers what expressions ask about access; null: nobody may anything.
  std::shared_ptr<const cel::AccessOracle> oracle = nullptr;

  // What admission says beside yes and no.
  std::vector<std::string> warnings = {};
  std::map<std::string, std::string> annotations = {};  // for the audit log
};

// 403 `<resource> "<name>" is forbidden: <why>`.
Status Refuse(const Attributes& attributes, const std::string& why);

}  // namespace mailroom::admission
