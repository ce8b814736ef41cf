#include "apiserver/registrar.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/commit.h"
#include "apiserver/expiry.h"
#include "apiserver/signing_request.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

const User kSelf{"system:mailroom:registrar", {std::string(kMasters)}};
constexpr std::string_view kTokenSecretType = "kubernetes.io/service-account-token";
constexpr std::string_view kAccountName = "kubernetes.io/service-account.name";
constexpr std::string_view kAccountUid = "kubernetes.io/service-account.uid";

class Running final : public Registrar {
 public:
  Running(const Hub& hub, const KeyPair& authority, std::string root_ca, Validity syncer_validity)
      : hub_(hub),
        authority_(authority),
        root_ca_(openapi::EncodeBase64(root_ca)),
        syncer_validity_(syncer_validity) {}
  ~Running() override {
    thread_.request_stop();
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    feeds_.clear();
  }

  Result<void> Begin() {
    Feed roles{kClusterRolesResource, {}, {}}, requests{kSigningRequestsResource, {}, {}},
        accounts{kServiceAccountsResource, {}, {}},
        secrets{kSecretsResource,
                [](const Object& object) { return object.ScalarAt("type") == kTokenSecretType; }, {}};
    feeds_.push_back(std::move(roles));
    feeds_.push_back(std::move(requests));
    feeds_.push_back(std::move(secrets));
    feeds_.push_back(std::move(accounts));
    for (Feed& feed : feeds_) TRY(Open(feed));
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return Ok();
  }

 private:
  // The changes of one resource in all workspaces.
  struct Feed {
    GroupResource resource;
    storage::Filter filter;
    std::unique_ptr<storage::Watcher> watcher;
  };

  Result<void> Open(Feed& feed) {
    storage::CacheWatchOptions options;
    options.scope.resource = feed.resource;
    options.filter = feed.filter;
    auto watch = TRY(hub_.store.Watch(options));
    for (const storage::Entry& entry : watch.initial) {
      if (feed.resource == kServiceAccountsResource) break;  // those that are there lack nothing
      Note({*entry.workspace, feed.resource, std::string(entry.object->meta().ns),
            std::string(entry.object->meta().name)});
    }
    feed.watcher = std::move(watch.watcher);
    feed.watcher->OnReady([this] { Notify(); });
    return Ok();
  }

  void Notify() {
    std::lock_guard lock(mutex_);
    notified_ = true;
    wake_.notify_all();
  }

  // Roles are looked at together, the others one by one.
  void Note(ResourceKey key) {
    if (key.resource == kClusterRolesResource) key.name.clear();
    pending_.insert(std::move(key));
  }

  void Drain(Feed& feed) {
    std::vector<storage::Watcher::Item> items;
    Revision up_to;
    const auto state = feed.watcher->Drain(items, limits::kWatchQueueEvents, up_to);
    for (const auto& item : items) {
      // Of accounts it matters only that they go.
      const bool gone = item.event->type() == storage::EventType::kDeleted;
      if (gone || feed.resource != kServiceAccountsResource) Note(item.event->key());
    }
    if (state == storage::Watcher::State::kOverflow) Reopen(feed);
  }

  void Reopen(Feed& feed) {
    (void)Open(feed);
    if (feed.resource != kServiceAccountsResource) return;
    // Whose account went unseen is told by the Secrets themselves.
    for (Feed& other : feeds_) {
      if (other.resource == kSecretsResource) (void)Open(other);
    }
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        auto ready = [this] { return notified_; };
        if (pending_.empty()) {
          wake_.wait(lock, stop, ready);
        } else {
          wake_.wait_for(lock, stop, limits::kCollectorRetry, ready);
        }
        notified_ = false;
      }
      for (Feed& feed : feeds_) Drain(feed);
      DropOldRequests();
      std::erase_if(pending_,
                    [&](const ResourceKey& key) { return stop.stop_requested() || Finish(key); });
    }
  }

  // True when nothing is left to do for the key.
  bool Finish(const ResourceKey& key) {
    auto workspace = hub_.workspaces.Find(key.workspace);
    if (!workspace.ok()) return true;
    auto done = key.resource == kClusterRolesResource      ? Unite(*workspace)
                : key.resource == kSigningRequestsResource ? Answer(key, *workspace)
                : key.resource == kServiceAccountsResource ? DropSecrets(key, *workspace)
                                                           : FillSecret(key, *workspace);
    if (done.ok() || done.error().reason() == Reason::kNotFound) return true;
    Log(Level::kWarn, "not kept in step",
        {{"workspace", key.workspace.name()}, {"resource", key.resource.resource},
         {"name", key.name}, {"error", done.error().message()}});
    return false;
  }

  // Writes the union into each aggregated role that does not show it.
  Result<void> Unite(const WorkspaceView& workspace) {
    if (!openapi::PolicyIsLive(workspace.type)) return Ok();
    const RbacPtr rbac = hub_.authorizer.RbacOf(workspace.name.name());
    if (rbac == nullptr) return Ok();
    for (const RolePtr& role : rbac->Aggregated()) {
      const Json shown = role->object->ToJson();
      const Json* now = Find(shown, {"rules"});
      if (now != nullptr && ParseRules(*now) == *role->rules) continue;
      Json rules = Json::array();
      for (const Rule& rule : *role->rules) rules.push_back(RuleToJson(rule));
      const ResourceKey key{workspace.name, kClusterRolesResource, "",
                            std::string(role->object->meta().name)};
      TRY(Edit(workspace, key, "", [&](Json& object) -> Result<void> {
        object["rules"] = rules;
        return Ok();
      }));
    }
    return Ok();
  }

  // One step for a signing request; the change it makes brings the next.
  Result<void> Answer(const ResourceKey& key, const WorkspaceView& workspace) {
    const ObjectPtr object = hub_.store.Get(key);
    if (object == nullptr) return Ok();
    const Json request = object->ToJson();
    const SigningStep step = NextSigningStep(hub_, key.workspace, request);
    auto condition = [&](Json& edited, const char* type, const char* reason) -> Result<void> {
      Json& conditions = edited["status"]["conditions"];
      if (!conditions.is_array()) conditions = Json::array();
      conditions.push_back({{"type", type}, {"status", "True"}, {"reason", reason},
                            {"message", step.message}});
      return Ok();
    };
    switch (step.kind) {
      case SigningStep::Kind::kNone: return Ok();
      case SigningStep::Kind::kApprove:
        return Edit(workspace, key, "approval",
                    [&](Json& edited) { return condition(edited, "Approved", "AutoApproved"); });
      case SigningStep::Kind::kFail:
        return Edit(workspace, key, "status", [&](Json& edited) {
          return condition(edited, "Failed", "SignerValidationFailure");
        });
      case SigningStep::Kind::kSign: {
        const std::string pem = TRY(CertificateFor(authority_, request, syncer_validity_));
        return Edit(workspace, key, "status", [&](Json& edited) -> Result<void> {
          edited["status"]["certificate"] = openapi::EncodeBase64(pem);
          return Ok();
        });
      }
    }
    return Ok();
  }

  // The workspaces of what is pending are swept once, however many requests there are.
  void DropOldRequests() {
    std::set<Workspace> swept;
    for (const ResourceKey& key : pending_) {
      if (key.resource != kSigningRequestsResource || !swept.insert(key.workspace).second) continue;
      const auto workspace = hub_.workspaces.Find(key.workspace);
      if (!workspace.ok()) continue;
      if (auto done = DropOldRequests(*workspace); !done.ok()) {
        Log(Level::kWarn, "old signing requests stay",
            {{"workspace", key.workspace.name()}, {"error", done.error().message()}});
      }
    }
  }

  // Requests to our signer whose time is over go in mailboxes, too, and with each the token that
  // was spent on it. One that was not may still be of use.
  Result<void> DropOldRequests(const WorkspaceView& workspace) {
    const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                                 hub_.clock.Now().time_since_epoch()).count();
    for (const storage::Entry& entry :
         TRY(hub_.store.List({.scope = {workspace.name, kSigningRequestsResource, ""}})).entries) {
      const Object& object = *entry.object;
      if (object.ScalarAt("spec.signerName") != kSyncerSigner) continue;
      const auto due = ExpiryOf(kSigningRequestsResource, object);
      if (!due || *due > now) continue;
      TRY(DropToken(workspace, object));
      auto gone = Delete(workspace, {workspace.name, kSigningRequestsResource, "",
                                     std::string(object.meta().name)});
      if (!gone.ok() && gone.error().reason() != Reason::kNotFound) return gone;
    }
    return Ok();
  }

  Result<void> DropToken(const WorkspaceView& workspace, const Object& request) {
    const std::string user = request.ScalarAt("spec.username");
    if (!user.starts_with(kBootstrapUserPrefix)) return Ok();
    const ResourceKey key{workspace.name, kSecretsResource, "kube-system",
                          std::string(kBootstrapSecretPrefix) +
                              user.substr(kBootstrapUserPrefix.size())};
    const ObjectPtr secret = hub_.store.Get(key);
    const std::string spent =
        secret == nullptr ? "" : StringAt(secret->ToJson(), {"data", kSpentEntry});
    if (spent != openapi::EncodeBase64(request.meta().name)) return Ok();
    auto gone = Delete(workspace, key);
    return gone.ok() || gone.error().reason() == Reason::kNotFound ? Ok() : gone;
  }

  // A Secret of type service-account-token is given the token of the account it names.
  Result<void> FillSecret(const ResourceKey& key, const WorkspaceView& workspace) {
    if (!openapi::PolicyIsLive(workspace.type)) return Ok();
    const ObjectPtr object = hub_.store.Get(key);
    if (object == nullptr) return Ok();
    const Json secret = object->ToJson();
    const std::string name = StringAt(secret, {"metadata", "annotations", kAccountName});
    const ObjectPtr account =
        hub_.store.Get({key.workspace, kServiceAccountsResource, key.ns, name});
    const std::string uid = StringAt(secret, {"metadata", "annotations", kAccountUid});
    if (account == nullptr || (!uid.empty() && uid != account->meta().uid)) {
      return Delete(workspace, key);  // its account is gone: so is it
    }
    const bool has_token = !StringAt(secret, {"data", "token"}).empty();
    if (has_token && StringAt(secret, {"data", "ca.crt"}) == root_ca_) return Ok();
    TokenSpec spec;
    spec.workspace = key.workspace.name();
    spec.ns = key.ns;
    spec.account = name;
    spec.account_uid = account->meta().uid;
    spec.audiences = {hub_.tokens.IssuerOf(spec.workspace)};
    spec.bound = {"Secret", key.name, std::string(object->meta().uid)};
    return Edit(workspace, key, "", [&](Json& edited) -> Result<void> {
      Set(edited, {"metadata", "annotations", kAccountUid}, spec.account_uid);
      Set(edited, {"data", "ca.crt"}, root_ca_);
      if (has_token) return Ok();
      Set(edited, {"data", "token"}, openapi::EncodeBase64(hub_.tokens.Issue(spec)));
      Set(edited, {"data", "namespace"}, openapi::EncodeBase64(key.ns));
      return Ok();
    });
  }

  // The Secrets that hold tokens of an account which is gone.
  Result<void> DropSecrets(const ResourceKey& account, const WorkspaceView& workspace) {
    if (!openapi::PolicyIsLive(workspace.type)) return Ok();
    storage::CacheListOptions options{.scope = {workspace.name, kSecretsResource, account.ns}};
    options.filter = [](const Object& object) { return object.ScalarAt("type") == kTokenSecretType; };
    for (const storage::Entry& entry : TRY(hub_.store.List(options)).entries) {
      const Json secret = entry.object->ToJson();
      if (StringAt(secret, {"metadata", "annotations", kAccountName}) != account.name) continue;
      const ResourceKey key{workspace.name, kSecretsResource, account.ns,
                            std::string(entry.object->meta().name)};
      auto dropped = FillSecret(key, workspace);
      if (!dropped.ok() && dropped.error().reason() != Reason::kNotFound) return dropped;
    }
    return Ok();
  }

  Call MakeCall(const Request& request, const WorkspaceView& workspace, const ResourceKey& key) {
    RequestInfo info;
    info.workspace = workspace.name;
    info.verb = "update";
    info.ns = key.ns;
    info.name = key.name;
    return {hub_, request, std::move(info), kSelf, workspace,
            workspace.catalog->FindShared(key.resource.group, "v1", key.resource.resource), {}};
  }

  Result<void> Edit(const WorkspaceView& workspace, const ResourceKey& key,
                    const std::string& subresource,
                    const std::function<Result<void>(Json&)>& edit) {
    Request request;
    request.headers.Add("user-agent", key.resource == kClusterRolesResource
                                          ? "clusterrole-aggregation-controller"
                                          : "mailroom/registrar");
    Call call = MakeCall(request, workspace, key);
    call.info.subresource = subresource;
    TRY(Change(call, {}, [&](const Json& live) -> Result<Draft> {
      Json object = live;
      TRY(edit(object));
      return Draft{std::move(object), {}, false};
    }));
    return Ok();
  }

  Result<void> Delete(const WorkspaceView& workspace, const ResourceKey& key) {
    Request request;
    Call call = MakeCall(request, workspace, key);
    DeleteRequest options;
    options.propagation = "Background";
    TRY(Remove(call, key.name, options));
    return Ok();
  }

  const Hub& hub_;
  const KeyPair& authority_;
  const std::string root_ca_;  // as Secrets have it
  const Validity syncer_validity_;
  std::vector<Feed> feeds_;        // registrar thread only, after Begin
  std::set<ResourceKey> pending_;  // likewise
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool notified_ = false;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<Registrar>> Registrar::Start(const Hub& hub, const KeyPair& authority,
                                                    const std::string& root_ca,
                                                    Validity syncer_validity) {
  auto running = std::make_unique<Running>(hub, authority, root_ca, syncer_validity);
  TRY(running->Begin());
  return std::unique_ptr<Registrar>(std::move(running));
}

}  // namespace mailroom::apiserver
