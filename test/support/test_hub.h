// A whole API server on the in-memory engine, spoken to by function calls: what unit tests of
// verbs and controllers use instead of mocks.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/server.h"
#include "storage/object/json.h"

namespace mailroom {

class TestHub {
 public:
  struct Answer {
    int code = 0;
    Json body;         // null when the body is not JSON
    std::string text;
    Headers headers;
  };

  TestHub() : TestHub(apiserver::Server::Options()) {}
  // With those options; the URL is always https://hub.test.
  explicit TestHub(apiserver::Server::Options options);
  // The same on an engine of the test's choice.
  TestHub(apiserver::Server::Options options, std::unique_ptr<storage::Store> store);
  // With an authority namespaces are furnished as in a real hub; without one nobody but the test
  // and what it deletes moves the revision, and pods need no ServiceAccount.
  explicit TestHub(const std::string& root_ca);
  ~TestHub();

  // A request as the administrator. `path` may carry a query.
  Answer Do(const std::string& method, const std::string& path, const Json& body = nullptr,
            const std::string& content_type = "application/json");
  Answer Get(const std::string& path) { return Do("GET", path); }
  Answer Send(Request request);
  // The same with the given Accept header.
  Answer GetAs(const std::string& path, const std::string& accept);
  // A new workspace of that type; its path prefix.
  std::string NewWorkspace(const std::string& name, const std::string& type);

  apiserver::Server& server() { return *server_; }

 private:
  std::unique_ptr<apiserver::Server> server_;
};

// A watch being read: pulls the stream until events come.
class TestWatch {
 public:
  TestWatch(TestHub& hub, const std::string& path, const std::string& accept = "");
  ~TestWatch();
  int code() const;
  // The next event; a null value when the stream ended or, which only a failure brings about,
  // nothing came for a minute.
  Json Next();
  bool ended() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

Json ConfigMap(const std::string& name, const Json& data = Json::object());

}  // namespace mailroom
