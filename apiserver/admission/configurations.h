// The admission configurations of each workspace, parsed once per change and shared by its
// requests. A workspace that has none costs a few look-ups and no memory. Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "apiserver/admission/policy.h"
#include "apiserver/admission/webhook.h"
#include "storage/cached_store.h"

namespace mailroom::admission {

struct Configuration {
  std::vector<Webhook> mutating, validating;  // by name of the configuration, then in its order
  std::vector<BoundPolicy> mutating_policies, validating_policies;
  bool empty() const {
    return mutating.empty() && validating.empty() && mutating_policies.empty() &&
           validating_policies.empty();
  }
};
using ConfigurationPtr = std::shared_ptr<const Configuration>;

class Configurations {
 public:
  explicit Configurations(const storage::CachedStore& store) : store_(store) {}
  // Of the workspace as it is now; null when there is none.
  ConfigurationPtr Of(const Workspace& workspace);
  void Forget(const Workspace& workspace);

 private:
  static constexpr std::size_t kKinds = 6;
  using Revisions = std::array<Revision, kKinds>;
  struct Parsed {
    Revisions revisions;
    ConfigurationPtr configuration;
  };
  ConfigurationPtr Parse(const Workspace& workspace) const;

  const storage::CachedStore& store_;
  std::mutex mutex_;
  std::unordered_map<Workspace, Parsed> parsed_;  // guarded by mutex_
};

}  // namespace mailroom::admission
