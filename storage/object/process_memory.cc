#include "storage/object/process_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "storage/object/limits.h"
#include "storage/object/rest.h"

// jemalloc's, where it is linked.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* given,
                       std::size_t given_size) __attribute__((weak));

namespace mailroom {

void TuneAllocator() {
  mallopt(M_MMAP_THRESHOLD, limits::kAllocatorBlock);
  mallopt(M_TRIM_THRESHOLD, limits::kAllocatorTop);
  mallopt(M_ARENA_MAX, limits::kAllocatorArenas);
}

void ForgetCode() {
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

bool& HasWorked() {
  thread_local bool worked = true;
  return worked;
}

void ReturnOwnFreed() {
  if (mallctl != nullptr) (void)mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
}

void ReturnFreed() {
  ReturnOwnFreed();
  if (mallctl != nullptr) {
    (void)mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all of them
  } else {
    malloc_trim(0);
  }
  ForgetCode();
}

}  // namespace mailroom
