// The workspace that a new object is made in, and its namespace, held by the create's own
// transaction: whatever is made there is made while they exist, so nothing outlives their deletion.
#pragma once

#include <string>
#include <vector>

#include "apiserver/call.h"
#include "storage/txn.h"

namespace mailroom::apiserver {

class Home {
 public:
  // NotFound when one of them is gone.
  static Result<Home> Of(const Call& call);

  // Lets the transaction fail unless their objects are as they were seen.
  void Hold(storage::Txn& txn) const;
  // Whether a transaction failed because one of those objects is another now.
  bool Moved(const storage::TxnResult& result) const;
  // Sees them as of `revision`. NotFound when one is gone, or the workspace is another of the same
  // name. Whether the namespace still takes objects is the caller's to ask.
  Result<void> Again(const Call& call, Revision revision);

 private:
  void See(const ResourceKey& key, const Object& object);

  std::vector<storage::Compare> seen_;  // root never goes
  std::string uid_;                     // of the workspace
};

}  // namespace mailroom::apiserver
