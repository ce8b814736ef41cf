// For tests: a definition with two versions and a real HTTPS webhook that converts between them: it
// splits `hostPort` of v1 (stored) into `host` and `port` of v2.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "apiserver/admission/webhook_stand.h"
#include "test/support/test_hub.h"

namespace mailroom {

using admission::WebhookStand;
using client::ScriptedConnection;

inline const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

inline Json Converted(Json object, const std::string& version) {
  object["apiVersion"] = version;
  Json& spec = object["spec"];
  if (version.ends_with("/v2")) {
    const std::string both = spec.value("hostPort", ":");
    spec = {{"host", both.substr(0, both.find(':'))}, {"port", both.substr(both.find(':') + 1)}};
  } else {
    spec = {{"hostPort", spec.value("host", "") + ":" + spec.value("port", "")}};
  }
  return object;
}

inline Json Answered(const Json& review, const Json& objects) {
  return {{"apiVersion", review["apiVersion"]},
          {"kind", "ConversionReview"},
          {"response",
           {{"uid", review["request"]["uid"]},
            {"result", {{"status", "Success"}}},
            {"convertedObjects", objects}}}};
}

inline Json Convert(const Json& review) {
  Json objects = Json::array();
  for (const Json& object : review["request"]["objects"]) {
    objects.push_back(Converted(object, review["request"]["desiredAPIVersion"]));
  }
  return Answered(review, objects);
}

inline WebhookStand::Raw Answering(std::function<Json(const Json& review)> answer) {
  return [answer](const Json& review, ScriptedConnection& connection) {
    connection.Reply(200, DumpJson(answer(review)));
  };
}

inline Json Strings(std::initializer_list<const char*> names) {
  Json properties = Json::object();
  for (const char* name : names) properties[name] = {{"type", "string"}};
  return {{"type", "object"}, {"properties", properties}};
}

inline Json Version(const std::string& name, const Json& spec, bool storage) {
  return {{"name", name},
          {"served", true},
          {"storage", storage},
          {"schema",
           {{"openAPIV3Schema", {{"type", "object"}, {"properties", {{"spec", spec}}}}}}}};
}

inline Json Definition(const Json& conversion) {
  Json v2 = Version("v2", Strings({"host", "port"}), false);
  v2["selectableFields"] = Json::array({{{"jsonPath", ".spec.host"}}});
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "ends.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"scope", "Namespaced"},
            {"names", {{"plural", "ends"}, {"kind", "End"}}},
            {"conversion", conversion},
            {"versions", Json::array({Version("v1", Strings({"hostPort"}), true), v2})}}}};
}

inline Json ByWebhook(const WebhookStand& stand, const Json& versions = {"v1"}) {
  return {{"strategy", "Webhook"},
          {"webhook",
           {{"clientConfig", {{"url", stand.url()}, {"caBundle", stand.ca()}}},
            {"conversionReviewVersions", versions}}}};
}

inline Json End(const std::string& version, const std::string& name, const Json& spec) {
  return {{"apiVersion", "example.com/" + version},
          {"kind", "End"},
          {"metadata", {{"name", name}}},
          {"spec", spec}};
}

class Conversion : public testing::Test {
 protected:
  Conversion() : ws_(hub_.NewWorkspace("c1", "wds")) {}

  void Define(const Json& conversion) {
    const auto made = hub_.Do("POST", ws_ + kCrds, Definition(conversion));
    ASSERT_EQ(made.code, 201) << made.text;
  }
  std::string Path(const std::string& version, const std::string& name = "") {
    return ws_ + "/apis/example.com/" + version + "/namespaces/default/ends" +
           (name.empty() ? "" : "/" + name);
  }
  TestHub::Answer Make(const std::string& version, const std::string& name, const Json& spec) {
    return hub_.Do("POST", Path(version), End(version, name, spec));
  }

  TestHub hub_;
  std::string ws_;
};

}  // namespace mailroom
