// The way out of a connection, with back-pressure. The outlet asks its source for bytes only
// while the socket takes them; when it does not, the outlet parks behind the unsent bytes and
// goes on by itself once they are gone. So at most one block per connection waits in memory. What
// takes more than one turn (limits::kWriteTurn) stands in line with the other long answers of its
// loop, of which one goes on between two looks at the sockets: what is short waits for one turn of
// what is long, however much of that there is.
// Lives on the connection's loop; every method is called there.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace trantor {
class EventLoop;
class TcpConnection;
}  // namespace trantor

namespace mailroom::apiserver {

class Outlet : public std::enable_shared_from_this<Outlet> {
 public:
  enum class Supply { kMore, kIdle, kEnd };
  // Appends about `max` bytes to `out`. kIdle: nothing until the next Kick; kEnd: never again.
  using Source = std::function<Supply(std::string& out, std::size_t max)>;

  // Asks for `block` bytes at a time; what the socket does not take of them waits in memory.
  // `ended` is called once, later, after the source's end has been handed to the socket.
  Outlet(const std::shared_ptr<trantor::TcpConnection>& connection, std::size_t block,
         Source source, std::function<void()> ended);

  // The source has something. Does nothing while parked or in line.
  void Kick();
  // Bytes handed over are still unsent, and the source is not asked.
  bool parked() const { return parked_; }
  // How long the peer has taken nothing, as of the last calls; 0 when not parked.
  std::chrono::steady_clock::duration Stalled(std::chrono::steady_clock::time_point now);
  // Neither the source nor `ended` is called after this.
  void Close();

 private:
  void Park(trantor::TcpConnection& connection);
  std::size_t Take(char* to, std::size_t room);
  void StandInLine(trantor::TcpConnection& connection);
  // Lets the first in the line of this thread's loop go on.
  static void NextInLine(trantor::EventLoop& loop);
  void PostEnded();

  const std::weak_ptr<trantor::TcpConnection> connection_;
  const std::size_t block_;
  Source source_;
  std::function<void()> ended_;
  std::string carry_;  // taken from the source, for which Take had no room
  bool parked_ = false;
  std::size_t taken_ = 0;  // since it parked
  bool pumping_ = false;
  bool in_line_ = false;
  bool at_end_ = false;  // the source said kEnd
  bool closed_ = false;
  std::size_t seen_sent_ = 0;  // for Stalled
  std::chrono::steady_clock::time_point progress_at_;
};

}  // namespace mailroom::apiserver
