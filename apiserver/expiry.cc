#include "apiserver/expiry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/client/controller.h"
#include "apiserver/hub_watch.h"
#include "apiserver/pki.h"
#include "apiserver/self_write.h"
#include "apiserver/signing_request.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

const GroupResource kEventsResource{"", "events"};  // those of events.k8s.io are stored so, too

bool IsTokenName(const Metadata& meta) {
  return meta.ns == "kube-system" && meta.name.starts_with(kBootstrapSecretPrefix);
}

bool IsBootstrapToken(const GroupResource& resource, const Object& object) {
  return resource == kSecretsResource && IsTokenName(object.meta());
}

// Workspaces do not expire, but join tokens go with theirs. A first look, by what an object shows
// itself; by its key it may turn out to be something else of that kind.
bool MayExpire(const Object& object) {
  return object.kind() == "Event" || object.kind() == "CertificateSigningRequest" ||
         object.kind() == "Workspace" ||
         (object.kind() == "Secret" && IsTokenName(object.meta()));
}

bool IsWorkspace(const ResourceKey& key) {
  return key.resource == kWorkspacesResource && key.workspace.name() == kRootWorkspace;
}

// The mailbox a join token is for, "" when it is none.
std::string MailboxOf(const Object& token) {
  return openapi::DecodeBase64(token.ScalarAt("data.mailbox")).value_or("");
}

std::int64_t EventExpiry(const Object& object) {
  std::int64_t last = 0;
  for (const char* path : {"metadata.creationTimestamp", "lastTimestamp", "eventTime",
                           "series.lastObservedTime", "deprecatedLastTimestamp"}) {
    last = std::max(last, ParseTime(object.ScalarAt(path)));
  }
  return last + limits::kEventAge.count();
}

// When its certificate ends; nothing when it has none that can be read.
std::optional<std::int64_t> CertificateEnd(const std::string& encoded) {
  const auto facts = ReadCertificate(openapi::DecodeBase64(encoded).value_or(""));
  if (!facts.ok()) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(facts->not_after.time_since_epoch()).count();
}

// The first of what the original counts: since it was made while nothing is said of it, since a
// refusal or failure, since an approval (longer while that waits for its certificate), and when its
// certificate is over. What only others understand keeps it.
std::optional<std::int64_t> RequestExpiry(const Json& request) {
  const Json* conditions = Find(request, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array() || conditions->empty()) {
    return ParseTime(StringAt(request, {"metadata", "creationTimestamp"})) +
           limits::kPendingRequestAge.count();
  }
  const std::string certificate = StringAt(request, {"status", "certificate"});
  std::optional<std::int64_t> first;
  const auto take = [&first](std::optional<std::int64_t> due) {
    if (due) first = std::min(first.value_or(*due), *due);
  };
  for (const Json& condition : *conditions) {
    const std::string type = StringAt(condition, {"type"});
    const std::int64_t since = ParseTime(StringAt(condition, {"lastUpdateTime"}));
    const bool approved = type == "Approved";
    if (approved) take(CertificateEnd(certificate));
    if (since < 0 || !(approved || type == "Denied" || type == "Failed")) continue;
    take(since + (approved && certificate.empty() ? limits::kPendingRequestAge
                                                  : limits::kSigningRequestAge).count());
  }
  return first;
}

class Running final : public Expiry, private client::Reconciler {
 public:
  explicit Running(const Hub& hub) : hub_(hub), self_(hub, "expiry") {}
  ~Running() override {
    if (controller_ != nullptr) controller_->Stop();
    watch_.reset();
  }

  Result<void> Begin() {
    controller_ = client::Controller::Start("expiry", *this, 1);
    HubWatch::Options options;
    options.name = "expiry";
    options.filter = MayExpire;
    options.restart = [this] { tokens_.clear(); };
    options.change = [this](const ResourceKey& key, const Object* before, const Object* now) {
      FollowTokens(key, before, now);
      if (now == nullptr) return;
      if (auto due = ExpiryOf(key.resource, *now)) Look(key, Until(*due));
    };
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

 private:
  void Look(const ResourceKey& key, std::chrono::milliseconds delay) {
    controller_->queue().AddAfter({key.workspace.name(), key.ToStoreKey()}, delay);
  }

  // Changes come in their order: a token told of before its mailbox went was for that one.
  void FollowTokens(const ResourceKey& key, const Object* before, const Object* now) {
    if (IsWorkspace(key)) {
      if (now != nullptr) return;
      for (const auto& [token, uid] : tokens_[key.name]) {
        {
          std::lock_guard lock(mutex_);
          orphans_.insert(uid);
        }
        Look(token, std::chrono::milliseconds(0));
      }
      tokens_.erase(key.name);
      return;
    }
    const Object& object = now != nullptr ? *now : *before;
    if (!IsBootstrapToken(key.resource, object)) return;
    if (before != nullptr) {
      auto known = tokens_.find(MailboxOf(*before));
      if (known != tokens_.end()) known->second.erase(key);
      if (known != tokens_.end() && known->second.empty()) tokens_.erase(known);
    }
    const std::string mailbox = now != nullptr ? MailboxOf(*now) : "";
    if (mailbox.empty()) return;
    tokens_[mailbox][key] = std::string(now->meta().uid);
    // That its mailbox went may have been missed; or it is still to come.
    if (hub_.store.Get({Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "",
                        mailbox}) != nullptr) {
      return;
    }
    const std::int64_t made = ParseTime(now->ScalarAt("metadata.creationTimestamp"));
    Look(key, Until(made + limits::kSigningRequestAge.count()));
  }

  // Join tokens are of no use once their mailbox is gone.
  bool IsOrphan(const GroupResource& resource, const Object& object) {
    if (!IsBootstrapToken(resource, object)) return false;
    {
      std::lock_guard lock(mutex_);
      if (orphans_.contains(std::string(object.meta().uid))) return true;
    }
    const std::string mailbox = MailboxOf(object);
    const std::int64_t made = ParseTime(object.ScalarAt("metadata.creationTimestamp"));
    return !mailbox.empty() &&
           Until(made + limits::kSigningRequestAge.count()) <= limits::kExpirySlack &&
           hub_.store.Get({Workspace(std::string(kRootWorkspace)), kWorkspacesResource, "",
                           mailbox}) == nullptr;
  }

  // Rounded up, so that what is due at about the same time is handled together.
  std::chrono::milliseconds Until(std::int64_t due) const {
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
        hub_.clock.Now().time_since_epoch());
    return std::max(std::chrono::seconds(due) - now, std::chrono::seconds(0)) +
           limits::kExpirySlack;
  }

  Result<client::Requeue> Reconcile(const client::WorkKey& work) override {
    auto key = ResourceKey::Parse(work.id);
    const ObjectPtr object = key.ok() ? hub_.store.Get(*key) : nullptr;
    if (object == nullptr) return client::Requeue{};
    const bool orphan = IsOrphan(key->resource, *object);
    const auto due = ExpiryOf(key->resource, *object);
    if (!due && !orphan) return client::Requeue{};
    if (!orphan && Until(*due) > limits::kExpirySlack) return client::Requeue{Until(*due)};
    auto workspace = hub_.workspaces.Find(key->workspace);
    // In a workspace that only carries such objects they stay, but for Events, which are its own.
    if (!workspace.ok()) return client::Requeue{};
    if (!openapi::PolicyIsLive(workspace->type) && key->resource != kEventsResource) {
      return client::Requeue{};
    }
    openapi::ResourceTypePtr type;
    for (const auto& each : workspace->catalog->Preferred()) {
      if (each->stored_as == key->resource) type = each;
    }
    if (type == nullptr) return client::Requeue{};
    DeleteRequest request;
    request.uid = std::string(object->meta().uid);
    request.resource_version = object->revision().ToString();
    TRY(UnlessGone(self_.Remove(*workspace, type, key->ns, key->name, request)));
    std::lock_guard lock(mutex_);
    orphans_.erase(request.uid);
    return client::Requeue{};
  }

  const Hub& hub_;
  const SelfWriter self_;
  // Join tokens by mailbox, with their UIDs; the watch's thread only.
  std::map<std::string, std::map<ResourceKey, std::string>> tokens_;
  std::mutex mutex_;
  std::set<std::string> orphans_;  // UIDs of those whose mailbox went; guarded by mutex_
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

std::optional<std::int64_t> ExpiryOf(const GroupResource& resource, const Object& object) {
  if (resource == kEventsResource) return EventExpiry(object);
  if (resource == kSigningRequestsResource) return RequestExpiry(object.ToJson());
  if (!IsBootstrapToken(resource, object)) return std::nullopt;
  auto text = openapi::DecodeBase64(object.ScalarAt("data.expiration"));
  const std::int64_t due = text ? ParseTime(*text) : -1;
  return due < 0 ? std::nullopt : std::optional(due);
}

Result<std::unique_ptr<Expiry>> Expiry::Start(const Hub& hub) {
  auto running = std::make_unique<Running>(hub);
  TRY(running->Begin());
  return std::unique_ptr<Expiry>(std::move(running));
}

}  // namespace mailroom::apiserver
