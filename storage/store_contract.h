// The contract of Store as tests, for every engine. An engine's test file instantiates the suite
// with a factory; each test gets a store of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "storage/store.h"

namespace mailroom::storage::testing {

struct StoreFactory {
  std::string name;
  // A fresh, empty store; nullptr when the engine is not available here.
  std::function<std::unique_ptr<Store>()> open;

  friend void PrintTo(const StoreFactory& factory, std::ostream* out) { *out << factory.name; }
};

class StoreContract : public ::testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override {
    store_ = GetParam().open();
    if (!store_) GTEST_SKIP() << "no " << GetParam().name << " here: run hack/peer etcd";
  }
  std::unique_ptr<Store> store_;
};

inline std::string FactoryName(const ::testing::TestParamInfo<StoreFactory>& info) {
  return info.param.name;
}

}  // namespace mailroom::storage::testing
