// Building blocks for the table columns of built-in kinds: columns by kind, and the cell shapes
// that several kinds share. Used by cells_*.cc only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/columns.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {

using Cell = std::function<Json(const Json& object)>;

struct KindColumns {
  std::string_view group;
  std::string_view kind;
  std::vector<Column> columns;
};

// Each file of cells_*.cc contributes the kinds of its area.
std::vector<KindColumns> CoreColumns();
std::vector<KindColumns> NodeColumns();
std::vector<KindColumns> WorkloadColumns();
std::vector<KindColumns> NetworkColumns();
std::vector<KindColumns> StorageColumns();
std::vector<KindColumns> PolicyColumns();
std::vector<KindColumns> AutoscalingColumns();
// Summary columns of a Pod, whose rules fill a file of their own.
std::vector<Column> PodColumns();
// That it has ended, and how; null while it has not.
Json PodRowConditions(const Json& pod);

Column Shown(std::string_view name, Cell cell);
Column ShownAs(std::string_view name, std::string_view type, Cell cell);
// Only with `-o wide`.
Column Wide(std::string_view name, Cell cell);
Column NameColumn();
Column AgeColumn();

// Cells that read one field, given by its dotted path.
Cell Text(std::string dotted, std::string when_empty = "");
Cell Number(std::string dotted);
Cell Flag(std::string dotted, bool when_absent = false);
Cell Count(std::string dotted);                   // elements of a list or map
Cell AgeOf(std::string dotted);                   // `<unknown>` when absent
Cell Ratio(std::string part, std::string whole);  // `1/3`
// Names or images of the containers of a pod template, joined by commas.
Cell ContainerNames(std::string pod_spec);
Cell ContainerImages(std::string pod_spec);
Cell Labels(std::string dotted);    // `a=b,c=d`, `<none>` when there are none
Cell Selector(std::string dotted);  // a LabelSelector in query form, `<none>` when empty

// Values used inside computed cells.
const Json& ListAt(const Json& object, std::string_view dotted);  // an empty list when absent
std::string TextAt(const Json& object, std::string_view dotted);
std::int64_t NumberAt(const Json& object, std::string_view dotted);
// A scalar as text: strings bare, numbers in decimal; "" for anything else.
std::string Scalar(const Json* value);
std::string LabelsText(const Json* labels);
std::string SelectorText(const Json* selector);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string AccessModes(const Json& modes);
// The first element of a list whose `type` is `type`, or nullptr.
const Json* OfType(const Json& list, std::string_view type);
bool ConditionTrue(const Json& object, std::string_view type);

// At most `max` of `parts`; past it `a,b + 3 more...` with `count` things in all.
std::string Shortened(std::vector<std::string> parts, std::size_t max, std::size_t count,
                      std::string_view separator = ",");
// Seconds since the epoch by the clock that ages use.
std::int64_t ColumnNow();

}  // namespace mailroom::openapi
