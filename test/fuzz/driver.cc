#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "test/fuzz/fuzz.h"

namespace {

constexpr int kRounds = FUZZ_ROUNDS;
constexpr std::size_t kMaxBytes = 4096;

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// One small change: a byte, a cut, a foreign piece, one that is repeated once or very often.
std::string Mutate(const std::vector<std::string>& seeds, std::string text, std::mt19937& random) {
  const std::size_t at = text.empty() ? 0 : random() % text.size();
  switch (random() % 7) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(random() % 256);
      break;
    case 1:
      text.erase(at, 1 + random() % 8);
      break;
    case 2:
      text.insert(at, text.substr(at, 1 + random() % 16));
      break;
    case 3: {
      const std::string& other = seeds[random() % seeds.size()];
      text.insert(at, other.substr(other.empty() ? 0 : random() % other.size(), 1 + random() % 32));
      break;
    }
    case 4:
      text.insert(at, 1 + random() % 64, "{[\"\\,:=!()&*- \n"[random() % 15]);
      break;
    case 5: {
      const std::string piece = text.substr(at, 1 + random() % 16);
      for (std::size_t times = random() % 256; times > 0 && text.size() < kMaxBytes; --times) {
        text.insert(at, piece);
      }
      break;
    }
    default:
      text.resize(at);
  }
  if (text.size() > kMaxBytes) text.resize(kMaxBytes);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    Run(text.str());
  }
  if (argc > 1) return 0;
  const std::vector<std::string> seeds = FuzzSeeds();
  if (seeds.empty()) return 1;
  std::mt19937 random(20261116);
  for (const std::string& seed : seeds) Run(seed);
  std::string current = seeds.front();
  for (int round = 0; round < kRounds; ++round) {
    if (random() % 8 == 0) current = seeds[random() % seeds.size()];
    current = Mutate(seeds, std::move(current), random);
    Run(current);
  }
  std::cout << seeds.size() + kRounds << " inputs survived" << std::endl;
  return 0;
}
