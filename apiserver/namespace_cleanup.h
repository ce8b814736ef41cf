// Empties a Terminating namespace: pods first, then everything else, then the namespace's own
// finalizer. What is left, and why, is told in the namespace's conditions as Kubernetes'
// namespace controller tells it.
#pragma once

#include "apiserver/self_write.h"

namespace mailroom::apiserver {

class NamespaceCleanup {
 public:
  NamespaceCleanup(const Hub& hub, const SelfWriter& self) : hub_(hub), self_(self) {}

  // True when the namespace is empty and finalized, false when something holds its content.
  Result<bool> Take(const WorkspaceView& workspace, const std::string& ns) const;
  // Deletes the objects of `type` in `ns` ("" for all). True when nothing is left.
  Result<bool> Empty(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
                     const std::string& ns) const;

 private:
  struct Remains;
  void Count(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
             const std::string& ns, Remains& remains) const;
  Result<void> Tell(const WorkspaceView& workspace, const std::string& ns,
                    const Remains& remains) const;

  const Hub& hub_;
  const SelfWriter& self_;
};

}  // namespace mailroom::apiserver
