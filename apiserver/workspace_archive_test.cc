#include "apiserver/workspace_archive.h"

#include <gtest/gtest.h>

#include <sstream>

#include "apiserver/server.h"
#include "storage/embedded_store.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/resource_key.h"

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
    auto parsed = ParseJson(server->dispatcher().Handle(request).BodyText());
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

void Fill(House& house) {
  house.Do("POST", kWorkspaces,
           {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
            {"metadata", {{"name", "box"}}}, {"spec", {{"type", "mailbox"}}}});
  for (int i = 0; i < 250; ++i) {
    house.Do("POST", "/clusters/box/api/v1/namespaces/default/configmaps",
             {{"apiVersion", "v1"}, {"kind", "ConfigMap"},
              {"metadata", {{"name", "m" + std::to_string(i)}}},
              {"data", {{"text", "a \"quoted\" line\nand \xc3\xa9"}}}});
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
  for (const std::string& text : {altered, cut, lacking, std::string("{}\n"), std::string()}) {
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

TEST(WorkspaceArchive, NeedsAWorkspace) {
  House a;
  std::stringstream file;
  auto exported = ExportWorkspace(*a.store, Workspace("nobody"), file);
  ASSERT_FALSE(exported.ok());
  EXPECT_EQ(exported.error().reason(), Reason::kNotFound);
}

}  // namespace
}  // namespace mailroom::apiserver
