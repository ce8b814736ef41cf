// What the server asks of its allocator, which reads this before anything else runs. A write makes
// and frees some two hundred small pieces, often in different threads: glibc's allocator was a quarter
// of its cost. Freed pages go back to the system after a second; few arenas, as each keeps holes of
// its own.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "narenas:4,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true";
}
