// For tests: a real HTTPS webhook on loopback whose answers a test decides, and the configuration
// objects that lead to it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apiserver/client/scripted_server.h"
#include "openapi/base64.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {

class WebhookStand {
 public:
  // Given the request part, gives the response part (uid is added).
  using Answer = std::function<Json(const Json& request)>;
  explicit WebhookStand(Answer answer)
      : WebhookStand([answer = std::move(answer)](const Json& review,
                                                  client::ScriptedConnection& connection) {
          Json response = answer(review["request"]);
          response["uid"] = review["request"]["uid"];
          connection.Reply(200, DumpJson({{"apiVersion", review["apiVersion"]},
                                          {"kind", "AdmissionReview"},
                                          {"response", response}}));
        }) {}
  // The whole exchange is the test's.
  using Raw = std::function<void(const Json& review, client::ScriptedConnection& connection)>;
  explicit WebhookStand(Raw raw)
      : certificates_(client::MakeTestCertificates("127.0.0.1")),
        server_(
            [this, raw = std::move(raw)](const Request& request,
                                         client::ScriptedConnection& connection) {
              auto review = ParseJson(request.body);
              {
                std::lock_guard lock(mutex_);
                paths_.push_back(request.path + "?" + request.query);
                if (review.ok()) reviews_.push_back(*review);
              }
              raw(review.ok() ? *review : Json(), connection);
            },
            &certificates_) {}

  std::string url() const { return "https://127.0.0.1:" + std::to_string(server_.port()); }
  int port() const { return server_.port(); }
  std::string ca() const { return openapi::EncodeBase64(certificates_.ca_pem); }
  std::vector<Json> reviews() const {
    std::lock_guard lock(mutex_);
    return reviews_;
  }
  std::vector<std::string> paths() const {
    std::lock_guard lock(mutex_);
    return paths_;
  }

  // One webhook of a configuration, for all writes of ConfigMaps; members of `more` win.
  Json Hook(const std::string& name, const Json& more = Json::object()) const {
    Json hook = {{"name", name},
                 {"clientConfig", {{"url", url()}, {"caBundle", ca()}}},
                 {"rules", Json::array({{{"operations", {"*"}},
                                         {"apiGroups", {""}},
                                         {"apiVersions", {"v1"}},
                                         {"resources", {"configmaps"}}}})},
                 {"sideEffects", "None"},
                 {"admissionReviewVersions", {"v1"}},
                 {"timeoutSeconds", 30}};
    hook.update(more);
    return hook;
  }

 private:
  client::TestCertificates certificates_;
  mutable std::mutex mutex_;
  std::vector<Json> reviews_;        // guarded by mutex_
  std::vector<std::string> paths_;   // guarded by mutex_
  client::ScriptedServer server_;
};

inline Json WebhookConfiguration(const std::string& kind, const std::string& name,
                                 const Json& hooks) {
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"webhooks", hooks}};
}

}  // namespace mailroom::admission
