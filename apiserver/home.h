// The workspace that a new object is made in, held by the create's own transaction: whatever is
// made in a workspace is made while it exists, so nothing outlives its deletion.
#pragma once

#include <optional>
#include <string>

#include "apiserver/call.h"
#include "storage/txn.h"

namespace mailroom::apiserver {

class Home {
 public:
  // NotFound when the workspace is gone.
  static Result<Home> Of(const Call& call);

  // Lets the transaction fail unless the Workspace object is as it was seen.
  void Hold(storage::Txn& txn) const;
  // Whether a transaction failed because that object is another now.
  bool Moved(const storage::TxnResult& result) const;
  // Sees it as of `revision`. NotFound when it is gone, or another of the same name.
  Result<void> Again(const Call& call, Revision revision);

 private:
  std::optional<storage::Compare> seen_;  // none for root, which never goes
  std::string uid_;
};

}  // namespace mailroom::apiserver
