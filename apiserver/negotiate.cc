#include "apiserver/negotiate.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace mailroom::apiserver {
namespace {

struct Clause {
  std::string type;
  std::string as, group, version;
  double q = 1;
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The part before `separator`, which is removed from `rest` with it.
std::string_view Take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return Trim(part);
}

std::vector<Clause> ParseAccept(std::string_view header) {
  std::vector<Clause> clauses;
  while (!header.empty()) {
    std::string_view text = Take(header, ',');
    if (text.empty()) continue;
    Clause clause;
    clause.type = Take(text, ';');
    while (!text.empty()) {
      std::string_view value = Take(text, ';');
      std::string_view name = Take(value, '=');
      if (name == "as") clause.as = value;
      if (name == "g") clause.group = value;
      if (name == "v") clause.version = value;
      if (name == "q") clause.q = std::strtod(std::string(value).c_str(), nullptr);
    }
    clauses.push_back(std::move(clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.q > b.q; });
  return clauses;
}

bool ReadForm(const Clause& clause, Shape shape, Accepted& accepted) {
  if (clause.as.empty()) return true;
  if (clause.group != "meta.k8s.io" || (clause.version != "v1" && clause.version != "v1beta1")) {
    return false;
  }
  accepted.meta_version = clause.version;
  if (clause.as == "Table") {
    accepted.form = Form::kTable;
    return true;
  }
  if (clause.as == "PartialObjectMetadata" && shape == Shape::kSingle) {
    accepted.form = Form::kPartial;
    return true;
  }
  if (clause.as == "PartialObjectMetadataList" && shape == Shape::kList) {
    accepted.form = Form::kPartialList;
    return true;
  }
  return false;
}

bool WantsPretty(const Request& request, const Query& query) {
  if (query.Has("pretty")) return query.Bool("pretty");
  const std::string_view agent = request.headers.Get("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") ||
         agent.starts_with("Mozilla/5.0");
}

}  // namespace

Result<Accepted> Negotiate(const Request& request, const Query& query, Shape shape) {
  std::string header;
  for (std::string_view value : request.headers.All("accept")) {
    if (!header.empty()) header += ',';
    header += value;
  }
  if (Trim(header).empty()) header = "*/*";
  for (const Clause& clause : ParseAccept(header)) {
    Accepted accepted;
    accepted.pretty = WantsPretty(request, query);
    if (clause.type == "application/json" || clause.type == "*/*" ||
        clause.type == "application/*") {
      accepted.media = Media::kJson;
    } else if (clause.type == "application/yaml") {
      accepted.media = Media::kYaml;
    } else {
      continue;
    }
    if (ReadForm(clause, shape, accepted)) return accepted;
  }
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}

}  // namespace mailroom::apiserver
