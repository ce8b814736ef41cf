// What becomes of join tokens and syncers when mailboxes go.
#include <gtest/gtest.h>

#include "apiserver/auth/user.h"
#include "apiserver/client/certificate_request.h"
#include "apiserver/join_command.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

class Joining : public testing::Test {
 protected:
  Joining() {
    hub.NewWorkspace("its1-mb-a", "mailbox");
    hub.NewWorkspace("its1-mb-b", "mailbox");
  }
  void MakeToken(const std::string& ws, const std::string& id, const std::string& mailbox) {
    Json data = {{"token-id", openapi::EncodeBase64(id)},
                 {"token-secret", openapi::EncodeBase64("0123456789abcdef")},
                 {"usage-bootstrap-authentication", openapi::EncodeBase64("true")}};
    if (!mailbox.empty()) data["mailbox"] = openapi::EncodeBase64(mailbox);
    const auto made = hub.Do("POST", "/clusters/" + ws + "/api/v1/namespaces/kube-system/secrets",
                             {{"apiVersion", "v1"},
                              {"kind", "Secret"},
                              {"type", "bootstrap.kubernetes.io/token"},
                              {"metadata", {{"name", "bootstrap-token-" + id}}},
                              {"data", data}});
    ASSERT_EQ(made.code, 201) << made.text;
  }
  // Asks in root for a syncer's certificate; the path of the request.
  std::string Ask(const std::string& token, const std::string& syncer, int code = 201) {
    const std::string pem = *client::NewSigningRequest(*client::NewKey(), syncer, {group});
    Request request;
    request.method = "POST";
    request.path = "/clusters/root/apis/certificates.k8s.io/v1/certificatesigningrequests";
    request.headers.Add("content-type", "application/json");
    request.headers.Add("authorization", "Bearer " + token + ".0123456789abcdef");
    request.body = DumpJson({{"apiVersion", "certificates.k8s.io/v1"},
                             {"kind", "CertificateSigningRequest"},
                             {"metadata", {{"generateName", "csr-"}}},
                             {"spec",
                              {{"request", openapi::EncodeBase64(pem)},
                               {"signerName", "mailbox.kubestellar.io/syncer-client"},
                               {"usages", {"client auth"}}}}});
    const std::string path = request.path;
    const auto made = hub.Send(std::move(request));
    EXPECT_EQ(made.code, code) << made.text;
    return path + "/" + StringAt(made.body, {"metadata", "name"});
  }
  bool IsSigned(const std::string& request) {
    return !StringAt(hub.Get(request).body, {"status", "certificate"}).empty();
  }

  TestHub hub;
  const std::string syncer_a = "system:syncer:its1-mb-a";
  const std::string group{apiserver::kSyncers};
};

TEST_F(Joining, ATokenGoesWithItsMailbox) {
  const std::string secrets = "/api/v1/namespaces/kube-system/secrets/bootstrap-token-";
  MakeToken("root", "iiiiii", "its1-mb-a");
  MakeToken("its1", "jjjjjj", "its1-mb-a");
  MakeToken("root", "kkkkkk", "its1-mb-b");
  MakeToken("root", "llllll", "");
  const std::string path = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces/its1-mb-a";
  ASSERT_EQ(hub.Do("DELETE", path).code, 200);
  hub.NewWorkspace("its1-mb-a", "mailbox");  // so soon that nobody may have seen it gone
  EXPECT_TRUE(Eventually([&] {
    return hub.Get("/clusters/root" + secrets + "iiiiii").code == 404 &&
           hub.Get("/clusters/its1" + secrets + "jjjjjj").code == 404;
  }));
  EXPECT_EQ(hub.Get("/clusters/root" + secrets + "kkkkkk").code, 200);
  EXPECT_EQ(hub.Get("/clusters/root" + secrets + "llllll").code, 200);
  // One for the successor stays.
  MakeToken("root", "mmmmmm", "its1-mb-a");
  const std::string request = Ask("mmmmmm", syncer_a);
  EXPECT_TRUE(Eventually([&] { return IsSigned(request); }));
}

// Something of another workspace that is called like the mailbox is not it.
TEST_F(Joining, ATokenStaysWhenWhatOnlyHasTheNameGoes) {
  const std::string secret = "/clusters/root/api/v1/namespaces/kube-system/secrets/bootstrap-token-pppppp";
  MakeToken("root", "pppppp", "its1-mb-a");
  MakeToken("its1", "qqqqqq", "its1-mb-b");
  storage::CachedStore& store = hub.server().dispatcher().hub().store;
  const std::string key =
      ResourceKey{Workspace("its1"), apiserver::kWorkspacesResource, "", "its1-mb-a"}.ToStoreKey();
  const Json object = {{"apiVersion", "mailbox.kubestellar.io/v9"}, {"kind", "Workspace"},
                       {"metadata", {{"name", "its1-mb-a"}, {"uid", "u"}}}};
  for (const auto type : {storage::Operation::Type::kPut, storage::Operation::Type::kDelete}) {
    storage::Txn txn;
    txn.operations.push_back({type, key, std::make_shared<const std::string>(Object::Encode(object))});
    ASSERT_TRUE(store.Commit(std::move(txn)).ok());
  }
  // Changes come in their order: what follows of the other mailbox was seen later.
  ASSERT_EQ(hub.Do("DELETE", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces/its1-mb-b").code, 200);
  EXPECT_TRUE(Eventually([&] {
    return hub.Get("/clusters/its1/api/v1/namespaces/kube-system/secrets/bootstrap-token-qqqqqq").code == 404;
  }));
  EXPECT_EQ(hub.Get(secret).code, 200);
}

// Made by hand, deleted and made again: whoever served the first must not be let into the second,
// and by its name the two are the same.
TEST_F(Joining, AMailboxWithoutAUidHasNoSyncer) {
  hub.NewWorkspace("handmade", "mailbox");
  const std::string syncer = "system:syncer:handmade";
  Request old;
  old.method = "GET";
  old.path = "/clusters/handmade/api/v1/namespaces";
  old.peer.common_name = syncer;
  old.peer.organizations = {group};
  EXPECT_EQ(hub.Send(old).code, 403);
  MakeToken("root", "nnnnnn", "handmade");
  Ask("nnnnnn", syncer, 403);
  MakeToken("root", "oooooo", "its1-mb-a");
  const std::string served = Ask("oooooo", syncer_a);
  EXPECT_TRUE(Eventually([&] { return IsSigned(served); }));
  for (const char* name : {"handmade", "-mb-x", "x-mb-", ""}) {
    EXPECT_FALSE(apiserver::CheckHasSyncer(name).ok()) << name;
  }
  EXPECT_TRUE(apiserver::CheckHasSyncer("its1-mb-a").ok());
}

}  // namespace
}  // namespace mailroom
