// Random bytes for names and secrets. Included by .cc files only.
#pragma once

#include <openssl/rand.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace mailroom {

// Ends the process when there are none to be had: a secret or name of other bytes could be guessed
// or be another's, and would stay.
inline void FillRandom(unsigned char* out, std::size_t size) {
  if (RAND_bytes(out, static_cast<int>(size)) == 1) return;
  std::fputs("mailroom: no random bytes\n", stderr);
  std::abort();
}

}  // namespace mailroom
