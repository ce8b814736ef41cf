#include "apiserver/client/client.h"

#include "storage/object/json_path.h"

namespace mailroom::client {
namespace {

void AppendParameter(std::string& query, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!query.empty()) query += '&';
  query += name;
  query += '=';
  query += PercentEncode(value);
}

Request WithBody(Request request, std::string content_type, std::string body) {
  request.headers.Set("content-type", std::move(content_type));
  request.body = std::move(body);
  return request;
}

}  // namespace

std::string Gvr::group() const {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

std::string Gvr::version() const {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? api_version : api_version.substr(slash + 1);
}

std::string ListQuery::ToQuery() const {
  std::string query;
  AppendParameter(query, "labelSelector", label_selector);
  AppendParameter(query, "fieldSelector", field_selector);
  return query;
}

Client::Client(Transport& transport, std::string base_path, std::string user_agent)
    : transport_(&transport), base_path_(std::move(base_path)), user_agent_(std::move(user_agent)) {
  while (base_path_.ends_with('/')) base_path_.pop_back();
}

Client Client::InWorkspace(std::string_view workspace) const {
  const std::size_t mark = base_path_.rfind("/clusters/");
  std::string path = base_path_.substr(0, mark);
  path += "/clusters/";
  path += workspace;
  return Client(*transport_, std::move(path), user_agent_);
}

std::string Client::PathOf(const ObjectRef& ref) const {
  std::string path = ref.gvr.group().empty() ? "/api/" : "/apis/";
  path += ref.gvr.api_version;
  if (!ref.ns.empty()) path += "/namespaces/" + PercentEncode(ref.ns);
  path += '/';
  path += ref.gvr.resource;
  if (!ref.name.empty()) path += '/' + PercentEncode(ref.name);
  if (!ref.subresource.empty()) path += '/' + ref.subresource;
  return path;
}

Request Client::NewRequest(std::string method, std::string path, std::string query) const {
  Request request;
  request.method = std::move(method);
  request.path = base_path_ + path;
  request.query = std::move(query);
  request.headers.Set("accept", "application/json");
  request.headers.Set("user-agent", user_agent_);
  return request;
}

Result<Json> Client::Call(Request request, Answer answer) const {
  Response response = TRY(transport_->Send(std::move(request)));
  const std::string body = response.BodyText();
  if (response.code < 200 || response.code >= 300) return Status::FromBody(response.code, body);
  if (body.empty() || answer == Answer::kDropped) return Json();
  return ParseJson(body);
}

Result<Json> Client::Get(const ObjectRef& ref) const {
  return Call(NewRequest("GET", PathOf(ref), ""));
}

Result<Json> Client::List(const Gvr& gvr, const ListQuery& query) const {
  std::string text = query.ToQuery();
  if (query.limit > 0) AppendParameter(text, "limit", std::to_string(query.limit));
  const ObjectRef all{.gvr = gvr, .ns = query.ns, .name = "", .subresource = ""};
  return Call(NewRequest("GET", PathOf(all), std::move(text)));
}

Result<Json> Client::Create(const Gvr& gvr, std::string_view ns, const Json& object,
                            Answer answer) const {
  const ObjectRef ref{.gvr = gvr, .ns = std::string(ns), .name = "", .subresource = ""};
  return Call(WithBody(NewRequest("POST", PathOf(ref), ""), "application/json", DumpJson(object)),
              answer);
}

Result<Json> Client::Update(const ObjectRef& ref, const Json& object, Answer answer) const {
  return Call(WithBody(NewRequest("PUT", PathOf(ref), ""), "application/json", DumpJson(object)),
              answer);
}

Result<Json> Client::MergePatch(const ObjectRef& ref, const Json& patch) const {
  return Call(WithBody(NewRequest("PATCH", PathOf(ref), ""), "application/merge-patch+json",
                       DumpJson(patch)));
}

Result<Json> Client::Apply(const ObjectRef& ref, const Json& config, std::string_view manager,
                           bool force) const {
  std::string query;
  AppendParameter(query, "fieldManager", manager);
  if (force) AppendParameter(query, "force", "true");
  // JSON is YAML; servers before 1.30 know no other media type for apply.
  return Call(WithBody(NewRequest("PATCH", PathOf(ref), std::move(query)),
                       "application/apply-patch+yaml", DumpJson(config)));
}

Result<void> Client::Delete(const ObjectRef& ref, const DeleteOptions& options) const {
  Json body = {
      {"apiVersion", "v1"},
      {"kind", "DeleteOptions"},
      {"propagationPolicy", options.propagation.empty() ? "Background" : options.propagation}};
  if (!options.uid.empty()) Set(body, {"preconditions", "uid"}, options.uid);
  if (!options.resource_version.empty()) {
    Set(body, {"preconditions", "resourceVersion"}, options.resource_version);
  }
  TRY(Call(WithBody(NewRequest("DELETE", PathOf(ref), ""), "application/json", DumpJson(body))));
  return Ok();
}

Result<Json> Client::GetPath(std::string_view path) const {
  return Call(NewRequest("GET", std::string(path), ""));
}

}  // namespace mailroom::client
