#include "storage/store.h"

#include <optional>

#include "storage/object/parking.h"

namespace mailroom::storage {

Result<TxnResult> CommitAndWait(Store& store, Txn txn) {
  struct Decision {
    std::optional<Result<TxnResult>> result;
    Pause pause;
  };
  const auto decision = std::make_shared<Decision>();
  txn.waits = true;
  store.Commit(std::move(txn), [decision](Result<TxnResult> result) {
    decision->result = std::move(result);
    decision->pause.Go();
  });
  decision->pause.Wait();
  return std::move(*decision->result);
}

}  // namespace mailroom::storage
