#include "apiserver/table.h"

#include "openapi/columns.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {

Json PartialMetadata(const Json& object, std::string_view meta_version) {
  const Json* metadata = Find(object, {"metadata"});
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/" + std::string(meta_version)},
          {"metadata", metadata ? *metadata : Json::object()}};
}

Json MakeTable(const openapi::ResourceType& type, const std::vector<Json>& objects,
               std::string_view meta_version, std::string_view include, bool with_columns) {
  Json columns = Json::array();
  for (const openapi::Column& column : type.columns) {
    columns.push_back({{"name", column.name},
                       {"type", column.type},
                       {"format", column.format},
                       {"description", column.description},
                       {"priority", column.priority}});
  }
  const auto conditions_of = type.builtin ? openapi::BuiltinRowConditions(type.gvk) : nullptr;
  Json rows = Json::array();
  for (const Json& object : objects) {
    Json cells = Json::array();
    for (const openapi::Column& column : type.columns) cells.push_back(column.cell(object));
    Json row = {{"cells", std::move(cells)}};
    if (conditions_of != nullptr) {
      if (Json conditions = conditions_of(object); !conditions.is_null()) row["conditions"] = std::move(conditions);
    }
    if (include == "Object") {
      row["object"] = object;
    } else {
      row["object"] = include == "None" ? Json() : PartialMetadata(object, meta_version);
    }
    rows.push_back(std::move(row));
  }
  Json table = {{"kind", "Table"},
                {"apiVersion", "meta.k8s.io/" + std::string(meta_version)},
                {"metadata", Json::object()},
                {"rows", std::move(rows)}};
  table["columnDefinitions"] = with_columns ? std::move(columns) : Json();
  return table;
}

}  // namespace mailroom::apiserver
