#include "openapi/validate_jobs.h"

#include <charconv>
#include <set>
#include <utility>

#include "openapi/validate_causes.h"
#include "openapi/validate_cluster_kinds.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::int64_t kMostIndexes = 100'000;
constexpr std::int64_t kMostAmongMany = 10'000;  // where there are more completions than that

struct JobPart {
  const BuiltinCheck& check;
  const Json& spec;
  std::string path;

  bool Has(std::string_view member) const { return Find(spec, {member}) != nullptr; }
  std::int64_t Number(std::string_view member) const { return IntAt(spec, {member}); }
  std::string At(const std::string& member) const { return path + "." + member; }
  bool IsIndexed() const { return StringAt(spec, {"completionMode"}) == "Indexed"; }
  void Exceeds(const std::string& member, std::int64_t most, const std::string& text) const {
    if (Has(member) && Number(member) > most) check.Invalid(At(member), Number(member), text);
  }
};

// An error without the value.
void Refuse(const BuiltinCheck& check, const std::string& field, const std::string& text) {
  check.causes.push_back({"FieldValueInvalid", "Invalid value: " + text, field});
}

void CheckIndexed(const JobPart& job) {
  const std::string most = std::to_string(kMostIndexes), few = std::to_string(kMostAmongMany);
  job.Exceeds("parallelism", kMostIndexes,
              "must be less than or equal to " + most + " when completion mode is Indexed");
  if (job.Has("completions")) {
    job.Exceeds("maxFailedIndexes", job.Number("completions"), "must be less than or equal to completions");
  }
  job.Exceeds("maxFailedIndexes", kMostIndexes, "must be less than or equal to " + most);
  if (job.Number("completions") <= kMostIndexes || !job.Has("backoffLimitPerIndex")) return;
  if (!job.Has("maxFailedIndexes")) {
    job.check.Required(job.At("maxFailedIndexes"), "must be specified when completions is above " + most);
  }
  const std::string text = "must be less than or equal to " + few + " when completions are above " + most +
                           " and used with backoff limit per index";
  job.Exceeds("parallelism", kMostAmongMany, text);
  job.Exceeds("maxFailedIndexes", kMostAmongMany, text);
}

void CheckLimits(const JobPart& job) {
  if (job.Has("maxFailedIndexes") && !job.Has("backoffLimitPerIndex")) {
    job.check.Required(job.At("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  if (job.Has("managedBy")) {
    constexpr std::size_t kLongest = 63;
    const std::string name = StringAt(job.spec, {"managedBy"});
    CheckPrefixedPath(job.check, name, job.At("managedBy"));
    if (name.size() > kLongest) job.check.causes.push_back(TooLong(job.At("managedBy"), kLongest));
  }
  if (job.IsIndexed()) return CheckIndexed(job);
  const std::string mode = StringAt(job.spec, {"completionMode"});
  if (!mode.empty() && mode != "NonIndexed") return;  // which has been told
  for (const char* member : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (!job.Has(member)) continue;
    job.check.Invalid(job.At(member), job.Number(member), "requires indexed completion mode");
  }
}

void CheckExitCodes(const JobPart& job, const Json& codes, const std::string& field,
                    const std::set<std::string>& containers) {
  constexpr std::size_t kMostCodes = 255;
  const BuiltinCheck& check = job.check;
  const std::string op = StringAt(codes, {"operator"});
  TellRequired(check.causes, field + ".operator", "valid values: [\"In\" \"NotIn\"]");
  if (Find(codes, {"containerName"}) != nullptr) {
    const std::string name = StringAt(codes, {"containerName"});
    if (!containers.contains(name)) {
      check.Invalid(field + ".containerName", name,
                    "must be one of the container or initContainer names in the pod template");
    }
  }
  const Json& values = ArrayAt(codes, {"values"});
  const std::string place = field + ".values";
  if (values.empty()) {
    check.Invalid(place, Find(codes, {"values"}) == nullptr ? Json() : values, "at least one value is required");
  } else if (values.size() > kMostCodes) {
    check.causes.push_back(TooMany(place, values.size(), kMostCodes));
  }
  bool ordered = true;
  std::set<std::int64_t> seen;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < values.size() && !check.causes.full(); ++i) {
    const std::int64_t value = values[i].is_number_integer() ? values[i].get<std::int64_t>() : 0;
    if (op == "In" && value == 0) {
      check.Invalid(Indexed(place, i), value, "must not be 0 for the In operator");
    }
    if (!seen.insert(value).second) {
      check.causes.push_back(DuplicateValue(Indexed(place, i), std::to_string(value)));
    }
    ordered &= i == 0 || last <= value;
    last = value;
  }
  if (!ordered) check.Invalid(place, values, "must be ordered");
}

void CheckConditions(const BuiltinCheck& check, const Json& patterns, const std::string& field) {
  constexpr std::size_t kMostPatterns = 20;
  if (patterns.size() > kMostPatterns) {
    check.causes.push_back(TooMany(field, patterns.size(), kMostPatterns));
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::string place = Indexed(field, i), type = StringAt(patterns[i], {"type"});
    Untell(check.causes, place + ".type");
    AddInvalid(check.causes, place + ".type", type, CheckQualifiedName(type));
    const std::string status = StringAt(patterns[i], {"status"});
    Untell(check.causes, place + ".status");
    if (status.empty()) {
      check.Required(place + ".status", "valid values: [\"False\" \"True\" \"Unknown\"]");
    } else if (status != "False" && status != "True" && status != "Unknown") {
      check.causes.push_back(NotSupported(place + ".status", status, {"False", "True", "Unknown"}));
    }
  }
}

void CheckFailures(const JobPart& job) {
  constexpr std::size_t kMostRules = 20;
  const BuiltinCheck& check = job.check;
  const std::string list = job.At("podFailurePolicy.rules");
  const Json& rules = ArrayAt(job.spec, {"podFailurePolicy", "rules"});
  if (rules.size() > kMostRules) check.causes.push_back(TooMany(list, rules.size(), kMostRules));
  std::set<std::string> containers;
  for (const char* member : {"containers", "initContainers"}) {
    for (const Json& container : ArrayAt(job.spec, {"template", "spec", member})) {
      containers.insert(StringAt(container, {"name"}));
    }
  }
  for (std::size_t i = 0; i < rules.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed(list, i);
    TellRequired(check.causes, field + ".action",
                 "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]");
    if (StringAt(rules[i], {"action"}) == "FailIndex" && !job.Has("backoffLimitPerIndex")) {
      check.Invalid(field + ".action", "FailIndex", "requires the backoffLimitPerIndex to be set");
    }
    const Json* codes = Find(rules[i], {"onExitCodes"});
    const Json& conditions = ArrayAt(rules[i], {"onPodConditions"});
    if (codes != nullptr) CheckExitCodes(job, *codes, field + ".onExitCodes", containers);
    if (!conditions.empty()) CheckConditions(check, conditions, field + ".onPodConditions");
    if (codes != nullptr && !conditions.empty()) {
      Refuse(check, field, "specifying both OnExitCodes and OnPodConditions is not supported");
    } else if (codes == nullptr && conditions.empty()) {
      Refuse(check, field, "specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
  const std::string policy = StringAt(job.spec, {"template", "spec", "restartPolicy"});
  if (policy == "OnFailure") {
    check.Invalid(job.At("template.spec.restartPolicy"), policy,
                  "only \"Never\" is supported when podFailurePolicy is specified");
  }
  const std::string replaced = StringAt(job.spec, {"podReplacementPolicy"});
  if (!replaced.empty() && replaced != "Failed") {
    Untell(check.causes, job.At("podReplacementPolicy"));
    check.causes.push_back(NotSupported(job.At("podReplacementPolicy"), replaced, {"Failed"}));
  }
}

// How many indexes a text like `0,2-5` names; or why it names none.
std::pair<std::int64_t, std::string> CountIndexes(const std::string& text, std::int64_t completions) {
  std::int64_t total = 0, last = -1;
  for (std::size_t start = 0; !text.empty() && start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    start = end + 1;
    const std::size_t dash = part.find('-');
    if (dash != std::string::npos && part.find('-', dash + 1) != std::string::npos) {
      return {0, "the fragment " + Quoted(part) +
                     " violates the requirement that an index interval can have at most two parts "
                     "separated by '-'"};
    }
    std::int64_t ends[2] = {0, 0};
    const std::size_t count = dash == std::string::npos ? 1 : 2;
    for (std::size_t i = 0; i < count; ++i) {
      std::string number = i == 0 ? part.substr(0, dash) : part.substr(dash + 1);
      const std::string shown = number;
      if (number.starts_with('+')) number.erase(0, 1);
      const char* stop = number.data() + number.size();
      const auto read = std::from_chars(number.data(), stop, ends[i]);
      if (number.empty() || read.ec != std::errc() || read.ptr != stop) {
        return {0, "cannot convert string to integer for index: " + Quoted(shown)};
      }
      if (ends[i] >= completions) return {0, "too large index: " + Quoted(shown)};
    }
    const auto disorder = [](std::int64_t before, std::int64_t now) {
      return "non-increasing order, previous: " + std::to_string(before) + ", current: " + std::to_string(now);
    };
    if (count == 1) ends[1] = ends[0];
    if (count == 2 && ends[0] >= ends[1]) return {0, disorder(ends[0], ends[1])};
    if (last >= ends[0]) return {0, disorder(last, ends[0])};
    total += ends[1] - ends[0] + 1;
    last = ends[1];
  }
  return {total, ""};
}

void CheckSuccess(const JobPart& job) {
  constexpr std::size_t kMostRules = 20, kLongest = 64 * 1024;
  const BuiltinCheck& check = job.check;
  const Json& policy = *Find(job.spec, {"successPolicy"});
  if (!job.IsIndexed()) {
    return check.Invalid(job.At("successPolicy"), policy, "requires indexed completion mode");
  }
  const std::string list = job.At("successPolicy.rules");
  const Json& rules = ArrayAt(policy, {"rules"});
  if (rules.empty()) {
    check.Required(list, "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.size() > kMostRules) check.causes.push_back(TooMany(list, rules.size(), kMostRules));
  if (!job.Has("completions")) return;  // which has been told
  const std::int64_t completions = job.Number("completions");
  for (std::size_t i = 0; i < rules.size() && !check.causes.full(); ++i) {
    const std::string field = Indexed(list, i);
    const bool indexed = Find(rules[i], {"succeededIndexes"}) != nullptr;
    const Json* wanted = Find(rules[i], {"succeededCount"});
    if (!indexed && wanted == nullptr) {
      check.Required(field, "at least one of succeededCount or succeededIndexes must be specified");
    }
    std::int64_t total = 0;
    if (indexed) {
      const std::string text = StringAt(rules[i], {"succeededIndexes"});
      if (text.size() > kLongest) check.causes.push_back(TooLong(field + ".succeededIndexes", kLongest));
      auto [found, fault] = CountIndexes(text, completions);
      total = found;
      if (!fault.empty()) {
        check.Invalid(field + ".succeededIndexes", text, "error parsing succeededIndexes: " + fault);
      }
    }
    if (wanted == nullptr) continue;
    const std::int64_t count = IntAt(rules[i], {"succeededCount"});
    const std::string place = field + ".succeededCount";
    if (count < 0) check.Invalid(place, count, "must be greater than or equal to 0");
    if (count > completions) {
      check.Invalid(place, count,
                    "must be less than or equal to " + std::to_string(completions) +
                        " (the number of specified completions)");
    }
    if (indexed && count > total) {
      check.Invalid(place, count,
                    "must be less than or equal to " + std::to_string(total) +
                        " (the number of indexes in the specified succeededIndexes field)");
    }
  }
}

void CheckEnd(const JobPart& job) {
  CheckLimits(job);
  const std::string mode = StringAt(job.spec, {"completionMode"});
  if (!mode.empty() && mode != "NonIndexed" && mode != "Indexed") {
    Untell(job.check.causes, job.At("completionMode"));
    job.check.causes.push_back(NotSupported(job.At("completionMode"), mode, {"NonIndexed", "Indexed"}));
  }
  const std::string restart = StringAt(job.spec, {"template", "spec", "restartPolicy"});
  if (!restart.empty() && restart != "Always" && restart != "OnFailure" && restart != "Never") {
    job.check.causes.push_back(
        NotSupported(job.At("template.spec.restartPolicy"), restart, {"OnFailure", "Never"}));
  }
  if (job.Has("podFailurePolicy")) CheckFailures(job);
  if (job.Has("successPolicy")) CheckSuccess(job);
}

}  // namespace

void CheckJobEnd(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  const Json* spec = Find(check.object, {"spec"});
  if (spec == nullptr) return;
  const JobPart job{check, *spec, "spec"};
  CheckEnd(job);
  if (check.old == nullptr) return;
  check.Immutable({"spec", "managedBy"});
  check.Immutable({"spec", "successPolicy"});
  if (job.IsIndexed() && job.Has("completions") &&
      job.Number("completions") != IntAt(*check.old, {"spec", "completions"}, -1) &&
      job.Number("completions") != job.Number("parallelism")) {
    check.Invalid("spec.completions", job.Number("completions"),
                  "can only be modified in tandem with spec.parallelism");
  }
}

void CheckCronJobEnd(const BuiltinCheck& check) {
  if (check.subresource == "status") return;
  const Json* spec = Find(check.object, {"spec", "jobTemplate", "spec"});
  if (spec != nullptr) CheckEnd({check, *spec, "spec.jobTemplate.spec"});
}

}  // namespace mailroom::openapi
