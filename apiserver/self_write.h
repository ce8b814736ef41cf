// Writes that the server makes on its own behalf: the same path as a request's, without the
// request. Used by the controllers that live inside the server.
#pragma once

#include <functional>
#include <string>

#include "apiserver/commit.h"

namespace mailroom::apiserver {

class SelfWriter {
 public:
  // `name` becomes the field manager and the user `system:mailroom:<name>`.
  SelfWriter(const Hub& hub, std::string name);

  // Creates; AlreadyExists is left to the caller.
  Result<Outcome> Insert(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
                         const std::string& ns, Json object) const;
  // Makes the object when it is not there. Nothing to do where the workspace does not serve the
  // kind (`type` is null), somebody was faster or the namespace is going.
  Result<void> Provide(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
                       const std::string& ns, const Json& object) const;
  // Changes the named object by `edit`. NotFound when absent, Conflict when `uid` or `revision` is
  // given and is another's.
  using Edit = std::function<void(Json& object)>;
  Result<Outcome> Change(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
                         const std::string& ns, const std::string& name,
                         const std::string& subresource, const Edit& edit,
                         const std::string& uid = "", Revision revision = {}) const;
  Result<Outcome> Remove(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
                         const std::string& ns, const std::string& name,
                         const DeleteRequest& request) const;

 private:
  Call NewCall(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
               const std::string& verb, const std::string& ns, const std::string& name) const;

  const Hub& hub_;
  const User user_;
  Request request_;
};

// What `result` says, except that an object that is not there is as good as done.
Result<void> UnlessGone(const Result<Outcome>& result);

}  // namespace mailroom::apiserver
