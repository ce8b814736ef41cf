// One structured line per event: a constant message plus key/value pairs, on stderr.
//
//   Log(Level::kInfo, "workspace created", {{"workspace", name}});
//
// Never pass object bodies, tokens or secrets. Thread-safe; lines are not interleaved.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace mailroom {

// kAccess is for lines that are wanted or not by a switch of their own, whatever the level.
enum class Level { kDebug, kInfo, kWarn, kError, kAccess };

using LogField = std::pair<std::string_view, std::string>;

void Log(Level level, std::string_view message, std::initializer_list<LogField> fields = {});
// Lines below this level are dropped; kInfo at start.
void SetLogLevel(Level level);
bool LogEnabled(Level level);

}  // namespace mailroom
