// Asks the webhooks of definitions to convert custom resources between versions. What is read by
// lists and watches is remembered, so that many watchers cost one call; concurrent askers of the
// same object wait for one answer. Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "apiserver/admission/webhook_client.h"
#include "apiserver/worker_pool.h"
#include "openapi/resource_type.h"
#include "storage/object/json.h"
#include "storage/object/object.h"

namespace mailroom::apiserver {

class Conversions {
 public:
  explicit Conversions(admission::WebhookClient& client) : client_(client) {}

  // REQUIRES: `to` has a webhook, and no object is in its version already. Waits for the webhook;
  // what the version of `to` does not declare is dropped from the answer.
  Result<std::vector<Json>> Convert(const Workspace& workspace, const openapi::ResourceType& to,
                                    std::vector<Json> objects);
  // The same for objects as they are stored, by memory where there is one.
  Result<std::vector<ObjectPtr>> Recall(const Workspace& workspace,
                                        const openapi::ResourceType& to,
                                        const std::vector<ObjectPtr>& objects);
  // The workspace is gone: drops what its objects were converted to.
  void Forget(const Workspace& workspace);
  std::size_t RememberedBytes();
  // Runs a task that may wait on a thread for such tasks. False when too many wait already.
  [[nodiscard]] bool Later(const Workspace& workspace, std::function<void()> task);

 private:
  struct Memory {
    std::string key;
    Workspace workspace;
    std::shared_ptr<const openapi::ConversionHook> hook;  // the key names its address
    ObjectPtr object;
  };
  // Known, left to this caller, or being asked for by another one.
  struct Division;
  Result<std::vector<Json>> Ask(const Workspace& workspace, const openapi::ResourceType& to,
                                std::vector<Json> objects);
  ObjectPtr KnownLocked(const std::string& key);
  void RememberLocked(Memory memory);
  void DropLocked(std::list<Memory>::iterator memory);

  admission::WebhookClient& client_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable answered_;
  std::unordered_set<std::string> under_way_;
  std::list<Memory> memories_;  // the last used first
  std::unordered_map<std::string, std::list<Memory>::iterator> by_key_;
  std::unordered_map<Workspace, std::size_t> counts_;  // of memories
  std::size_t bytes_ = 0;
  std::unique_ptr<WorkerPool> pool_;  // made when first needed
};

}  // namespace mailroom::apiserver
