#include "apiserver/negotiate.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "openapi/protobuf.h"

namespace mailroom::apiserver {
namespace {

struct Clause {
  std::string type;
  std::string as, group, version;
  double q = 1;
  bool pretty = false;
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
      if (name == "pretty") clause.pretty = value == "1";
      if (name == "q") clause.q = std::strtod(std::string(value).c_str(), nullptr);
    }
    clauses.push_back(std::move(clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.q > b.q; });
  return clauses;
}

// Reads the conversion a clause asks for; false when this endpoint has no such conversion.
bool ReadForm(const Clause& clause, const openapi::ResourceType& type, Accepted& accepted) {
  if (clause.as.empty() && clause.group.empty() && clause.version.empty()) {
    return accepted.media != Media::kProtobuf || (type.builtin && openapi::HasProtobuf(type.gvk));
  }
  if (clause.group != "meta.k8s.io" || (clause.version != "v1" && clause.version != "v1beta1") ||
      !type.stored) {
    return false;
  }
  accepted.meta_version = clause.version;
  if (clause.as == "Table") {
    accepted.form = Form::kTable;
    return accepted.media != Media::kProtobuf;
  }
  if (clause.as == "PartialObjectMetadata") accepted.form = Form::kPartial;
  if (clause.as == "PartialObjectMetadataList") accepted.form = Form::kPartialList;
  return accepted.form != Form::kObject;
}

// An object asked for as a list, or a list asked for as an object.
Result<void> CheckShape(const Accepted& accepted, const openapi::ResourceType& type, Shape shape) {
  if (accepted.form == Form::kPartial && shape == Shape::kList) {
    return Status(Reason::kNotAcceptable,
                  "you requested PartialObjectMetadata, but the requested object is a list (*" +
                      GoTypeName(type, type.list_kind) + ")");
  }
  if (accepted.form == Form::kPartialList && shape != Shape::kList) {
    return Status(Reason::kNotAcceptable,
                  "you requested PartialObjectMetadataList, but the requested object is not a list "
                  "(*" + GoTypeName(type, type.gvk.kind) + ")");
  }
  return Ok();
}

bool ReadMedia(const Clause& clause, Media& media) {
  if (clause.type == "application/json" || clause.type == "*/*" || clause.type == "application/*") {
    media = Media::kJson;
  } else if (clause.type == "application/yaml") {
    media = Media::kYaml;
  } else if (clause.type == openapi::kProtobufMediaType) {
    media = Media::kProtobuf;
  } else {
    return false;
  }
  return true;
}

// As Go reads a boolean.
bool IsTrue(std::string_view text) {
  for (const char* yes : {"1", "t", "T", "true", "True", "TRUE"}) {
    if (text == yes) return true;
  }
  return false;
}

bool WantsPretty(const Request& request, const Query& query) {
  if (const std::string asked = query.Get("pretty"); !asked.empty()) return IsTrue(asked);
  const std::string_view agent = request.headers.Get("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") ||
         agent.starts_with("Mozilla/5.0");
}

std::string AcceptHeader(const Request& request) {
  std::string header;
  for (std::string_view value : request.headers.All("accept")) {
    if (!header.empty()) header += ',';
    header += value;
  }
  return Trim(header).empty() ? "*/*" : header;
}

Status NoForm() {
  return Status(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}

// By the first clause that asks for nothing but a media type.
std::optional<Accepted> PlainForm(const Request& request) {
  Accepted accepted;
  for (const Clause& clause : ParseAccept(AcceptHeader(request))) {
    if (!clause.as.empty() || !clause.group.empty() || !clause.version.empty()) continue;
    if (!ReadMedia(clause, accepted.media)) continue;
    accepted.pretty = clause.pretty || WantsPretty(request, Query(request.query));
    return accepted;
  }
  return std::nullopt;
}

}  // namespace

Result<Accepted> Negotiate(const Request& request, const Query& query,
                           const openapi::ResourceType& type, Shape shape) {
  for (const Clause& clause : ParseAccept(AcceptHeader(request))) {
    Accepted accepted;
    accepted.pretty = clause.pretty || WantsPretty(request, query);
    if (!ReadMedia(clause, accepted.media)) continue;
    if (shape == Shape::kWatch && accepted.media == Media::kYaml) continue;
    if (!ReadForm(clause, type, accepted)) continue;
    TRY(CheckShape(accepted, type, shape));
    return accepted;
  }
  if (shape == Shape::kWatch) {
    return Status(Reason::kNotAcceptable,
                  "only the following media types are accepted: application/json;stream=watch, "
                  "application/vnd.kubernetes.protobuf;stream=watch");
  }
  return NoForm();
}

Result<Accepted> NegotiateDeleted(const Request& request, const Query& query,
                                  const openapi::ResourceType& type) {
  auto single = Negotiate(request, query, type, Shape::kSingle);
  if (single.ok()) return single;
  auto list = Negotiate(request, query, type, Shape::kList);
  return list.ok() ? std::move(list) : std::move(single);
}

Accepted NegotiateError(const Request& request) {
  if (auto accepted = PlainForm(request)) return *accepted;
  Accepted accepted;
  accepted.pretty = true;  // for whoever reads what was not asked for
  return accepted;
}

Result<Accepted> NegotiateDocument(const Request& request) {
  auto accepted = PlainForm(request);
  if (!accepted) return NoForm();
  return *accepted;
}

std::optional<std::size_t> AcceptedType(const Request& request,
                                        std::span<const std::string_view> offered) {
  for (const Clause& clause : ParseAccept(AcceptHeader(request))) {
    for (std::size_t i = 0; i < offered.size(); ++i) {
      const std::string_view type = offered[i];
      const std::string any = std::string(type.substr(0, type.find('/'))) + "/*";
      if (clause.type == type || clause.type == any || clause.type == "*/*") return i;
    }
  }
  return std::nullopt;
}

std::string GoTypeName(const openapi::ResourceType& type, std::string_view kind) {
  if (!type.builtin) return kind == type.list_kind ? "unstructured.UnstructuredList"
                                                   : "unstructured.Unstructured";
  const std::string& group = type.gvk.group;
  const bool core = group.empty() || group == "events.k8s.io";
  return (core ? std::string("core") : group.substr(0, group.find('.'))) + "." + std::string(kind);
}

}  // namespace mailroom::apiserver
