// Schema nodes as OpenAPI schema objects. Built-in types are published once under their model
// names and referred to; everything else is written in place. Collects what was referred to, so
// that a document holds exactly the models it needs.
#pragma once

#include <map>
#include <string>

#include "openapi/resource_type.h"

namespace mailroom::openapi {

class ApiDocs;
enum class Dialect { kV2, kV3 };

class SchemaWriter {
 public:
  // `docs` may be null.
  SchemaWriter(Dialect dialect, const ApiDocs* docs) : dialect_(dialect), docs_(docs) {}

  // A reference to the model of `type` (and of its list), written when not yet there.
  Json RefTo(const ResourceType& type);
  Json RefToList(const ResourceType& type);
  // A reference to a built-in type by its fact name, such as `meta/v1.Status`.
  Json RefToBuiltin(std::string_view name);

  // All models written so far by name, those they refer to included.
  std::map<std::string, Json> Take();

 private:
  Json Ref(const std::string& model) const;
  Json Named(const Schema& schema);
  Json NumberOrText(const Schema& schema);
  Json Inline(const Schema& schema);
  // A member, an item or a value: by reference where it has a model.
  Json Part(const Schema& schema);
  void WriteValidations(const Schema& schema, Json& out);
  void WriteExtensions(const Schema& schema, Json& out);
  Json PropertyJson(const Schema& owner, const Property& property);
  std::string ModelOf(const ResourceType& type) const;

  Dialect dialect_;
  const ApiDocs* docs_;
  std::map<std::string, Json> models_;
};

}  // namespace mailroom::openapi
