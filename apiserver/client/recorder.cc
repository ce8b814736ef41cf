#include "apiserver/client/recorder.h"

#include <array>
#include <cstdio>

#include "apiserver/client/backoff.h"
#include "storage/object/limits.h"

namespace mailroom::client {
namespace {

// Told apart by when they were first said.
std::string EventName(const std::string& object, const Clock& clock) {
  const auto now = clock.Now().time_since_epoch();
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), ".%llx%04llx",
                static_cast<unsigned long long>(
                    std::chrono::duration_cast<std::chrono::microseconds>(now).count()),
                static_cast<unsigned long long>(RandomBetween(0, 0xffff)));
  return object + text.data();
}

}  // namespace

Result<void> Recorder::Record(const Client& client, const About& about, const std::string& type,
                              const std::string& reason, const std::string& message) {
  const Key key{client.base_path(), about.uid, reason, message};
  const std::string ns = about.ns.empty() ? "default" : about.ns;
  const std::string now = FormatTime(clock_.Now());
  const Gvr events{"v1", "events"};
  Known known;
  {
    std::lock_guard lock(mutex_);
    if (known_.size() >= limits::kRememberedEvents) known_.clear();
    Known& entry = known_[key];
    if (entry.name.empty()) entry.name = EventName(about.name, clock_);
    ++entry.count;
    known = entry;
  }
  if (known.count > 1) {
    auto patched = client.MergePatch(
        {.gvr = events, .ns = ns, .name = known.name, .subresource = ""},
        {{"count", known.count}, {"lastTimestamp", now}});
    if (patched.ok()) return Ok();
    if (patched.error().reason() != Reason::kNotFound) return std::move(patched).error();
  }
  Json involved = {{"apiVersion", about.api_version},
                   {"kind", about.kind},
                   {"name", about.name},
                   {"uid", about.uid}};
  if (!about.ns.empty()) involved["namespace"] = about.ns;
  auto made = client.Create(events, ns,
                            {{"apiVersion", "v1"},
                             {"kind", "Event"},
                             {"metadata", {{"name", known.name}, {"namespace", ns}}},
                             {"involvedObject", std::move(involved)},
                             {"type", type},
                             {"reason", reason},
                             {"message", message},
                             {"source", {{"component", component_}}},
                             {"reportingComponent", component_},
                             {"reportingInstance", ""},
                             {"firstTimestamp", now},
                             {"lastTimestamp", now},
                             {"count", known.count}});
  if (!made.ok()) return std::move(made).error();
  return Ok();
}

}  // namespace mailroom::client
