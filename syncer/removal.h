// Deleting one object in the WEC, the most dangerous thing the syncer does. Every reason to
// delete is observed live once more, and after it the mailbox's identity, so that a replaced,
// restored or half-started mailbox never looks like a wish to delete.
#pragma once

#include <string>

#include "storage/object/json_fwd.h"
#include "storage/object/result.h"
#include "syncer/parts.h"

namespace mailroom::syncer {

class Removal {
 public:
  explicit Removal(Parts& parts) : parts_(parts) {}

  // `existing` is the WEC's object, owned by this syncer and unwanted. An error says why it stays
  // for now; reason Forbidden means that only somebody in the WEC can change that.
  Result<void> Remove(const Place& place, const std::string& api_version, const Json& existing);

 private:
  Result<void> CheckGone(const Place& place, const std::string& api_version);
  Result<void> CheckIdentity();
  Result<void> CheckContent(const Place& place, const Json& existing);

  Parts& parts_;
};

// Whether the server has neither the kind nor a CRD for it. A server that is starting may not
// serve custom resources yet although it has their CRD.
Result<bool> KindGone(const client::Client& client, const GroupResource& resource);

// The UID of the server's kube-system namespace.
Result<std::string> ReadUid(const client::Client& client);

}  // namespace mailroom::syncer
