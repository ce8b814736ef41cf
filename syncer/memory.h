// Which resources this syncer has put into the WEC, kept in a file so that a restart can find
// what became unwanted meanwhile. Without a file, or with another mailbox's, it is not known.
// Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "storage/object/ids.h"
#include "storage/object/result.h"

namespace mailroom::syncer {

class Memory {
 public:
  // `folder` "" keeps nothing on disk.
  Memory(std::string folder, std::string mailbox_uid);

  // Whether a complete record of this mailbox was found.
  bool known() const { return known_; }
  // Whether the record holds all there is, found or gathered since.
  bool complete() const;
  std::map<GroupResource, std::string> resources() const;  // to apiVersion
  Result<void> Remember(const GroupResource& resource, const std::string& api_version);
  Result<void> Forget(const GroupResource& resource);
  // From now on the record is complete and is kept on disk.
  Result<void> Complete();

 private:
  void Load();
  Result<void> SaveLocked() const;

  const std::string folder_;
  const std::string mailbox_uid_;
  bool known_ = false;  // constant after construction
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  bool complete_ = false;
  std::map<GroupResource, std::string> resources_;
};

}  // namespace mailroom::syncer
