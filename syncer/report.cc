#include "syncer/report.h"

#include <optional>

#include "openapi/edge_names.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"

namespace mailroom::syncer {
namespace {

// Cut without splitting a character.
std::string Shortened(std::string text) {
  if (text.size() <= limits::kReportMessageBytes) return text;
  std::size_t end = limits::kReportMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

Report::Report(client::Client mailbox, const Clock& clock, std::function<void()> changed,
               std::function<Json()> summary)
    : mailbox_(std::move(mailbox)),
      clock_(clock),
      changed_(std::move(changed)),
      summary_(std::move(summary)) {}

void Report::Set(const Place& place, std::string message) {
  message = Shortened(std::move(message));
  {
    std::lock_guard lock(mutex_);
    std::string& known = messages_[place];
    if (known == message) return;
    known = std::move(message);
  }
  changed_();
}

void Report::Clear(const Place& place) {
  {
    std::lock_guard lock(mutex_);
    if (messages_.erase(place) == 0) return;
  }
  changed_();
}

Json Report::Errors() const {
  Json errors = Json::array();
  std::lock_guard lock(mutex_);
  for (const auto& [place, message] : messages_) {
    if (errors.size() == limits::kReportErrors) break;
    Json entry = {{"resource", LaneOf(place.resource)}, {"message", message}};
    if (!place.ns.empty()) entry.emplace("namespace", place.ns);
    if (!place.name.empty()) entry.emplace("name", place.name);
    errors.push_back(std::move(entry));
  }
  return errors;
}

// By the status subresource, which is all a syncer may write. Servers whose definition of the kind
// has none take it with the object itself.
Result<Json> Report::Send(const Json& status) {
  client::ObjectRef config{.gvr = {std::string(openapi::kEdgeApi), "syncerconfigs"},
                           .ns = "",
                           .name = std::string(openapi::kSyncerConfigName),
                           .subresource = "status"};
  std::optional<Status> lacking;  // what the subresource said
  if (!whole_) {
    auto patched = mailbox_.MergePatch(config, {{"status", status}});
    if (patched.ok() || (patched.error().reason() != Reason::kNotFound &&
                         patched.error().reason() != Reason::kMethodNotAllowed)) {
      return patched;
    }
    lacking = patched.error();
  }
  config.subresource.clear();
  auto patched = mailbox_.MergePatch(config, {{"status", status}});
  whole_ = patched.ok();  // else the subresource is asked again: the definition may change
  // A syncer may write nothing but status, so this says nothing about the object.
  const bool refused = !patched.ok() && patched.error().reason() == Reason::kForbidden;
  if (refused && lacking) return *lacking;
  return patched;
}

Result<client::Requeue> Report::Write() {
  Json status = summary_();
  status["errors"] = Errors();
  const std::string text = DumpJson(status);
  const auto now = clock_.Monotonic();
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_write_);
  const bool first = last_write_.time_since_epoch().count() == 0;
  if (!first && age < limits::kHeartbeat && text == written_) {
    return client::Requeue{std::chrono::milliseconds(limits::kHeartbeat) - age};
  }
  status["lastSyncerHeartbeatTime"] = FormatTime(clock_.Now());
  auto patched = Send(status);
  // Without the object there is nowhere to report to; it may come later.
  if (!patched.ok() && patched.error().reason() != Reason::kNotFound) {
    return std::move(patched).error();
  }
  written_ = text;
  last_write_ = now;
  return client::Requeue{limits::kHeartbeat};
}

}  // namespace mailroom::syncer
