#include "apiserver/availability.h"

#include <atomic>

#include "apiserver/aggregated_openapi.h"
#include "apiserver/aggregated_resources.h"
#include "apiserver/client/controller.h"
#include "apiserver/conditions.h"
#include "apiserver/hub_watch.h"
#include "apiserver/self_write.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// Reasons that the original does not know, for bounds that it does not have.
constexpr const char* kTooMany = "TooManyAPIServices";
constexpr const char* kTooLong = "DiscoveryTooLong";

struct Verdict {
  bool available = false;
  std::string reason, message;
};

class Running final : public Availability, private client::Reconciler {
 public:
  Running(const Hub& hub, Aggregator& aggregator)
      : hub_(hub), aggregator_(aggregator), self_(hub, "availability") {}
  ~Running() override {
    if (controller_ != nullptr) controller_->Stop();
    watch_.reset();
  }

  Result<void> Begin() {
    controller_ =
        client::Controller::Start("availability", *this, limits::kAggregatedProbers);
    HubWatch::Options options;
    options.name = "availability";
    options.scope = {Workspace(), kApiServicesResource, ""};
    options.filter = [](const Object&) { return true; };
    options.change = [this](const ResourceKey& key, const Object*, const Object*) {
      controller_->queue().Add({key.workspace.name(), key.name});
    };
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

  void Write(bool on) override {
    writes_ = on;
    if (!on) return;
    auto all = hub_.store.List({.scope = {Workspace(), kApiServicesResource, ""}});
    if (!all.ok()) return;
    for (const storage::Entry& entry : all->entries) {
      controller_->queue().Add({entry.workspace->name(), std::string(entry.object->meta().name)});
    }
  }

 private:
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override {
    const Workspace name{key.lane};
    const ObjectPtr object = hub_.store.Get({name, kApiServicesResource, "", key.id});
    if (object == nullptr) {
      aggregator_.Forget(name, key.id);
      return client::Requeue{};
    }
    if (!aggregator_.apis().IsLive(name)) return client::Requeue{};
    const Json tree = object->ToJson();
    const auto api = ReadRemoteApi(tree);
    if (!api) aggregator_.Forget(name, key.id);
    const Verdict verdict =
        api ? Judge(name, *api)
            : Verdict{true, "Local", "Local APIServices are always available"};
    TRY(Tell(name, key.id, tree, verdict));
    if (!api) return client::Requeue{};
    if (verdict.reason == kTooMany || verdict.reason == kTooLong) {
      return client::Requeue{limits::kAggregatedProbe};  // until others have gone
    }
    if (!verdict.available) return Unavailable(verdict.message);  // soon again
    return client::Requeue{limits::kAggregatedProbe};
  }

  Verdict Judge(const Workspace& workspace, const RemoteApi& api) {
    const auto standing = aggregator_.apis().StandingOf(workspace, api);
    if (standing == RemoteApis::Standing::kTooMany) {
      aggregator_.Forget(workspace, api.name);
      return {false, kTooMany,
              "only the oldest " + std::to_string(limits::kAggregatedApis) +
                  " APIServices of a workspace that name a service act"};
    }
    const std::string& ns = api.service_namespace;
    const std::string name = "service/" + api.service_name + " in " + Quoted(ns);
    const ObjectPtr service = hub_.store.Get({workspace, {"", "services"}, ns, api.service_name});
    if (service == nullptr) return {false, "ServiceNotFound", name + " is not present"};
    const Json tree = service->ToJson();
    const std::string type = StringAt(tree, {"spec", "type"});
    if (type.empty() || type == "ClusterIP") {
      bool listens = false;
      if (const Json* ports = Find(tree, {"spec", "ports"})) {
        for (const Json& port : *ports) listens = listens || IntAt(port, {"port"}) == api.port;
      }
      if (!listens) {
        return {false, "ServicePortError",
                name + " is not listening on port " + std::to_string(api.port)};
      }
    }
    const auto address = aggregator_.AddressOf(workspace, api);
    if (!address.ok()) {
      return {false, "MissingEndpoints",
              "endpointslices for " + name + " have no addresses: " + address.error().message()};
    }
    const std::string path = "/apis/" + api.group + "/" + api.version;
    const std::string url = *address + path;
    auto answer = aggregator_.Fetch(workspace, api, {.path = path});
    const std::string failing = "failing or missing response from " + url + ": ";
    if (!answer.ok()) return {false, "FailedDiscoveryCheck", failing + answer.error().message()};
    if (answer->code < 200 || answer->code >= 300) {
      return {false, "FailedDiscoveryCheck",
              failing + "bad status from " + url + ": " + std::to_string(answer->code)};
    }
    // What is served here is not shown as another's.
    const bool shown = standing == RemoteApis::Standing::kActs;
    if (shown && !Learn(workspace, api, answer->body)) {
      return {false, kTooLong,
              "the lists of resources of this workspace's APIServices are longer than " +
                  std::to_string(limits::kAggregatedBytes) + " bytes together with that of " +
                  url};
    }
    return {true, "Passed", "all checks passed"};
  }

  // False when it is too long to be shown.
  bool Learn(const Workspace& workspace, const RemoteApi& api, const std::string& list) {
    std::optional<std::string> shown = "[]";
    if (auto document = ParseJson(list); document.ok()) {
      const Json* resources = Find(*document, {"resources"});
      if (resources != nullptr && resources->is_array()) {
        shown = AggregatedResources(*resources, api, limits::kAggregatedBytes);
      }
    }
    if (!shown) {
      aggregator_.Forget(workspace, api.name);
      return false;
    }
    Aggregator::Learned learned;
    learned.hash = DocumentHash(*shown);
    learned.resources = std::make_shared<const std::string>(std::move(*shown));
    auto index = aggregator_.Fetch(workspace, api, {.path = "/openapi/v3"});
    if (index.ok() && index->code == 200) {
      if (auto document = ParseJson(index->body); document.ok()) {
        const std::string path = "apis/" + api.group + "/" + api.version;
        const std::string url = StringAt(*document, {"paths", path, "serverRelativeURL"});
        // Only what leads to its own document is passed on. Group, version and a hash are short.
        const bool its_own = url.starts_with("/openapi/v3/" + path);
        if (its_own && url.size() <= 4 * limits::kNameBytes) learned.openapi_url = url;
      }
    }
    learned.version2 = LearnVersion2(workspace, api);
    return aggregator_.Learn(workspace, api.name, std::move(learned));
  }

  // What was known stays while nothing else is said.
  Aggregator::Version2 LearnVersion2(const Workspace& workspace, const RemoteApi& api) {
    const auto before = aggregator_.LearnedOf(workspace, api.name);
    Aggregator::Version2 known = before ? before->version2 : Aggregator::Version2();
    // It tells of all that the server serves, of which a part is kept.
    const auto answer = aggregator_.Fetch(
        workspace, api,
        {.path = "/openapi/v2", .most = limits::kAggregatedBytes, .etag = known.etag});
    if (answer.ok() && answer->code == 404) return {};
    if (!answer.ok() || answer->code != 200) return known;
    const auto document = ParseJson(answer->body);
    if (!document.ok()) return known;
    auto part = Version2Part(*document, api, limits::kAggregatedDocumentBytes);
    if (!part) return {.etag = answer->etag};
    std::string hash = DocumentHash(*part);
    return {std::make_shared<const std::string>(std::move(*part)), std::move(hash), answer->etag};
  }

  Result<void> Tell(const Workspace& name, const std::string& id, const Json& now,
                    const Verdict& verdict) {
    if (!writes_) return Ok();
    const Json condition = {{"type", "Available"},
                            {"status", verdict.available ? "True" : "False"},
                            {"reason", verdict.reason},
                            {"message", verdict.message}};
    if (const Json* there = ConditionOf(now, "Available")) {
      Json same = *there;
      same.erase("lastTransitionTime");
      if (same == condition) return Ok();
    }
    const auto workspace = TRY(hub_.workspaces.Find(name));
    const auto type = workspace.catalog->FindShared(kApiServicesResource.group, "v1",
                                                    kApiServicesResource.resource);
    return UnlessGone(self_.Change(
        workspace, type, "", id, "status",
        [&](Json& object) { SetCondition(object, condition, FormatTime(hub_.clock.Now())); },
        StringAt(now, {"metadata", "uid"})));
  }

  const Hub& hub_;
  Aggregator& aggregator_;
  const SelfWriter self_;
  std::atomic<bool> writes_{false};
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

Result<std::unique_ptr<Availability>> Availability::Start(const Hub& hub, Aggregator& aggregator) {
  auto running = std::make_unique<Running>(hub, aggregator);
  TRY(running->Begin());
  return std::unique_ptr<Availability>(std::move(running));
}

}  // namespace mailroom::apiserver
