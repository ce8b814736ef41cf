#include "storage/object/process_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace mailroom {
namespace {

// KiB of code that is mapped now.
long ResidentCode() {
  std::ifstream maps("/proc/self/smaps");
  long total = 0;
  bool code = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") != std::string::npos) code = line.find(" /") != std::string::npos;
    else if (line.find("-") != std::string::npos && line.find("p ") != std::string::npos) code = false;
    if (code && line.starts_with("Rss:")) {
      long size = 0;
      std::istringstream(line.substr(4)) >> size;
      total += size;
    }
  }
  return total;
}

TEST(ProcessMemory, CodeComesBackWhenItIsNeeded) {
  const long before = ResidentCode();
  ForgetCode();
  const long after = ResidentCode();
  EXPECT_LT(after, before);
  EXPECT_GT(after, 0) << "this very code";
}

}  // namespace
}  // namespace mailroom
