#include "storage/object/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>

#include "storage/object/clock.h"
#include "storage/object/json.h"

namespace mailroom {
namespace {

std::atomic<Level> g_level{Level::kInfo};

const char* LevelText(Level level) {
  switch (level) {
    case Level::kDebug: return "debug";
    case Level::kInfo: return "info";
    case Level::kWarn: return "warn";
    case Level::kError: return "error";
    case Level::kAccess: return "access";
  }
  return "";
}

}  // namespace

void SetLogLevel(Level level) { g_level = level; }

bool LogEnabled(Level level) { return level >= g_level.load(std::memory_order_relaxed); }

void Log(Level level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!LogEnabled(level)) return;
  std::string line = FormatMicroTime(Clock::Real().Now());
  line += ' ';
  line += LevelText(level);
  line += ' ';
  line += JsonQuote(message);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.first;
    line += '=';
    line += JsonQuote(field.second);
  }
  line += '\n';
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace mailroom
