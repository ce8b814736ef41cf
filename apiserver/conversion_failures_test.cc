// Conversion webhooks that are away, or answer what is no answer.
#include "apiserver/conversion_stand.h"
#include "test/support/eventually.h"

namespace mailroom {
namespace {

TEST_F(Conversion, WithoutItsWebhookOnlyTheStoredVersionCanBeRead) {
  Json conversion;
  {
    WebhookStand gone(Answering(Convert));
    conversion = ByWebhook(gone);
  }
  Define(conversion);
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  EXPECT_EQ(hub_.Get(Path("v1", "a")).code, 200);
  const std::string url = conversion["webhook"]["clientConfig"]["url"];
  const std::string why = "conversion webhook for example.com/v1, Kind=End failed: Post \"" + url;
  for (const std::string& path : {Path("v2", "a"), Path("v2")}) {
    const auto answer = hub_.Get(path);
    EXPECT_EQ(answer.code, 500);
    EXPECT_TRUE(answer.body["message"].get<std::string>().starts_with(why)) << answer.text;
    EXPECT_TRUE(answer.body["message"].get<std::string>().ends_with("connection refused"))
        << answer.text;
    EXPECT_FALSE(answer.body.contains("reason")) << answer.text;
  }
  EXPECT_EQ(Make("v2", "b", {{"host", "h"}}).body["message"].get<std::string>().rfind(
                "conversion webhook for example.com/v2, Kind=End failed: Post", 0), 0u);
  TestWatch watch(hub_, Path("v2") + "?watch=true");
  const Json event = watch.Next();
  EXPECT_EQ(event["type"], "ERROR");
  EXPECT_EQ(event["object"]["code"], 500);
  EXPECT_TRUE(event["object"]["message"].get<std::string>().starts_with(why)) << event;
  EXPECT_TRUE(watch.Next().is_null());
  // The definition can still be deleted with its objects.
  ASSERT_EQ(hub_.Do("DELETE", ws_ + kCrds + "/ends.example.com").code, 200);
  EXPECT_TRUE(Eventually([&] { return hub_.Get(ws_ + kCrds + "/ends.example.com").code == 404; }));
}

TEST_F(Conversion, SaysWhatIsWrongWithAnAnswer) {
  std::function<Json(const Json&)> answer;
  WebhookStand stand(Answering([&](const Json& review) { return answer(review); }));
  Define(ByWebhook(stand));
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  struct Case {
    std::function<void(Json& response)> change;
    std::string says;
  };
  const std::string head = "conversion webhook for example.com/v1, Kind=End ";
  const Case cases[] = {
      {[](Json& r) { r["response"]["result"] = {{"status", "Failure"}, {"message", "no way"}}; },
       "failed: no way"},
      {[](Json& r) { r["response"]["result"] = {{"status", "Failure"}}; },
       "failed: response.result.status was 'Failure', not 'Success'"},
      {[](Json& r) { r["response"].erase("result"); },
       "failed: response.result.status was '', not 'Success'"},
      {[](Json& r) { r.erase("response"); }, "failed: no response provided"},
      {[](Json& r) { r["kind"] = "Pod"; },
       "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got "
       "apiextensions.k8s.io/v1, Kind=Pod"},
      {[](Json& r) { r["response"]["convertedObjects"] = Json::array(); },
       "returned 0 objects, expected 1"},
      {[](Json& r) { r["response"]["convertedObjects"][0]["apiVersion"] = "example.com/v1"; },
       "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, "
       "received example.com/v1)"},
      {[](Json& r) { r["response"]["convertedObjects"][0]["kind"] = "Begin"; },
       "returned invalid object at index 0: invalid kind (expected End, received Begin)"},
      {[](Json& r) { r["response"]["convertedObjects"][0]["metadata"]["name"] = "b"; },
       "returned invalid object: must have the same name: a != b"},
      {[](Json& r) { r["response"]["convertedObjects"][0]["metadata"]["namespace"] = "b"; },
       "returned invalid object: must have the same namespace: default != b"},
      {[](Json& r) { r["response"]["convertedObjects"][0].erase("metadata"); },
       "returned invalid object: must have the same name: a != "},
      {[](Json& r) { r["response"]["convertedObjects"][0]["metadata"]["labels"] = {{"a", 1}}; },
       "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted "
       "object"},
      {[](Json& r) {
         r["response"]["convertedObjects"][0]["metadata"]["labels"] = {{"a", "b c"}};
       },
       "returned invalid metadata: metadata.labels: Invalid value: \"b c\": a valid label must be "
       "an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
       "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
       "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
  };
  for (const Case& one : cases) {
    answer = [&](const Json& review) {
      Json response = Convert(review);
      one.change(response);
      return response;
    };
    const auto got = hub_.Get(Path("v2", "a"));
    EXPECT_EQ(got.code, 500);
    EXPECT_EQ(got.body["message"], head + one.says);
  }
  // The answer to another question.
  answer = [](const Json& review) {
    Json response = Convert(review);
    response["response"]["uid"] = "x";
    return response;
  };
  const std::string message = hub_.Get(Path("v2", "a")).body["message"];
  EXPECT_TRUE(message.starts_with(head + "failed: expected response.uid=")) << message;
  EXPECT_TRUE(message.ends_with(", got \"x\"")) << message;
}

TEST_F(Conversion, OfMetadataOnlyLabelsAndAnnotationsAreTheWebhooks) {
  WebhookStand stand(Answering([](const Json& review) {
    Json response = Convert(review);
    Json& metadata = response["response"]["convertedObjects"][0]["metadata"];
    metadata["labels"] = {{"seen", "yes"}};
    metadata["annotations"] = {{"example.com/by", "webhook"}};
    metadata["finalizers"] = {"example.com/mine"};
    metadata["generation"] = 17;
    metadata["creationTimestamp"] = "2001-01-01T00:00:00Z";
    response["response"]["convertedObjects"][0]["spec"]["unknown"] = "dropped";
    return response;
  }));
  Define(ByWebhook(stand));
  const Json stored = Make("v1", "a", {{"hostPort", "h:1"}}).body;
  const Json read = hub_.Get(Path("v2", "a")).body;
  EXPECT_EQ(read["metadata"]["labels"], (Json{{"seen", "yes"}}));
  EXPECT_EQ(read["metadata"]["annotations"], (Json{{"example.com/by", "webhook"}}));
  EXPECT_FALSE(read["metadata"].contains("finalizers"));
  for (const char* member : {"generation", "creationTimestamp", "uid", "resourceVersion"}) {
    EXPECT_EQ(read["metadata"][member], stored["metadata"][member]) << member;
  }
  EXPECT_EQ(read["spec"], (Json{{"host", "h"}, {"port", "1"}}));
}

TEST_F(Conversion, AsksInTheFirstVersionBothKnow) {
  WebhookStand stand(Answering([](const Json& review) {
    Json response = Convert(review);
    response["response"]["uid"] = "not checked";
    return response;
  }));
  Define(ByWebhook(stand, {"v7", "v1beta1", "v1"}));
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  EXPECT_EQ(hub_.Get(Path("v2", "a")).code, 200);
  EXPECT_EQ(stand.reviews().front()["apiVersion"], "apiextensions.k8s.io/v1beta1");
}

TEST_F(Conversion, AnEndlessAnswerIsCutOff) {
  WebhookStand stand([](const Json&, ScriptedConnection& connection) {
    connection.Head(200);
    const std::string block(1 << 16, ' ');
    for (int i = 0; i < 16 * 1024; ++i) connection.Chunk(block);  // a gigabyte, if it were taken
    connection.End();
  });
  Define(ByWebhook(stand));
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  const auto answer = hub_.Get(Path("v2", "a"));
  EXPECT_EQ(answer.code, 500);
  EXPECT_NE(answer.text.find("the answer is larger than 8388608 bytes"), std::string::npos)
      << answer.text;
}

TEST(ConversionAddresses, AreRefusedLikeThoseOfOtherWebhooks) {
  apiserver::Server::Options options;
  options.webhook_addresses.refuse_loopback = true;
  TestHub hub(options);
  const std::string ws = hub.NewWorkspace("c1", "wds");
  WebhookStand stand(Answering(Convert));
  ASSERT_EQ(hub.Do("POST", ws + kCrds, Definition(ByWebhook(stand))).code, 201);
  const std::string ends = "/namespaces/default/ends";
  ASSERT_EQ(hub.Do("POST", ws + "/apis/example.com/v1" + ends,
                   End("v1", "a", {{"hostPort", "h:1"}})).code, 201);
  EXPECT_EQ(hub.Get(ws + "/apis/example.com/v2" + ends + "/a").code, 500);
  EXPECT_TRUE(stand.reviews().empty());
}

TEST_F(Conversion, ABadBundleKeepsADefinitionFromBeingServed) {
  WebhookStand stand(Answering(Convert));
  Json conversion = ByWebhook(stand);
  conversion["webhook"]["clientConfig"]["caBundle"] = "Cg==";
  Define(conversion);
  const std::string path = ws_ + kCrds + "/ends.example.com";
  Json crd = hub_.Get(path).body;
  const Json& established = crd["status"]["conditions"].back();
  EXPECT_EQ(established["type"], "Established");
  EXPECT_EQ(established["status"], "False");
  EXPECT_EQ(established["reason"], "InvalidCABundle");
  EXPECT_EQ(hub_.Get(Path("v1")).code, 404);
  crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = stand.ca();
  crd = hub_.Do("PUT", path, crd).body;
  EXPECT_EQ(crd["status"]["conditions"].back()["status"], "True") << crd;
  EXPECT_EQ(hub_.Get(Path("v1")).code, 200);
  // A good one cannot be exchanged for a bad one.
  crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "Cg==";
  const auto refused = hub_.Do("PUT", path, crd);
  EXPECT_EQ(refused.code, 422);
  EXPECT_NE(refused.text.find("spec.conversion.webhookClientConfig.caBundle: Invalid value: "),
            std::string::npos)
      << refused.text;
  EXPECT_NE(refused.text.find("unable to load root certificates: data does not contain any valid "
                              "RSA or ECDSA certificates"),
            std::string::npos);
}

}  // namespace
}  // namespace mailroom
