// What memory of the process stays with it.
#pragma once

namespace mailroom {

// glibc raises its own thresholds to the largest block that was ever freed, and then keeps as much
// at the end of every arena: what a large removal frees would stay. Call before any thread exists.
// Does nothing where another allocator was linked.
void TuneAllocator();

// Lets go of the program's code as it is mapped: most of it was needed for what is over, as the
// start. What is needed again comes back from the system's cache by itself, a page at a time.
void ForgetCode();

// Returns what the calling thread has freed and keeps for itself to where others find it, too.
void ReturnOwnFreed();

// Returns to the system what the allocator holds free, and forgets the code that a large removal ran
// through. Takes milliseconds: for when much was freed.
void ReturnFreed();

}  // namespace mailroom
