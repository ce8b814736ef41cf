// Drogon as it comes, serving everything the ordinary way. Prints its port, and serves until its
// standard input ends. For unedited_test.cc.
#include <drogon/drogon.h>

#include <cstdlib>
#include <iostream>
#include <thread>

int main() {
  auto& app = drogon::app();
  app.setLogLevel(trantor::Logger::kFatal)
      .setThreadNum(1)
      .setUploadPath(std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp")
      .setClientMaxBodySize(3 * 1024 * 1024)
      .addListener("127.0.0.1", 0);
  app.setDefaultHandler([](const drogon::HttpRequestPtr& request, auto&& answer) {
    auto response = drogon::HttpResponse::newHttpResponse();
    response->setBody("path=" + request->path() + "\n");
    answer(response);
  });
  std::jthread control;
  app.registerBeginningAdvice([&] {
    control = std::jthread([port = drogon::app().getListeners().front().toPort()] {
      std::cout << port << std::endl;
      while (std::cin.get() != std::char_traits<char>::eof()) {
      }
      drogon::app().getLoop()->queueInLoop([] { drogon::app().quit(); });
    });
  });
  app.run();
}
