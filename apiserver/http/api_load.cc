// `hack/bench api`'s clients: N keep-alive TLS connections with one HTTP/1.1 request each under way,
// and watches that count their events, all in one thread and at next to no cost, so that it is the
// server whom the load keeps busy. Told what to do on standard input, a line at a time, and answers
// each with a line:
//
//   run FILE     sends the requests of FILE, each `LENGTH\n` and that many bytes -> `done COUNT`
//   watch FILE   opens a watch with each request of FILE; read during `run`      -> `done COUNT`
//   events       how many lines the watches have been sent since they began      -> `done COUNT`
//   close        ends the watches                                                -> `done 0`
//
// Usage: api_load HOST PORT CA-FILE CERTIFICATE-FILE KEY-FILE CLIENTS. Ends with a message and status 1
// at the first answer that is no 2xx.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

[[noreturn]] void Die(const std::string& why) {
  fprintf(stderr, "api_load: %s\n", why.c_str());
  exit(1);
}

// Follows one answer after the other; of bodies only the lines are counted.
class Answers {
 public:
  // Takes what arrived; returns how many answers it completed.
  int Take(std::string_view data) {
    int completed = 0;
    while (!data.empty()) completed += Step(data);
    return completed;
  }
  std::size_t lines() const { return lines_; }
  bool begun() const { return begun_; }  // a head has come

 private:
  enum class In { kHead, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer };

  int Step(std::string_view& data) {
    switch (in_) {
      case In::kHead:
        return Head(data);
      case In::kBody:
        Count(data, left_);
        return left_ == 0 ? Completed() : 0;
      case In::kChunk:
        Count(data, left_);
        if (left_ == 0) in_ = In::kChunkEnd;
        return 0;
      case In::kChunkSize:
        if (Line(data)) {
          std::from_chars(text_.data(), text_.data() + text_.size(), left_, 16);
          in_ = left_ == 0 ? In::kTrailer : In::kChunk;
          text_.clear();
        }
        return 0;
      case In::kChunkEnd:
        if (Line(data)) in_ = In::kChunkSize, text_.clear();
        return 0;
      case In::kTrailer:
        if (!Line(data)) return 0;
        text_.clear();
        return Completed();
    }
    return 0;
  }

  int Completed() {
    in_ = In::kHead;
    return 1;
  }

  // Moves bytes up to a line's end into text_; whether it was there.
  bool Line(std::string_view& data) {
    const std::size_t end = data.find('\n');
    text_.append(data.substr(0, end == data.npos ? end : end + 1));
    data.remove_prefix(end == data.npos ? data.size() : end + 1);
    return end != data.npos;
  }

  int Head(std::string_view& data) {
    const bool line = Line(data);
    if (!line || !text_.ends_with("\r\n\r\n")) return 0;
    if (text_.substr(9, 1) != "2") Die("answered: " + text_ + std::string(data));
    for (char& c : text_) c = static_cast<char>(tolower(c));
    begun_ = true;
    left_ = 0;
    in_ = In::kBody;
    if (text_.find("transfer-encoding: chunked") != text_.npos) {
      in_ = In::kChunkSize;
    } else if (const auto at = text_.find("content-length: "); at != text_.npos) {
      left_ = std::strtoull(text_.c_str() + at + 16, nullptr, 10);
    }
    text_.clear();
    return in_ == In::kBody && left_ == 0 ? Completed() : 0;
  }

  void Count(std::string_view& data, std::size_t& left) {
    const std::string_view part = data.substr(0, std::min(left, data.size()));
    for (std::size_t at = 0; (at = part.find('\n', at)) != part.npos; ++at) ++lines_;
    left -= part.size();
    data.remove_prefix(part.size());
  }

  In in_ = In::kHead;
  std::string text_;      // of a line or head that has not ended
  std::size_t left_ = 0;  // of the body or chunk
  std::size_t lines_ = 0;
  bool begun_ = false;
};

struct Target {
  std::string host;
  std::uint16_t port;
  SSL_CTX* context;
};

class Connection {
 public:
  Connection(const Target& target, int poll) {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target.port);
    inet_pton(AF_INET, target.host.c_str(), &address.sin_addr);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) Die("connect");
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ssl_ = SSL_new(target.context);
    SSL_set_fd(ssl_, fd_);
    if (SSL_connect(ssl_) != 1) Die("TLS handshake");
    fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = this}};
    epoll_ctl(poll, EPOLL_CTL_ADD, fd_, &event);
  }
  ~Connection() {
    SSL_free(ssl_);
    close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Send(std::string_view request) {
    while (!request.empty()) {
      const int sent = SSL_write(ssl_, request.data(), static_cast<int>(request.size()));
      if (sent > 0) {
        request.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      pollfd wait{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, 1000);
    }
  }
  // Reads what is there; returns how many answers it completed.
  int Receive() {
    static std::array<char, 256 * 1024> block;
    int completed = 0;
    while (true) {
      const int got = SSL_read(ssl_, block.data(), block.size());
      if (got <= 0) {
        const int error = SSL_get_error(ssl_, got);
        if (error != SSL_ERROR_WANT_READ) Die("the connection ended");
        return completed;
      }
      completed += answers_.Take({block.data(), static_cast<std::size_t>(got)});
    }
  }
  std::size_t lines() const { return answers_.lines(); }
  bool answered() const { return answers_.begun(); }

 private:
  int fd_;
  SSL* ssl_;
  Answers answers_;
};

using Connections = std::vector<std::unique_ptr<Connection>>;

std::vector<std::string> Requests(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) Die("cannot read " + file);
  std::vector<std::string> requests;
  for (std::string line; std::getline(in, line);) {
    std::string text(std::stoul(line), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    requests.push_back(std::move(text));
  }
  return requests;
}

// Waits for whoever has something to read, and hands them to `ready`.
template <typename Ready>
void Poll(int poll, int timeout, Ready ready) {
  std::array<epoll_event, 128> events;
  const int count = epoll_wait(poll, events.data(), events.size(), timeout);
  for (int i = 0; i < count; ++i) {
    ready(*static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr));
  }
}

void Run(const std::vector<std::string>& requests, const Connections& clients, int poll) {
  std::size_t next = 0, done = 0;
  for (const auto& client : clients) {
    if (next < requests.size()) client->Send(requests[next++]);
  }
  while (done < requests.size()) {
    Poll(poll, -1, [&](Connection& client) {
      for (int completed = client.Receive(); completed > 0; --completed) {
        ++done;
        if (next < requests.size()) client.Send(requests[next++]);
      }
    });
  }
}

SSL_CTX* MakeContext(const char* ca, const char* certificate, const char* key) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (SSL_CTX_load_verify_file(context, ca) != 1 ||
      SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
    Die("cannot load the certificates");
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return context;
}

int Main(char** argv) {
  const Target target{argv[1], static_cast<std::uint16_t>(atoi(argv[2])),
                      MakeContext(argv[3], argv[4], argv[5])};
  const int poll = epoll_create1(0);
  Connections clients, watches;
  for (int i = 0; i < atoi(argv[6]); ++i) {
    clients.push_back(std::make_unique<Connection>(target, poll));
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, file;
    words >> verb >> file;
    std::size_t count = 0;
    if (verb == "run") {
      const auto requests = Requests(file);
      Run(requests, clients, poll);
      count = requests.size();
    } else if (verb == "watch") {
      for (const std::string& request : Requests(file)) {
        watches.push_back(std::make_unique<Connection>(target, poll));
        watches.back()->Send(request);
      }
      for (const auto& watch : watches) {
        while (!watch->answered()) Poll(poll, -1, [](Connection& each) { each.Receive(); });
      }
      count = watches.size();
    } else if (verb == "events") {
      Poll(poll, 10, [](Connection& watch) { watch.Receive(); });
      for (const auto& watch : watches) count += watch->lines();
    } else if (verb == "close") {
      watches.clear();
    } else {
      Die("what is " + line + "?");
    }
    std::cout << "done " << count << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) Die("usage: api_load HOST PORT CA CERTIFICATE KEY CLIENTS");
  return Main(argv);
}
