#include "apiserver/client/curl_transport.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>

#include "apiserver/client/client.h"
#include "apiserver/client/scripted_server.h"

namespace mailroom::client {
namespace {

ServerConfig ConfigOf(const ScriptedServer& server) {
  ServerConfig config;
  config.url = server.url();
  return config;
}

Request Get(std::string path, std::string query = "") {
  Request request;
  request.method = "GET";
  request.path = std::move(path);
  request.query = std::move(query);
  return request;
}

// Records what a stream delivers.
class Recorder : public StreamSink {
 public:
  void OnHead(int code, const Headers& headers) override {
    std::lock_guard lock(mutex_);
    code_ = code;
    type_ = std::string(headers.Get("content-type"));
    changed_.notify_all();
  }
  void OnData(std::string_view piece) override {
    std::lock_guard lock(mutex_);
    data_ += piece;
    changed_.notify_all();
    if (on_data_) on_data_();
  }
  void OnEnd(const Status* error) override {
    std::lock_guard lock(mutex_);
    ended_ = true;
    error_ = error == nullptr ? "" : error->message();
    changed_.notify_all();
    if (on_end_) on_end_();
  }
  void WaitFor(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), condition));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int code_ = 0;
  std::string type_, data_, error_;
  bool ended_ = false;
  std::function<void()> on_data_, on_end_;
};

TEST(CurlTransport, SendsMethodPathQueryHeadersAndBody) {
  Request seen;
  ScriptedServer server([&](const Request& request, ScriptedConnection& connection) {
    seen = request;
    connection.Reply(201, "{\"a\":1}");
  });
  ServerConfig config = ConfigOf(server);
  config.token = "secret";
  auto transport = MakeCurlTransport(config);
  Request request = Get("/a%2Fb/../c", "x=%3D&y=1");
  request.method = "PATCH";
  request.headers.Set("content-type", "application/merge-patch+json");
  request.body = std::string(100'000, 'x');
  const auto response = transport->Send(std::move(request));
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->code, 201);
  EXPECT_EQ(response->BodyText(), "{\"a\":1}");
  EXPECT_EQ(response->headers.Get("content-type"), "application/json");
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.path, "/a%2Fb/../c");
  EXPECT_EQ(seen.query, "x=%3D&y=1");
  EXPECT_EQ(seen.headers.Get("content-type"), "application/merge-patch+json");
  EXPECT_EQ(seen.headers.Get("authorization"), "Bearer secret");
  EXPECT_EQ(seen.headers.Get("expect"), "");
  EXPECT_EQ(seen.body.size(), 100'000u);
}

TEST(CurlTransport, ReusesOneConnection) {
  ScriptedServer server([](const Request&, ScriptedConnection& c) { c.Reply(200, "{}"); });
  auto transport = MakeCurlTransport(ConfigOf(server));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(transport->Send(Get("/")).ok());
  EXPECT_EQ(server.connections(), 1);
}

TEST(CurlTransport, FailuresAreUnavailable) {
  ScriptedServer server([](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    connection.Chunk("half");
    connection.Break();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  const auto broken = transport->Send(Get("/broken"));
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().reason(), Reason::kServiceUnavailable);
  ServerConfig nowhere;
  nowhere.url = "http://127.0.0.1:1";
  const auto refused = MakeCurlTransport(nowhere)->Send(Get("/"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason(), Reason::kServiceUnavailable);
}

TEST(CurlTransport, SkipsInformationalHeads) {
  ScriptedServer server([](const Request&, ScriptedConnection& connection) {
    connection.Write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    connection.Reply(200, "ok");
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  Recorder recorder;
  auto stream = transport->Open(Get("/"), recorder);
  recorder.WaitFor([&] { return recorder.ended_; });
  EXPECT_EQ(recorder.code_, 200);
  EXPECT_EQ(recorder.data_, "ok");
}

TEST(CurlTransport, StreamsDataAsItComes) {
  std::promise<void> first_seen;
  ScriptedServer server([&](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    connection.Chunk("one");
    first_seen.get_future().wait();
    connection.Chunk("two");
    connection.End();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  Recorder recorder;
  auto stream = transport->Open(Get("/"), recorder);
  recorder.WaitFor([&] { return recorder.data_ == "one"; });
  EXPECT_EQ(recorder.code_, 200);
  EXPECT_EQ(recorder.type_, "application/json");
  first_seen.set_value();
  recorder.WaitFor([&] { return recorder.ended_; });
  EXPECT_EQ(recorder.data_, "onetwo");
  EXPECT_EQ(recorder.error_, "");
}

// One loop thread carries them all, and ordinary requests beside them.
void OpenHundreds(const TestCertificates* certificates) {
  constexpr int kWatches = 240, kEvents = 5;
  std::latch all_open(kWatches + 1);
  ScriptedServer server([&](const Request& request, ScriptedConnection& connection) {
    if (request.path == "/plain") return connection.Reply(200, "{}");
    connection.Head(200);
    connection.Chunk(request.path + ":");
    all_open.arrive_and_wait();
    for (int i = 0; i < kEvents; ++i) connection.Chunk(std::to_string(i));
    connection.WaitForClose();
  }, certificates);
  ServerConfig config = ConfigOf(server);
  if (certificates != nullptr) config.ca_pem = certificates->ca_pem;
  auto transport = MakeCurlTransport(config);
  std::vector<Recorder> recorders(kWatches);
  std::vector<std::unique_ptr<OpenStream>> streams;
  for (int i = 0; i < kWatches; ++i) {
    streams.push_back(transport->Open(Get("/w" + std::to_string(i)), recorders[static_cast<std::size_t>(i)]));
  }
  // None has got more than its first piece, none has ended, and a request still gets through.
  auto plain = transport->Send(Get("/plain"));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->code, 200);
  all_open.arrive_and_wait();
  for (int i = 0; i < kWatches; ++i) {
    Recorder& recorder = recorders[static_cast<std::size_t>(i)];
    const std::string wanted = "/w" + std::to_string(i) + ":01234";
    recorder.WaitFor([&] { return recorder.data_.size() >= wanted.size(); });
    EXPECT_EQ(recorder.data_, wanted);
    EXPECT_FALSE(recorder.ended_);
  }
  // Half are let go; the others live.
  streams.resize(kWatches / 2);
  EXPECT_TRUE(transport->Send(Get("/plain")).ok());
  for (int i = 0; i < kWatches / 2; ++i) {
    Recorder& recorder = recorders[static_cast<std::size_t>(i)];
    std::lock_guard lock(recorder.mutex_);
    EXPECT_FALSE(recorder.ended_);
  }
  streams.clear();
}

TEST(CurlTransport, HundredsOfWatchesOnOneClient) {
  const TestCertificates certificates = MakeTestCertificates("127.0.0.1");
  OpenHundreds(nullptr);
  OpenHundreds(&certificates);
}

TEST(CurlTransport, BrokenStreamEndsWithAnError) {
  ScriptedServer server([](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    connection.Chunk("x");
    connection.Break();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  Recorder recorder;
  auto stream = transport->Open(Get("/"), recorder);
  recorder.WaitFor([&] { return recorder.ended_; });
  EXPECT_NE(recorder.error_, "");
}

TEST(CurlTransport, ClosingAStreamClosesItsConnection) {
  std::promise<void> closed;
  ScriptedServer server([&](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    connection.Chunk("x");
    connection.WaitForClose();
    connection.Break();
    closed.set_value();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  Recorder recorder;
  auto stream = transport->Open(Get("/"), recorder);
  recorder.WaitFor([&] { return recorder.data_ == "x"; });
  stream.reset();
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_FALSE(recorder.ended_);
}

TEST(CurlTransport, StreamMayBeDestroyedInsideItsOwnCalls) {
  ScriptedServer server([](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    for (int i = 0; i < 3; ++i) connection.Chunk("x");
    connection.End();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  for (const bool at_end : {false, true}) {
    Recorder recorder;
    std::promise<void> destroyed;
    std::unique_ptr<OpenStream> stream;
    auto drop = [&] {
      if (stream == nullptr) return;
      stream.reset();
      destroyed.set_value();
    };
    (at_end ? recorder.on_end_ : recorder.on_data_) = drop;
    transport->After(std::chrono::milliseconds(0),
                     [&] { stream = transport->Open(Get("/"), recorder); });
    destroyed.get_future().wait();
    // The connection stays usable for others.
    EXPECT_TRUE(transport->Send(Get("/")).ok());
    std::lock_guard lock(recorder.mutex_);
    EXPECT_EQ(recorder.ended_, at_end);
  }
}

TEST(CurlTransport, NoSinkCallAfterTheStreamIsGone) {
  ScriptedServer server([](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    for (int i = 0; i < 200; ++i) connection.Chunk("0123456789");
    connection.End();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  for (int round = 0; round < 50; ++round) {
    // A freed sink that is called shows under the sanitizers.
    auto recorder = std::make_unique<Recorder>();
    auto stream = transport->Open(Get("/"), *recorder);
    if (round % 2 == 0) recorder->WaitFor([&] { return !recorder->data_.empty(); });
    stream.reset();
    recorder.reset();
  }
}

TEST(CurlTransport, AfterRunsOnTheLoopInOrderOfTime) {
  ScriptedServer server([](const Request&, ScriptedConnection&) {});
  auto transport = MakeCurlTransport(ConfigOf(server));
  std::vector<int> order;
  std::promise<void> done;
  // So much later that a loop which is kept waiting still comes to the others first.
  transport->After(std::chrono::seconds(3), [&] {
    order.push_back(3);
    done.set_value();
  });
  transport->After(std::chrono::milliseconds(1), [&] {
    order.push_back(1);
    transport->After(std::chrono::milliseconds(0), [&] { order.push_back(2); });
  });
  transport->After(std::chrono::hours(1), [&] { order.push_back(4); });
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(CurlTransport, DestructionAnswersWaitingSenders) {
  std::promise<void> asked;
  ScriptedServer server([&](const Request&, ScriptedConnection& connection) {
    asked.set_value();
    connection.WaitForClose();
    connection.Break();
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  auto answer = std::async(std::launch::async, [&] { return transport->Send(Get("/")).ok(); });
  asked.get_future().wait();
  transport.reset();
  EXPECT_FALSE(answer.get());
}

struct TlsCase {
  const char* name;
  bool trust;        // the client knows the CA
  bool certificate;  // the client has a certificate
  const char* certified_host;
  const char* server_name;
  bool ok;
};

TEST(CurlTransport, TlsVerification) {
  const TlsCase cases[] = {
      {"all in order", true, true, "127.0.0.1", "", true},
      {"unknown CA", false, true, "127.0.0.1", "", false},
      {"no client certificate", true, false, "127.0.0.1", "", false},
      {"certificate for another host", true, true, "elsewhere.example", "", false},
      {"expected name given", true, true, "elsewhere.example", "elsewhere.example", true},
      {"wrong expected name", true, true, "127.0.0.1", "elsewhere.example", false},
  };
  for (const TlsCase& c : cases) {
    SCOPED_TRACE(c.name);
    const TestCertificates certificates = MakeTestCertificates(c.certified_host);
    std::string host;
    ScriptedServer server(
        [&](const Request& request, ScriptedConnection& connection) {
          host = std::string(request.headers.Get("host"));
          connection.Reply(200, "{}");
        },
        &certificates, true);
    ServerConfig config = ConfigOf(server);
    config.ca_pem = c.trust ? certificates.ca_pem : MakeTestCertificates("127.0.0.1").ca_pem;
    if (c.certificate) {
      config.certificate_pem = certificates.client_pem;
      config.key_pem = certificates.client_key_pem;
    }
    config.tls_server_name = c.server_name;
    const auto response = MakeCurlTransport(config)->Send(Get("/"));
    EXPECT_EQ(response.ok(), c.ok) << (response.ok() ? "" : response.error().message());
    EXPECT_EQ(host, c.ok ? "127.0.0.1:" + std::to_string(server.port()) : "");
  }
}

TEST(Client, PathsContentTypesAndErrors) {
  Request seen;
  int code = 200;
  std::string body = "{}";
  ScriptedServer server([&](const Request& request, ScriptedConnection& connection) {
    seen = request;
    connection.Reply(code, body);
  });
  auto transport = MakeCurlTransport(ConfigOf(server));
  const Client client(*transport, "/clusters/wds1/", "test/1");
  const Gvr deployments{"apps/v1", "deployments"};
  const ObjectRef ref{.gvr = deployments, .ns = "n", .name = "d", .subresource = "status"};

  ASSERT_TRUE(client.Get(ref).ok());
  EXPECT_EQ(seen.path, "/clusters/wds1/apis/apps/v1/namespaces/n/deployments/d/status");
  EXPECT_EQ(seen.headers.Get("user-agent"), "test/1");
  ASSERT_TRUE(client.InWorkspace("m2").Get({{"v1", "namespaces"}, "", "x", ""}).ok());
  EXPECT_EQ(seen.path, "/clusters/m2/api/v1/namespaces/x");
  ASSERT_TRUE(client.List(deployments, {"", "a=b,c", "metadata.name=x"}).ok());
  EXPECT_EQ(seen.path, "/clusters/wds1/apis/apps/v1/deployments");
  EXPECT_EQ(ParseQuery(seen.query)[0].second, "a=b,c");
  EXPECT_EQ(ParseQuery(seen.query)[1].second, "metadata.name=x");
  ASSERT_TRUE(client.Create(deployments, "n", {{"a", 1}}).ok());
  EXPECT_EQ(seen.method + seen.body, "POST{\"a\":1}");
  ASSERT_TRUE(client.Update(ref, {{"a", 1}}).ok());
  EXPECT_EQ(seen.method, "PUT");
  ASSERT_TRUE(client.MergePatch(ref, {{"a", nullptr}}).ok());
  EXPECT_EQ(seen.headers.Get("content-type"), "application/merge-patch+json");
  ASSERT_TRUE(client.Apply(ref, {{"a", 1}}, "mgr", true).ok());
  EXPECT_EQ(seen.headers.Get("content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(seen.query, "fieldManager=mgr&force=true");
  ASSERT_TRUE(client.Delete(ref, {.uid = "u", .resource_version = "7", .propagation = ""}).ok());
  EXPECT_EQ(seen.method, "DELETE");
  EXPECT_NE(seen.body.find("\"preconditions\":{\"resourceVersion\":\"7\",\"uid\":\"u\"}"),
            std::string::npos);

  code = 404;
  body = NotFound("deployments", "apps", "d").ToJson();
  const auto missing = client.Get(ref);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().reason(), Reason::kNotFound);
  EXPECT_EQ(missing.error().message(), "deployments.apps \"d\" not found");
  code = 502;
  body = "<html>";
  EXPECT_EQ(client.Get(ref).error().code(), 502);
}

}  // namespace
}  // namespace mailroom::client
