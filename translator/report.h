// The reconciler keyed by source object: where a clause wants singleton reported state and there
// is exactly one destination, the status of that mailbox's copy becomes the status of the source.
// Definitions and Namespaces are exempt: their status belongs to the server that holds them.
#pragma once

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "translator/copies.h"
#include "translator/plan.h"

namespace mailroom::translator {

// The JSON merge patch that turns `from` into `to`; an empty object when they are equal.
Json MergeDiff(const Json& from, const Json& to);

class Report : public client::Reconciler {
 public:
  Report(client::Client hub, const Plan& plan, const Copies& copies)
      : hub_(std::move(hub)), plan_(plan), copies_(copies) {}

  // The lane is the source's workspace.
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  const client::Client hub_;
  const Plan& plan_;
  const Copies& copies_;
};

}  // namespace mailroom::translator
