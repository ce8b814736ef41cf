// Which form each verb answers in, by what the client accepts and sends.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
const std::string kMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const std::string kMetadataList =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

class AnswerForms : public testing::Test {
 protected:
  AnswerForms() { hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}})); }

  TestHub::Answer Ask(const std::string& method, const std::string& path, Headers headers,
                      const std::string& body = "") {
    Request request;
    request.method = method;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    request.headers = std::move(headers);
    request.body = body;
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    return hub.Send(std::move(request));
  }
  // The code, and the kind of what came.
  std::string Form(const std::string& method, const std::string& path, const std::string& accept,
                   const std::string& body = "", const std::string& type = "application/json") {
    Headers headers;
    headers.Add("accept", accept);
    if (!body.empty()) headers.Add("content-type", type);
    const auto answer = Ask(method, path, std::move(headers), body);
    return std::to_string(answer.code) + " " + StringAt(answer.body, {"kind"});
  }
  TestHub hub;
};

TEST_F(AnswerForms, OfEveryVerb) {
  const std::string map = R"({"metadata":{"name":"b"}})", put = R"({"metadata":{"name":"a"}})";
  const std::string patch = R"({"data":{"k":"w"}})", merge = "application/merge-patch+json";
  struct Row {
    std::string accept, get, list, create, update, patch, remove;
  };
  const Row rows[] = {
      {"application/json", "200 ConfigMap", "200 ConfigMapList", "201 ConfigMap", "200 ConfigMap",
       "200 ConfigMap", "200 Status"},
      {kTable, "200 Table", "200 Table", "201 Table", "200 Table", "200 Table", "200 Status"},
      {kMetadata, "200 PartialObjectMetadata", "406 Status", "201 PartialObjectMetadata",
       "200 PartialObjectMetadata", "200 PartialObjectMetadata", "200 Status"},
      {kMetadataList, "406 Status", "200 PartialObjectMetadataList", "406 Status", "406 Status",
       "406 Status", "200 Status"},
      {"text/html", "406 Status", "406 Status", "406 Status", "406 Status", "406 Status",
       "406 Status"},
      {"text/html," + kTable + ",application/json", "200 Table", "200 Table", "201 Table",
       "200 Table", "200 Table", "200 Status"},
      {kTable + ";q=0.1,application/json;q=0.2", "200 ConfigMap", "200 ConfigMapList",
       "201 ConfigMap", "200 ConfigMap", "200 ConfigMap", "200 Status"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.accept);
    EXPECT_EQ(Form("GET", kMaps + "/a", row.accept), row.get);
    EXPECT_EQ(Form("GET", kMaps, row.accept), row.list);
    EXPECT_EQ(Form("POST", kMaps, row.accept, map), row.create);
    EXPECT_EQ(Form("PUT", kMaps + "/a", row.accept, put), row.update);
    EXPECT_EQ(Form("PATCH", kMaps + "/a", row.accept, patch, merge), row.patch);
    hub.Do("POST", kMaps, ConfigMap("b"));  // where the create was refused
    EXPECT_EQ(Form("DELETE", kMaps + "/b", row.accept), row.remove);
    hub.Do("DELETE", kMaps + "/b");
  }
}

TEST_F(AnswerForms, OfWatches) {
  TestWatch partial(hub, kMaps + "?watch=1", kMetadata);
  const Json event = partial.Next();
  EXPECT_EQ(StringAt(event, {"type"}), "ADDED");
  EXPECT_EQ(StringAt(event, {"object", "kind"}), "PartialObjectMetadata");
  EXPECT_EQ(Find(event, {"object", "data"}), nullptr);
  EXPECT_EQ(TestWatch(hub, kMaps + "?watch=1", "text/html").code(), 406);
}

TEST_F(AnswerForms, ReviewsHaveNoTable) {
  const std::string review = R"({"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}})";
  const std::string path = "/clusters/wds1/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  EXPECT_EQ(Form("POST", path, "application/json", review), "201 SelfSubjectAccessReview");
  EXPECT_EQ(Form("POST", path, kTable, review), "406 Status");
}

TEST_F(AnswerForms, BodiesWithoutATypeAreJson) {
  EXPECT_EQ(Ask("POST", kMaps, {}, R"({"metadata":{"name":"b"}})").code, 201);
  Headers empty;
  empty.Add("content-type", "");
  EXPECT_EQ(Ask("POST", kMaps, std::move(empty), R"({"metadata":{"name":"c"}})").code, 201);
  const auto patched = Ask("PATCH", kMaps + "/a", {}, "{}");
  EXPECT_EQ(patched.code, 415) << "a patch has to say which kind it is";
  EXPECT_EQ(StringAt(patched.body, {"message"}), "415: Unsupported Media Type");
}

TEST_F(AnswerForms, ReadersGetIndentedText) {
  struct Row {
    const char *agent, *accept, *query;
    bool indented;
  };
  const Row rows[] = {
      {"kubectl/v1.32", "application/json", "", false},
      {"kubectl/v1.32", "application/json", "?pretty=true", true},
      {"kubectl/v1.32", "application/json", "?pretty=1", true},
      {"kubectl/v1.32", "application/json", "?pretty=", false},
      {"kubectl/v1.32", "application/json", "?pretty=yes", false},
      {"kubectl/v1.32", "application/json;pretty=1", "", true},
      {"curl/8.0", "*/*", "", true},
      {"Wget/1.21", "*/*", "", true},
      {"Mozilla/5.0 (X11)", "*/*", "", true},
      {"curl/8.0", "*/*", "?pretty=false", false},
      {"curl/8.0", "*/*", "?pretty=", true},
  };
  for (const Row& row : rows) {
    for (const std::string& path :
         {kMaps + "/a", kMaps, kMaps + "/none", std::string("/clusters/wds1/apis/apps")}) {
      Headers headers;
      headers.Add("user-agent", row.agent);
      headers.Add("accept", row.accept);
      const auto answer = Ask("GET", path + row.query, std::move(headers));
      EXPECT_EQ(answer.text.starts_with("{\n  \""), row.indented)
          << row.agent << " " << row.accept << " " << path << row.query << "\n" << answer.text;
      EXPECT_TRUE(answer.text.ends_with("}\n")) << answer.text;
    }
  }
}

}  // namespace
}  // namespace mailroom
