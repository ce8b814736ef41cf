// What one server serves, asked for one group version at a time and remembered until told that
// CRDs changed. Absence is never remembered. Thread-safe; calls may block on the network.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apiserver/client/client.h"
#include "storage/object/result.h"

namespace mailroom::syncer {

struct KindFacts {
  std::string kind;
  bool namespaced = false;
  bool has_status = false;  // serves <resource>/status
  bool listable = false;
};

class Kinds {
 public:
  explicit Kinds(client::Client client) : client_(std::move(client)) {}

  // NotFound when the server does not serve it.
  Result<KindFacts> Find(const client::Gvr& gvr);
  // Everything listable, in each group's preferred version.
  Result<std::vector<std::pair<client::Gvr, KindFacts>>> All();
  // What is known of `group` may be wrong now.
  void Forget(const std::string& group);

 private:
  using Resources = std::map<std::string, KindFacts>;
  Result<std::shared_ptr<const Resources>> Load(const std::string& api_version);

  const client::Client client_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Resources>> known_;  // guarded by mutex_
};

}  // namespace mailroom::syncer
