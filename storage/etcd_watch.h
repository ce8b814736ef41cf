// One watch of an etcd prefix that survives lost connections, leader changes and dead members by
// resuming after the last revision it delivered. Ends only when its place was compacted or the
// cluster contradicts itself. Included by etcd_*.cc only.
#pragma once

#include <memory>
#include <string>

#include "storage/etcd_client.h"
#include "storage/store.h"

namespace mailroom::storage {

std::unique_ptr<WatchHandle> StartEtcdWatch(std::shared_ptr<EtcdClient> client, std::string prefix,
                                            Revision after, ChangeSink& sink);

// What the engines exchange, from what etcd sends.
storage::KeyValue FromWire(wire::KeyValue&& entry);

}  // namespace mailroom::storage
