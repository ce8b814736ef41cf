// Webhook configurations, and the rules that admission policies have as well.
#include <algorithm>
#include <cctype>
#include <set>

#include "openapi/policy_expressions.h"
#include "openapi/validate_names.h"
#include "openapi/validate_rules.h"
#include "storage/object/selector.h"

namespace mailroom::openapi {
namespace {

bool Has(const std::vector<std::string>& items, std::string_view wanted) {
  return std::find(items.begin(), items.end(), wanted) != items.end();
}

// `*` stands alone.
void CheckWildcard(const BuiltinCheck& check, const Json& rule, const char* member,
                   const std::string& path, const std::string& what) {
  const std::vector<std::string> items = StringsAt(rule, {member});
  const std::string field = path + "." + member;
  if (items.empty()) check.Required(field);
  if (items.size() > 1 && Has(items, "*")) {
    check.Invalid(field, items, "if '*' is present, must not specify other " + what);
  }
}

void CheckResources(const BuiltinCheck& check, const std::vector<std::string>& resources,
                    const std::string& path) {
  if (resources.empty()) check.Required(path);
  std::set<std::string> whole, everywhere;  // `x/*`, `*/x`
  bool plain = false;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const std::string& item = resources[i];
    if (item.empty()) {
      check.Required(At(path, i));
      continue;
    }
    const std::size_t slash = item.find('/');
    if (slash == std::string::npos) {
      plain = item != "*";
      continue;
    }
    const std::string resource = item.substr(0, slash), sub = item.substr(slash + 1);
    if (whole.contains(resource)) {
      check.Invalid(At(path, i), item,
                    "if '" + resource + "/*' is present, must not specify " + item);
    }
    if (everywhere.contains(sub)) {
      check.Invalid(At(path, i), item, "if '*/" + sub + "' is present, must not specify " + item);
    }
    if (sub == "*") whole.insert(resource);
    if (resource == "*") everywhere.insert(sub);
  }
  if (resources.size() > 1 && Has(resources, "*/*")) {
    check.Invalid(path, resources, "if '*/*' is present, must not specify other resources");
  }
  if (Has(resources, "*") && plain) {
    check.Invalid(path, resources,
                  "if '*' is present, must not specify other resources without subresources");
  }
}

void CheckResourceNames(const BuiltinCheck& check, const std::vector<std::string>& names,
                        const std::string& path) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < names.size() && !check.causes.full(); ++i) {
    AddInvalid(check.causes, At(path, i), names[i], CheckPathSegment(names[i]));
    if (!known.insert(names[i]).second) {
      check.causes.push_back(DuplicateValue(At(path, i), Quoted(names[i])));
    }
  }
}

// Why Go's parser of URLs refuses the text, or "".
std::string ParseFault(const std::string& url) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (char c : url) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return "net/url: invalid control character in URL";
    }
  }
  const std::string path = url.substr(0, url.find_first_of("?#"));
  const std::size_t colon = path.find(':');
  if (colon == 0) return "missing protocol scheme";
  const bool letter = !path.empty() && (path[0] | 32) >= 'a' && (path[0] | 32) <= 'z';
  if (!letter && colon < path.find('/')) return "first path segment in URL cannot contain colon";
  for (std::size_t at = path.find('%'); at < path.size(); at = path.find('%', at + 1)) {
    if (at + 2 < path.size() && is_hex(path[at + 1]) && is_hex(path[at + 2])) continue;
    return "invalid URL escape " + Quoted(path.substr(at, 3));
  }
  return "";
}

void CheckUrl(const BuiltinCheck& check, const std::string& url, const std::string& field) {
  const std::string form = "; desired format: https://host[/path]";
  if (const std::string fault = ParseFault(url); !fault.empty()) {
    return check.Required(field, "url must be a valid URL: parse " + Quoted(url) + ": " + fault + form);
  }
  const std::size_t colon = url.find("://");
  std::string scheme = colon == std::string::npos ? "" : url.substr(0, colon);
  for (char& c : scheme) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (scheme != "https") {
    check.Invalid(field, scheme, "'https' is the only allowed URL scheme" + form);
  }
  const std::string rest = colon == std::string::npos ? "" : url.substr(colon + 3);
  const std::string authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t at = authority.find('@');
  if (authority.substr(at == std::string::npos ? 0 : at + 1).empty()) {
    check.Invalid(field, "", "host must be specified" + form);
  }
  if (at != std::string::npos) {
    check.Invalid(field, authority.substr(0, at), "user information is not permitted in the URL");
  }
  const std::size_t hash = rest.find('#');
  if (hash != std::string::npos && hash + 1 < rest.size()) {
    check.Invalid(field, rest.substr(hash + 1), "fragments are not permitted in the URL");
  }
  const std::string before = rest.substr(0, hash);
  const std::size_t mark = before.find('?');
  if (mark != std::string::npos && mark + 1 < before.size()) {
    check.Invalid(field, before.substr(mark + 1), "query parameters are not permitted in the URL");
  }
}

void CheckServicePath(const BuiltinCheck& check, const std::string& path,
                      const std::string& field) {
  if (path.empty() || path == "/") return;
  if (path == "//") return check.Invalid(field, path, "segment[0] may not be empty");
  if (!path.starts_with('/')) check.Invalid(field, path, "must start with a '/'");
  std::string rest = path.substr(1);
  if (rest.ends_with('/')) rest.pop_back();
  std::size_t start = 0;
  for (std::size_t i = 0; start <= rest.size(); ++i) {
    const std::size_t end = std::min(rest.find('/', start), rest.size());
    const std::string step = rest.substr(start, end - start);
    const std::string segment = "segment[" + std::to_string(i) + "]";
    if (step.empty()) {
      check.Invalid(field, path, segment + " may not be empty");
    } else {
      for (const std::string& why : CheckSubdomain(step)) {
        check.Invalid(field, path, segment + ": " + why);
      }
    }
    start = end + 1;
  }
}

void CheckHookName(const BuiltinCheck& check, const std::string& name, const std::string& field) {
  if (name.empty()) return check.Required(field);
  AddInvalid(check.causes, field, name, CheckSubdomain(name));
  if (std::count(name.begin(), name.end(), '.') < 2) {
    check.Invalid(field, name, "should be a domain with at least three segments separated by dots");
  }
}

void CheckHook(const BuiltinCheck& check, const Json& hook, SelectorValues values,
               const std::string& path) {
  CheckHookName(check, StringAt(hook, {"name"}), path + ".name");
  CheckAdmissionRules(check, ArrayAt(hook, {"rules"}), path + ".rules");
  CheckGiven(check, hook, path, "failurePolicy", {"Fail", "Ignore"});
  CheckGiven(check, hook, path, "matchPolicy", {"Equivalent", "Exact"});
  if (Find(hook, {"sideEffects"}) == nullptr) {
    check.Required(path + ".sideEffects", "must specify one of None, NoneOnDryRun");
  }
  CheckGiven(check, hook, path, "sideEffects", {"None", "NoneOnDryRun"});
  const std::int64_t timeout = IntAt(hook, {"timeoutSeconds"}, 10);
  if (timeout < 1 || timeout > 30) {
    check.Invalid(path + ".timeoutSeconds", timeout,
                  "the timeout value must be between 1 and 30 seconds");
  }
  CheckAdmissionSelectors(check, hook, path, values);
  CheckGiven(check, hook, path, "reinvocationPolicy", {"IfNeeded", "Never"});
  CheckClientConfig(check, hook.value("clientConfig", Json::object()), path + ".clientConfig");
  CheckMatchConditions(check, hook,
                       PolicyScope(PolicyScope::Params::kNone, PolicyScope::Patches::kNone), path);
  CheckReviewVersions(check, StringsAt(hook, {"admissionReviewVersions"}),
                      path + ".admissionReviewVersions", "must specify one of v1, v1beta1");
}

// Selectors may hold values that no label can have where those of the older configuration did.
SelectorValues ValuesOfBefore(const Json* old) {
  if (old == nullptr) return SelectorValues::kChecked;
  Causes faults;
  for (const Json& hook : ArrayAt(*old, {"webhooks"})) {
    CheckAdmissionSelectors({*old, nullptr, faults}, hook, "", SelectorValues::kChecked);
  }
  return faults.empty() ? SelectorValues::kChecked : SelectorValues::kAny;
}

}  // namespace

void CheckClientConfig(const BuiltinCheck& check, const Json& config, const std::string& field) {
  const Json* url = Find(config, {"url"});
  const Json* service = Find(config, {"service"});
  if ((url != nullptr) == (service != nullptr)) {
    return check.Required(field, "exactly one of url or service is required");
  }
  if (url != nullptr) return CheckUrl(check, StringAt(config, {"url"}), field + ".url");
  for (const char* member : {"name", "namespace"}) {
    if (StringAt(*service, {member}).empty()) check.Required(field + ".service." + member);
  }
  const std::int64_t port = IntAt(*service, {"port"}, 443);
  for (const std::string& why : CheckPort(port)) {
    check.Invalid(field + ".service.port", port, "port is not valid: " + why);
  }
  CheckServicePath(check, StringAt(*service, {"path"}), field + ".service.path");
}

void CheckReviewVersions(const BuiltinCheck& check, const std::vector<std::string>& versions,
                         const std::string& field, const std::string& required) {
  if (versions.empty()) return check.Required(field, required);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!seen.insert(versions[i]).second) {
      check.Invalid(At(field, i), versions[i], "duplicate version");
      continue;
    }
    AddInvalid(check.causes, At(field, i), versions[i], Check1035Label(versions[i]));
  }
  if (!Has(versions, "v1") && !Has(versions, "v1beta1")) {
    check.Invalid(field, versions, "must include at least one of v1, v1beta1");
  }
}

void CheckOneOf(const BuiltinCheck& check, const std::string& field, const std::string& value,
                const std::vector<std::string>& supported) {
  if (!Has(supported, value)) check.causes.push_back(NotSupported(field, value, supported));
}

void CheckGiven(const BuiltinCheck& check, const Json& owner, const std::string& path,
                const char* member, const std::vector<std::string>& supported) {
  if (Find(owner, {member}) == nullptr) return;
  CheckOneOf(check, path + "." + member, StringAt(owner, {member}), supported);
}

void CheckAdmissionRules(const BuiltinCheck& check, const Json& rules, const std::string& path) {
  static const std::vector<std::string> kOperations = {"*", "CONNECT", "CREATE", "DELETE",
                                                       "UPDATE"};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Json& rule = rules[i];
    const std::string field = At(path, i);
    CheckResourceNames(check, StringsAt(rule, {"resourceNames"}), field + ".resourceNames");
    CheckWildcard(check, rule, "operations", field, "operations");
    const auto operations = StringsAt(rule, {"operations"});
    for (std::size_t j = 0; j < operations.size(); ++j) {
      CheckOneOf(check, At(field + ".operations", j), operations[j], kOperations);
    }
    CheckWildcard(check, rule, "apiGroups", field, "API groups");
    CheckWildcard(check, rule, "apiVersions", field, "API versions");
    const auto versions = StringsAt(rule, {"apiVersions"});
    for (std::size_t j = 0; j < versions.size(); ++j) {
      if (versions[j].empty()) check.Required(At(field + ".apiVersions", j));
    }
    CheckResources(check, StringsAt(rule, {"resources"}), field + ".resources");
    CheckGiven(check, rule, field, "scope", {"*", "Cluster", "Namespaced"});
  }
}

void CheckAdmissionSelectors(const BuiltinCheck& check, const Json& owner, const std::string& path,
                             SelectorValues values) {
  for (const char* member : {"namespaceSelector", "objectSelector"}) {
    const Json* selector = Find(owner, {member});
    if (selector != nullptr) CheckSelector(check, *selector, path + "." + member, values);
  }
}

void CheckWebhooks(const BuiltinCheck& check) {
  const Json& hooks = ArrayAt(check.object, {"webhooks"});
  const SelectorValues values = ValuesOfBefore(check.old);
  std::set<std::string> names;
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    const std::string field = At("webhooks", i);
    CheckHook(check, hooks[i], values, field);
    const std::string name = StringAt(hooks[i], {"name"});
    if (!name.empty() && !names.insert(name).second) {
      check.causes.push_back(DuplicateValue(field + ".name", Quoted(name)));
    }
  }
}

}  // namespace mailroom::openapi
