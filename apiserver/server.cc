#include "apiserver/server.h"

#include "apiserver/admission/admission.h"
#include "apiserver/admission/quota_controller.h"
#include "apiserver/hub_watch.h"
#include "apiserver/kinds.h"
#include "apiserver/lifecycle.h"
#include "apiserver/loopback.h"
#include "apiserver/timer_queue.h"
#include "storage/compactor.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

struct DefaultWorkspace {
  const char* name;
  const char* type;
};
constexpr DefaultWorkspace kDefaults[] = {{"its1", "inventory"}, {"wds1", "wds"}};

class Running final : public Server {
 public:
  Running(std::unique_ptr<storage::Store> store, std::unique_ptr<storage::CachedStore> cache,
          const Options& options)
      : store_(std::move(store)), cache_(std::move(cache)), workspaces_(*cache_),
        admission_(admission::Admission::Make(*cache_, {options.webhook_addresses, Clock::Real()})),
        hub_{*cache_, workspaces_, Clock::Real(), timers_, options.external_url, !options.embedded,
             admission_.get()},
        dispatcher_(hub_), controllers_(options.controllers), root_ca_(options.root_ca_pem) {}

  ~Running() override {
    compactor_.reset();
    loopback_.reset();
    lifecycle_.reset();
    removals_.reset();
    hub_.quotas = nullptr;
    quotas_.reset();
    cache_->Stop();
    store_->Close();
  }

  Result<void> Begin() {
    const bool fresh = TRY(MakeRoot());
    quotas_ = TRY(admission::QuotaController::Start(
        *cache_,
        [this](const Workspace& workspace) {
          auto view = workspaces_.Find(workspace);
          const bool live = view.ok() && openapi::PolicyIsLive(view->type);
          return live ? view->catalog : nullptr;
        },
        hub_.clock));
    hub_.quotas = quotas_.get();
    loopback_ = MakeLoopback(dispatcher_);
    if (fresh) TRY(MakeDefaults());
    TRY(FollowRemovals());
    if (controllers_) TRY(StartControllers());
    compactor_ = std::make_unique<storage::Compactor>(
        *store_, *cache_, Clock::Real(),
        storage::Compactor::Options{.age = limits::kHistoryAge,
                                    .interval = limits::kCompactionInterval});
    return Ok();
  }

  Dispatcher& dispatcher() override { return dispatcher_; }
  client::Transport& loopback() override { return *loopback_; }

  Result<void> StartControllers() override {
    lifecycle_ = TRY(Lifecycle::Start(hub_, root_ca_));
    return Ok();
  }
  void StopControllers() override { lifecycle_.reset(); }

 private:
  // What is open in a workspace ends with it.
  Result<void> FollowRemovals() {
    HubWatch::Options options;
    options.name = "removals";
    options.scope = {Workspace(std::string(kRootWorkspace)), kWorkspacesResource, ""};
    options.filter = [](const Object&) { return true; };
    options.change = [this](const ResourceKey& key, const Object*, const Object* now) {
      if (now == nullptr) workspaces_.Removed(Workspace(key.name));
    };
    removals_ = TRY(HubWatch::Start(*cache_, std::move(options)));
    return Ok();
  }

  // True when root had to be made, which is to say on the first start.
  Result<bool> MakeRoot() {
    const Workspace root{std::string(kRootWorkspace)};
    TRY(cache_->Freshen());
    const ResourceKey marker{root, kNamespacesResource, "", "kube-system"};
    if (cache_->Get(marker) != nullptr) return false;
    storage::Txn txn;
    txn.compares.push_back({marker.ToStoreKey(), Revision()});
    AddBootstrapObjects(root, openapi::WorkspaceType::kRoot, FormatTime(hub_.clock.Now()), txn);
    return TRY(cache_->Commit(std::move(txn))).committed;
  }

  Result<void> MakeDefaults() {
    for (const DefaultWorkspace& workspace : kDefaults) {
      Request request;
      request.method = "POST";
      request.path = "/clusters/root/apis/" + std::string(openapi::kMailboxApi) + "/workspaces";
      request.headers.Add("content-type", "application/json");
      request.headers.Add("user-agent", "mailroom");
      request.body = DumpJson({{"apiVersion", openapi::kMailboxApi},
                               {"kind", "Workspace"},
                               {"metadata", {{"name", workspace.name}}},
                               {"spec", {{"type", workspace.type}}}});
      auto response = loopback_->Send(std::move(request));
      if (!response.ok()) return std::move(response).error();
      if (response->code >= 300 && response->code != 409) {
        return Status::FromBody(response->code, response->BodyText());
      }
    }
    return Ok();
  }

  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<storage::CachedStore> cache_;
  TimerQueue timers_;
  Workspaces workspaces_;
  std::unique_ptr<admission::Admission> admission_;
  std::unique_ptr<admission::QuotaController> quotas_;
  Hub hub_;
  Dispatcher dispatcher_;
  std::unique_ptr<client::Transport> loopback_;
  std::unique_ptr<HubWatch> removals_;
  const bool controllers_;
  const std::string root_ca_;
  std::unique_ptr<Lifecycle> lifecycle_;
  std::unique_ptr<storage::Compactor> compactor_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(std::unique_ptr<storage::Store> store,
                                              const Options& options) {
  storage::CachedStore::Options cache_options;
  cache_options.history_events = limits::kHistoryEvents;
  cache_options.watch_queue = limits::kWatchQueueEvents;
  cache_options.probe = !options.embedded;
  auto cache = TRY(storage::CachedStore::Start(*store, cache_options));
  auto server = std::make_unique<Running>(std::move(store), std::move(cache), options);
  TRY(server->Begin());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace mailroom::apiserver
