// A front in this process and a peer that sends it any bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/front.h"

namespace mailroom {

class FrontPeer {
 public:
  struct Options {
    bool http2 = false;  // over TLS; HTTP/1.1 is spoken in the clear
  };
  explicit FrontPeer(Options options);

  // Sends the bytes on a connection of their own, says that no more will come, and returns what
  // came back by its end.
  std::string Talk(std::string_view bytes);
  // Now and then asks for something proper, and traps when that is not answered.
  void CheckAlive();

 private:
  const bool http2_;
  std::unique_ptr<apiserver::Front> front_;
  unsigned asked_ = 0;
};

}  // namespace mailroom
