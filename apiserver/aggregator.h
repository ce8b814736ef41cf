// Groups of a workspace's API that another server serves: requests for them are passed on, after
// they were authenticated and authorised here, with a certificate of ours and the user's name in
// headers; discovery shows them beside our own. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "apiserver/auth/user.h"
#include "apiserver/client/curl_transport.h"
#include "apiserver/discovery.h"
#include "apiserver/front_proxy.h"
#include "apiserver/openapi_paths.h"
#include "apiserver/relay.h"
#include "apiserver/remote_apis.h"
#include "storage/object/deadline.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {

class Aggregator {
 public:
  struct Parts {
    const storage::CachedStore& store;
    const Workspaces& workspaces;
    FrontProxy& front_proxy;
    client::AddressPolicy refuse = {};  // addresses that services may not have
  };
  explicit Aggregator(Parts parts);

  const RemoteApis& apis() const { return apis_; }
  // The API elsewhere that the path lies in, also that of its OpenAPI document.
  std::optional<RemoteApi> Find(const RequestInfo& info) const;
  bool Serves(const Workspace& workspace, std::string_view group, std::string_view version) const;
  // Whether a request may be passed on, or answered with what others said, which takes its time.
  // `workspace` is the one its path seems to name.
  bool MayForward(const Workspace& workspace, const Request& request) const;
  // Passes the request on. 503 as the original says it when nobody is there.
  Result<Response> Forward(const RemoteApi& api, const Request& request, const RequestInfo& info,
                           const User& user, const Deadline& deadline);

  // A document of the other server, asked for by this one.
  struct Wanted {
    std::string path;
    std::size_t most = limits::kAggregatedDocumentBytes;
    std::string etag = {};  // of what is known: the code is 304 when that still holds
  };
  struct Fetched {
    int code = 0;
    std::string body;
    std::string etag = {};
  };
  Result<Fetched> Fetch(const Workspace& workspace, const RemoteApi& api, const Wanted& wanted);
  // Where it is asked: https://host:port; Unavailable when the Service leads nowhere.
  Result<std::string> AddressOf(const Workspace& workspace, const RemoteApi& api) const;

  // A part of an OpenAPI v2 document, as Version2Part makes it.
  struct Version2 {
    SharedBytes part = {};  // null: there is none
    std::string hash = {};  // of it
    std::string etag = {};  // of the document it is from
  };
  // What was last heard of an API, for discovery. Never changes once it is told.
  struct Learned {
    SharedBytes resources;         // as the aggregated form has them, a JSON array
    std::string hash;              // of them
    std::string openapi_url = {};  // of its OpenAPI v3 document, with its hash; "": none
    Version2 version2 = {};
  };
  using LearnedPtr = std::shared_ptr<const Learned>;
  // False, and nothing is kept of this API, when with it those of the workspace would have said
  // more than limits::kAggregatedBytes; if they have only with its OpenAPI v2, that is not kept.
  bool Learn(const Workspace& workspace, const std::string& name, Learned learned);
  LearnedPtr LearnedOf(const Workspace& workspace, const std::string& name) const;
  void Forget(const Workspace& workspace, const std::string& name);
  void Forget(const Workspace& workspace);

  // The answer to a GET of /apis or /apis/<group> of a workspace with such APIs; nothing where
  // `ours` is the whole answer.
  std::optional<Response> Discover(const Request& request, const RequestInfo& info,
                                   const WorkspaceView& workspace, Discovery& ours) const;
  // Likewise OpenAPI v2, with what the servers that are there say of their APIs.
  std::optional<Response> Version2Answer(const Request& request, const RequestInfo& info,
                                         const WorkspaceView& workspace, OpenApiPaths& ours) const;
  // Likewise the index of OpenAPI v3, with their documents.
  std::optional<Response> Index(const Request& request, const RequestInfo& info,
                                const WorkspaceView& workspace, OpenApiPaths& ours) const;

 private:
  class Slot;
  Result<std::shared_ptr<const client::ServerConfig>> ConfigFor(const Workspace& workspace,
                                                                const RemoteApi& api);
  // A document about all groups as it is answered, in pieces that all answers share.
  struct Shown {
    std::vector<SharedBytes> body;
    std::string hash;
  };
  using LearnedMap = std::map<std::string, LearnedPtr>;  // by the APIService's name
  // The document of that form; made again only when the APIServices, what is served here, or what
  // was learned has changed.
  Shown ShownAs(const std::string& form, const WorkspaceView& workspace, const RemoteApiList& list,
                const std::function<Shown(const LearnedMap&)>& make) const;
  Shown GroupsShown(const WorkspaceView& workspace, const RemoteApiList& list,
                    const Response& ours) const;
  // What was heard of the APIs of one workspace, and the lists made of that.
  struct Heard {
    LearnedMap learned;
    std::uint64_t changed = 0;                  // which change to anybody's was the last
    RemoteApiList list;                         // this and the next: what `shown` was made of
    openapi::CatalogPtr catalog;
    std::map<std::string, Shown> shown;  // by form: three lists of groups, two of OpenAPI v2
  };
  void ForgetLocked(const Workspace& workspace, const std::string& name);

  const Parts parts_;
  const RemoteApis apis_;
  const std::shared_ptr<client::CurlStreams> streams_;
  mutable std::mutex mutex_;
  std::map<Workspace, std::size_t> waiting_;  // guarded by mutex_; entries above zero only
  std::uint64_t changes_ = 0;                  // guarded by mutex_
  mutable std::map<Workspace, Heard> heard_;  // guarded by mutex_; only of workspaces with some
};

}  // namespace mailroom::apiserver
