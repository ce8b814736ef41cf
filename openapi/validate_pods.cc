// Pods and the pod templates of workloads.
#include <algorithm>
#include <set>

#include "openapi/normalize_quantity.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

std::string Indexed(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

class PodSpecChecker {
 public:
  PodSpecChecker(const BuiltinCheck& check, const Json& spec, std::string path)
      : check_(check), spec_(spec), path_(std::move(path)) {}

  void Run(const std::vector<std::string>& extra_volumes) {
    volumes_.insert(extra_volumes.begin(), extra_volumes.end());
    Volumes();
    if (ArrayAt(spec_, {"containers"}).empty()) check_.Required(path_ + ".containers");
    std::set<std::string> names;
    Containers("containers", names);
    Containers("initContainers", names);
  }

 private:
  void Label(const std::string& field, const std::string& name) {
    if (name.empty()) return check_.Required(field);
    AddInvalid(check_.causes, field, name, CheckLabel(name));
  }

  void Volumes() {
    const Json& list = ArrayAt(spec_, {"volumes"});
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string field = Indexed(path_ + ".volumes", i);
      const std::string name = StringAt(list[i], {"name"});
      Label(field + ".name", name);
      if (!name.empty() && !seen.insert(name).second) {
        check_.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
      }
      volumes_.insert(name);
      if (list[i].size() > 2) {
        check_.Forbidden(field + "." + std::prev(list[i].end()).key(),
                         "may not specify more than 1 volume type");
      }
    }
  }

  void Containers(const char* member, std::set<std::string>& names) {
    const Json& list = ArrayAt(spec_, {member});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Json& container = list[i];
      const std::string field = Indexed(path_ + "." + member, i);
      const std::string name = StringAt(container, {"name"});
      Label(field + ".name", name);
      if (!names.insert(name).second && !name.empty()) {
        check_.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
      }
      if (StringAt(container, {"image"}).empty()) check_.Required(field + ".image");
      Ports(container, field + ".ports");
      Environment(container, field + ".env");
      Mounts(container, field + ".volumeMounts");
      Resources(container, field + ".resources");
    }
  }

  void Ports(const Json& container, const std::string& path) {
    const Json& list = ArrayAt(container, {"ports"});
    std::set<std::string> names;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string field = Indexed(path, i);
      const std::string name = StringAt(list[i], {"name"});
      if (!name.empty()) {
        const Complaints complaints = CheckPortName(name);
        AddInvalid(check_.causes, field + ".name", name, complaints);
        if (complaints.empty() && !names.insert(name).second) {
          check_.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
        }
      }
      const std::int64_t port = IntAt(list[i], {"containerPort"});
      if (port == 0) {
        check_.Required(field + ".containerPort");
      } else {
        AddInvalid(check_.causes, field + ".containerPort", port, CheckPort(port));
      }
      if (const std::int64_t host = IntAt(list[i], {"hostPort"}); host != 0) {
        AddInvalid(check_.causes, field + ".hostPort", host, CheckPort(host));
      }
    }
  }

  void Environment(const Json& container, const std::string& path) {
    const Json& list = ArrayAt(container, {"env"});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string name = StringAt(list[i], {"name"});
      const bool printable = std::all_of(name.begin(), name.end(),
                                         [](char c) { return c >= 0x20 && c < 0x7f && c != '='; });
      if (!printable) {
        check_.Invalid(Indexed(path, i) + ".name", name,
                       "a valid environment variable name must consist only of printable ASCII "
                       "characters other than '='");
      }
      if (Find(list[i], {"valueFrom"}) != nullptr && !StringAt(list[i], {"value"}).empty()) {
        check_.Invalid(Indexed(path, i) + ".valueFrom", "",
                       "may not be specified when `value` is not empty");
      }
    }
  }

  void Mounts(const Json& container, const std::string& path) {
    const Json& list = ArrayAt(container, {"volumeMounts"});
    std::set<std::string> places;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string field = Indexed(path, i);
      const std::string name = StringAt(list[i], {"name"});
      const std::string place = StringAt(list[i], {"mountPath"});
      if (name.empty()) check_.Required(field + ".name");
      if (!volumes_.contains(name)) {
        check_.causes.push_back(
            {"FieldValueNotFound", "Not found: " + Quoted(name), field + ".name"});
      }
      if (place.empty()) check_.Required(field + ".mountPath");
      if (!places.insert(place).second) {
        check_.Invalid(field + ".mountPath", place, "must be unique");
      }
    }
  }

  void Resources(const Json& container, const std::string& path) {
    for (const char* list : {"limits", "requests"}) {
      const Json* amounts = Find(container, {"resources", list});
      if (amounts == nullptr || !amounts->is_object()) continue;
      for (const auto& [name, amount] : amounts->items()) {
        const auto millis = QuantityMillis(amount.is_string() ? amount.get<std::string>() : "");
        if (millis && *millis < 0) {
          check_.Invalid(path + "." + list + "[" + name + "]", amount,
                         "must be greater than or equal to 0");
        }
      }
    }
    const Json* requests = Find(container, {"resources", "requests"});
    if (requests == nullptr || !requests->is_object()) return;
    for (const auto& [name, amount] : requests->items()) {
      const std::string limit = StringAt(container, {"resources", "limits", name});
      if (limit.empty() || !amount.is_string()) continue;
      const auto wanted = QuantityMillis(amount.get<std::string>()), most = QuantityMillis(limit);
      if (wanted && most && *wanted > *most) {
        check_.Invalid(path + ".requests", amount,
                       "must be less than or equal to " + name + " limit of " + limit);
      }
    }
  }

  const BuiltinCheck& check_;
  const Json& spec_;
  std::string path_;
  std::set<std::string> volumes_;
};

// The spec with everything an update may change taken from `old`.
Json WithMutableParts(Json spec, const Json& old) {
  for (const char* list : {"containers", "initContainers"}) {
    Json* now = Find(spec, {list});
    const Json& before = ArrayAt(old, {list});
    if (now == nullptr || !now->is_array() || now->size() != before.size()) continue;
    for (std::size_t i = 0; i < before.size(); ++i) {
      Set((*now)[i], {"image"}, StringAt(before[i], {"image"}));
    }
  }
  for (const char* member :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"}) {
    if (const Json* before = Find(old, {member})) {
      Set(spec, {member}, *before);
    } else {
      Erase(spec, {member});
    }
  }
  // Binding writes the node once.
  if (StringAt(old, {"nodeName"}).empty()) Erase(spec, {"nodeName"});
  return spec;
}

}  // namespace

void CheckPodSpec(const BuiltinCheck& check, const Json& spec, const std::string& path,
                  const std::vector<std::string>& extra_volumes) {
  PodSpecChecker(check, spec, path).Run(extra_volumes);
}

void CheckPod(const BuiltinCheck& check) {
  static const Json kNone = Json::object();
  const Json* spec = Find(check.object, {"spec"});
  CheckPodSpec(check, spec == nullptr ? kNone : *spec, "spec");
  if (check.old == nullptr || spec == nullptr) return;
  const Json* before = Find(*check.old, {"spec"});
  if (before == nullptr || *before == *spec || WithMutableParts(*spec, *before) == *before) return;
  check.Forbidden(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
      "to 1 if it was previously negative)");
}

}  // namespace mailroom::openapi
