#include "apiserver/http/h2_connection.h"

#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>
#include <trantor/utils/MsgBuffer.h>

#include <array>
#include <utility>

#include "apiserver/http/exchange.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

// nghttp2 calls plain functions; each finds its connection and goes there.
struct H2Callbacks {
  static H2Connection& Of(void* user) { return *static_cast<H2Connection*>(user); }

  static int BeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    return Of(user).OnBeginFrame(*head);
  }
  static int BeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return Of(user).OnBeginHeaders(*frame);
  }
  static int Header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    return Of(user).OnHeader(*frame, {reinterpret_cast<const char*>(name), name_size},
                             {reinterpret_cast<const char*>(value), value_size});
  }
  static int Data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                  std::size_t size, void* user) {
    return Of(user).OnData(id, {reinterpret_cast<const char*>(data), size});
  }
  static int Frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return Of(user).OnFrame(*frame);
  }
  static int Refused(nghttp2_session*, const nghttp2_frame*, int, void* user) {
    Of(user).CountControlFrame();
    return 0;
  }
  static int Closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    Of(user).OnStreamClosed(id);
    return 0;
  }
  static ssize_t Read(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t room,
                      std::uint32_t* flags, nghttp2_data_source* source, void* user) {
    return Of(user).OnRead(*static_cast<H2Stream*>(source->ptr), out, room, flags);
  }

  static const nghttp2_session_callbacks* All() {
    static nghttp2_session_callbacks* const all = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, BeginFrame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, BeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(made, Header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, Frame);
      nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, Refused);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, Closed);
      return made;
    }();
    return all;
  }

  static const nghttp2_option* Options() {
    static nghttp2_option* const options = [] {
      nghttp2_option* made = nullptr;
      nghttp2_option_new(&made);
      nghttp2_option_set_no_closed_streams(made, 1);
      nghttp2_option_set_max_outbound_ack(made, limits::kHttp2Acks);
      nghttp2_option_set_max_reserved_remote_streams(made, 0);
      nghttp2_option_set_stream_reset_rate_limit(made, limits::kHttp2ResetBurst,
                                                 limits::kHttp2ResetRate);
      nghttp2_option_set_max_continuations(made, limits::kHttp2Continuations);
      return made;
    }();
    return options;
  }
};

namespace {

// Bytes that have arrived and need not be told of at once.
constexpr std::size_t kUntold = 4096;

// Frames that cost us something and a peer nothing, so that their rate is bounded.
bool CarriesNothing(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PING:
      return (frame.hd.flags & NGHTTP2_FLAG_ACK) == 0;
    case NGHTTP2_PRIORITY:
      return true;
    case NGHTTP2_DATA:
      return frame.hd.length == 0 && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0;
    default:
      return false;
  }
}

}  // namespace

H2Connection::H2Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket)
    : Connection(std::move(state), socket),
      holding_(state_),
      control_frames_(limits::kHttp2ControlBurst, limits::kHttp2ControlRate),
      heard_at_(std::chrono::steady_clock::now()) {
  nghttp2_session_server_new2(&session_, H2Callbacks::All(), this, H2Callbacks::Options());
}

H2Connection::~H2Connection() {
  if (outlet_) outlet_->Close();
  streams_.clear();
  nghttp2_session_del(session_);
}

void H2Connection::Start() {
  const auto socket = socket_.lock();
  outlet_ = std::make_shared<Outlet>(
      socket, limits::kWriteBlock,
      [this](std::string& out, std::size_t max) { return Fill(out, max); },
      [this] {
        ended_ = true;
        heard_at_ = std::chrono::steady_clock::now();
        if (const auto open = socket_.lock()) open->shutdown();
      });
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits::kHttp2Streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits::kHttp2Window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits::kHttp2HeaderBytes},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        limits::kHttp2ConnectionWindow);
  socket->setRecvMsgCallback(
      [weak = weak_from_this()](const TcpConnectionPtr&, trantor::MsgBuffer* bytes) {
        if (const auto self = weak.lock()) self->OnBytes(*bytes);
      });
  outlet_->Kick();
}

void H2Connection::OnBytes(trantor::MsgBuffer& bytes) {
  if (aborted_) return bytes.retrieveAll();
  receiving_ = true;
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.peek()), bytes.readableBytes());
  receiving_ = false;
  bytes.retrieveAll();
  if (used < 0) {
    const bool flood = used == NGHTTP2_ERR_FLOODED;
    Abort(flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  }
  outlet_->Kick();
}

Outlet::Supply H2Connection::Fill(std::string& out, std::size_t max) {
  while (out.size() < max) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return Outlet::Supply::kEnd;
    if (size == 0) {
      const bool over = aborted_ || (nghttp2_session_want_read(session_) == 0 &&
                                     nghttp2_session_want_write(session_) == 0);
      return over ? Outlet::Supply::kEnd : Outlet::Supply::kIdle;
    }
    out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  return Outlet::Supply::kMore;
}

// Streams that become ready together share one write.
void H2Connection::KickSoon() {
  if (receiving_ || std::exchange(kick_posted_, true)) return;
  loop_->queueInLoop([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->kick_posted_ = false;
    self->outlet_->Kick();
  });
}

void H2Connection::Abort(std::uint32_t error) {
  if (std::exchange(aborted_, true)) return;
  ++state_->cut;
  Log(Level::kDebug, "breaking off an HTTP/2 connection",
      {{"peer", CurrentPeer().address}, {"code", nghttp2_http2_strerror(error)}});
  nghttp2_session_terminate_session(session_, error);
  KickSoon();
}

H2Stream* H2Connection::Find(std::int32_t id) {
  if (recent_ != nullptr && recent_->id == id) return recent_;
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : recent_ = &*found->second;
}

namespace {

// What closed streams of this thread were kept in. Memory of that size is dear to allocate when
// many are closed and opened at a time.
std::vector<H2Connection::Streams::node_type>& SpareNodes() {
  static thread_local std::vector<H2Connection::Streams::node_type> nodes;
  return nodes;
}

}  // namespace

H2Stream& H2Connection::NewStream(std::int32_t id) {
  auto& spare = SpareNodes();
  if (spare.empty()) return streams_.try_emplace(id).first->second.emplace(id);
  auto node = std::move(spare.back());
  spare.pop_back();
  node.key() = id;
  return streams_.insert(std::move(node)).position->second.emplace(id);
}

int H2Connection::OnBeginHeaders(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    const std::int32_t id = frame.hd.stream_id;
    recent_ = &NewStream(id);
    recent_->header_wire_bytes = frame.hd.length;
  }
  return 0;
}

// The rest of a header list that did not fit into one frame.
int H2Connection::OnBeginFrame(const nghttp2_frame_hd& head) {
  if (head.type != NGHTTP2_CONTINUATION) return 0;
  if (H2Stream* stream = Find(head.stream_id)) stream->header_wire_bytes += head.length;
  return 0;
}

int H2Connection::OnHeader(const nghttp2_frame& frame, std::string_view name,
                           std::string_view value) {
  H2Stream* stream = Find(frame.hd.stream_id);
  if (stream == nullptr || stream->headers_done) return 0;  // trailers are ignored
  const std::size_t before = stream->header_bytes;
  const bool fits = stream->AddHeader(name, value, limits::kHttp2HeadersBytes - header_bytes_);
  header_bytes_ += stream->header_bytes - before;
  if (!fits) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  // Most lists are short and gone before anybody has to know of them.
  Tell(kUntold);
  // A little may be held in any case, so that short requests have their turn.
  const bool little = header_bytes_ + body_bytes_ <= limits::kStreamBlock;
  if (!little && holding_.TooMuch()) GiveUp(*stream);
  return 0;
}

void H2Connection::Tell(std::size_t slack) {
  const std::size_t held = header_bytes_ + body_bytes_;
  if (held > holding_.bytes() + slack || held < holding_.bytes()) holding_.Set(held);
}

void H2Connection::GiveUp(H2Stream& stream) {
  Arrived(stream);
  stream.dispatched = true;
  stream.headers_done = true;
  stream.request = Request();
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_REFUSED_STREAM);
}

int H2Connection::OnData(std::int32_t id, std::string_view data) {
  H2Stream* stream = Find(id);
  if (stream == nullptr) return 0;
  std::string& body = stream->request.body;
  if (!stream->dispatched && body.size() + data.size() <= state_->options.body_bytes) {
    body_bytes_ += data.size();
    body.append(data);
    Tell(0);
    if (body_bytes_ > limits::kHttp2BodyBytes || holding_.TooMuch()) GiveUp(*stream);
    return 0;
  }
  // Too long. The answer goes out at once; what still comes is dropped, up to a point.
  stream->dropped += data.size();
  if (!stream->dispatched) {
    body_bytes_ -= body.size();
    body.resize(state_->options.body_bytes + 1);
    body_bytes_ += body.size();
    Dispatch(*stream);
  } else if (stream->dropped > limits::kBodyReadBytes) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  }
  return 0;
}

// Also of those that nghttp2 refuses by itself: a stream past the limit is reset, and a peer that
// does not read can have us owe it any number of resets.
bool H2Connection::CountControlFrame() {
  if (control_frames_.Take(std::chrono::steady_clock::now())) return true;
  Abort(NGHTTP2_ENHANCE_YOUR_CALM);
  return false;
}

int H2Connection::OnFrame(const nghttp2_frame& frame) {
  if (CarriesNothing(frame) && !CountControlFrame()) return 0;
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return 0;
  H2Stream* stream = Find(frame.hd.stream_id);
  if (stream == nullptr) return 0;
  if (frame.hd.type == NGHTTP2_HEADERS) stream->headers_done = true;
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  stream->request_done = true;
  if (!stream->dispatched) Dispatch(*stream);
  return 0;
}

void H2Connection::Arrived(const H2Stream& stream) {
  header_bytes_ -= stream.header_bytes;
  body_bytes_ -= stream.request.body.size();
  Tell(kUntold);
}

void H2Connection::Dispatch(H2Stream& stream) {
  // Streams that are reset leave their exchange running, so the stream limit alone does not
  // bound the work one peer can cause.
  if (running_ >= 2 * limits::kHttp2Streams) return Abort(NGHTTP2_ENHANCE_YOUR_CALM);
  ++running_;
  ++state_->http2_requests;
  stream.dispatched = true;
  stream.head = stream.request.method == "HEAD";
  Arrived(stream);
  stream.request.peer = CurrentPeer();
  Serve(state_, loop_, {weak_from_this(), stream.id}, std::move(stream.request));
}

void H2Connection::OnAnswer(std::int32_t id, Response& response) {
  --running_;
  H2Stream* stream = Find(id);
  if (stream == nullptr || aborted_) return Discard(response);
  const H2Head head(response);
  const bool empty = stream->head || response.code == 204 || response.code == 304 ||
                     (!response.stream && response.BodySize() == 0);
  if (empty) {
    Discard(response);
    return Submit(id, head, nullptr);
  }
  // The connection owns the stream and the stream its body, so both outlive the callback.
  stream->body.emplace(state_, loop_, response, [this, stream] {
    CheckBehind(*stream);
    if (!std::exchange(stream->deferred, false)) return;
    nghttp2_session_resume_data(session_, stream->id);
    KickSoon();
  });
  if (stream->body->live()) {
    stream->streaming.emplace(state_, state_->streams);
    if (state_->draining) stream->body->End();
    CheckBehind(*stream);
  }
  nghttp2_data_provider provider{};
  provider.source.ptr = stream;
  provider.read_callback = H2Callbacks::Read;
  Submit(id, head, &provider);
}

void H2Connection::Submit(std::int32_t id, const H2Head& head,
                          const nghttp2_data_provider* provider) {
  if (nghttp2_submit_response(session_, id, head.data(), head.size(), provider) != 0) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
  }
  KickSoon();
}

// nghttp2 does not read for a stream that it has reported closed.
ssize_t H2Connection::OnRead(H2Stream& stream, std::uint8_t* out, std::size_t room,
                             std::uint32_t* flags) {
  recent_ = &stream;
  const std::size_t count = stream.body->Prepare(room);
  stream.body->Take(reinterpret_cast<char*>(out), count);
  stream.sent += count;
  const bool aborted = stream.body->finished() && stream.body->aborted();
  if (aborted && count == 0) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // a reset: our error
  if (stream.body->finished() && !aborted) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    // A request that is still arriving has had its answer.
    if (!stream.request_done) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_NO_ERROR);
    }
  } else if (count == 0) {
    stream.deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(count);
}

void H2Connection::OnStreamClosed(std::int32_t id) {
  const H2Stream* stream = Find(id);
  if (stream == nullptr) return;
  if (!stream->dispatched) Arrived(*stream);
  recent_ = nullptr;
  auto node = streams_.extract(id);
  node.mapped().reset();
  if (auto& spare = SpareNodes(); spare.size() < limits::kHttp2SpareStreams) {
    spare.push_back(std::move(node));
  }
}

void H2Connection::OnClosed() {
  aborted_ = true;
  outlet_->Close();
  recent_ = nullptr;
  streams_.clear();
}

void H2Connection::EndStreams() {
  for (auto& [id, stream] : streams_) {
    if (!stream->streaming) continue;
    stream->body->End();
    if (std::exchange(stream->deferred, false)) nghttp2_session_resume_data(session_, id);
  }
  KickSoon();
}

void H2Connection::Retire() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  KickSoon();
}

}  // namespace mailroom::apiserver
