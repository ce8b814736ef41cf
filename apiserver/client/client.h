// Typed-enough calls on one server: any resource of any workspace, objects as JSON trees.
// HTTP errors come back as the Status the server sent. Cheap to copy; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/client/transport.h"
#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::client {

// One collection: apiVersion (`v1`, `apps/v1`) and plural.
struct Gvr {
  std::string api_version;
  std::string resource;
  std::string group() const;  // "" for core
  std::string version() const;
  friend auto operator<=>(const Gvr&, const Gvr&) = default;
};

struct ObjectRef {
  Gvr gvr;
  std::string ns;  // "" for cluster-scoped
  std::string name;
  std::string subresource;
};

struct ListQuery {
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  std::size_t limit = 0;  // of one List call; 0 is none. Informers page by themselves.
  // The selectors as a raw query string; the namespace belongs to the path.
  std::string ToQuery() const;
};

struct DeleteOptions {
  std::string uid;               // precondition, when not empty
  std::string resource_version;  // precondition, when not empty
  std::string propagation;       // Background when empty
};

class Client {
 public:
  // `base_path` such as `/clusters/wds1` (or the path of a kubeconfig's server URL) is put before
  // every path.
  Client(Transport& transport, std::string base_path, std::string user_agent);
  // The same server, another workspace: base_path `/clusters/<workspace>`.
  Client InWorkspace(std::string_view workspace) const;

  Result<Json> Get(const ObjectRef& ref) const;
  Result<Json> List(const Gvr& gvr, const ListQuery& query) const;
  // What was written, unless `answer` says that nobody looks at it: then null, which is cheaper.
  enum class Answer { kRead, kDropped };
  Result<Json> Create(const Gvr& gvr, std::string_view ns, const Json& object,
                      Answer answer = Answer::kRead) const;
  // PUT, also subresources.
  Result<Json> Update(const ObjectRef& ref, const Json& object,
                      Answer answer = Answer::kRead) const;
  Result<Json> MergePatch(const ObjectRef& ref, const Json& patch) const;
  Result<Json> Apply(const ObjectRef& ref, const Json& config, std::string_view manager,
                     bool force) const;
  Result<void> Delete(const ObjectRef& ref, const DeleteOptions& options = {}) const;
  // GET of any path below base_path, parsed as JSON.
  Result<Json> GetPath(std::string_view path) const;

  Transport& transport() const { return *transport_; }
  const std::string& base_path() const { return base_path_; }
  // Path of a collection or object below base_path.
  std::string PathOf(const ObjectRef& ref) const;
  Request NewRequest(std::string method, std::string path, std::string query) const;

 private:
  Result<Json> Call(Request request, Answer answer = Answer::kRead) const;
  Transport* transport_;
  std::string base_path_;
  std::string user_agent_;
};

}  // namespace mailroom::client
