// For tests of isolation: mailboxes with a canary in each, and one request of every verb, sent as a
// mailbox's syncer or as a user an aggregator vouches for.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "apiserver/auth/user.h"
#include "test/support/test_hub.h"

namespace mailroom {

inline const std::string kMailboxes = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes";

inline std::string MailboxName(int i) { return "its1-mb-" + std::to_string(i); }
// Where a mailbox is to be found: by itself, and below root's Mailbox object.
inline std::string PlainRoad(int i) { return "/clusters/" + MailboxName(i); }
inline std::string ProxyRoad(int i) { return kMailboxes + "/" + MailboxName(i) + "/proxy"; }
// Bytes, and names, that are in mailbox `i` and nowhere else.
inline std::string Canary(int i) { return "canary-of-" + std::to_string(i) + "-x"; }

struct Probe {
  const char* method;
  const char* path;
  const char* query;
  bool syncer_may;  // in its own mailbox
};
// One of every verb, on resources, subresources and other paths.
inline constexpr Probe kProbes[] = {
    {"GET", "/api/v1/namespaces/default/secrets/canary", "", true},
    {"GET", "/api/v1/namespaces/default/secrets", "", true},
    {"GET", "/api/v1/namespaces/default/secrets", "watch=true&timeoutSeconds=1", true},
    {"POST", "/api/v1/namespaces/default/secrets", "", false},
    {"PUT", "/api/v1/namespaces/default/secrets/canary", "", false},
    {"PATCH", "/api/v1/namespaces/default/secrets/canary", "", false},
    {"DELETE", "/api/v1/namespaces/default/secrets/canary", "", false},
    {"DELETE", "/api/v1/namespaces/default/secrets", "", false},
    {"PUT", "/apis/apps/v1/namespaces/default/deployments/d/status", "", true},
    {"POST", "/api/v1/namespaces/default/serviceaccounts/default/token", "", false},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", false},
    {"POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", "", true},
    {"GET", "/apis", "", true},
    {"GET", "/openapi/v3", "", true},
    {"GET", "/nowhere", "", true},
};

inline Request At(const std::string& road, const Probe& probe) {
  Request request;
  request.method = probe.method;
  request.path = road + probe.path;
  request.query = probe.query;
  return request;
}

// As the syncer of mailbox `i`, by its certificate.
inline Request AsSyncer(int i, Request request) {
  request.peer.common_name = std::string(apiserver::kSyncerPrefix) + MailboxName(i);
  request.peer.organizations = {std::string(apiserver::kSyncers)};
  return request;
}

// As user `i`, named by an aggregator that proved itself.
inline std::string UserName(int i) { return "user-" + std::to_string(i); }
inline Request AsProxied(int i, Request request) {
  request.peer.front_proxy = true;
  request.headers.Add("x-remote-user", UserName(i));
  request.headers.Add("x-remote-group", "tenants");
  return request;
}

inline void MakeMailboxes(TestHub& hub, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string name = MailboxName(i);
    hub.NewWorkspace(name, "mailbox");
    ASSERT_EQ(hub.Do("POST", kMailboxes,
                     {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Mailbox"},
                      {"metadata", {{"name", name}}},
                      {"spec", {{"inventory", "its1"}, {"syncTargetName", "t"}, {"syncTargetUID", "u"},
                                {"workspace", name}}}}).code, 201);
    ASSERT_EQ(hub.Do("POST", PlainRoad(i) + "/api/v1/namespaces/default/secrets",
                     {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "canary"}}},
                      {"stringData", {{"c", Canary(i)}}}}).code, 201);
  }
}

}  // namespace mailroom
