#include "apiserver/exit_deadline.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "storage/object/log.h"

namespace mailroom::apiserver {

ExitDeadline::ExitDeadline(std::chrono::milliseconds grace)
    : thread_([grace](const std::stop_token& destroyed) {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        changed.wait_for(lock, destroyed, grace, [] { return false; });
        if (destroyed.stop_requested()) return;
        Log(Level::kError, "not stopped in time, ending at once");
        std::_Exit(1);
      }) {}

}  // namespace mailroom::apiserver
