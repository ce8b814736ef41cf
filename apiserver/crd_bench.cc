// What definitions cost in memory when many workspaces hold the same ones: schemas, rules and
// catalogues, apart from the stored bytes; and what very many in one workspace cost (`many N`).
// Prints tables; asserts nothing.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/server.h"
#include "apiserver/workspaces.h"
#include "openapi/crd.h"
#include "openapi/validate.h"
#include "storage/embedded_store.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom {
namespace {

// Nested objects with lists, maps, bounds and rules until the text is about `bytes` long.
Json Shape(std::size_t bytes) {
  Json leaf = {{"type", "object"},
               {"description", "One of the many settings of this part, described at some length "
                               "as generated definitions do."},
               {"required", {"name"}},
               {"properties",
                {{"name", {{"type", "string"}, {"maxLength", 63}, {"pattern", "^[a-z0-9-]+$"}}},
                 {"size", {{"type", "integer"}, {"minimum", 0}, {"default", 1}}},
                 {"mode", {{"type", "string"}, {"enum", {"a", "b", "c"}}}},
                 {"labels", {{"type", "object"}, {"maxProperties", 10},
                             {"additionalProperties", {{"type", "string"}, {"maxLength", 63}}}}}}},
               {"x-kubernetes-validations",
                {{{"rule", "!has(self.mode) || self.size > 0"}, {"message", "mode needs a size"}}}}};
  Json spec = {{"type", "object"}, {"properties", Json::object()}};
  const std::size_t each = DumpJson(leaf).size() + 20;
  for (std::size_t i = 0; i * each < bytes; ++i) {
    const std::string group = "part" + std::to_string(i / 20);
    Json& part = spec["properties"][group];
    if (part.is_null()) part = {{"type", "object"}, {"properties", Json::object()}};
    part["properties"]["setting" + std::to_string(i)] = leaf;
  }
  return {{"type", "object"}, {"properties", {{"spec", std::move(spec)}}}};
}

Json Definition(int number, std::size_t bytes) {
  const std::string plural = "things" + std::to_string(number);
  Json crd = {{"apiVersion", "apiextensions.k8s.io/v1"},
              {"kind", "CustomResourceDefinition"},
              {"metadata", {{"name", plural + ".example.com"}}},
              {"spec",
               {{"group", "example.com"},
                {"scope", "Namespaced"},
                {"names", {{"plural", plural}, {"kind", "Thing" + std::to_string(number)}}},
                {"versions",
                 {{{"name", "v1"}, {"served", true}, {"storage", true},
                   {"schema", {{"openAPIV3Schema", Shape(bytes)}}}}}}}}};
  openapi::DefaultCrd(crd);
  for (const Cause& cause : openapi::ValidateCrd(crd, nullptr)) {
    std::fprintf(stderr, "%s: %s\n", cause.field.c_str(), cause.message.c_str());
    std::exit(1);
  }
  openapi::EstablishCrd(crd, {}, "2026-01-01T00:00:00Z");
  return crd;
}

double Heap() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / (1024 * 1024);
}

void Must(const auto& result) {
  if (result.ok()) return;
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

}  // namespace

int Bench(int workspaces, int definitions) {
  auto store = storage::OpenMemory();
  auto cache = storage::CachedStore::Start(
      *store, {limits::kHistoryEvents, limits::kWatchQueueEvents, false});
  Must(cache);
  std::vector<SharedBytes> bodies;
  std::vector<Json> crds;
  std::size_t bytes = 0;
  for (int i = 0; i < definitions; ++i) {
    // One of 500 kB, nine of 60 to 120 kB, the rest as small ones are.
    crds.push_back(Definition(i, i == 0 ? 500'000 : i < 10 ? 60'000 + 7'000U * unsigned(i) : 4'000));
    bodies.push_back(std::make_shared<const std::string>(Object::Encode(crds.back())));
    bytes += bodies.back()->size();
  }
  const double start = Heap();
  for (int w = 0; w < workspaces; ++w) {
    storage::Txn txn;
    const std::string name = "ws" + std::to_string(w);
    const Json workspace = {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"},
                            {"kind", "Workspace"},
                            {"metadata", {{"name", name}}},
                            {"spec", {{"type", "cluster"}}}};
    const ResourceKey key{Workspace("root"), apiserver::kWorkspacesResource, "", name};
    txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                              std::make_shared<const std::string>(Object::Encode(workspace))});
    for (int i = 0; i < definitions; ++i) {
      const ResourceKey crd{Workspace(name), apiserver::kCrdResource, "",
                            StringAt(crds[static_cast<std::size_t>(i)], {"metadata", "name"})};
      txn.operations.push_back({storage::Operation::Type::kPut, crd.ToStoreKey(),
                                bodies[static_cast<std::size_t>(i)]});
    }
    Must((*cache)->Commit(std::move(txn)));
  }
  Must((*cache)->Freshen());
  const double stored = Heap();
  const apiserver::Workspaces all(**cache);
  // The rules compile with the first object that they check.
  auto use = [&](int w) {
    auto view = all.Find(Workspace("ws" + std::to_string(w)));
    Must(view);
    for (int i = 0; i < definitions; ++i) {
      const auto* type =
          view->catalog->Find("example.com", "v1", "things" + std::to_string(i));
      if (type == nullptr) std::exit(1);
      (void)openapi::ValidateObject(*type, {{"spec", Json::object()}}, nullptr);
    }
  };
  use(0);
  const double one = Heap();
  for (int w = 1; w < workspaces; ++w) use(w);
  const double many = Heap();
  std::printf("definitions per workspace            %d (%.2f MiB as stored)\n", definitions,
              static_cast<double>(bytes) / (1024 * 1024));
  std::printf("stored objects of %5d workspaces    %8.2f MiB of heap\n", workspaces, stored - start);
  std::printf("derived state of 1 workspace         %8.2f MiB\n", one - stored);
  std::printf("derived state of %4d more           %8.2f MiB (goal: at most 2)\n", workspaces - 1,
              many - one);
  (*cache)->Stop();
  store->Close();
  return 0;
}

// Many definitions in one workspace, made one by one through the API.
int BenchMany(int definitions) {
  using Steady = std::chrono::steady_clock;
  auto seconds = [](Steady::time_point since) {
    return std::chrono::duration<double>(Steady::now() - since).count();
  };
  auto server = apiserver::Server::Start(storage::OpenMemory(),
                                         {.external_url = "https://bench", .controllers = false});
  Must(server);
  auto send = [&](const std::string& method, const std::string& path, const Json& body) {
    Request request;
    request.method = method;
    request.path = "/clusters/wds1" + path;
    request.headers.Add("content-type", "application/json");
    request.headers.Add("accept", "application/json");
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    if (!body.is_null()) request.body = DumpJson(body);
    Response response = (*server)->dispatcher().Handle(request);
    response.Gather();
    if (response.code >= 300) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), response.BodyText().c_str());
      std::exit(1);
    }
    return response.BodyText();
  };
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const double heap = Heap();
  std::printf("%8s %12s %14s\n", "made", "made/s", "MiB of heap");
  double lap = 0, all = 0;
  const int part = std::max(1, definitions / 10);
  std::size_t stored = 0;
  for (int i = 0; i < definitions; ++i) {
    Json crd = Definition(i, 1'000);
    crd.erase("status");
    const auto begun = Steady::now();
    stored += send("POST", crds, crd).size();
    lap += seconds(begun);
    if ((i + 1) % part != 0) continue;
    std::printf("%8d %12.0f %14.1f\n", i + 1, part / lap, Heap() - heap);
    all += std::exchange(lap, 0);
  }
  auto timed = [&](const char* what, const std::string& path) {
    for (const char* turn : {"first", "again"}) {
      const auto begun = Steady::now();
      const std::size_t bytes = send("GET", path, nullptr).size();
      std::printf("%-28s %-6s %8.1f ms %12zu bytes\n", what, turn, seconds(begun) * 1e3, bytes);
    }
  };
  std::printf("all of them: %.1f s, %.2f KiB as answered each\n", all,
              static_cast<double>(stored) / 1024 / definitions);
  timed("discovery of the group", "/apis/example.com/v1");
  timed("OpenAPI v3 of the group", "/openapi/v3/apis/example.com/v1");
  timed("an object's list", "/apis/example.com/v1/things7");
  return 0;
}

}  // namespace mailroom

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "many") {
    return mailroom::BenchMany(argc > 2 ? std::atoi(argv[2]) : 10'000);
  }
  const int workspaces = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int definitions = argc > 2 ? std::atoi(argv[2]) : 50;
  return mailroom::Bench(workspaces, definitions);
}
