#include "apiserver/workspace_archive.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <sstream>

#include "apiserver/server.h"
#include "storage/embedded_store.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/resource_key.h"
#include "storage/sealed_store.h"

namespace mailroom::apiserver {
namespace {

const std::string kWorkspaces = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";

// A server whose store the test can reach too.
struct House {
  House() {
    auto opened = storage::OpenMemory();
    store = opened.get();
    auto started =
        Server::Start(std::move(opened), {.external_url = "https://hub.test", .embedded = true});
    EXPECT_TRUE(started.ok());
    server = std::move(*started);
  }
  Json Do(const std::string& method, const std::string& path, const Json& body = nullptr) {
    Request request;
    request.method = method;
    request.path = path;
    request.headers.Add("user-agent", "test/1.0");
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    if (!body.is_null()) {
      request.body = DumpJson(body);
      request.headers.Add("content-type", "application/json");
    }
    Response response = server->dispatcher().Handle(request);
    response.Gather();
    auto parsed = ParseJson(response.BodyText());
    return parsed.ok() ? *parsed : Json();
  }
  // Every object of a few kinds without what a restore cannot keep.
  std::string Content(const std::string& workspace) {
    std::string text;
    for (const char* path : {"/api/v1/namespaces", "/api/v1/configmaps", "/api/v1/secrets",
                             "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}) {
      Json list = Do("GET", "/clusters/" + workspace + path);
      for (Json& item : *Find(list, {"items"})) {
        Erase(item, {"metadata", "resourceVersion"});
        text += DumpJson(item) + "\n";
      }
    }
    return text;
  }

  storage::Store* store = nullptr;
  std::unique_ptr<Server> server;
};

void MakeBox(House& house) {
  house.Do("POST", kWorkspaces,
           {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
            {"metadata", {{"name", "box"}}}, {"spec", {{"type", "mailbox"}}}});
}

void Fill(House& house, int count = 250, const std::string& text = "a \"quoted\" line\nand \xc3\xa9") {
  MakeBox(house);
  for (int i = 0; i < count; ++i) {
    house.Do("POST", "/clusters/box/api/v1/namespaces/default/configmaps",
             {{"apiVersion", "v1"}, {"kind", "ConfigMap"},
              {"metadata", {{"name", "m" + std::to_string(i)}}},
              {"data", {{"text", text}}}});
  }
}

TEST(WorkspaceArchive, ComesBackAsItWas) {
  House a, b;
  Fill(a);
  std::stringstream file;
  auto exported = ExportWorkspace(*a.store, Workspace("box"), file);
  ASSERT_TRUE(exported.ok()) << exported.error().message();
  EXPECT_EQ(*exported, 252u);  // with two namespaces
  auto imported = ImportWorkspace(*b.store, Workspace("box"), file);
  ASSERT_TRUE(imported.ok()) << imported.error().message();
  EXPECT_EQ(*imported, *exported);
  EXPECT_EQ(b.Content("box"), a.Content("box"));
  EXPECT_EQ(StringAt(b.Do("GET", kWorkspaces + "/box"), {"metadata", "uid"}),
            StringAt(a.Do("GET", kWorkspaces + "/box"), {"metadata", "uid"}));
}

TEST(WorkspaceArchive, RefusesToOverwrite) {
  House a;
  Fill(a);
  std::stringstream file;
  ASSERT_TRUE(ExportWorkspace(*a.store, Workspace("box"), file).ok());
  a.Do("DELETE", "/clusters/box/api/v1/namespaces/default/configmaps/m1");
  const std::string before = a.Content("box");
  auto imported = ImportWorkspace(*a.store, Workspace("box"), file);
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(imported.error().reason(), Reason::kAlreadyExists);
  EXPECT_EQ(a.Content("box"), before);
}

TEST(WorkspaceArchive, RefusesADamagedFileAndLeavesNothing) {
  House a;
  Fill(a);
  std::stringstream file;
  ASSERT_TRUE(ExportWorkspace(*a.store, Workspace("box"), file).ok());
  const std::string whole = file.str();
  std::string altered = whole;
  altered[altered.rfind("quoted")] = 'Q';
  const std::string cut = whole.substr(0, whole.size() / 2);
  const std::size_t second = whole.find('\n') + 1;
  std::string lacking = whole;
  lacking.erase(second, whole.find('\n', second) + 1 - second);
  std::string promoted = whole;  // another type of workspace, in which other rules hold
  promoted.replace(promoted.find(R"("mailbox")"), 9, R"("cluster")");
  std::string former = promoted;
  former.replace(former.find("workspace-2"), 11, "workspace-1");
  // The Workspace itself is no object: nothing may be written before that is known.
  const std::size_t self = whole.find(R"("object":)");
  std::string no_object = whole;
  no_object.replace(self, whole.find('\n') - self, R"("object":"box"})");
  for (const std::string& text :
       {altered, cut, lacking, promoted, former, no_object, std::string("{}\n"), std::string()}) {
    House b;
    std::stringstream in(text);
    EXPECT_FALSE(ImportWorkspace(*b.store, Workspace("box"), in).ok());
    storage::ListOptions any;
    any.prefix = WorkspacePrefix(Workspace("box"));
    auto left = b.store->List(any);
    ASSERT_TRUE(left.ok());
    EXPECT_TRUE(left->entries.empty());
  }
  std::stringstream again(whole);
  House c;
  EXPECT_FALSE(ImportWorkspace(*c.store, Workspace("other"), again).ok());
}

// Another store's view: as etcd, it takes no transaction that is too long, and a test may act
// before one is decided.
class Strict final : public storage::Store {
 public:
  explicit Strict(storage::Store& store) : store_(store) {}
  Result<storage::GetResult> Get(const std::string& key) override { return store_.Get(key); }
  Result<storage::ListResult> List(const storage::ListOptions& options) override {
    return store_.List(options);
  }
  void Commit(storage::Txn txn, CommitDone done) override {
    std::size_t bytes = 0;
    for (const auto& compare : txn.compares) bytes += compare.key.size();
    for (const auto& each : txn.operations) {
      bytes += each.key.size() + (each.value ? each.value->size() : 0);
    }
    longest = std::max(longest, bytes);
    const bool refused = bytes > 1536 * 1024 ||
                         std::max(txn.compares.size(), txn.operations.size()) > 128;
    if (refused) return done(BadRequest("etcdserver: request is too large"));
    if (before) before(++commits);
    if (!lose_answers) return store_.Commit(std::move(txn), std::move(done));
    store_.Commit(std::move(txn), [done](const Result<storage::TxnResult>&) {
      done(Unavailable("the connection was lost"));
    });
  }
  Result<std::unique_ptr<storage::WatchHandle>> Watch(const std::string& prefix, Revision after,
                                                      storage::ChangeSink& sink) override {
    return store_.Watch(prefix, after, sink);
  }
  Result<void> Compact(Revision at) override { return store_.Compact(at); }
  Result<Revision> CurrentRevision() override { return store_.CurrentRevision(); }
  void Close() override {}

  std::function<void(int)> before;
  bool lose_answers = false;
  std::size_t longest = 0;
  int commits = 0;

 private:
  storage::Store& store_;
};

std::string Exported(House& house) {
  std::stringstream file;
  EXPECT_TRUE(ExportWorkspace(*house.store, Workspace("box"), file).ok());
  return file.str();
}

// As they were written before their digest began with the head.
TEST(WorkspaceArchive, FormerFilesAreRead) {
  House a, b;
  MakeBox(a);
  std::string text = Exported(a);
  text.replace(text.find("workspace-2"), 11, "workspace-1");
  const std::size_t first = text.find('\n') + 1, foot = text.rfind("{\"count\"");
  std::string lines = text.substr(first, foot - first);
  std::erase(lines, '\n');
  std::array<unsigned char, 32> digest{};
  EVP_Digest(lines.data(), lines.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  text.replace(text.find(R"("sha256":")") + 10, 64, hex);
  std::stringstream file(text);
  auto imported = ImportWorkspace(*b.store, Workspace("box"), file);
  ASSERT_TRUE(imported.ok()) << imported.error().message();
  EXPECT_EQ(b.Content("box"), a.Content("box"));
}

TEST(WorkspaceArchive, LargeObjectsGoInSmallBatches) {
  House a, b;
  Fill(a, 150, std::string(20 * 1024, 'x'));
  // Alone it is nearly as long as a request may be.
  a.Do("POST", "/clusters/box/api/v1/namespaces/default/configmaps",
       {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "large"}}},
        {"data", {{"text", std::string(1000 * 1024, 'y')}}}});
  std::stringstream file(Exported(a));
  Strict strict(*b.store);
  auto imported = ImportWorkspace(strict, Workspace("box"), file);
  ASSERT_TRUE(imported.ok()) << imported.error().message();
  EXPECT_EQ(*imported, 153u);
  EXPECT_GT(strict.longest, 900u * 1024) << "batches are not needlessly small";
  EXPECT_EQ(b.Content("box"), a.Content("box"));
}

TEST(WorkspaceArchive, AnAnswerThatIsLostChangesNothing) {
  House a, b;
  Fill(a);
  std::stringstream file(Exported(a));
  Strict strict(*b.store);
  strict.lose_answers = true;
  auto imported = ImportWorkspace(strict, Workspace("box"), file);
  ASSERT_TRUE(imported.ok()) << imported.error().message();
  EXPECT_EQ(b.Content("box"), a.Content("box"));
}

TEST(WorkspaceArchive, WhoeverLosesARaceLeavesNothing) {
  House a;
  Fill(a);
  const std::string text = Exported(a);
  // Somebody makes the workspace before each of the import's transactions in turn.
  for (int at = 1; at <= 4; ++at) {
    House b;
    std::stringstream file(text);
    Strict strict(*b.store);
    strict.before = [&](int commit) {
      if (commit != at) return;
      MakeBox(b);
      b.Do("POST", "/clusters/box/api/v1/namespaces/default/configmaps",
           {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "theirs"}}}});
    };
    auto imported = ImportWorkspace(strict, Workspace("box"), file);
    ASSERT_FALSE(imported.ok()) << at;
    EXPECT_EQ(imported.error().reason(), Reason::kAlreadyExists);
    storage::ListOptions all;
    all.prefix = WorkspacePrefix(Workspace("box"));
    auto left = b.store->List(all);
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(left->entries.size(), 3u) << at;  // two namespaces and theirs
    EXPECT_EQ(b.Do("GET", "/clusters/box/api/v1/namespaces/default/configmaps/theirs")["kind"],
              "ConfigMap");
    EXPECT_EQ(b.Do("GET", "/clusters/box/api/v1/namespaces/default")["kind"], "Namespace");
  }
}

TEST(WorkspaceArchive, SealedValuesAreNotExported) {
  House a;
  Fill(a, 3);
  storage::Txn txn;
  const ResourceKey key{Workspace("box"), {"", "secrets"}, "default", "s"};
  txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                            std::make_shared<const std::string>("k8s:enc:aesgcm:v1:one:\x01\x02")});
  ASSERT_TRUE(storage::CommitAndWait(*a.store, std::move(txn)).ok());
  std::stringstream file;
  auto exported = ExportWorkspace(*a.store, Workspace("box"), file);
  ASSERT_FALSE(exported.ok());
  EXPECT_NE(exported.error().message().find(R"(secrets "default/s" is encrypted at rest)"),
            std::string::npos) << exported.error().message();
}

TEST(WorkspaceArchive, NeedsAWorkspace) {
  House a;
  std::stringstream file;
  auto exported = ExportWorkspace(*a.store, Workspace("nobody"), file);
  ASSERT_FALSE(exported.ok());
  EXPECT_EQ(exported.error().reason(), Reason::kNotFound);
}

// Values that lie encrypted leave the house only through their seal.
TEST(WorkspaceArchive, SealedValuesAreNotWrittenAsTheyLie) {
  const auto seal = [] {
    return storage::Seal::Parse(R"({"kind":"EncryptionConfiguration",
        "apiVersion":"apiserver.config.k8s.io/v1","resources":[{"resources":["secrets"],
        "providers":[{"aesgcm":{"keys":[{"name":"k",
        "secret":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}]}}]}]})").value();
  };
  House a;
  Fill(a);
  a.Do("POST", "/clusters/box/api/v1/namespaces/default/secrets",
       {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}}},
        {"stringData", {{"k", "canary"}}}});
  const std::string content = a.Content("box");
  std::stringstream plain;
  ASSERT_TRUE(ExportWorkspace(*a.store, Workspace("box"), plain).ok());
  auto engine = storage::OpenMemory();
  storage::Store& below = *engine;
  auto sealed = storage::OpenSealed(std::move(engine), seal());
  ASSERT_TRUE(ImportWorkspace(*sealed, Workspace("box"), plain).ok());
  std::stringstream raw, opened;
  auto refused = ExportWorkspace(below, Workspace("box"), raw);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("--encryption-keys-file"), std::string::npos);
  ASSERT_TRUE(ExportWorkspace(*sealed, Workspace("box"), opened).ok());
  House b;
  ASSERT_TRUE(ImportWorkspace(*b.store, Workspace("box"), opened).ok());
  EXPECT_EQ(b.Content("box"), content);
}

}  // namespace
}  // namespace mailroom::apiserver
