#include "apiserver/health.h"

#include <algorithm>
#include <array>

#include "apiserver/render.h"

namespace mailroom::apiserver {
namespace {

// A server that answers at all has these: it serves only after its storage was loaded.
constexpr std::array<std::string_view, 3> kChecks = {"ping", "log", "storage"};

}  // namespace

std::optional<Response> HealthAnswer(const RequestInfo& info) {
  if (info.is_resource || info.segments.empty() || info.segments.size() > 2) return std::nullopt;
  const std::string& endpoint = info.segments[0];
  if (endpoint != "healthz" && endpoint != "livez" && endpoint != "readyz") return std::nullopt;
  if (info.segments.size() == 2) {
    if (std::find(kChecks.begin(), kChecks.end(), info.segments[1]) == kChecks.end()) {
      return std::nullopt;
    }
    return TextResponse(200, "ok");
  }
  if (!info.query.Has("verbose")) return TextResponse(200, "ok");
  const auto excluded = info.query.All("exclude");
  std::string text;
  for (std::string_view check : kChecks) {
    const bool skip = std::find(excluded.begin(), excluded.end(), check) != excluded.end();
    text += "[+]" + std::string(check) + (skip ? " excluded: ok\n" : " ok\n");
  }
  return TextResponse(200, text + endpoint + " check passed\n");
}

}  // namespace mailroom::apiserver
