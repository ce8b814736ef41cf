// The cases of hostile_test against Drogon as it comes: those that our edits are for must go wrong
// there, or they would prove nothing, and the others are there for ourselves.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "apiserver/http/hostile_cases.h"

namespace mailroom::apiserver {
namespace {

// What Drogon refuses without our help.
const std::set<std::string_view> kRefusedAnyway = {
    "BlankBeforeColon", "BlankBeforeColonOfEncoding", "BlankInAChunkSize", "BlankInTheTarget",
    "ChunkOfNothing", "ChunkSizeEndedByLineFeed", "ChunkSizeOfAllBits", "ChunkThatRunsOn",
    "EncodingOfNothing", "EncodingThenIdentity", "EndlessChunkExtension", "HeaderLineOf64K",
    "Http2OnHttp1", "HugeChunk", "LengthInHex", "LengthPastAllBits", "LengthPastTheLimit",
    "LengthWithMinus", "LineFeedInATrailer", "NegativeChunk", "NoColon", "OverlongChunkSize",
    "TrailerWithoutColon", "TwoLengths", "UnknownEncoding", "UnknownExpectation",
    "UnknownMethod", "VersionTwo"};

constexpr int kPatience = 20;     // seconds for an answer that is to come
constexpr int kLastPatience = 2;  // for one that is not expected to

// The server in a process of its own, for it may die of what it is sent.
class Unedited {
 public:
  Unedited() {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      execl(MAILROOM_UNEDITED_SERVER, MAILROOM_UNEDITED_SERVER, nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    char digit = 0;
    while (read(out[0], &digit, 1) == 1 && digit != '\n') port_ = port_ * 10 + (digit - '0');
    close(out[0]);
  }
  ~Unedited() {
    close(input_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Unedited(const Unedited&) = delete;
  Unedited& operator=(const Unedited&) = delete;

  // What comes back until the server closes; it has not when `closed` is false.
  std::string Ask(const std::string& request, int seconds, bool& closed) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{seconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::string answer;
    // The server says its port just before it listens.
    for (int i = 0; connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0; ++i) {
      if (i == 500) return close(fd), answer;
      usleep(10'000);
    }
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    char buffer[4096];
    ssize_t count = 0;
    while ((count = recv(fd, buffer, sizeof buffer, 0)) > 0) {
      answer.append(buffer, static_cast<std::size_t>(count));
    }
    closed = count == 0 || errno != EAGAIN;
    close(fd);
    return answer;
  }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int port_ = 0;
};

class UneditedTest : public ::testing::TestWithParam<HostileCase> {};

TEST_P(UneditedTest, GoesWrongWhereOurEditsAreNeeded) {
  const Unedited server;
  const std::string ordinary = "GET /good HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
  bool closed = false;
  ASSERT_NE(server.Ask(ordinary, kPatience, closed).find("path=/good"), std::string::npos);
  const bool refused = kRefusedAnyway.contains(GetParam().name);
  const std::string answer = server.Ask(GetParam().request + std::string(kSmuggled),
                                        refused ? kPatience : kLastPatience, closed);
  const bool error = answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5");
  const bool harmless = closed && error && answer.find("HTTP/1.", 1) == std::string::npos;
  bool ignored = false;
  const bool alive =
      server.Ask(ordinary, kPatience, ignored).find("path=/good") != std::string::npos;
  EXPECT_EQ(harmless && alive, refused) << answer;
}

INSTANTIATE_TEST_SUITE_P(All, UneditedTest, ::testing::ValuesIn(HostileCases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace mailroom::apiserver
