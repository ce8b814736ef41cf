// A function on a stack of its own, which may stop in the middle and go on later, in any thread. Not
// thread-safe: one thread at a time resumes it. Sole user of Boost.Context.
#pragma once

#include <functional>
#include <memory>

namespace mailroom::apiserver {

class Fiber {
 public:
  // Runs nothing yet. `body` must not throw.
  explicit Fiber(std::function<void()> body);
  // The body must have returned, or never begun.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it suspends itself or returns.
  void Resume();
  // Called by the body: Resume returns, and this does at the next Resume.
  void Suspend();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mailroom::apiserver
