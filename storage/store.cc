#include "storage/store.h"

#include <future>

namespace mailroom::storage {

Result<TxnResult> CommitAndWait(Store& store, Txn txn) {
  auto promise = std::make_shared<std::promise<Result<TxnResult>>>();
  std::future<Result<TxnResult>> decided = promise->get_future();
  txn.waits = true;
  store.Commit(std::move(txn),
               [promise](Result<TxnResult> result) { promise->set_value(std::move(result)); });
  return decided.get();
}

}  // namespace mailroom::storage
