#include "apiserver/process_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "storage/object/limits.h"

namespace mailroom::apiserver {

void TuneAllocator() {
  mallopt(M_MMAP_THRESHOLD, limits::kAllocatorBlock);
  mallopt(M_TRIM_THRESHOLD, limits::kAllocatorTop);
  mallopt(M_ARENA_MAX, limits::kAllocatorArenas);
}

void ForgetStartUp() {
  std::ifstream maps("/proc/self/maps");
  // A line is `first-last rights offset device inode file`. Code is never written to, so nothing is
  // lost with it; other read-only pages may have been relocated.
  for (std::string line; std::getline(maps, line);) {
    const std::string_view text(line);
    const std::size_t dash = text.find('-'), blank = text.find(' ');
    if (dash > blank || text.substr(blank, 6) != " r-xp " || text.find(" /") == text.npos) continue;
    std::uintptr_t first = 0, last = 0;
    std::from_chars(text.data(), text.data() + dash, first, 16);
    std::from_chars(text.data() + dash + 1, text.data() + blank, last, 16);
    if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

}  // namespace mailroom::apiserver
