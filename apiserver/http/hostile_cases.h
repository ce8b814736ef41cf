// Requests of HTTP/1.1 that no server should take for a request, and what ours answers.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace mailroom::apiserver {

struct HostileCase {
  const char* name;
  std::string request;
  int code;
  friend void PrintTo(const HostileCase& self, std::ostream* out) { *out << self.name; }
};

const std::vector<HostileCase>& HostileCases();

inline constexpr char kHostileHead[] = "POST /echo HTTP/1.1\r\nHost: t\r\n";
// What is sent behind each of them, and must not be taken for the next request.
inline constexpr std::string_view kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: t\r\n\r\n";

}  // namespace mailroom::apiserver
