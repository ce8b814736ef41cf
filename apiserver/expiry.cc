#include "apiserver/expiry.h"

#include <algorithm>

#include "apiserver/client/controller.h"
#include "apiserver/hub_watch.h"
#include "apiserver/self_write.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

bool IsBootstrapToken(const Object& object) {
  return object.kind() == "Secret" && object.meta().ns == "kube-system" &&
         object.meta().name.starts_with("bootstrap-token-");
}

bool MayExpire(const Object& object) {
  return object.kind() == "Event" || object.kind() == "CertificateSigningRequest" ||
         IsBootstrapToken(object);
}

std::int64_t EventExpiry(const Object& object) {
  std::int64_t last = 0;
  for (const char* path : {"metadata.creationTimestamp", "lastTimestamp", "eventTime",
                           "series.lastObservedTime", "deprecatedLastTimestamp"}) {
    last = std::max(last, ParseTime(object.ScalarAt(path)));
  }
  return last + limits::kEventAge.count();
}

std::int64_t RequestExpiry(const Json& request) {
  const Json* conditions = Find(request, {"status", "conditions"});
  std::int64_t decided = 0;
  bool approved = false;
  if (conditions != nullptr && conditions->is_array()) {
    for (const Json& condition : *conditions) {
      approved = approved || StringAt(condition, {"type"}) == "Approved";
      decided = std::max(decided, ParseTime(StringAt(condition, {"lastUpdateTime"})));
    }
  }
  const std::int64_t made = ParseTime(StringAt(request, {"metadata", "creationTimestamp"}));
  const bool waits = approved && StringAt(request, {"status", "certificate"}).empty();
  if (decided <= 0 || waits) return made + limits::kPendingRequestAge.count();
  return decided + limits::kSigningRequestAge.count();
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
    options.change = [this](const ResourceKey& key, const Object*, const Object* now) {
      if (now == nullptr) return;
      if (auto due = ExpiryOf(*now)) {
        controller_->queue().AddAfter({key.workspace.name(), key.ToStoreKey()}, Until(*due));
      }
    };
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

 private:
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
    const auto due = object ? ExpiryOf(*object) : std::nullopt;
    if (!due) return client::Requeue{};
    if (Until(*due) > limits::kExpirySlack) return client::Requeue{Until(*due)};
    auto workspace = hub_.workspaces.Find(key->workspace);
    // In a workspace that only carries such objects they stay, but for Events, which are its own.
    if (!workspace.ok()) return client::Requeue{};
    if (!openapi::PolicyIsLive(workspace->type) && object->kind() != "Event") {
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
    return client::Requeue{};
  }

  const Hub& hub_;
  const SelfWriter self_;
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

std::optional<std::int64_t> ExpiryOf(const Object& object) {
  if (object.kind() == "Event") return EventExpiry(object);
  if (object.kind() == "CertificateSigningRequest") return RequestExpiry(object.ToJson());
  if (!IsBootstrapToken(object)) return std::nullopt;
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
