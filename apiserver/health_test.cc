// What probes hear of a server that is well, of one whose store is out of reach, and of one that is
// about to stop.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "apiserver/server.h"
#include "storage/embedded_store.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

// A store whose changes can stop to arrive.
class Frail final : public storage::Store {
 public:
  Result<storage::GetResult> Get(const std::string& key) override { return store_->Get(key); }
  Result<storage::ListResult> List(const storage::ListOptions& options) override {
    return store_->List(options);
  }
  void Commit(storage::Txn txn, CommitDone done) override {
    store_->Commit(std::move(txn), std::move(done));
  }
  Result<std::unique_ptr<storage::WatchHandle>> Watch(const std::string& prefix, Revision after,
                                                      storage::ChangeSink& sink) override {
    if (broken_) return Unavailable("no route to the store");
    sink_ = &sink;
    return store_->Watch(prefix, after, sink);
  }
  Result<void> Compact(Revision at) override { return store_->Compact(at); }
  Result<Revision> CurrentRevision() override { return store_->CurrentRevision(); }
  void Close() override { store_->Close(); }

  void Break() {
    broken_ = true;
    sink_.load()->OnEnd(Unavailable("no route to the store"));
  }
  void Mend() { broken_ = false; }

 private:
  std::unique_ptr<storage::Store> store_ = storage::OpenMemory();
  std::atomic<bool> broken_{false};
  std::atomic<storage::ChangeSink*> sink_{nullptr};
};

class Health : public testing::Test {
 protected:
  Health() {
    auto frail = std::make_unique<Frail>();
    store = frail.get();
    apiserver::Server::Options options;
    options.external_url = "https://hub.test";
    server = apiserver::Server::Start(std::move(frail), options).value();
  }
  struct Answer {
    int code;
    std::string text;
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  Answer Get(const std::string& path, const std::string& query = "") {
    Request request;
    request.method = "GET";
    request.path = path;
    request.query = query;
    const Response response = server->dispatcher().Handle(request);
    EXPECT_EQ(response.headers.Get("content-type"), "text/plain; charset=utf-8");
    return {response.code, response.BodyText()};
  }

  Frail* store;
  std::unique_ptr<apiserver::Server> server;
};

// The lines about what the original begins once it listens.
constexpr std::string_view kHooks =
    "[+]poststarthook/start-apiserver-admission-initializer ok\n"
    "[+]poststarthook/generic-apiserver-start-informers ok\n"
    "[+]poststarthook/start-apiextensions-informers ok\n"
    "[+]poststarthook/start-apiextensions-controllers ok\n"
    "[+]poststarthook/crd-informer-synced ok\n"
    "[+]poststarthook/storage-readiness ok\n"
    "[+]poststarthook/rbac/bootstrap-roles ok\n"
    "[+]poststarthook/scheduling/bootstrap-system-priority-classes ok\n"
    "[+]poststarthook/start-kube-aggregator-informers ok\n"
    "[+]poststarthook/apiservice-registration-controller ok\n"
    "[+]poststarthook/apiservice-discovery-controller ok\n"
    "[+]poststarthook/kube-apiserver-autoregistration ok\n"
    "[+]autoregister-completion ok\n"
    "[+]poststarthook/apiservice-openapi-controller ok\n"
    "[+]poststarthook/apiservice-openapiv3-controller ok\n";

// Checks of a server whose store is well, up to and with `storage`.
std::string Live() { return "[+]ping ok\n[+]log ok\n[+]etcd ok\n" + std::string(kHooks); }
std::string Ready() {
  return "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n" +
         std::string(kHooks) + "[+]storage ok\n";
}

TEST_F(Health, AServerThatIsWellSaysSo) {
  for (const char* path :
       {"/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/storage", "/readyz/shutdown",
        "/livez/etcd", "/readyz/etcd-readiness", "/readyz/informer-sync", "/healthz/etcd",
        "/livez/poststarthook/rbac/bootstrap-roles", "/readyz/autoregister-completion"}) {
    EXPECT_EQ(Get(path), (Answer{200, "ok"})) << path;
  }
  for (const char* path : {"/livez/", "/readyz/etcd/", "/livez/shutdown", "/healthz/informer-sync",
                           "/livez/poststarthook", "/livez/poststarthook/rbac"}) {
    EXPECT_EQ(Get(path), (Answer{404, "404 page not found\n"})) << path;
  }
  EXPECT_EQ(Get("/readyz", "verbose"),
            (Answer{200, Ready() + "[+]storage-keys ok\n[+]shutdown ok\nreadyz check passed\n"}));
  EXPECT_EQ(Get("/livez", "verbose"), (Answer{200, Live() + "[+]storage ok\nlivez check passed\n"}));
  for (const char* name : {"storage", "etcd"}) {
    EXPECT_EQ(Get("/livez", std::string("verbose&exclude=tea&exclude=") + name),
              (Answer{200, "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n" + std::string(kHooks) +
                               "[+]storage excluded: ok\n"
                               "warn: some health checks cannot be excluded: no matches for \"tea\"\n"
                               "livez check passed\n"}));
  }
}

TEST_F(Health, AServerThatCannotFollowItsStoreIsUnwell) {
  store->Break();
  EXPECT_EQ(Get("/healthz"), (Answer{500, "[+]ping ok\n[+]log ok\n"
                                          "[-]etcd failed: reason withheld\n" +
                                              std::string(kHooks) +
                                              "[-]storage failed: reason withheld\n"
                                              "healthz check failed\n"}));
  EXPECT_EQ(Get("/readyz/ping"), (Answer{200, "ok"}));
  EXPECT_EQ(Get("/readyz/storage").code, 500);
  EXPECT_TRUE(Get("/readyz/storage").text.starts_with("internal server error: "));
  for (const char* name : {"storage", "etcd"}) {
    EXPECT_EQ(Get("/livez", std::string("exclude=") + name), (Answer{200, "ok"}));
  }
  // Whether it may be sent requests is another question.
  EXPECT_EQ(Get("/readyz", "exclude=etcd").code, 500);
  EXPECT_EQ(Get("/readyz", "exclude=etcd&exclude=etcd-readiness"), (Answer{200, "ok"}));
  store->Mend();
  EXPECT_TRUE(Eventually([&] { return Get("/healthz").code == 200; }));
}

// As another server leaves it that seals with a key of its own.
TEST_F(Health, AServerThatLacksAKeyIsNotReady) {
  const std::string key =
      ResourceKey{Workspace("root"), {"", "secrets"}, "default", "sealed"}.ToStoreKey();
  auto write = [&](storage::Operation operation) {
    const storage::Txn txn{{}, {std::move(operation)}};
    ASSERT_TRUE(storage::CommitAndWait(*store, txn).ok());
  };
  write({storage::Operation::Type::kPut, key,
         std::make_shared<const std::string>("sealed:aesgcm:other:...")});
  EXPECT_TRUE(Eventually([&] { return Get("/readyz").code == 500; }));
  EXPECT_EQ(Get("/readyz").text, Ready() +
                                     "[-]storage-keys failed: reason withheld\n[+]shutdown ok\n"
                                     "readyz check failed\n");
  EXPECT_EQ(Get("/readyz/storage-keys").text,
            "internal server error: 1 stored values are sealed with keys that this server does not "
            "have\n");
  EXPECT_EQ(Get("/healthz"), (Answer{200, "ok"}));
  write({storage::Operation::Type::kDelete, key, nullptr});
  EXPECT_TRUE(Eventually([&] { return Get("/readyz").code == 200; }));
}

TEST_F(Health, AServerThatStopsIsAliveButNotReady) {
  server->Drain();
  EXPECT_EQ(Get("/readyz"), (Answer{500, Ready() +
                                            "[+]storage-keys ok\n[-]shutdown failed: reason withheld\n"
                                            "readyz check failed\n"}));
  EXPECT_EQ(Get("/readyz/shutdown").code, 500);
  EXPECT_EQ(Get("/livez"), (Answer{200, "ok"}));
  EXPECT_EQ(Get("/healthz"), (Answer{200, "ok"}));
}

}  // namespace
}  // namespace mailroom
