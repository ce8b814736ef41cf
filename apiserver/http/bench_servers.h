// The servers that `hack/bench front` compares: ours, and the bare libraries it is made of. Each
// runs in a process of its own, prints its port, and takes commands on its input:
//   publish N   one event of 1 KiB to every watch, N times
//   quit
#pragma once

#include <string>

namespace mailroom::apiserver::bench {

struct Keys {
  std::string cert_file, key_file;
};

inline constexpr char kTiny[] = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
inline constexpr std::size_t kEventBytes = 1024;

int ServeOurs(const Keys& keys);
int ServeBareDrogon(const Keys& keys);
int ServeBareNghttp2(const Keys& keys);

}  // namespace mailroom::apiserver::bench
