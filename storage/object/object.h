// One Kubernetes document as stored and served: immutable JSON bytes with its metadata parsed
// once beside them. Bytes always have the shape
//
//   {"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":"7",...},...}
//
// that is: apiVersion, kind, metadata first, resourceVersion first inside metadata. Because of
// that shape a list item, another served version and a changed resourceVersion are byte splices,
// and nothing on a read path builds a JSON tree. A published Object never changes, so it needs
// no lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/object/ids.h"
#include "storage/object/json_fwd.h"
#include "storage/object/result.h"

namespace mailroom {

// Views into the owning Object's bytes.
struct Metadata {
  std::string_view name;
  std::string_view ns;
  std::string_view uid;
  std::string_view deletion_timestamp;  // empty when not being deleted
  std::vector<std::pair<std::string_view, std::string_view>> labels;  // sorted by key
  bool has_owners = false;
  bool has_finalizers = false;
};

class Object;
using ObjectPtr = std::shared_ptr<const Object>;
using SharedBytes = std::shared_ptr<const std::string>;

class Object {
  struct Passkey {};  // only Decode makes objects

 public:
  explicit Object(Passkey) {}
  // Serialises `tree` for the store: canonical key order, no resourceVersion.
  static std::string Encode(const Json& tree);
  // Adopts bytes made by Encode, giving them `revision` as resourceVersion. Fails with
  // InternalError on bytes that are not of the canonical shape.
  static Result<ObjectPtr> Decode(std::string_view encoded, Revision revision);
  // Encode and Decode in one step.
  static ObjectPtr Make(const Json& tree, Revision revision);

  // The whole document, resourceVersion in place, no trailing newline.
  std::string_view bytes() const { return bytes_; }
  // The document without its leading `{"apiVersion":"..","kind":"..",`, for list items of
  // built-in kinds: a list writes '{' and then this.
  std::string_view bytes_after_kind() const { return std::string_view(bytes_).substr(body_); }
  // The raw text of the metadata member's value.
  std::string_view metadata_bytes() const;
  std::string_view api_version() const { return api_version_; }
  std::string_view kind() const { return kind_; }
  const Metadata& meta() const { return meta_; }
  Revision revision() const { return revision_; }

  // A tree for mutation, resourceVersion included.
  Json ToJson() const;
  // The same document at another revision (a deletion event carries the deletion's revision).
  ObjectPtr AtRevision(Revision revision) const;
  // The value of a scalar at a dotted path (`spec.nodeName`, `status.podIPs.0.ip`), as field
  // selectors compare it: strings unquoted, numbers and booleans as text, "" when absent.
  std::string ScalarAt(std::string_view dotted_path) const;

 private:
  friend struct ObjectReader;

  std::string bytes_;
  std::size_t body_ = 0;      // offset of `"metadata":`
  std::size_t meta_end_ = 0;  // offset just past the metadata object
  std::string_view api_version_;
  std::string_view kind_;
  Metadata meta_;
  std::vector<std::string> unescaped_;  // backing of views whose JSON text held escapes
  Revision revision_;
};

}  // namespace mailroom
