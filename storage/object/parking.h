// How a task waits for the word of another thread. Ordinarily its thread blocks. Whoever runs tasks
// on stacks of their own lets the thread run others meanwhile: many tasks may then wait for one flush
// of a disk without a thread for each, and without the cost of waking one for each.
#pragma once

#include <memory>
#include <semaphore>

namespace mailroom {

// A task that can leave its thread and go on in another. No lock may be held across Park.
class Parking {
 public:
  virtual ~Parking() = default;
  // Called by the task: returns once Unpark has been called, perhaps in another thread.
  virtual void Park() = 0;
  // From any thread, once for each Park, before or after it.
  virtual void Unpark() = 0;
  // Around a wait that holds the thread all the same: others may want to run.
  virtual void BeginBlocking() = 0;
  virtual void EndBlocking() = 0;

  // The task that the calling thread runs; null when it cannot leave.
  static Parking* Here();
  static void Enter(Parking* task);
};

// One wait for one word.
class Pause {
 public:
  Pause() : task_(Parking::Here()) {}
  // By whoever made it, once.
  void Wait() {
    if (task_ != nullptr) {
      task_->Park();
    } else {
      word_.acquire();
    }
  }
  // By anybody, once.
  void Go() {
    if (task_ != nullptr) {
      task_->Unpark();
    } else {
      word_.release();
    }
  }

 private:
  Parking* const task_;
  std::binary_semaphore word_{0};
};

// While it lives, the calling thread may block for long.
class Blocking {
 public:
  Blocking() : task_(Parking::Here()) {
    if (task_ != nullptr) task_->BeginBlocking();
  }
  ~Blocking() {
    if (task_ != nullptr) task_->EndBlocking();
  }
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

 private:
  Parking* const task_;
};

}  // namespace mailroom
