#include "apiserver/http/gzip_stream.h"

#include <zlib.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kBlock = 4 * limits::kWriteBlock;  // input deflated at a time
constexpr std::size_t kAhead = limits::kWriteBlock;      // output waiting before we pause

// What the reader and the compressor share.
class Deflater : public std::enable_shared_from_this<Deflater> {
 public:
  Deflater(std::shared_ptr<WorkerPool> pool, std::vector<SharedBytes> body,
           std::unique_ptr<Stream> stream)
      : pool_(std::move(pool)), body_(std::move(body)), stream_(std::move(stream)) {
    constexpr int kLevel = 1;  // as kube-apiserver: speed over size
    constexpr int kGzipFormat = 16 + MAX_WBITS;
    deflateInit2(&zip_, kLevel, Z_DEFLATED, kGzipFormat, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
  }
  ~Deflater() {
    if (stream_) stream_->Cancel();
    deflateEnd(&zip_);
  }

  void OnReady(std::function<void()> ready) {
    std::lock_guard lock(mutex_);
    ready_ = std::move(ready);
  }

  Stream::State Pull(std::vector<SharedBytes>& out, std::size_t max) {
    std::unique_lock lock(mutex_);
    Take(out, max);
    if (!running_ && !ended_ && waiting_ < kAhead) {
      running_ = true;
      lock.unlock();
      const bool accepted = pool_->Submit([self = shared_from_this()] { self->Run(); });
      if (!accepted) Run();
      lock.lock();
      Take(out, max);
    }
    if (!output_.empty()) return Stream::State::kMore;
    if (!ended_) return Stream::State::kIdle;
    return aborted_ ? Stream::State::kAborted : Stream::State::kEnd;
  }

  void Cancel() {
    std::lock_guard lock(mutex_);
    ready_ = nullptr;
    ended_ = true;
    output_.clear();
  }

 private:
  void Take(std::vector<SharedBytes>& out, std::size_t max) {
    for (std::size_t n = 0; n < max && !output_.empty(); output_.pop_front()) {
      n += output_.front()->size();
      waiting_ -= output_.front()->size();
      out.push_back(std::move(output_.front()));
    }
  }

  // One block. Only one Run is under way at a time, so what it uses needs no lock.
  void Run() {
    std::string bytes;
    const bool more = Deflate(bytes);
    std::lock_guard lock(mutex_);
    running_ = false;
    if (!more) ended_ = true;
    waiting_ += bytes.size();
    if (!bytes.empty()) output_.push_back(std::make_shared<const std::string>(std::move(bytes)));
    if (ready_) ready_();
  }

  bool Deflate(std::string& out) {
    std::size_t count = 0;
    for (; next_ < body_.size() && count < kBlock; ++next_) {
      count += body_[next_]->size();
      Feed(*body_[next_], Z_NO_FLUSH, out);
      body_[next_].reset();
    }
    if (next_ < body_.size()) return true;
    if (stream_ && count < kBlock) {
      std::vector<SharedBytes> pieces;
      const Stream::State state = stream_->Pull(pieces, kBlock - count);
      for (const SharedBytes& piece : pieces) Feed(*piece, Z_NO_FLUSH, out);
      aborted_ = state == Stream::State::kAborted;
      if (aborted_) return false;
      if (state == Stream::State::kEnd) stream_.reset();
    }
    if (stream_) return true;
    Feed({}, Z_FINISH, out);
    return false;
  }

  void Feed(std::string_view input, int flush, std::string& out) {
    zip_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    zip_.avail_in = static_cast<uInt>(input.size());
    do {
      const std::size_t used = out.size();
      out.resize(used + limits::kWriteBlock);
      zip_.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      zip_.avail_out = static_cast<uInt>(limits::kWriteBlock);
      deflate(&zip_, flush);
      out.resize(out.size() - zip_.avail_out);
    } while (zip_.avail_out == 0);
  }

  const std::shared_ptr<WorkerPool> pool_;
  // Of the Run under way.
  std::vector<SharedBytes> body_;
  std::size_t next_ = 0;
  std::unique_ptr<Stream> stream_;
  z_stream zip_{};

  std::mutex mutex_;  // guards what follows
  std::function<void()> ready_;
  std::deque<SharedBytes> output_;
  std::size_t waiting_ = 0;  // bytes in output_
  bool running_ = false;
  bool ended_ = false;
  std::atomic<bool> aborted_ = false;  // set by the Run before the last word of it
};

class GzipStream final : public Stream {
 public:
  explicit GzipStream(std::shared_ptr<Deflater> deflater) : deflater_(std::move(deflater)) {}
  ~GzipStream() override { deflater_->Cancel(); }
  void OnReady(std::function<void()> ready) override { deflater_->OnReady(std::move(ready)); }
  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    return deflater_->Pull(out, max_bytes);
  }
  void Cancel() override { deflater_->Cancel(); }
  bool finite() const override { return true; }

 private:
  const std::shared_ptr<Deflater> deflater_;
};

}  // namespace

void Compress(std::shared_ptr<WorkerPool> pool, Response& response) {
  response.stream = std::make_unique<GzipStream>(std::make_shared<Deflater>(
      std::move(pool), std::exchange(response.body, {}), std::move(response.stream)));
  response.headers.Set("content-encoding", "gzip");
  response.headers.Add("vary", "Accept-Encoding");
}

}  // namespace mailroom::apiserver
