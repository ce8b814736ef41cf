#include "openapi/cells.h"

#include <algorithm>
#include <map>

namespace mailroom::openapi {

Column Shown(std::string_view name, Cell cell) { return ShownAs(name, "string", std::move(cell)); }

Column ShownAs(std::string_view name, std::string_view type, Cell cell) {
  Column column;
  column.name = name;
  column.type = type;
  column.cell = std::move(cell);
  return column;
}

Column Wide(std::string_view name, Cell cell) {
  Column column = Shown(name, std::move(cell));
  column.priority = 1;
  return column;
}

Column NameColumn() {
  Column column = Shown("Name", Text("metadata.name"));
  column.format = "name";
  column.description = "Name of the object, unique in its namespace among objects of this kind";
  return column;
}

Column AgeColumn() {
  Column column = Shown("Age", AgeOf("metadata.creationTimestamp"));
  column.description = "Time since the object was created";
  return column;
}

Cell Text(std::string dotted, std::string when_empty) {
  return [dotted = std::move(dotted), when_empty = std::move(when_empty)](const Json& object) {
    std::string text = TextAt(object, dotted);
    return Json(text.empty() ? when_empty : std::move(text));
  };
}

Cell Number(std::string dotted) {
  return
      [dotted = std::move(dotted)](const Json& object) { return Json(NumberAt(object, dotted)); };
}

Cell Flag(std::string dotted, bool when_absent) {
  return [dotted = std::move(dotted), when_absent](const Json& object) {
    const Json* value = FindDotted(object, dotted);
    return Json(value != nullptr && value->is_boolean() ? value->get<bool>() : when_absent);
  };
}

Cell Count(std::string dotted) {
  return [dotted = std::move(dotted)](const Json& object) {
    const Json* value = FindDotted(object, dotted);
    const bool counts = value != nullptr && value->is_structured();
    return Json(static_cast<std::int64_t>(counts ? value->size() : 0));
  };
}

Cell AgeOf(std::string dotted) {
  return [dotted = std::move(dotted)](const Json& object) {
    return Json(Age(TextAt(object, dotted)));
  };
}

Cell Ratio(std::string part, std::string whole) {
  return [part = std::move(part), whole = std::move(whole)](const Json& object) {
    return Json(std::to_string(NumberAt(object, part)) + "/" +
                std::to_string(NumberAt(object, whole)));
  };
}

namespace {

Cell OfContainers(std::string pod_spec, std::string_view member) {
  return [list = pod_spec + ".containers", member = std::string(member)](const Json& object) {
    std::vector<std::string> parts;
    for (const Json& container : ListAt(object, list)) parts.push_back(TextAt(container, member));
    return Json(Join(parts, ","));
  };
}

}  // namespace

Cell ContainerNames(std::string pod_spec) { return OfContainers(std::move(pod_spec), "name"); }

Cell ContainerImages(std::string pod_spec) { return OfContainers(std::move(pod_spec), "image"); }

Cell Labels(std::string dotted) {
  return [dotted = std::move(dotted)](const Json& object) {
    return Json(LabelsText(FindDotted(object, dotted)));
  };
}

Cell Selector(std::string dotted) {
  return [dotted = std::move(dotted)](const Json& object) {
    std::string text = SelectorText(FindDotted(object, dotted));
    return Json(text.empty() ? "<none>" : std::move(text));
  };
}

const Json& ListAt(const Json& object, std::string_view dotted) {
  static const Json kEmpty = Json::array();
  const Json* value = FindDotted(object, dotted);
  return value != nullptr && value->is_array() ? *value : kEmpty;
}

std::string TextAt(const Json& object, std::string_view dotted) {
  return Scalar(FindDotted(object, dotted));
}

std::int64_t NumberAt(const Json& object, std::string_view dotted) {
  const Json* value = FindDotted(object, dotted);
  return value != nullptr && value->is_number() ? value->get<std::int64_t>() : 0;
}

std::string Scalar(const Json* value) {
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  return value->is_number() || value->is_boolean() ? DumpJson(*value) : "";
}

std::string LabelsText(const Json* labels) {
  if (labels == nullptr || !labels->is_object() || labels->empty()) return "<none>";
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels->items()) parts.push_back(key + "=" + Scalar(&value));
  return Join(parts, ",");
}

std::string SelectorText(const Json* selector) {
  if (selector == nullptr || !selector->is_object()) return "";
  std::multimap<std::string, std::string> by_key;
  if (const Json* labels = Find(*selector, {"matchLabels"}); labels && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      by_key.emplace(key, key + "=" + Scalar(&value));
    }
  }
  for (const Json& term : ListAt(*selector, "matchExpressions")) {
    const std::string key = StringAt(term, {"key"}), op = StringAt(term, {"operator"});
    std::vector<std::string> values = StringsAt(term, {"values"});
    std::sort(values.begin(), values.end());
    if (op == "Exists") by_key.emplace(key, key);
    if (op == "DoesNotExist") by_key.emplace(key, "!" + key);
    if (op == "In") by_key.emplace(key, key + " in (" + Join(values, ",") + ")");
    if (op == "NotIn") by_key.emplace(key, key + " notin (" + Join(values, ",") + ")");
  }
  std::vector<std::string> parts;
  for (auto& [key, text] : by_key) parts.push_back(std::move(text));
  return Join(parts, ",");
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != parts.data()) text += separator;
    text += part;
  }
  return text;
}

std::string AccessModes(const Json& modes) {
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"},
  };
  std::vector<std::string> parts;
  for (const auto& [mode, abbreviation] : kShort) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) {
      parts.emplace_back(abbreviation);
    }
  }
  return Join(parts, ",");
}

const Json* OfType(const Json& list, std::string_view type) {
  for (const Json& entry : list) {
    if (StringAt(entry, {"type"}) == type) return &entry;
  }
  return nullptr;
}

bool ConditionTrue(const Json& object, std::string_view type) {
  const Json* condition = OfType(ListAt(object, "status.conditions"), type);
  return condition != nullptr && StringAt(*condition, {"status"}) == "True";
}

std::string Shortened(std::vector<std::string> parts, std::size_t max, std::size_t count,
                      std::string_view separator) {
  const bool more = count > max;
  if (parts.size() > max) parts.resize(max);
  std::string text = Join(parts, separator);
  if (more) text += " + " + std::to_string(count - max) + " more...";
  return text;
}

}  // namespace mailroom::openapi
