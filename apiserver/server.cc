#include "apiserver/server.h"

#include <unordered_map>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/quota_controller.h"
#include "apiserver/aggregator.h"
#include "apiserver/auth/bootstrap_policy.h"
#include "apiserver/availability.h"
#include "apiserver/conversions.h"
#include "apiserver/hub_watch.h"
#include "apiserver/kinds.h"
#include "apiserver/lifecycle.h"
#include "apiserver/loopback.h"
#include "apiserver/overseen_stream.h"
#include "apiserver/registrar.h"
#include "apiserver/timer_queue.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/thinned.h"

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
          TokenKeys keys, const Options& options)
      : store_(std::move(store)), cache_(std::move(cache)), workspaces_(*cache_),
        webhooks_(*cache_, options.webhook_addresses), conversions_(webhooks_),
        admission_(admission::Admission::Make(*cache_, {webhooks_, Clock::Real(),
                                                        options.disabled_admission})),
        authority_(options.identity.authority),
        front_proxy_(options.identity.front_proxy_authority, options.identity.client_ca_pem),
        aggregator_({*cache_, workspaces_, front_proxy_, options.webhook_addresses}),
        syncer_certificate_(options.identity.syncer_certificate), audit_(options.audit),
        docs_(options.docs),
        watches_(options.watches_per_user),
        authorizer_(*cache_, options.delegate),
        tokens_(std::move(keys), options.identity.issuer.empty() ? options.external_url
                                                                 : options.identity.issuer,
                *cache_, Clock::Real()),
        authenticator_({*cache_, Clock::Real(), authorizer_, tokens_,
                        options.identity.request_headers}),
        hub_{*cache_, workspaces_, authenticator_, authorizer_, tokens_, Clock::Real(), timers_,
             options.external_url, !options.embedded, admission_.get(), nullptr, audit_.get(),
             &watches_, &conversions_, options.docs.get(), &draining_, &aggregator_},
        dispatcher_(hub_), controllers_(options.controllers), root_ca_(options.root_ca_pem),
        compaction_(options.compaction) {}

  ~Running() override {
    compactor_.reset();
    loopback_.reset();
    availability_.reset();
    registrar_.reset();
    lifecycle_.reset();
    removals_.reset();
    hub_.quotas = nullptr;
    quotas_.reset();
    timers_.Stop();  // its tasks ask whatever is declared after it
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
    TRY(RestorePolicy());
    TRY(FollowRemovals());
    availability_ = TRY(Availability::Start(hub_, aggregator_));
    if (controllers_) TRY(StartControllers());
    compactor_ = std::make_unique<storage::Compactor>(
        *store_, *cache_, Clock::Real(), compaction_);
    return Ok();
  }

  Dispatcher& dispatcher() override { return dispatcher_; }
  client::Transport& loopback() override { return *loopback_; }

  Result<void> StartControllers() override {
    lifecycle_ = TRY(Lifecycle::Start(hub_, root_ca_, front_proxy_));
    registrar_ = TRY(Registrar::Start(
        hub_, authority_, root_ca_.empty() ? authority_.cert_pem : root_ca_, syncer_certificate_));
    availability_->Write(true);
    return Ok();
  }
  void VerifyClientsWith(const std::string& client_ca_pem) override {
    front_proxy_.VerifyClientsWith(client_ca_pem);
  }
  void Drain() override { draining_ = true; }
  void StopControllers() override {
    availability_->Write(false);
    registrar_.reset();
    lifecycle_.reset();
  }

 private:
  // What is open in a workspace ends with it, and what was read from it is forgotten.
  Result<void> FollowRemovals() {
    HubWatch::Options options;
    options.name = "removals";
    options.scope = {Workspace(std::string(kRootWorkspace)), kWorkspacesResource, ""};
    options.filter = [](const Object&) { return true; };
    // Those that went while the watch was broken, and may have come again.
    options.restart = [this] {
      const Workspace root{std::string(kRootWorkspace)};
      for (const auto& [name, id] : std::exchange(known_, {})) {
        const ObjectPtr now = cache_->Get({root, kWorkspacesResource, "", name});
        if (now == nullptr || IdOf(*now) != id) Forget(Workspace(name));
      }
    };
    options.change = [this](const ResourceKey& key, const Object*, const Object* now) {
      if (now != nullptr) {
        known_[key.name] = IdOf(*now);
        thinned_.Grown(known_.size());
      } else {
        known_.erase(key.name);
        if (thinned_.Now(known_.size())) PutTogether(known_);
        Forget(Workspace(key.name));
      }
    };
    removals_ = TRY(HubWatch::Start(*cache_, std::move(options)));
    return Ok();
  }

  static std::uint64_t IdOf(const Object& workspace) {
    return std::hash<std::string_view>()(workspace.meta().uid);
  }

  void Forget(const Workspace& gone) {
    authorizer_.Forget(gone);
    admission_->Forget(gone);
    front_proxy_.Forget(gone);
    aggregator_.Forget(gone);
    workspaces_.Removed(gone);
    conversions_.Forget(gone);
    dispatcher_.SweepDocuments();
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

  // Workspaces made by an older program lack what newer ones start with.
  Result<void> RestorePolicy() {
    const std::string now = FormatTime(hub_.clock.Now());
    const Workspace root{std::string(kRootWorkspace)};
    TRY(RestoreBootstrapPolicy(*cache_, root, now));
    for (const storage::Entry& entry :
         TRY(cache_->List({.scope = {root, kWorkspacesResource, ""}})).entries) {
      const std::string name(entry.object->meta().name);
      if (!authorizer_.IsLive(name)) continue;
      TRY(RestoreBootstrapPolicy(*cache_, Workspace(name), now));
    }
    return Ok();
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
  admission::WebhookClient webhooks_;
  Conversions conversions_;
  std::unique_ptr<admission::Admission> admission_;
  std::unique_ptr<admission::QuotaController> quotas_;
  const KeyPair authority_;
  FrontProxy front_proxy_;
  Aggregator aggregator_;
  const Validity syncer_certificate_;
  const std::shared_ptr<const Audit> audit_;
  const std::shared_ptr<const openapi::ApiDocs> docs_;
  std::atomic<bool> draining_{false};
  WatchQuota watches_;
  Authorizer authorizer_;
  ServiceAccountTokens tokens_;
  Authenticator authenticator_;
  Hub hub_;
  Dispatcher dispatcher_;
  std::unique_ptr<client::Transport> loopback_;
  std::unordered_map<std::string, std::uint64_t> known_;  // workspaces; of the watch's thread
  Thinned thinned_;                                       // of these
  std::unique_ptr<HubWatch> removals_;
  const bool controllers_;
  const std::string root_ca_;
  const storage::Compactor::Options compaction_;
  std::unique_ptr<Lifecycle> lifecycle_;
  std::unique_ptr<Registrar> registrar_;
  std::unique_ptr<Availability> availability_;
  std::unique_ptr<storage::Compactor> compactor_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(std::unique_ptr<storage::Store> store,
                                              const Options& options) {
  storage::CachedStore::Options cache_options;
  cache_options.history_events = options.history_events;
  cache_options.watch_queue = limits::kWatchQueueEvents;
  cache_options.watch_lag = options.watch_pending;
  cache_options.probe = !options.embedded;
  Options complete = options;
  Identity& identity = complete.identity;
  if (identity.token_key_pem.empty()) identity.token_key_pem = TRY(NewPrivateKey());
  if (identity.authority.key_pem.empty()) identity.authority = TRY(NewAuthority("mailroom-ca"));
  if (identity.front_proxy_authority.key_pem.empty()) {
    identity.front_proxy_authority = TRY(NewAuthority("mailroom-front-proxy-ca"));
  }
  if (identity.client_ca_pem.empty()) identity.client_ca_pem = identity.authority.cert_pem;
  // What stays for good is made before all that may go again, and not strewn among it.
  TokenKeys keys = TRY(TokenKeys::Load(identity.token_key_pem, identity.believed_token_keys));
  (void)BootstrapPolicy();
  auto cache = TRY(storage::CachedStore::Start(*store, cache_options));
  auto server = std::make_unique<Running>(std::move(store), std::move(cache), std::move(keys),
                                          complete);
  TRY(server->Begin());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace mailroom::apiserver
