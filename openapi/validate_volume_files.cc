// Files that volumes of a pod hold: keys of secrets and config maps, facts of the pod, tokens.
#include <set>

#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kModeText = "must be a number between 0 and 0777 (octal), both inclusive";
constexpr std::int64_t kModeMax = 0777;
constexpr std::int64_t kTokenShortest = 600;
constexpr std::int64_t kTokenLongest = std::int64_t{1} << 32;

void CheckPodFile(const BuiltinCheck& check, const Json& file, const std::string& path) {
  const std::string place = StringAt(file, {"path"});
  if (place.empty()) check.Required(path + ".path");
  CheckFilePath(check, place, path + ".path");
  const Json* field = Find(file, {"fieldRef"});
  const Json* amount = Find(file, {"resourceFieldRef"});
  if (field != nullptr) {
    CheckFieldRef(check, *field, path + ".fieldRef", RefHome::kVolume);
    if (amount != nullptr) {
      check.Invalid(path, "resource",
                    "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (amount != nullptr) {
    CheckAmountRef(check, *amount, path + ".resourceFieldRef", RefHome::kVolume);
  } else {
    check.Required(path, "one of fieldRef and resourceFieldRef is required");
  }
  CheckMode(check, file, "mode", path);
}

void CheckItem(const BuiltinCheck& check, const Json& item, const std::string& path) {
  const std::string place = StringAt(item, {"path"});
  if (StringAt(item, {"key"}).empty()) check.Required(path + ".key");
  if (place.empty()) check.Required(path + ".path");
  CheckFilePath(check, place, path + ".path");
  CheckMode(check, item, "mode", path);
}

// Sources that are put together; a file has one of them.
struct Projection {
  const PodCheck& pod;
  const std::string& path;
  bool any_token_path;  // the stored object has tokens in odd places
  std::set<std::string> files = {};

  void Take(const std::string& file, const std::string& shown) {
    if (file.empty() || files.insert(file).second) return;
    pod.check.Invalid(path, shown, "conflicting duplicate paths");
  }

  void CheckKeys(const Json& source, const std::string& field) {
    const std::string name = StringAt(source, {"name"});
    if (name.empty()) pod.check.Required(field + ".name");
    const Json& items = ArrayAt(source, {"items"});
    for (std::size_t i = 0; i < items.size(); ++i) {
      CheckItem(pod.check, items[i], Indexed(field + ".items", i));
      Take(StringAt(items[i], {"path"}), name);
    }
  }

  void CheckFacts(const Json& source, const std::string& field) {
    for (const Json& file : ArrayAt(source, {"items"})) {
      CheckPodFile(pod.check, file, field);
      Take(StringAt(file, {"path"}), StringAt(file, {"path"}));
    }
  }

  void CheckToken(const Json& token, const std::string& field) {
    const std::int64_t seconds = IntAt(token, {"expirationSeconds"});
    if (seconds < kTokenShortest) {
      pod.check.Invalid(field + ".expirationSeconds", seconds,
                        "may not specify a duration less than 10 minutes");
    }
    if (seconds > kTokenLongest) {
      pod.check.Invalid(field + ".expirationSeconds", seconds,
                        "may not specify a duration larger than 2^32 seconds");
    }
    const std::string file = StringAt(token, {"path"});
    if (file.empty()) {
      pod.check.Required(path + ".path");
    } else if (!any_token_path) {
      CheckFilePath(pod.check, file, path + ".path");
    }
  }

  void CheckSource(const Json& source, const std::string& field) {
    int kinds = 0;
    const auto each = [&](const char* member, void (Projection::*check)(const Json&, const std::string&)) {
      const Json* found = Find(source, {member});
      if (found == nullptr) return;
      ++kinds;
      (this->*check)(*found, field + "." + member);
    };
    each("secret", &Projection::CheckKeys);
    each("configMap", &Projection::CheckKeys);
    each("downwardAPI", &Projection::CheckFacts);
    each("serviceAccountToken", &Projection::CheckToken);
    if (kinds > 1) pod.check.Forbidden(field, "may not specify more than 1 volume type per source");
  }
};

bool IsFilePath(const std::string& text) {
  return !text.starts_with('/') && !HasBackstep(text) && !text.starts_with("..");
}

bool HasOddTokens(const Json& spec) {
  for (const Json& volume : ArrayAt(spec, {"volumes"})) {
    for (const Json& source : ArrayAt(volume, {"projected", "sources"})) {
      const std::string file = StringAt(source, {"serviceAccountToken", "path"});
      if (!file.empty() && !IsFilePath(file)) return true;
    }
  }
  return false;
}

}  // namespace

void CheckMode(const BuiltinCheck& check, const Json& source, const char* member,
               const std::string& path) {
  const Json* mode = Find(source, {member});
  if (mode == nullptr || !mode->is_number_integer()) return;
  const auto value = mode->get<std::int64_t>();
  if (value < 0 || value > kModeMax) check.Invalid(path + "." + member, *mode, kModeText);
}

void CheckItems(const BuiltinCheck& check, const Json& source, const std::string& path) {
  const Json& items = ArrayAt(source, {"items"});
  for (std::size_t i = 0; i < items.size(); ++i) {
    CheckItem(check, items[i], Indexed(path + ".items", i));
  }
}

void CheckPodFiles(const BuiltinCheck& check, const Json& source, const std::string& path) {
  CheckMode(check, source, "defaultMode", path);
  for (const Json& file : ArrayAt(source, {"items"})) CheckPodFile(check, file, path);
}

void CheckProjected(const PodCheck& pod, const Json& projected, const std::string& path) {
  CheckMode(pod.check, projected, "defaultMode", path);
  Projection projection{pod, path, HasOddTokens(pod.before)};
  const Json& sources = ArrayAt(projected, {"sources"});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    projection.CheckSource(sources[i], Indexed(path + ".sources", i));
  }
}

}  // namespace mailroom::openapi
