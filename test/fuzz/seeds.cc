// Part of the libFuzzer programs: the seeds become files of the corpus before it is read.
#include <cstdlib>
#include <fstream>

#include "test/fuzz/fuzz.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* directory = std::getenv("MAILROOM_FUZZ_SEEDS");
  if (directory == nullptr) return 0;
  int number = 0;
  for (const std::string& seed : FuzzSeeds()) {
    std::ofstream(std::string(directory) + "/seed-" + std::to_string(number++), std::ios::binary)
        << seed;
  }
  return 0;
}
