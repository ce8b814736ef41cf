// Power loss. A disk that keeps only what was synced stands under the embedded engine; at any
// moment, what such a disk holds must open and contain every acknowledged write, whole. Killing a
// process cannot show this: the kernel still has what was never synced.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "storage/embedded_store.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using testing::Put;
using testing::TemporaryDirectory;
using testing::Write;

// What each file would hold after a power cut, beside what was written to it since.
class SyncedFiles {
 public:
  void Written(const std::string& path, sqlite3_int64 offset, std::string bytes) {
    std::lock_guard lock(mutex_);
    files_[path].pending.push_back({static_cast<std::size_t>(offset), std::move(bytes), false});
  }
  void Truncated(const std::string& path, sqlite3_int64 size) {
    std::lock_guard lock(mutex_);
    files_[path].pending.push_back({static_cast<std::size_t>(size), "", true});
  }
  void Synced(const std::string& path) {
    std::lock_guard lock(mutex_);
    File& file = files_[path];
    for (const Change& change : file.pending) {
      if (change.truncation) {
        file.durable.resize(change.offset);
        continue;
      }
      const std::size_t end = change.offset + change.bytes.size();
      if (file.durable.size() < end) file.durable.resize(end);
      std::memcpy(file.durable.data() + change.offset, change.bytes.data(), change.bytes.size());
    }
    file.pending.clear();
    file.exists = true;
  }
  void Deleted(const std::string& path) {
    std::lock_guard lock(mutex_);
    files_.erase(path);
  }
  // Writes what a power cut would leave of `from` into the directory `to`.
  void LosePower(const std::string& from, const std::string& to) {
    std::filesystem::create_directory(to);
    std::lock_guard lock(mutex_);
    for (const auto& [path, file] : files_) {
      const std::filesystem::path name(path);
      if (!file.exists || name.parent_path() != from) continue;
      std::ofstream(std::filesystem::path(to) / name.filename(), std::ios::binary) << file.durable;
    }
  }

 private:
  struct Change {
    std::size_t offset;
    std::string bytes;
    bool truncation;
  };
  struct File {
    std::string durable;
    bool exists = false;
    std::vector<Change> pending;
  };
  std::mutex mutex_;
  std::map<std::string, File> files_;  // guarded by mutex_
};

SyncedFiles* g_files = nullptr;  // of the disk that is in place

// SQLite's view of a file: the real one, told on.
struct ToldFile {
  sqlite3_file base;
  const char* path;  // SQLite keeps it while the file is open; null for a temporary file
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  static ToldFile& Of(sqlite3_file* file) { return *reinterpret_cast<ToldFile*>(file); }
};

sqlite3_file* Real(sqlite3_file* file) { return ToldFile::Of(file).real(); }

const sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = [](sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); },
    .xRead = [](sqlite3_file* f, void* to, int size,
                sqlite3_int64 at) { return Real(f)->pMethods->xRead(Real(f), to, size, at); },
    .xWrite =
        [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
          if (const char* path = ToldFile::Of(f).path) {
            g_files->Written(path, at,
                             {static_cast<const char*>(from), static_cast<std::size_t>(size)});
          }
          return Real(f)->pMethods->xWrite(Real(f), from, size, at);
        },
    .xTruncate =
        [](sqlite3_file* f, sqlite3_int64 size) {
          if (const char* path = ToldFile::Of(f).path) g_files->Truncated(path, size);
          return Real(f)->pMethods->xTruncate(Real(f), size);
        },
    .xSync =
        [](sqlite3_file* f, int) {
          // The disk of the test is the one in memory; the real one need not be bothered.
          if (const char* path = ToldFile::Of(f).path) g_files->Synced(path);
          return SQLITE_OK;
        },
    .xFileSize = [](sqlite3_file* f,
                    sqlite3_int64* size) { return Real(f)->pMethods->xFileSize(Real(f), size); },
    .xLock = [](sqlite3_file* f, int kind) { return Real(f)->pMethods->xLock(Real(f), kind); },
    .xUnlock = [](sqlite3_file* f, int kind) { return Real(f)->pMethods->xUnlock(Real(f), kind); },
    .xCheckReservedLock =
        [](sqlite3_file* f, int* out) {
          return Real(f)->pMethods->xCheckReservedLock(Real(f), out);
        },
    .xFileControl =
        [](sqlite3_file* f, int operation, void* with) {
          return Real(f)->pMethods->xFileControl(Real(f), operation, with);
        },
    .xSectorSize = [](sqlite3_file* f) { return Real(f)->pMethods->xSectorSize(Real(f)); },
    .xDeviceCharacteristics =
        [](sqlite3_file* f) { return Real(f)->pMethods->xDeviceCharacteristics(Real(f)); },
    .xShmMap =
        [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
          return Real(f)->pMethods->xShmMap(Real(f), page, size, extend, out);
        },
    .xShmLock =
        [](sqlite3_file* f, int offset, int count, int flags) {
          return Real(f)->pMethods->xShmLock(Real(f), offset, count, flags);
        },
    .xShmBarrier = [](sqlite3_file* f) { Real(f)->pMethods->xShmBarrier(Real(f)); },
    .xShmUnmap = [](sqlite3_file* f,
                    int remove) { return Real(f)->pMethods->xShmUnmap(Real(f), remove); },
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// Puts the disk under every database that is opened while this lives.
class ForgetfulDisk {
 public:
  ForgetfulDisk() : system_(sqlite3_vfs_find(nullptr)), vfs_(*system_) {
    g_files = &files_;
    vfs_.zName = "forgetful";
    vfs_.szOsFile = static_cast<int>(sizeof(ToldFile)) + system_->szOsFile;
    vfs_.pNext = nullptr;
    vfs_.pAppData = system_;
    vfs_.xOpen = [](sqlite3_vfs* self, const char* path, sqlite3_file* file, int flags, int* out) {
      sqlite3_vfs* system = static_cast<sqlite3_vfs*>(self->pAppData);
      ToldFile& told = ToldFile::Of(file);
      told.path = path;
      const int code = system->xOpen(system, path, told.real(), flags, out);
      told.base.pMethods = code == SQLITE_OK ? &kMethods : nullptr;
      return code;
    };
    vfs_.xDelete = [](sqlite3_vfs* self, const char* path, int) {
      g_files->Deleted(path);
      sqlite3_vfs* system = static_cast<sqlite3_vfs*>(self->pAppData);
      return system->xDelete(system, path, 0);
    };
    vfs_.xAccess = [](sqlite3_vfs* self, const char* path, int flags, int* out) {
      sqlite3_vfs* system = static_cast<sqlite3_vfs*>(self->pAppData);
      return system->xAccess(system, path, flags, out);
    };
    vfs_.xFullPathname = [](sqlite3_vfs* self, const char* path, int size, char* out) {
      sqlite3_vfs* system = static_cast<sqlite3_vfs*>(self->pAppData);
      return system->xFullPathname(system, path, size, out);
    };
    sqlite3_vfs_register(&vfs_, /*makeDflt=*/1);
  }
  ~ForgetfulDisk() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(system_, /*makeDflt=*/1);
    g_files = nullptr;
  }
  SyncedFiles& files() { return files_; }

 private:
  SyncedFiles files_;
  sqlite3_vfs* const system_;
  sqlite3_vfs vfs_;
};

TEST(PowerLoss, EveryAcknowledgedWriteIsOnTheDisk) {
  TemporaryDirectory directory;
  ForgetfulDisk disk;
  const std::string before = directory.path() + "/before";
  std::unique_ptr<Store> store = OpenEmbedded(before).value();
  std::atomic<std::uint64_t> acknowledged = 0;
  std::atomic<bool> going = true;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      const std::string bulk(3000, 'x');
      for (int i = 0; going; ++i) {
        const std::string name = std::to_string(writer) + "-" + std::to_string(i % 20);
        const std::string value = std::to_string(i) + bulk;
        Result<TxnResult> result = CommitAndWait(
            *store, Write({Put("/left/" + name, value), Put("/right/" + name, value)}));
        if (!result.ok()) return;
        std::uint64_t seen = acknowledged;
        while (seen < result->revision.value() &&
               !acknowledged.compare_exchange_weak(seen, result->revision.value())) {
        }
        acknowledged.notify_all();
      }
    });
  }
  struct Stop {
    std::atomic<bool>& flag;
    ~Stop() { flag = false; }
  } stop{going};  // however the test ends
  std::mt19937 random(7);
  std::uint64_t wanted = 0;
  for (int round = 0; round < 12; ++round) {
    wanted += 1 + random() % 100;
    for (std::uint64_t seen = acknowledged; seen < wanted; seen = acknowledged) {
      acknowledged.wait(seen);
    }
    const std::uint64_t promised = acknowledged;
    const std::string after = directory.path() + "/after-" + std::to_string(round);
    disk.files().LosePower(before, after);
    Result<std::unique_ptr<Store>> survivor = OpenEmbedded(after);
    ASSERT_TRUE(survivor.ok()) << survivor.error().message();
    EXPECT_GE((*survivor)->CurrentRevision()->value(), promised);
    const ListResult left = (*survivor)->List({.prefix = "/left/"}).value();
    const ListResult right = (*survivor)->List({.prefix = "/right/"}).value();
    ASSERT_EQ(left.entries.size(), right.entries.size());
    for (std::size_t i = 0; i < left.entries.size(); ++i) {
      EXPECT_EQ(left.entries[i].mod_revision, right.entries[i].mod_revision);
      EXPECT_EQ(*left.entries[i].value, *right.entries[i].value);
    }
  }
}

}  // namespace
}  // namespace mailroom::storage
