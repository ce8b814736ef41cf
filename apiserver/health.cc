#include "apiserver/health.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "apiserver/render.h"
#include "storage/object/log.h"
#include "storage/unreadable.h"

namespace mailroom::apiserver {
namespace {

struct Check {
  std::string_view name;
  Result<void> (*run)(const Hub& hub);
  bool only_ready = false;  // a server that is going is alive, but not ready
};

Result<void> Passes(const Hub&) { return Ok(); }
Result<void> CheckStore(const Hub& hub) { return hub.store.Freshen(); }
Result<void> CheckRunning(const Hub& hub) {
  if (hub.draining == nullptr || !*hub.draining) return Ok();
  return Unavailable("process is shutting down");
}

// Another server of the same store has keys that this one lacks: it serves what this one cannot
// read. Which values these are is in the log; anybody may ask for the reason of a single check.
Result<void> CheckKeys(const Hub& hub) {
  const storage::Unreadable unreadable = storage::UnreadableValues(hub.store);
  if (unreadable.sealed == 0) return Ok();
  return Unavailable(std::to_string(unreadable.sealed) +
                     " stored values are sealed with keys that this server does not have");
}

// Whoever gets an answer has what passes: what the original begins once it listens (its hooks) is
// done here before. Of those, what has nothing like it here has no check either. Our own checks come
// last but for the shutdown; `storage` is an older name of `etcd`.
constexpr Check kChecks[] = {
    {"ping", Passes},
    {"log", Passes},
    {"etcd", CheckStore},
    {"etcd-readiness", CheckStore, true},
    {"informer-sync", Passes, true},
    {"poststarthook/start-apiserver-admission-initializer", Passes},
    {"poststarthook/generic-apiserver-start-informers", Passes},
    {"poststarthook/start-apiextensions-informers", Passes},
    {"poststarthook/start-apiextensions-controllers", Passes},
    {"poststarthook/crd-informer-synced", Passes},
    {"poststarthook/storage-readiness", Passes},
    {"poststarthook/rbac/bootstrap-roles", Passes},
    {"poststarthook/scheduling/bootstrap-system-priority-classes", Passes},
    {"poststarthook/start-kube-aggregator-informers", Passes},
    {"poststarthook/apiservice-registration-controller", Passes},
    {"poststarthook/apiservice-discovery-controller", Passes},
    {"poststarthook/kube-apiserver-autoregistration", Passes},
    {"autoregister-completion", Passes},
    {"poststarthook/apiservice-openapi-controller", Passes},
    {"poststarthook/apiservice-openapiv3-controller", Passes},
    {"storage", CheckStore},
    {"storage-keys", CheckKeys, true},
    {"shutdown", CheckRunning, true},
};

// Whoever leaves out the store under one of its names does so under the other, too.
bool IsExcluded(const Check& check, const std::set<std::string>& names) {
  const bool store = names.contains("storage") || (check.name == "storage" && names.contains("etcd"));
  return names.contains(std::string(check.name)) || (store && check.run == CheckStore);
}

// The checks of one request; the store is asked once.
class Round {
 public:
  explicit Round(const Hub& hub) : hub_(hub) {}
  const Result<void>& Run(const Check& check) {
    auto known = results_.find(check.run);
    if (known == results_.end()) known = results_.emplace(check.run, check.run(hub_)).first;
    return known->second;
  }

 private:
  const Hub& hub_;
  std::map<Result<void> (*)(const Hub&), Result<void>> results_;
};

Response Failed(const std::string& text) {
  Response response = TextResponse(500, text + "\n");
  response.headers.Set("x-content-type-options", "nosniff");
  return response;
}

std::optional<Response> Single(const Hub& hub, bool ready, const std::string& name) {
  for (const Check& check : kChecks) {
    if (check.name != name || (check.only_ready && !ready)) continue;
    const Result<void> result = check.run(hub);
    if (result.ok()) {
      Response response = TextResponse(200, "ok");
      response.headers.Remove("x-content-type-options");
      return response;
    }
    return Failed("internal server error: " + result.error().message());
  }
  return std::nullopt;
}

}  // namespace

std::optional<Response> HealthAnswer(const Request& request, const RequestInfo& info,
                                     const Hub& hub) {
  if (info.is_resource || info.segments.empty()) return std::nullopt;
  const std::string& endpoint = info.segments[0];
  if (endpoint != "healthz" && endpoint != "livez" && endpoint != "readyz") return std::nullopt;
  const bool ready = endpoint == "readyz";
  if (request.path.ends_with('/')) return std::nullopt;
  if (info.segments.size() > 1) return Single(hub, ready, info.path.substr(endpoint.size() + 2));
  const auto given = info.query.All("exclude");
  const std::set<std::string> excluded(given.begin(), given.end());
  std::set<std::string> unknown = excluded;
  std::string text;
  bool healthy = true;
  Round round(hub);
  for (const Check& check : kChecks) {
    if (check.only_ready && !ready) continue;
    const std::string name(check.name);
    unknown.erase(name);
    if (IsExcluded(check, excluded)) {
      text += "[+]" + name + " excluded: ok\n";
      continue;
    }
    const Result<void>& result = round.Run(check);
    if (result.ok()) {
      text += "[+]" + name + " ok\n";
      continue;
    }
    // Anybody may ask; the reason is for the log.
    healthy = false;
    text += "[-]" + name + " failed: reason withheld\n";
    Log(Level::kWarn, "health check failed", {{"check", name}, {"error", result.error().message()}});
  }
  std::string names;
  for (const std::string& name : unknown) names += (names.empty() ? "" : ", ") + Quoted(name);
  if (!names.empty()) {
    text += "warn: some health checks cannot be excluded: no matches for " + names + "\n";
  }
  if (!healthy) return Failed(text + endpoint + " check failed");
  if (!info.query.Has("verbose")) return TextResponse(200, "ok");
  return TextResponse(200, text + endpoint + " check passed\n");
}

std::vector<std::string> HealthPaths() {
  std::vector<std::string> paths;
  for (const std::string endpoint : {"/healthz", "/livez", "/readyz"}) {
    paths.push_back(endpoint);
    for (const Check& check : kChecks) {
      if (check.only_ready && endpoint != "/readyz") continue;
      paths.push_back(endpoint + "/" + std::string(check.name));
    }
  }
  return paths;
}

}  // namespace mailroom::apiserver
