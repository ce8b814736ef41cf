#include "apiserver/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdlib>

#include "storage/object/limits.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
// ThreadSanitizer counts calls and returns by stack: who switches must not be counted.
#define SWITCHES __attribute__((noinline, no_sanitize_thread))
#else
#define SWITCHES
#endif

namespace mailroom::apiserver {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::transfer_t;

// One side of a switch, as the sanitizers want to hear of it.
struct Side {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake_stack = nullptr;  // AddressSanitizer's, while this side does not run
  void* thread = nullptr;      // as ThreadSanitizer knows it
};

// Before `from` gives way to `to`; `last`: `from` will not come back.
SWITCHES void Leaving([[maybe_unused]] Side& from, [[maybe_unused]] const Side& to,
                      [[maybe_unused]] bool last = false) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack, to.bottom, to.size);
#endif
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(to.thread, 0);
#endif
}

// After `to` has begun or come back; fills in the stack of `from`.
SWITCHES void Arrived([[maybe_unused]] const Side& to, [[maybe_unused]] Side& from) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(to.fake_stack, &from.bottom, &from.size);
#endif
}

}  // namespace

struct Fiber::State {
  explicit State(std::function<void()> given) : body(std::move(given)) {
    own.bottom = static_cast<const char*>(stack.sp) - stack.size;
    own.size = stack.size;
    // Of a huge page a stack would need little.
    (void)madvise(const_cast<void*>(own.bottom), own.size, MADV_NOHUGEPAGE);
#ifdef __SANITIZE_THREAD__
    own.thread = __tsan_create_fiber(0);
#endif
    inside = boost::context::detail::make_fcontext(stack.sp, stack.size, Begin);
  }
  ~State() {
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(own.thread);
#endif
    allocator.deallocate(stack);
  }

  // The first function of the stack; never returns.
  SWITCHES static void Begin(transfer_t from) {
    State& self = *static_cast<State*>(from.data);
    self.outside = from.fctx;
    Arrived(self.own, self.resumer);
    self.body();
    Leaving(self.own, self.resumer, true);
    jump_fcontext(self.outside, nullptr);
    std::abort();
  }

  SWITCHES void Run() {
#ifdef __SANITIZE_THREAD__
    resumer.thread = __tsan_get_current_fiber();
#endif
    Leaving(resumer, own);
    inside = jump_fcontext(inside, this).fctx;
    Side left;
    Arrived(resumer, left);
  }

  SWITCHES void Stop() {
    Leaving(own, resumer);
    outside = jump_fcontext(outside, nullptr).fctx;
    Arrived(own, resumer);
  }

  const std::function<void()> body;
  boost::context::protected_fixedsize_stack allocator{limits::kFiberStack};
  boost::context::stack_context stack = allocator.allocate();
  Side own;
  Side resumer;  // whoever resumed it last
  fcontext_t inside = nullptr;
  fcontext_t outside = nullptr;
};

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>(std::move(body))) {}

Fiber::~Fiber() = default;

void Fiber::Resume() { state_->Run(); }

void Fiber::Suspend() { state_->Stop(); }

}  // namespace mailroom::apiserver
