#include "syncer/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::syncer {
namespace {

constexpr const char* kFile = "resources.json";

// Durable under `path`, or not there at all.
Result<void> WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const std::string draft = path.string() + ".new";
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return Internal("cannot write " + draft);
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       fsync(file) == 0;
  close(file);
  if (written) std::filesystem::rename(draft, path, error);
  if (!written || error) return Internal("cannot write " + path.string());
  return Ok();
}

}  // namespace

Memory::Memory(std::string folder, std::string mailbox_uid)
    : folder_(std::move(folder)), mailbox_uid_(std::move(mailbox_uid)) {
  if (!folder_.empty()) Load();
}

void Memory::Load() {
  std::ifstream file(std::filesystem::path(folder_) / kFile);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return;
  const Result<Json> record = ParseJson(text.str());
  if (!record.ok() || StringAt(*record, {"mailbox"}) != mailbox_uid_) return;
  const Json* entries = Find(*record, {"resources"});
  if (entries == nullptr || !entries->is_array()) return;
  for (const Json& entry : *entries) {
    resources_[{StringAt(entry, {"group"}), StringAt(entry, {"resource"})}] =
        StringAt(entry, {"apiVersion"});
  }
  known_ = complete_ = true;
}

bool Memory::complete() const {
  std::lock_guard lock(mutex_);
  return complete_;
}

std::map<GroupResource, std::string> Memory::resources() const {
  std::lock_guard lock(mutex_);
  return resources_;
}

Result<void> Memory::Remember(const GroupResource& resource, const std::string& api_version) {
  std::lock_guard lock(mutex_);
  std::string& known = resources_[resource];
  if (known == api_version) return Ok();
  known = api_version;
  return SaveLocked();
}

Result<void> Memory::Forget(const GroupResource& resource) {
  std::lock_guard lock(mutex_);
  if (resources_.erase(resource) == 0) return Ok();
  return SaveLocked();
}

Result<void> Memory::Complete() {
  std::lock_guard lock(mutex_);
  complete_ = true;
  return SaveLocked();
}

Result<void> Memory::SaveLocked() const {
  if (folder_.empty() || !complete_) return Ok();
  Json entries = Json::array();
  for (const auto& [resource, api_version] : resources_) {
    entries.push_back(
        {{"group", resource.group}, {"resource", resource.resource}, {"apiVersion", api_version}});
  }
  const Json record = {{"mailbox", mailbox_uid_}, {"resources", entries}};
  return WriteFile(std::filesystem::path(folder_) / kFile, DumpJsonPretty(record));
}

}  // namespace mailroom::syncer
