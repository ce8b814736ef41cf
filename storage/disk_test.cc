// The embedded engine on a real file system that is full or read-only: it says so, damages
// nothing, and goes on when there is room again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "storage/embedded_store.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using testing::Put;
using testing::RecordingSink;
using testing::TemporaryDirectory;
using testing::Write;

bool Spell(const char* file, const std::string& text) {
  const int descriptor = open(file, O_WRONLY | O_CLOEXEC);
  const bool done = write(descriptor, text.data(), text.size()) > 0;
  close(descriptor);
  return done;
}

// A file system of 4 MiB at `path` that only this process sees. Needs no privileges where user
// namespaces are allowed.
bool MountSmall(const std::string& path) {
  const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!Spell("/proc/self/setgroups", "deny") ||
        !Spell("/proc/self/uid_map", "0 " + user + " 1") ||
        !Spell("/proc/self/gid_map", "0 " + group + " 1")) {
      return false;
    }
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("small", path.c_str(), "tmpfs", 0, "size=4m") == 0;
}

constexpr const char* kNoMount = "cannot mount";

// Runs `body` on a small file system in a child process; returns what it complains about.
std::string OnSmallDisk(const std::function<std::string(const std::string& path)>& body) {
  TemporaryDirectory directory;
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child < 0) return "no process";
  if (child == 0) {
    const std::string said = MountSmall(directory.path()) ? body(directory.path()) : kNoMount;
    (void)!write(ends[1], said.data(), said.size());
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) said += " (the child crashed)";
  return said;
}

bool FillUp(const std::string& file) {
  const int descriptor = open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const std::string bytes(4096, 'x');
  while (write(descriptor, bytes.data(), bytes.size()) > 0) {
  }
  const bool full = errno == ENOSPC;
  close(descriptor);
  return full;
}

std::string Integrity(const std::string& file) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::string said = "cannot be opened";
  if (sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    said = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return said;
}

std::string Text(const std::string& what, const Status& status) {
  return what + ": " + std::to_string(status.code()) + " " + status.message();
}

std::string LiveOnAFullDisk(const std::string& path) {
  const std::string data = path + "/data", filler = path + "/filler";
  std::unique_ptr<Store> store = OpenEmbedded(data).value();
  RecordingSink sink;
  auto watch = store->Watch("/", Revision(), sink);
  if (!CommitAndWait(*store, Write({Put("/a", "1")})).ok()) return "the first write failed";
  if (!FillUp(filler)) return "the disk did not fill";
  for (int i = 0; i < 3; ++i) {
    Result<TxnResult> full =
        CommitAndWait(*store, Write({Put("/a", "lost"), Put("/b", std::string(100'000, 'x'))}));
    if (full.ok()) return "a write on a full disk was acknowledged";
    if (full.error().code() != 507 || full.error().message().find("full") == std::string::npos) {
      return Text("unclear", full.error());
    }
  }
  if (*store->CurrentRevision() != Revision(1)) return "the revision moved";
  if (*store->Get("/a")->entry->value != "1" || store->Get("/b")->entry) return "a torn write";
  // Starting anew on the full disk is refused or works, but loses nothing.
  watch->reset();
  store.reset();
  if (Result<std::unique_ptr<Store>> again = OpenEmbedded(data); again.ok()) {
    if (*(*again)->Get("/a")->entry->value != "1") return "a start on a full disk lost a write";
  } else if (again.error().message().find("storage: ") == std::string::npos) {
    return Text("unclear", again.error());
  }
  if (unlink(filler.c_str()) != 0) return "the filler stays";
  store = OpenEmbedded(data).value();
  if (!FillUp(filler)) return "the disk did not fill again";
  if (CommitAndWait(*store, Write({Put("/c", std::string(100'000, 'x'))})).ok()) return "not full";
  unlink(filler.c_str());
  // Room again: the same store goes on.
  Result<TxnResult> after =
      CommitAndWait(*store, Write({Put("/a", "2"), Put("/c", std::string(100'000, 'y'))}));
  if (!after.ok()) return Text("did not go on", after.error());
  if (after->revision != Revision(2)) return "a revision was skipped";
  store.reset();
  if (std::string said = Integrity(data + "/mailroom.db"); said != "ok") return said;
  store = OpenEmbedded(data).value();
  if (*store->CurrentRevision() != Revision(2) || *store->Get("/a")->entry->value != "2") {
    return "the write after the full disk is gone";
  }
  return "";
}

TEST(Disk, AFullOneRefusesWritesAndRecovers) {
  const std::string complaint = OnSmallDisk(LiveOnAFullDisk);
  if (complaint == kNoMount) GTEST_SKIP() << "no right to mount a small file system";
  EXPECT_EQ(complaint, "");
}

std::string LiveOnAReadOnlyDisk(const std::string& path) {
  const std::string data = path + "/data";
  std::unique_ptr<Store> store = OpenEmbedded(data).value();
  if (!CommitAndWait(*store, Write({Put("/a", "1")})).ok()) return "the first write failed";
  store.reset();
  if (mount("small", path.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0) return kNoMount;
  Result<std::unique_ptr<Store>> refused = OpenEmbedded(data);
  if (refused.ok()) return "a read-only directory was accepted";
  const std::string& message = refused.error().message();
  if (message.find("Read-only") == std::string::npos || message.find(data) == std::string::npos) {
    return Text("unclear", refused.error());
  }
  if (mount("small", path.c_str(), "tmpfs", MS_REMOUNT, nullptr) != 0) return kNoMount;
  store = OpenEmbedded(data).value();
  return *store->Get("/a")->entry->value == "1" ? "" : "the write is gone";
}

TEST(Disk, AReadOnlyOneIsRefusedByName) {
  const std::string complaint = OnSmallDisk(LiveOnAReadOnlyDisk);
  if (complaint == kNoMount) GTEST_SKIP() << "no right to mount a small file system";
  EXPECT_EQ(complaint, "");
}

TEST(Disk, ADirectoryWithoutWritePermissionIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  TemporaryDirectory directory;
  std::filesystem::permissions(
      directory.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  Result<std::unique_ptr<Store>> refused = OpenEmbedded(directory.path());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("Permission denied"), std::string::npos);
}

}  // namespace
}  // namespace mailroom::storage
