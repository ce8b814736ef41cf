#include "apiserver/http/gzip_stream.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <condition_variable>
#include <mutex>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

std::string Unzip(const std::string& zipped) {
  z_stream zip{};
  inflateInit2(&zip, 16 + MAX_WBITS);
  zip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
  zip.avail_in = static_cast<uInt>(zipped.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t used = out.size();
    out.resize(used + 65536);
    zip.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    zip.avail_out = 65536;
    state = inflate(&zip, Z_NO_FLUSH);
    out.resize(out.size() - zip.avail_out);
  }
  EXPECT_EQ(state, Z_STREAM_END);
  EXPECT_EQ(zip.avail_in, 0u);
  inflateEnd(&zip);
  return out;
}

// Reads a stream as a connection does: pulls until it is idle, then waits for ready.
class Reader {
 public:
  explicit Reader(Stream& stream) : stream_(stream) {
    stream_.OnReady([this] {
      std::lock_guard lock(mutex_);
      ready_ = true;
      changed_.notify_all();
    });
  }
  std::string ReadAll(std::size_t block) {
    std::string out;
    while (true) {
      std::vector<SharedBytes> pieces;
      const Stream::State state = stream_.Pull(pieces, block);
      for (const SharedBytes& piece : pieces) out += *piece;
      if (state == Stream::State::kEnd) return out;
      if (state == Stream::State::kMore) continue;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ready_; });
      ready_ = false;
    }
  }

 private:
  Stream& stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;
};

std::string Text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i * 7919) + "\n";
  text.resize(size);
  return text;
}

std::unique_ptr<Stream> Document(const std::string& text) {
  return StreamDocument([text, at = std::size_t{0}](std::vector<SharedBytes>& out,
                                                    std::size_t max) mutable {
    out.push_back(std::make_shared<const std::string>(text.substr(at, max)));
    at += max;
    return at < text.size();
  });
}

TEST(GzipStreamTest, BodyAndDocumentComeBackWhole) {
  const auto pool = std::make_shared<WorkerPool>(1, 4);
  for (const std::size_t size : {0, 1, 100'000, 5'000'000}) {
    Response response;
    response.Append(Text(size));
    response.Append("middle");
    response.stream = Document(Text(size) + "end");
    Compress(pool, response);
    EXPECT_EQ(response.headers.Get("content-encoding"), "gzip");
    EXPECT_EQ(response.headers.Get("vary"), "Accept-Encoding");
    ASSERT_TRUE(response.body.empty());
    Reader reader(*response.stream);
    EXPECT_EQ(Unzip(reader.ReadAll(16'000)), Text(size) + "middle" + Text(size) + "end");
    response.stream->Cancel();
  }
  pool->Stop();
}

TEST(GzipStreamTest, AFullPoolMeansTheReaderDoesTheWork) {
  const auto pool = std::make_shared<WorkerPool>(1, 0);
  Response response;
  response.Append(Text(1'000'000));
  Compress(pool, response);
  Reader reader(*response.stream);
  EXPECT_EQ(Unzip(reader.ReadAll(64 * 1024)), Text(1'000'000));
  pool->Stop();
}

TEST(GzipStreamTest, WorksOnlyALittleAheadOfItsReader) {
  const auto pool = std::make_shared<WorkerPool>(1, 4);
  auto drawn = std::make_shared<std::atomic<std::size_t>>(0);
  Response response;
  response.stream = StreamDocument([drawn](std::vector<SharedBytes>& out, std::size_t max) {
    *drawn += max;
    std::string noise(max, ' ');  // that hardly shrinks
    std::uint32_t state = static_cast<std::uint32_t>(drawn->load());
    for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    out.push_back(std::make_shared<const std::string>(std::move(noise)));
    return true;
  });
  Compress(pool, response);
  std::vector<SharedBytes> pieces;
  (void)response.stream->Pull(pieces, 1000);
  pool->Stop();  // runs what was asked for
  EXPECT_LT(*drawn, 2u * 1024 * 1024);
  response.stream->Cancel();
}

TEST(GzipStreamTest, MayBeCancelledAtAnyMoment) {
  const auto pool = std::make_shared<WorkerPool>(2, 64);
  for (int i = 0; i < 200; ++i) {
    Response response;
    response.Append(Text(300'000));
    response.stream = Document(Text(300'000));
    Compress(pool, response);
    auto called = std::make_shared<std::atomic<bool>>(false);
    response.stream->OnReady([called] { *called = true; });
    std::vector<SharedBytes> pieces;
    for (int pulls = 0; pulls < i % 4; ++pulls) (void)response.stream->Pull(pieces, 1000);
    response.stream->Cancel();
    *called = false;
    response.stream.reset();
    EXPECT_FALSE(*called);
  }
  pool->Stop();  // a cancelled stream's last task may still hold the pool
}

}  // namespace
}  // namespace mailroom::apiserver
