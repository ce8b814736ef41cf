// What is known about a mailbox and its cluster, from what the syncer reports in the SyncerConfig
// `the-one`: the status of the Mailbox and of its inventory entry. Pure.
#pragma once

#include <chrono>
#include <string>

#include "storage/object/json.h"
#include "storage/object/object.h"

namespace mailroom::mailbox {

struct Report {
  std::string heartbeat;  // RFC 3339, "" when the syncer never reported
  bool connected = false;
  std::string synced;     // "True", "False" or "Unknown"
  std::string trouble;    // why not, for people
  std::int64_t wanted = 0;   // objects in the mailbox for the cluster, whether it is there or not
  std::int64_t objects = 0;  // of them in the cluster, as last reported
  std::string syncer_version, wec_version;
  Json resources = Json::array();  // group, resource, versions
  bool idle = false;               // wants nothing and holds nothing
  // When a heartbeat that does not come changes this report; zero for never. At the latest after
  // limits::kHeartbeatStale: a syncer's clock may be anywhere.
  std::chrono::seconds fresh_for{0};
};

// `config` may be null; `now` is RFC 3339.
Report ReadReport(const Object* config, const std::string& now);

// Puts the report into the status of a Mailbox; true when that is worth a write. Conditions of
// others are kept; a heartbeat alone is written only from time to time.
bool FillMailbox(const Report& report, const std::string& url, const std::string& now,
                 Json& mailbox);
// The same for a SyncTarget or ManagedCluster.
bool FillEntry(const Report& report, const std::string& url, const std::string& now, Json& entry);

}  // namespace mailroom::mailbox
