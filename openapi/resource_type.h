// One served resource version: names, scope, verbs, subresources, columns and schema. A row of
// data: a kind differs from another by its row, never by a branch in a verb. Immutable once in a
// Catalog.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/schema.h"
#include "openapi/webhook_endpoint.h"
#include "storage/object/ids.h"

namespace mailroom::openapi {

struct Subresource {
  std::string name;               // status, scale, token, ...
  GroupVersionKind kind;          // of its body; the parent's for status
  std::vector<std::string> verbs;
};

// A table column. `cell` renders the value from the object's tree.
struct Column {
  std::string name;
  std::string type = "string";  // string, integer, number, boolean, date
  std::string format;           // `name` marks the name column
  std::string description;
  int priority = 0;             // > 0: only with -o wide
  std::function<Json(const Json& object)> cell;
};

// Scale subresource paths of a custom resource (dotted, without the leading dot).
struct ScalePaths {
  std::string spec_replicas, status_replicas, label_selector;
};

// Who converts the objects of a definition (spec.conversion.webhook).
struct ConversionHook {
  WebhookEndpoint endpoint;
  std::string review_version = "v1";  // of ConversionReview: v1 or v1beta1
};

// A field that selectors may name, beyond metadata.name and metadata.namespace.
struct SelectableField {
  std::string name;
  std::vector<std::string> paths;  // dotted, in the stored object; the first one with a value counts
  std::string absent;              // what an object without a value is taken to say
};

class Rules;

struct ResourceType {
  GroupVersionKind gvk;
  std::string plural;
  std::string singular;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = false;
  std::vector<std::string> verbs;  // sorted
  std::vector<Subresource> subresources;
  std::vector<Column> columns;
  std::vector<SelectableField> selectable_fields;
  ScalePaths scale;  // meaningful when a `scale` subresource exists

  // Identity in the store, shared by all versions (and by core and events.k8s.io Events).
  GroupResource stored_as;
  std::string storage_version;  // version of `gvk` in which objects are stored

  // The schema and its owner; null schema: anything goes.
  const Schema* schema = nullptr;
  SchemaSetPtr schema_owner;
  // Rules of a custom resource; null: it has none.
  std::shared_ptr<const Rules> rules;
  // How a custom resource changes its version; null: apiVersion is rewritten.
  std::shared_ptr<const ConversionHook> conversion;
  // All versions of the definition, also those not served; null for built-in kinds. Lives as long
  // as the pointer by which this type was handed out.
  const std::vector<ResourceType>* versions = nullptr;

  bool served = true;               // false: only for objects stored in that version
  bool builtin = true;              // false: custom resource (pruning, strict identity, merge)
  bool has_status = false;          // has a status subresource
  bool tracks_generation = false;
  bool unconditional_update = true; // PUT without resourceVersion allowed
  bool create_on_update = false;    // PUT of a missing name creates
  bool returns_deleted = false;     // DELETE answers the object, not a Status
  bool stored = true;               // false: create-only reviews
  bool orphan_by_default = false;   // Job, ReplicationController
  std::string deprecation_warning;  // Warning header on each request, when not empty

  GroupResource group_resource() const { return {gvk.group, plural}; }
  const Subresource* FindSubresource(std::string_view name) const;
  const SelectableField* FindSelectable(std::string_view name) const;
  bool HasVerb(std::string_view verb) const;
  // The version of the same definition that `api_version` names; null when there is none.
  const ResourceType* FindVersion(std::string_view api_version) const;
};

using ResourceTypePtr = std::shared_ptr<const ResourceType>;

}  // namespace mailroom::openapi
