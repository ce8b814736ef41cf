// Probes and lifecycle handlers of containers.
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
  for (const Json& header : ArrayAt(action, {"httpHeaders"})) {
    const std::string name = StringAt(header, {"name"});
    if (IsHeaderName(name)) continue;
    check.Invalid(path + ".httpHeaders", name,
                  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                  "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
  }
}

// Exactly one way to act; the first one named counts.
void CheckHandler(const BuiltinCheck& check, const Json& handler, const std::string& path) {
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
    } else if (kind == "tcpSocket" || kind == "grpc") {
      CheckPortReference(check, Find(*action, {"port"}), field + ".port");
    }
  }
  if (kinds == 0) check.Required(path, "must specify a handler type");
}

void CheckProbe(const BuiltinCheck& check, const Json* probe, const std::string& path,
                bool once) {
  if (probe == nullptr) return;
  CheckHandler(check, *probe, path);
  for (const char* member : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                             "successThreshold", "failureThreshold"}) {
    const std::int64_t value = IntAt(*probe, {member});
    if (value < 0) check.Invalid(path + "." + member, value, "must be greater than or equal to 0");
  }
  const Json* grace = Find(*probe, {"terminationGracePeriodSeconds"});
  if (grace != nullptr && grace->is_number_integer() && grace->get<std::int64_t>() <= 0) {
    check.Invalid(path + ".terminationGracePeriodSeconds", *grace, "must be greater than 0");
  }
  const std::int64_t successes = IntAt(*probe, {"successThreshold"}, 1);
  if (once && successes != 1) check.Invalid(path + ".successThreshold", successes, "must be 1");
  if (!once && grace != nullptr) {
    check.Invalid(path + ".terminationGracePeriodSeconds", *grace,
                  "must not be set for readinessProbes");
  }
}

}  // namespace

void CheckHandlers(const BuiltinCheck& check, const Json& container, const std::string& path) {
  for (const char* moment : {"postStart", "preStop"}) {
    if (const Json* handler = Find(container, {"lifecycle", moment})) {
      CheckHandler(check, *handler, path + ".lifecycle." + moment);
    }
  }
  CheckProbe(check, Find(container, {"livenessProbe"}), path + ".livenessProbe", true);
  CheckProbe(check, Find(container, {"readinessProbe"}), path + ".readinessProbe", false);
  CheckProbe(check, Find(container, {"startupProbe"}), path + ".startupProbe", true);
}

}  // namespace mailroom::openapi
