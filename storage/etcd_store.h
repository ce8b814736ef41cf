// The engine for hubs that need more than one machine: an etcd v3 cluster of its own. Every write
// of the cluster must come from Mailroom, under its key prefix, and nobody else may compact it;
// both let a cache prove that it is fresh. Guards refuse answers that go back in time or come
// from another cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/store.h"

namespace mailroom::storage {

struct EtcdOptions {
  std::vector<std::string> endpoints;  // http://HOST:PORT or https://HOST:PORT, all of one kind
  std::string ca_file = {};            // of the servers; empty: the system's
  std::string cert_file = {};          // client certificate and key, both or none
  std::string key_file = {};
  std::string user = {};  // password authentication, when not empty
  std::string password = {};
  std::string password_file = {};  // its first line instead of `password`, when not empty
};

// Fails with a clear message when no endpoint answers.
Result<std::unique_ptr<Store>> OpenEtcd(const EtcdOptions& options);

}  // namespace mailroom::storage
