#include "apiserver/health.h"

#include <algorithm>
#include <atomic>
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

// Another server of the same store has keys that this one lacks: it serves what this one cannot
// read. Which values these are is in the log; anybody may ask for the reason of a single check.
Result<void> CheckKeys(const Hub& hub) {
  const storage::Unreadable unreadable = storage::UnreadableValues(hub.store);
  if (unreadable.sealed == 0) return Ok();
  return Unavailable(std::to_string(unreadable.sealed) +
                     " stored values are sealed with keys that this server does not have");
}

// Whoever gets an answer has the first two.
constexpr Check kChecks[] = {
    {"ping", [](const Hub&) { return Ok(); }},
    {"log", [](const Hub&) { return Ok(); }},
    {"storage", [](const Hub& hub) { return hub.store.Freshen(); }},
    {"storage-keys", CheckKeys, true},
    {"shutdown",
     [](const Hub& hub) -> Result<void> {
       if (hub.draining == nullptr || !*hub.draining) return Ok();
       return Unavailable("process is shutting down");
     },
     true},
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
    if (result.ok()) return TextResponse(200, "ok");
    return Failed("internal server error: " + result.error().message());
  }
  return std::nullopt;
}

}  // namespace

std::optional<Response> HealthAnswer(const RequestInfo& info, const Hub& hub) {
  if (info.is_resource || info.segments.empty() || info.segments.size() > 2) return std::nullopt;
  const std::string& endpoint = info.segments[0];
  if (endpoint != "healthz" && endpoint != "livez" && endpoint != "readyz") return std::nullopt;
  const bool ready = endpoint == "readyz";
  if (info.segments.size() == 2) return Single(hub, ready, info.segments[1]);
  const auto given = info.query.All("exclude");
  const std::set<std::string> excluded(given.begin(), given.end());
  std::set<std::string> unknown = excluded;
  std::string text;
  bool healthy = true;
  for (const Check& check : kChecks) {
    if (check.only_ready && !ready) continue;
    const std::string name(check.name);
    unknown.erase(name);
    if (excluded.contains(name)) {
      text += "[+]" + name + " excluded: ok\n";
      continue;
    }
    const Result<void> result = check.run(hub);
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

}  // namespace mailroom::apiserver
