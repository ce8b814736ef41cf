// What memory of the process stays with it.
#pragma once

namespace mailroom::apiserver {

// glibc raises its own thresholds to the largest block that was ever freed, and then keeps as much
// at the end of every arena: what a large removal frees would stay. Call before any thread exists.
void TuneAllocator();

// Lets go of the program's code as it is mapped: most of it was needed for the start only. What is
// needed again comes back from the system's cache by itself, a page at a time.
void ForgetStartUp();

}  // namespace mailroom::apiserver
