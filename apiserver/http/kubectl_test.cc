// Real kubectls, an old and a new one, against a front with the least of an API server behind it:
// discovery and ConfigMaps of one namespace, in a map. Shows that what they need of HTTP is there,
// whatever they choose to speak.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "apiserver/http/exchange.h"
#include "apiserver/http/test_client.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

class Stub {
 public:
  Response Answer(const Request& request) {
    if (request.path == "/version") {
      return Document({{"major", "1"}, {"minor", "32"}, {"gitVersion", "v1.32.0"}});
    }
    if (request.path == "/api") {
      return Document({{"kind", "APIVersions"}, {"versions", {"v1"}}});
    }
    if (request.path == "/apis") {
      return Document({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array()}});
    }
    if (request.path == "/api/v1") return Document(Resources());
    if (!request.path.starts_with(kMaps)) return Missing();
    std::lock_guard lock(mutex_);
    if (request.path == kMaps) return Collection(request);
    const std::string name = request.path.substr(kMaps.size() + 1);
    const auto found = maps_.find(name);
    if (found == maps_.end()) return Missing();
    if (request.method != "DELETE") return Document(found->second);
    Tell("DELETED", found->second);
    maps_.erase(found);
    return Document({{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}});
  }

 private:
  static Response Document(const Json& tree, int code = 200) {
    Response response;
    response.code = code;
    response.headers.Add("content-type", "application/json");
    response.Append(DumpJson(tree) + "\n");
    return response;
  }
  static Response Missing() {
    return ErrorResponse(Status(Reason::kNotFound, "the stub knows nothing of this"));
  }
  static Json Resources() {
    return {{"kind", "APIResourceList"},
            {"groupVersion", "v1"},
            {"resources",
             {{{"name", "configmaps"},
               {"singularName", ""},
               {"namespaced", true},
               {"kind", "ConfigMap"},
               {"shortNames", {"cm"}},
               {"verbs", {"create", "delete", "get", "list", "watch"}}}}}};
  }
  Response Collection(const Request& request) {
    if (request.method == "POST") {
      Json made = ParseJson(request.body).value();
      Set(made, {"metadata", "namespace"}, "default");
      Set(made, {"metadata", "uid"}, "uid-" + std::to_string(++revision_));
      Set(made, {"metadata", "resourceVersion"}, std::to_string(revision_));
      Tell("ADDED", made);
      return Document(maps_[StringAt(made, {"metadata", "name"})] = made, 201);
    }
    if (request.query.find("watch=") != std::string::npos) {
      Response response;
      response.headers.Add("content-type", "application/json");
      response.stream = events_.Open();
      return response;
    }
    Json items = Json::array();
    for (const auto& [name, map] : maps_) items.push_back(map);
    return Document({{"kind", "ConfigMapList"},
                     {"apiVersion", "v1"},
                     {"metadata", {{"resourceVersion", std::to_string(revision_)}}},
                     {"items", items}});
  }
  void Tell(const char* type, const Json& object) {
    events_.Publish(std::make_shared<const std::string>(
        DumpJson({{"type", type}, {"object", object}}) + "\n"));
  }

  std::mutex mutex_;
  int revision_ = 1;
  std::map<std::string, Json> maps_;
  Fan events_;
};

struct Speaks {
  const char* name;
  const char* version;
  bool http2;  // left alone, they choose it
  friend void PrintTo(const Speaks& self, std::ostream* out) { *out << self.name; }
};

class KubectlTest : public ::testing::TestWithParam<Speaks> {
 protected:
  static void SetUpTestSuite() {
    static Stub stub;
    TestFront::Answer([](const Request& request) { return stub.Answer(request); });
    const TestFront& front = TestFront::Get();
    const KeyPair user = IssueClient(front.authority(), "somebody", {}).value();
    ASSERT_TRUE(WriteSecret(front.dir() + "/user.crt", user.cert_pem).ok());
    ASSERT_TRUE(WriteSecret(front.dir() + "/user.key", user.key_pem).ok());
  }

  // What kubectl says to these arguments and this input.
  std::string Kubectl(const std::string& arguments, const std::string& input = "") {
    const std::string protocol = GetParam().http2 ? "" : "DISABLE_HTTP2=1 ";
    return TestFront::Get().Shell("printf '" + input + "' | HOME=$DIR " + protocol +
                       "$(" MAILROOM_HACK "/peer path kubectl-" + GetParam().version +
                       ") --kubeconfig /dev/null --server https://localhost:$PORT "
                       "--certificate-authority $CA --client-certificate $DIR/user.crt "
                       "--client-key $DIR/user.key --request-timeout 20s -n default " +
                       arguments);
  }
  // JSON, where `create configmap` would send protobuf.
  std::string Create(const std::string& name) {
    return Kubectl("create --validate=false -f -",
                   "apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: " + name +
                       "}\\ndata: {a: b}\\n");
  }
};

TEST_P(KubectlTest, DoesItsDailyWork) {
  const FrontCounts before = TestFront::Get().front().counts();
  const std::string name = GetParam().name;
  const auto says = [](const std::string& output, std::string_view part) {
    EXPECT_NE(output.find(part), std::string::npos) << output;
  };
  says(Kubectl("version"), "v1.32.0");
  says(Kubectl("api-resources --no-headers"), "configmaps");
  says(Create(name), "/" + name + " created");
  says(Kubectl("get cm"), name);
  says(Kubectl("get cm " + name + " -o yaml"), "a: b");
  says(Kubectl("get cm nobody"), "NotFound");

  FrontCounts counts = TestFront::Get().front().counts();
  std::string watched;
  {
    std::jthread watcher([&] {
      watched = Kubectl("get cm --watch --no-headers -o name");  // until its time is over
    });
    ASSERT_TRUE(TestFront::Get().AwaitStreams(counts.streams + 1));
    says(Create("later-" + name), "created");
    says(Kubectl("delete cm --wait=false " + name), "deleted");
  }
  says(watched, "configmap/" + name + "\n");
  says(watched, "configmap/later-" + name + "\n");

  counts = TestFront::Get().front().counts();
  const bool by_http2 = counts.http2_requests > before.http2_requests;
  const bool by_http1 = counts.http1_requests > before.http1_requests;
  EXPECT_EQ(by_http2, GetParam().http2);
  EXPECT_EQ(by_http1, !GetParam().http2);
}

INSTANTIATE_TEST_SUITE_P(All, KubectlTest,
                         ::testing::Values(Speaks{"old-http2", "1.20", true},
                                           Speaks{"old-http1", "1.20", false},
                                           Speaks{"new-http2", "1.32", true},
                                           Speaks{"new-http1", "1.32", false}),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           name[3] = '_';
                           return name;
                         });

}  // namespace
}  // namespace mailroom::apiserver
