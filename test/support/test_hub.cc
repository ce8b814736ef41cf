#include "test/support/test_hub.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>

#include "storage/embedded_store.h"

namespace mailroom {
namespace {

Request MakeRequest(const std::string& method, const std::string& path) {
  Request request;
  request.method = method;
  const std::size_t mark = path.find('?');
  request.path = path.substr(0, mark);
  if (mark != std::string::npos) request.query = path.substr(mark + 1);
  request.headers.Add("user-agent", "test/1.0");
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  return request;
}

// What another server answers comes in pieces when it takes a while. It is read to its end, which a
// watch does not have.
void ReadOn(const Request& request, Response& response) {
  if (response.stream == nullptr || request.query.find("watch") != std::string::npos) return;
  struct Bell {
    std::mutex mutex;
    std::condition_variable rung;
    bool ready = true;
  };
  const auto bell = std::make_shared<Bell>();
  response.stream->OnReady([bell] {
    std::lock_guard lock(bell->mutex);
    bell->ready = true;
    bell->rung.notify_all();
  });
  while (true) {
    {
      std::unique_lock lock(bell->mutex);
      if (!bell->rung.wait_for(lock, std::chrono::minutes(1), [&] { return bell->ready; })) break;
      bell->ready = false;
    }
    Stream::State state = Stream::State::kMore;
    while (state == Stream::State::kMore) state = response.stream->Pull(response.body, 1 << 16);
    if (state == Stream::State::kEnd) break;
  }
  response.stream->Cancel();
  response.stream.reset();
}

}  // namespace

TestHub::TestHub(const std::string& root_ca)
    : TestHub([&] {
        apiserver::Server::Options options;
        options.root_ca_pem = root_ca;
        return options;
      }()) {}

TestHub::TestHub(apiserver::Server::Options options)
    : TestHub(std::move(options), storage::OpenMemory()) {}

TestHub::TestHub(apiserver::Server::Options options, std::unique_ptr<storage::Store> store) {
  options.external_url = "https://hub.test";
  // Nobody gives namespaces their default account then.
  if (options.root_ca_pem.empty()) options.disabled_admission.insert("ServiceAccount");
  auto server = apiserver::Server::Start(std::move(store), options);
  if (!server.ok()) {
    std::cerr << server.error().message() << std::endl;
    std::abort();
  }
  server_ = std::move(*server);
}

TestHub::~TestHub() = default;

TestHub::Answer TestHub::Send(Request request) {
  Response response = server_->dispatcher().Handle(request);
  response.Gather();
  ReadOn(request, response);
  Answer answer;
  answer.code = response.code;
  answer.text = response.BodyText();
  answer.headers = response.headers;
  if (auto parsed = ParseJson(answer.text); parsed.ok()) answer.body = std::move(*parsed);
  return answer;
}

TestHub::Answer TestHub::Do(const std::string& method, const std::string& path, const Json& body,
                            const std::string& content_type) {
  Request request = MakeRequest(method, path);
  if (!body.is_null()) {
    request.body = DumpJson(body);
    request.headers.Add("content-type", content_type);
  }
  return Send(std::move(request));
}

TestHub::Answer TestHub::GetAs(const std::string& path, const std::string& accept) {
  Request request = MakeRequest("GET", path);
  request.headers.Add("accept", accept);
  return Send(std::move(request));
}

std::string TestHub::NewWorkspace(const std::string& name, const std::string& type) {
  const Answer made =
      Do("POST", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces",
         {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
          {"metadata", {{"name", name}}}, {"spec", {{"type", type}}}});
  if (made.code != 201) {
    std::cerr << made.text << std::endl;
    std::abort();
  }
  return "/clusters/" + name;
}

struct TestWatch::State {
  Response response;
  std::mutex mutex;
  std::condition_variable ready;
  bool signalled = true;
  bool ended = false;
  std::string buffer;
};

TestWatch::TestWatch(TestHub& hub, const std::string& path, const std::string& accept)
    : state_(std::make_shared<State>()) {
  Request request = MakeRequest("GET", path);
  if (!accept.empty()) request.headers.Add("accept", accept);
  state_->response = hub.server().dispatcher().Handle(request);
  state_->buffer = state_->response.BodyText();
  if (state_->response.stream == nullptr) {
    state_->ended = true;
    return;
  }
  state_->response.stream->OnReady([weak = std::weak_ptr<State>(state_)] {
    if (auto state = weak.lock()) {
      std::lock_guard lock(state->mutex);
      state->signalled = true;
      state->ready.notify_all();
    }
  });
}

TestWatch::~TestWatch() {
  if (state_->response.stream) state_->response.stream->Cancel();
}

int TestWatch::code() const { return state_->response.code; }

bool TestWatch::ended() const { return state_->ended; }

Json TestWatch::Next() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (true) {
    if (const std::size_t line = state_->buffer.find('\n'); line != std::string::npos) {
      auto event = ParseJson(state_->buffer.substr(0, line));
      state_->buffer.erase(0, line + 1);
      return event.ok() ? *event : Json();
    }
    if (state_->ended) return nullptr;
    {
      std::unique_lock lock(state_->mutex);
      if (!state_->ready.wait_until(lock, deadline, [&] { return state_->signalled; })) return nullptr;
      state_->signalled = false;
    }
    Stream::State state = Stream::State::kMore;
    while (state == Stream::State::kMore) {
      std::vector<SharedBytes> pieces;
      state = state_->response.stream->Pull(pieces, 1 << 16);
      for (const SharedBytes& piece : pieces) state_->buffer += *piece;
    }
    if (state != Stream::State::kIdle) state_->ended = true;
  }
}

Json ConfigMap(const std::string& name, const Json& data) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}},
          {"data", data}};
}

}  // namespace mailroom
