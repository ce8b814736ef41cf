// The reconciler keyed by source object: where a clause wants singleton reported state and there
// is exactly one destination, the status of that mailbox's copy becomes the status of the source.
// The source is labelled before its first such status, so that the status can be taken back when
// it is no longer wanted, also after a restart. Definitions and Namespaces are exempt: their
// status belongs to the server that holds them.
#pragma once

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "translator/copies.h"
#include "translator/parked.h"
#include "translator/plan.h"

namespace mailroom::translator {

// What to do next about the status of a source object.
struct ReportStep {
  enum class Kind { kNothing, kLabel, kUnlabel, kStatus };
  Kind kind = Kind::kNothing;
  Json status;  // of kStatus: the new one; empty to take it back
};
// `copy` is the only destination's; null when there is none, or no wish for its state.
ReportStep NextReport(const Json& source, const Json* copy);

// The JSON merge patch that turns `from` into `to`; an empty object when they are equal.
Json MergeDiff(const Json& from, const Json& to);

class Report : public client::Reconciler {
 public:
  Report(client::Client hub, const Plan& plan, const Copies& copies)
      : hub_(std::move(hub)), plan_(plan), copies_(copies) {}

  // The lane is the source's workspace.
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;
  // Keys that wait for a complete plan.
  Parked& parked() { return parked_; }

 private:
  Result<void> Write(const std::string& workspace, const ObjectId& id, const ReportView& view,
                     const ReportStep& step) const;

  const client::Client hub_;
  const Plan& plan_;
  const Copies& copies_;
  Parked parked_;
};

}  // namespace mailroom::translator
