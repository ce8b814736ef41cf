// Choosing the response form from Accept: media type, Table or PartialObjectMetadata, pretty.
#pragma once

#include <string>

#include "apiserver/request_info.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

enum class Media { kJson, kYaml };
enum class Form { kObject, kTable, kPartial, kPartialList };

struct Accepted {
  Media media = Media::kJson;
  Form form = Form::kObject;
  std::string meta_version = "v1";  // of meta.k8s.io, for tables and partial metadata
  bool pretty = false;
};

enum class Shape { kSingle, kList };

// NotAcceptable when no clause fits. Clauses are tried in the order of their q values.
Result<Accepted> Negotiate(const Request& request, const Query& query, Shape shape);

}  // namespace mailroom::apiserver
