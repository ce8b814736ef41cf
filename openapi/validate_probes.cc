// Probes and lifecycle handlers of containers.
#include <algorithm>
#include <array>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

void CheckPortReference(const BuiltinCheck& check, const Json* port, const std::string& path) {
  if (port == nullptr) return AddInvalid(check.causes, path, 0, CheckPort(0));
  if (port->is_string()) {
    AddInvalid(check.causes, path, *port, CheckPortName(port->get<std::string>()));
  } else if (port->is_number_integer()) {
    AddInvalid(check.causes, path, *port, CheckPort(port->get<std::int64_t>()));
  }
}

bool IsHeaderName(std::string_view text) {
  for (char c : text) {
    const bool alnum =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!alnum && c != '-') return false;
  }
  return !text.empty();
}

void CheckHttpGet(const BuiltinCheck& check, const Json& action, const std::string& path) {
  if (StringAt(action, {"path"}).empty()) check.Required(path + ".path");
  CheckPortReference(check, Find(action, {"port"}), path + ".port");
  CheckChoice(check, StringAt(action, {"scheme"}), path + ".scheme", {"HTTP", "HTTPS"});
  for (const Json& header : ArrayAt(action, {"httpHeaders"})) {
    const std::string name = StringAt(header, {"name"});
    if (IsHeaderName(name)) continue;
    check.Invalid(path + ".httpHeaders", name,
                  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                  "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
  }
}

// A pause lasts no longer than the pod is given to end.
void CheckSleep(const PodCheck& pod, const Json& action, const std::string& path) {
  const Json* grace = Find(pod.spec, {"terminationGracePeriodSeconds"});
  if (grace == nullptr || !grace->is_number_integer()) return;
  const std::int64_t seconds = IntAt(action, {"seconds"}), most = grace->get<std::int64_t>();
  if (seconds >= 0 && seconds <= most) return;
  pod.check.Invalid(path, seconds,
                    "must be non-negative and less than terminationGracePeriodSeconds (" +
                        std::to_string(most) + ")");
}

// Exactly one way to act; the first one named counts.
void CheckHandler(const PodCheck& pod, const Json& handler, const std::string& path) {
  const BuiltinCheck& check = pod.check;
  int kinds = 0;
  for (const char* member : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Json* action = Find(handler, {member});
    if (action == nullptr) continue;
    const std::string field = path + "." + member;
    if (++kinds > 1) {
      check.Forbidden(field, "may not specify more than 1 handler type");
      continue;
    }
    const std::string_view kind = member;
    if (kind == "exec") {
      if (ArrayAt(*action, {"command"}).empty()) check.Required(field + ".command");
    } else if (kind == "httpGet") {
      CheckHttpGet(check, *action, field);
    } else if (kind == "sleep") {
      CheckSleep(pod, *action, field);
    } else {
      CheckPortReference(check, Find(*action, {"port"}), field + ".port");
    }
  }
  if (kinds == 0) check.Required(path, "must specify a handler type");
}

enum class Successes { kOne, kAny };

void CheckProbe(const PodCheck& pod, const Json& container, const std::string& container_path,
                const char* name, Successes counted) {
  const Json* probe = Find(container, {name});
  if (probe == nullptr) return;
  const BuiltinCheck& check = pod.check;
  const std::string path = container_path + "." + name;
  CheckHandler(pod, *probe, path);
  for (const char* member : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                             "successThreshold", "failureThreshold"}) {
    const std::int64_t value = IntAt(*probe, {member});
    if (value < 0) check.Invalid(path + "." + member, value, "must be greater than or equal to 0");
  }
  const Json* grace = Find(*probe, {"terminationGracePeriodSeconds"});
  if (grace != nullptr && grace->is_number_integer() && grace->get<std::int64_t>() <= 0) {
    check.Invalid(path + ".terminationGracePeriodSeconds", *grace, "must be greater than 0");
  }
  if (counted == Successes::kOne) {
    const std::int64_t successes = IntAt(*probe, {"successThreshold"});
    if (successes != 1) check.Invalid(path + ".successThreshold", successes, "must be 1");
  } else if (grace != nullptr) {
    check.Invalid(path + ".terminationGracePeriodSeconds", *grace,
                  "must not be set for readinessProbes");
  }
}

// Signals that Linux knows by name, besides those of real time; sorted.
constexpr std::array<std::string_view, 34> kSignals = {
    "SIGABRT", "SIGALRM", "SIGBUS",  "SIGCHLD",   "SIGCLD",  "SIGCONT", "SIGFPE",
    "SIGHUP",  "SIGILL",  "SIGINT",  "SIGIO",     "SIGIOT",  "SIGKILL", "SIGPIPE",
    "SIGPOLL", "SIGPROF", "SIGPWR",  "SIGQUIT",   "SIGSEGV", "SIGSTKFLT", "SIGSTOP",
    "SIGSYS",  "SIGTERM", "SIGTRAP", "SIGTSTP",   "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ"};

std::vector<std::string> LinuxSignals() {
  constexpr int kAfterFirst = 15, kBeforeLast = 14;
  std::vector<std::string> names(kSignals.begin(), kSignals.end());
  names.insert(names.end(), {"SIGRTMIN", "SIGRTMAX"});
  for (int i = 1; i <= kAfterFirst; ++i) names.push_back("SIGRTMIN+" + std::to_string(i));
  for (int i = 1; i <= kBeforeLast; ++i) names.push_back("SIGRTMAX-" + std::to_string(i));
  std::sort(names.begin(), names.end());
  return names;
}

void CheckStopSignal(const PodCheck& pod, const Json& signal, const std::string& path) {
  if (Find(pod.spec, {"os"}) == nullptr) {
    return pod.check.Forbidden(path, "may not be set for containers with empty `spec.os.name`");
  }
  static const std::vector<std::string> kLinux = LinuxSignals();
  static const std::vector<std::string> kWindows = {"SIGKILL", "SIGTERM"};
  const std::string system = StringAt(pod.spec, {"os", "name"});
  if (system != "windows" && system != "linux") return;
  const std::vector<std::string>& known = system == "linux" ? kLinux : kWindows;
  if (std::find(known.begin(), known.end(), signal) != known.end()) return;
  pod.check.causes.push_back(NotSupported(path, signal, known));
}

}  // namespace

void CheckHandlers(const PodCheck& pod, const Json& container, const std::string& path) {
  for (const char* moment : {"postStart", "preStop"}) {
    if (const Json* handler = Find(container, {"lifecycle", moment})) {
      CheckHandler(pod, *handler, path + ".lifecycle." + moment);
    }
  }
  if (const Json* signal = Find(container, {"lifecycle", "stopSignal"})) {
    CheckStopSignal(pod, *signal, path + ".lifecycle.stopSignal");
  }
  CheckProbe(pod, container, path, "livenessProbe", Successes::kOne);
  CheckProbe(pod, container, path, "readinessProbe", Successes::kAny);
  CheckProbe(pod, container, path, "startupProbe", Successes::kOne);
}

}  // namespace mailroom::openapi
