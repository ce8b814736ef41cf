// What a request asks for, decided once from method, path and query. Accepted path shapes, each
// optionally behind `/clusters/<workspace>` (`*` for all workspaces; absent means root):
//
//   /api/v1/<resource>[/<name>[/<subresource>]]
//   /api/v1/namespaces/<ns>/<resource>[/<name>[/<subresource>]]
//   /apis/<group>/<version>/... likewise
//   anything else: a non-resource path
//
// What follows a subresource changes nothing about what is asked for, and so about who may.
//
// The proxy subresource of root's mailboxes, `/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/
// <name>/proxy/...`, is the mailbox's own API: what follows is read as if it stood behind
// `/clusters/<name>`.
//
// Segments are split first and percent-decoded once; a segment that decodes to something with a
// '/' or to "." or ".." is refused, so no path can name another workspace's data.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/auth/attributes.h"
#include "openapi/edge_names.h"
#include "storage/object/ids.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// Decoded query parameters with the API server's reading of booleans.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view raw) : pairs_(ParseQuery(raw)) {}
  bool Has(std::string_view name) const;
  // First value, "" when absent.
  std::string Get(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  // Anything but "false" and "0" is true, also the empty value; absent is false.
  bool Bool(std::string_view name) const;
  // Absent or empty is 0; BadRequest when not an integer.
  Result<std::int64_t> Int(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct RequestInfo {
  bool is_resource = false;
  std::string path_verb;    // `watch` or `proxy` where the path says it before the resource, as of old
  bool deeper = false;      // more follows the subresource, for whoever serves that to read
  bool all_workspaces = false;
  Workspace workspace;      // root when the path names none
  std::string prefix;       // `/clusters/<workspace>` (or `.../proxy`) as sent, or ""
  bool proxied = false;     // by root's mailboxes; `workspace` is the mailbox
  std::string path;         // decoded, without the prefix
  std::vector<std::string> segments;  // of `path`

  std::string verb;         // get list watch create update patch delete deletecollection; else
                            // the lower-case method
  std::string group, version, resource, subresource, ns, name;
  // The one object a list, watch or deletecollection is about, by its field selector; else ""
  std::string selected_name;
  Query query;
};

Result<RequestInfo> ParseRequestInfo(const Request& request);

// What the request asks, for authorisation. Views into `info`.
Attributes AttributesOf(const RequestInfo& info);

using openapi::kRootWorkspace;

}  // namespace mailroom::apiserver
