// How a Pod is summed up in one line. The status word is the hard part: it is taken from the
// first init container that is not done, else from the containers (the first one in the spec
// wins), else from the phase.
#include <algorithm>
#include <set>

#include "openapi/cells.h"

namespace mailroom::openapi {
namespace {

struct Summary {
  std::string status;
  std::int64_t restarts = 0;
  std::string last_restart;  // RFC 3339, "" when unknown
  std::size_t ready = 0, total = 0;
};

bool Has(const Json& object, Path path) {
  const Json* value = Find(object, path);
  return value != nullptr && !value->is_null();
}

void CountRestarts(const Json& container, std::int64_t& restarts, std::string& last) {
  restarts += NumberAt(container, "restartCount");
  // RFC 3339 in UTC sorts as text.
  last = std::max(last, TextAt(container, "lastState.terminated.finishedAt"));
}

// Why a container ended, in words.
std::string EndReason(const Json& container) {
  const std::string reason = TextAt(container, "state.terminated.reason");
  if (!reason.empty()) return reason;
  if (const std::int64_t signal = NumberAt(container, "state.terminated.signal"); signal != 0) {
    return "Signal:" + std::to_string(signal);
  }
  return "ExitCode:" + std::to_string(NumberAt(container, "state.terminated.exitCode"));
}

struct InitOutcome {
  bool initializing = false;
  std::int64_t sidecar_restarts = 0;
  std::string sidecar_last_restart;
};

InitOutcome SumInitContainers(const Json& pod, Summary& summary) {
  InitOutcome outcome;
  std::set<std::string> sidecars;
  const Json& declared = ListAt(pod, "spec.initContainers");
  for (const Json& container : declared) {
    if (StringAt(container, {"restartPolicy"}) != "Always") continue;
    sidecars.insert(StringAt(container, {"name"}));
    ++summary.total;
  }
  std::size_t position = 0;
  for (const Json& container : ListAt(pod, "status.initContainerStatuses")) {
    const std::size_t index = position++;
    CountRestarts(container, summary.restarts, summary.last_restart);
    const bool sidecar = sidecars.contains(StringAt(container, {"name"}));
    if (sidecar) CountRestarts(container, outcome.sidecar_restarts, outcome.sidecar_last_restart);
    const bool terminated = Has(container, {"state", "terminated"});
    if (terminated && NumberAt(container, "state.terminated.exitCode") == 0) continue;
    if (sidecar && BoolAt(container, {"started"})) {
      if (BoolAt(container, {"ready"})) ++summary.ready;
      continue;
    }
    const std::string waiting = TextAt(container, "state.waiting.reason");
    if (terminated) {
      summary.status = "Init:" + EndReason(container);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.status = "Init:" + waiting;
    } else {
      summary.status = "Init:" + std::to_string(index) + "/" + std::to_string(declared.size());
    }
    outcome.initializing = true;
    break;
  }
  return outcome;
}

void SumContainers(const Json& pod, Summary& summary) {
  bool running = false;
  const Json& statuses = ListAt(pod, "status.containerStatuses");
  for (auto at = statuses.rbegin(); at != statuses.rend(); ++at) {
    const Json& container = *at;
    CountRestarts(container, summary.restarts, summary.last_restart);
    const std::string waiting = TextAt(container, "state.waiting.reason");
    if (!waiting.empty()) {
      summary.status = waiting;
    } else if (Has(container, {"state", "terminated"})) {
      summary.status = EndReason(container);
    } else if (BoolAt(container, {"ready"}) && Has(container, {"state", "running"})) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.status == "Completed" && running) {
    summary.status = ConditionTrue(pod, "Ready") ? "Running" : "NotReady";
  }
}

Summary Summarize(const Json& pod) {
  Summary summary;
  summary.total = ListAt(pod, "spec.containers").size();
  const std::string phase = TextAt(pod, "status.phase");
  const std::string reason = TextAt(pod, "status.reason");
  summary.status = reason.empty() ? phase : reason;
  if (const Json* scheduled = OfType(ListAt(pod, "status.conditions"), "PodScheduled")) {
    if (StringAt(*scheduled, {"reason"}) == "SchedulingGated") summary.status = "SchedulingGated";
  }
  InitOutcome init = SumInitContainers(pod, summary);
  if (!init.initializing || ConditionTrue(pod, "Initialized")) {
    summary.restarts = init.sidecar_restarts;
    summary.last_restart = std::move(init.sidecar_last_restart);
    SumContainers(pod, summary);
  }
  if (Has(pod, {"metadata", "deletionTimestamp"})) {
    if (reason == "NodeLost") {
      summary.status = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.status = "Terminating";
    }
  }
  return summary;
}

Json Ready(const Json& pod) {
  const Summary summary = Summarize(pod);
  return std::to_string(summary.ready) + "/" + std::to_string(summary.total);
}

Json Restarts(const Json& pod) {
  const Summary summary = Summarize(pod);
  std::string text = std::to_string(summary.restarts);
  if (summary.restarts != 0 && !summary.last_restart.empty()) {
    text += " (" + Age(summary.last_restart) + " ago)";
  }
  return text;
}

Json PodIp(const Json& pod) {
  const Json& ips = ListAt(pod, "status.podIPs");
  std::string ip = ips.empty() ? TextAt(pod, "status.podIP") : StringAt(ips.front(), {"ip"});
  return ip.empty() ? "<none>" : ip;
}

Json ReadinessGates(const Json& pod) {
  const Json& gates = ListAt(pod, "spec.readinessGates");
  if (gates.empty()) return "<none>";
  const auto open = std::count_if(gates.begin(), gates.end(), [&](const Json& gate) {
    return ConditionTrue(pod, StringAt(gate, {"conditionType"}));
  });
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

}  // namespace

std::vector<Column> PodColumns() {
  return {NameColumn(),
          Shown("Ready", Ready),
          Shown("Status", [](const Json& pod) { return Json(Summarize(pod).status); }),
          Shown("Restarts", Restarts),
          AgeColumn(),
          Wide("IP", PodIp),
          Wide("Node", Text("spec.nodeName", "<none>")),
          Wide("Nominated Node", Text("status.nominatedNodeName", "<none>")),
          Wide("Readiness Gates", ReadinessGates)};
}

Json PodRowConditions(const Json& pod) {
  const std::string phase = TextAt(pod, "status.phase");
  const bool well = phase == "Succeeded";
  if (!well && phase != "Failed") return nullptr;
  return Json::array({{{"type", "Completed"},
                       {"status", "True"},
                       {"reason", phase},
                       {"message", well ? "The pod has ended well." : "The pod has failed."}}});
}

}  // namespace mailroom::openapi
