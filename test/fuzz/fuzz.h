// One fuzz target: a function that must survive any bytes, and seeds to start from. With
// -DMAILROOM_LIBFUZZER=ON (Clang) each becomes a libFuzzer program (hack/fuzz); otherwise driver.cc runs files
// given as arguments, or a fixed number of deterministic mutations of the seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Inputs that reach deep.
std::vector<std::string> FuzzSeeds();

inline std::string_view FuzzText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A property that must hold whatever the input was.
#define FUZZ_CHECK(condition) \
  do {                        \
    if (!(condition)) __builtin_trap(); \
  } while (false)
