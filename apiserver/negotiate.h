// Choosing the response form from Accept: media type, Table or PartialObjectMetadata, pretty.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apiserver/request_info.h"
#include "openapi/resource_type.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

enum class Media { kJson, kYaml, kProtobuf };
enum class Form { kObject, kTable, kPartial, kPartialList };

struct Accepted {
  Media media = Media::kJson;
  Form form = Form::kObject;
  std::string meta_version = "v1";  // of meta.k8s.io, for tables and partial metadata
  bool pretty = false;
};

enum class Shape { kSingle, kList, kWatch };

// The form of an answer that holds objects of `type`; NotAcceptable when no clause fits. Clauses
// are tried in the order of their q values.
Result<Accepted> Negotiate(const Request& request, const Query& query,
                           const openapi::ResourceType& type, Shape shape);
// The same for a deletion, whose answer may be a Status: that is sent in the media type of a clause,
// whatever else it asks for.
Result<Accepted> NegotiateDeleted(const Request& request, const Query& query,
                                  const openapi::ResourceType& type);
// The form of an error, which is sent whatever the client accepts. Clauses that ask for a table or
// metadata are passed over.
Accepted NegotiateError(const Request& request);

// The form of a document about the API, which has no other one than media types; NotAcceptable when no
// clause fits.
Result<Accepted> NegotiateDocument(const Request& request);

// Which of the media types offered for a document the client takes, by its best clause; nothing
// when it takes none.
std::optional<std::size_t> AcceptedType(const Request& request,
                                        std::span<const std::string_view> offered);

// The Go type that error texts name: `core.ConfigMap`.
std::string GoTypeName(const openapi::ResourceType& type, std::string_view kind);

}  // namespace mailroom::apiserver
