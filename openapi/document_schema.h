// Schema nodes as OpenAPI schema objects. Built-in types are published once under their model
// names and referred to; everything else is written in place. Collects what was referred to, so
// that a document holds exactly the models it needs.
#pragma once

#include <map>
#include <string>

#include "openapi/document_kinds.h"
#include "openapi/resource_type.h"

namespace mailroom::openapi {

class ApiDocs;

class SchemaWriter {
 public:
  // `docs` may be null.
  SchemaWriter(Dialect dialect, const ApiDocs* docs, KindLists kinds)
      : dialect_(dialect), docs_(docs), kinds_(std::move(kinds)) {}

  // A reference to the model of `type` (and of its list), written when not yet there.
  Json RefTo(const ResourceType& type);
  Json RefToList(const ResourceType& type);
  // A reference to a built-in type by its fact name, such as `meta/v1.Status`.
  Json RefToBuiltin(std::string_view name);

  // A reference to what is no Kubernetes type: the answer of /version.
  Json RefToVersionInfo();

  // All models written so far by name, those they refer to included.
  std::map<std::string, Json> Take();

 private:
  Json Ref(const std::string& model) const;
  Json Named(const Schema& schema);
  Json Scalar(std::string_view model);
  Json Inline(const Schema& schema);
  // A member, an item or a value: by reference where it has a model.
  Json Part(const Schema& schema);
  // Of definitions; document_schema_custom.cc.
  Json Custom(const Schema& schema);
  void WriteJunctors(const Schema& schema, Json& out);
  Json PropertyJson(const Schema& owner, const Property& property);
  // What an element of a list or map looks like.
  Json Element(const Schema& schema);
  // In v3, where it carries more than the reference, one of several things that hold.
  Json Wrapped(Json part) const;
  void WriteMemberDefault(const Property& property, Json& out) const;
  Json ListModel(const ResourceType& type);
  std::string ModelOf(const ResourceType& type) const;
  std::string ListModelOf(const ResourceType& type) const;

  Dialect dialect_;
  const ApiDocs* docs_;
  KindLists kinds_;
  std::map<std::string, Json> models_;
};

}  // namespace mailroom::openapi
