#include "apiserver/http/bench_servers.h"

#include <drogon/drogon.h>
#include <nghttp2/nghttp2.h>
#include <trantor/net/EventLoopThread.h>
#include <trantor/net/TcpServer.h>

#include <iostream>
#include <future>
#include <unordered_map>

#include "apiserver/http/front.h"
#include "apiserver/http/test_fan.h"

namespace mailroom::apiserver::bench {
namespace {

// Answers commands until told to quit.
template <typename Publish>
void Obey(std::uint16_t port, Publish publish) {
  std::cout << port << std::endl;
  std::string command;
  int count = 0;
  while (std::cin >> command && command != "quit") {
    if (command == "publish" && std::cin >> count) publish(count);
    std::cout << "done" << std::endl;
  }
}

}  // namespace

int ServeOurs(const Keys& keys) {
  Fan fan;
  FrontOptions options;
  options.cert_file = keys.cert_file;
  options.key_file = keys.key_file;
  // As with stored objects: what is served is there already, and is shared.
  const auto tiny = std::make_shared<const std::string>(kTiny);
  auto front = Front::Start(options, [&](Request request, auto respond) {
    Response response;
    response.headers.Set("content-type", "application/json");
    if (request.path == "/watch") {
      response.stream = fan.Open();
    } else {
      response.body.push_back(tiny);
    }
    respond(std::move(response));
  });
  if (!front.ok()) return 1;
  Obey(front.value()->port(), [&](int count) {
    for (int i = 0; i < count; ++i) {
      fan.Publish(std::make_shared<const std::string>(kEventBytes, 'e'));
    }
  });
  front.value()->Stop();
  return 0;
}

int ServeBareDrogon(const Keys& keys) {
  auto& app = drogon::app();
  app.setLogLevel(trantor::Logger::kFatal)
      .setThreadNum(1)
      .setUploadPath("/tmp")
      .enableGzip(false)
      .setIdleConnectionTimeout(150)
      .addListener("127.0.0.1", 0, true, keys.cert_file, keys.key_file);
  app.registerPreRoutingAdvice([](const drogon::HttpRequestPtr&, drogon::AdviceCallback&& answer,
                                  drogon::AdviceChainCallback&&) {
    auto response = drogon::HttpResponse::newHttpResponse();
    response->setContentTypeCode(drogon::CT_APPLICATION_JSON);
    response->setBody(kTiny);
    answer(response);
  });
  std::jthread commands;
  app.registerBeginningAdvice([&] {
    commands = std::jthread([port = drogon::app().getListeners().front().toPort()] {
      Obey(port, [](int) {});
      drogon::app().getLoop()->queueInLoop([] { drogon::app().quit(); });
    });
  });
  app.run();
  return 0;
}

namespace {

// The least that reads requests and answers them on an nghttp2 session.
struct BareSession {
  struct Asked {
    std::string method, path;
    std::vector<std::pair<std::string, std::string>> fields;
  };
  nghttp2_session* session = nullptr;
  std::unordered_map<std::int32_t, Asked> asked;
  ~BareSession() { nghttp2_session_del(session); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
    Asked& asked = static_cast<BareSession*>(user)->asked[frame->hd.stream_id];
    std::string field(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (field == ":method") {
      asked.method = std::move(text);
    } else if (field == ":path") {
      asked.path = std::move(text);
    } else {
      asked.fields.emplace_back(std::move(field), std::move(text));
    }
    return 0;
  }
  static int OnClose(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    static_cast<BareSession*>(user)->asked.erase(id);
    return 0;
  }

  static ssize_t Read(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t,
                      std::uint32_t* flags, nghttp2_data_source*, void*) {
    std::copy_n(kTiny, sizeof kTiny - 1, reinterpret_cast<char*>(out));
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return sizeof kTiny - 1;
  }
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
      return 0;
    }
    if (static_cast<BareSession*>(user)->asked[frame->hd.stream_id].path != "/tiny") return 0;
    const auto field = [](const char* name, const char* value) {
      return nghttp2_nv{reinterpret_cast<std::uint8_t*>(const_cast<char*>(name)),
                        reinterpret_cast<std::uint8_t*>(const_cast<char*>(value)),
                        std::char_traits<char>::length(name),
                        std::char_traits<char>::length(value), NGHTTP2_NV_FLAG_NONE};
    };
    const std::string length = std::to_string(sizeof kTiny - 1);
    const nghttp2_nv fields[] = {
        field(":status", "200"), field("content-type", "application/json"),
        field("date", drogon::utils::getHttpFullDateStr(trantor::Date::now()).c_str()),
        field("content-length", length.c_str())};
    nghttp2_data_provider provider{};
    provider.read_callback = Read;
    return nghttp2_submit_response(session, frame->hd.stream_id, fields, 4, &provider);
  }
  void Flush(const trantor::TcpConnectionPtr& connection) const {
    std::string out;
    const std::uint8_t* data = nullptr;
    for (ssize_t size; (size = nghttp2_session_mem_send(session, &data)) > 0;) {
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
    if (!out.empty()) connection->send(out);
  }
};

}  // namespace

int ServeBareNghttp2(const Keys& keys) {
  trantor::Logger::setLogLevel(trantor::Logger::kFatal);
  trantor::EventLoopThread thread;
  thread.run();
  auto policy = trantor::TLSPolicy::defaultServerPolicy(keys.cert_file, keys.key_file);
  policy->setAlpnProtocols({"h2"});
  trantor::TcpServer server(thread.getLoop(), trantor::InetAddress("127.0.0.1", 0), "bare");
  server.enableSSL(policy);
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, BareSession::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, BareSession::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, BareSession::OnClose);
  server.setConnectionCallback([&](const trantor::TcpConnectionPtr& connection) {
    if (!connection->connected()) return connection->clearContext();
    auto bare = std::make_shared<BareSession>();
    nghttp2_session_server_new(&bare->session, callbacks, bare.get());
    const nghttp2_settings_entry streams{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 250};
    nghttp2_submit_settings(bare->session, NGHTTP2_FLAG_NONE, &streams, 1);
    connection->setContext(bare);
    bare->Flush(connection);
  });
  server.setRecvMessageCallback(
      [](const trantor::TcpConnectionPtr& connection, trantor::MsgBuffer* bytes) {
        const auto bare = connection->getContext<BareSession>();
        nghttp2_session_mem_recv(bare->session,
                                 reinterpret_cast<const std::uint8_t*>(bytes->peek()),
                                 bytes->readableBytes());
        bytes->retrieveAll();
        bare->Flush(connection);
      });
  server.start();
  std::promise<void> listening;
  thread.getLoop()->queueInLoop([&] { listening.set_value(); });
  listening.get_future().wait();
  Obey(server.address().toPort(), [](int) {});
  std::_Exit(0);  // the library's own end is not what is measured
}

}  // namespace mailroom::apiserver::bench
