// The API server without a socket: storage, cache, dispatcher, collector, and the loopback
// transport for controllers in the same process. Built in order, stopped in reverse. main.cc puts
// a front door before it; tests talk to its dispatcher.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "apiserver/client/curl_calls.h"
#include "apiserver/client/transport.h"
#include "apiserver/dispatcher.h"
#include "apiserver/pki.h"
#include "openapi/descriptions.h"
#include "storage/compactor.h"
#include "storage/object/limits.h"
#include "storage/store.h"

namespace mailroom::apiserver {

// What the server proves things with. Keys left empty are made for this run only.
struct Identity {
  std::string issuer = {};              // of service-account tokens; "": external_url
  std::string token_key_pem = {};       // signs them
  std::vector<std::string> believed_token_keys = {};  // PEM; those whose tokens still hold
  KeyPair authority = {};               // signs client certificates
  KeyPair front_proxy_authority = {};   // signs those shown to servers of other API groups
  std::string client_ca_pem = {};       // verifies client certificates; "": the authority's
  Validity syncer_certificate = limits::kSyncerCertificate;  // how long a syncer's is good
  RequestHeaders request_headers = {};
};

class Server {
 public:
  struct Options {
    std::string external_url;   // https://host:port
    bool embedded = true;       // the engine feeds the river before it acknowledges
    bool controllers = true;    // run from the start; else when StartControllers is called
    std::string root_ca_pem = {};  // what clients verify the server with
    client::AddressPolicy webhook_addresses = {};  // that webhooks may not have
    std::set<std::string> disabled_admission = {};  // plugins by kube-apiserver's names
    Identity identity = {};
    std::shared_ptr<const Audit> audit = {};  // null: nothing is recorded
    Authorizer::Delegate delegate = {};       // null: nobody else is asked
    std::size_t watches_per_user = limits::kWatchesPerCredential;
    std::size_t watch_pending = limits::kStreamPendingBytes;  // a stream is told of; see Stream
    std::size_t history_events = limits::kHistoryEvents;  // a watch may resume within
    std::shared_ptr<const openapi::ApiDocs> docs = {};  // on built-in types; null: our own words
    storage::Compactor::Options compaction = {limits::kHistoryAge, limits::kCompactionInterval};
  };
  // Loads the store and, on its first start, makes root and the default workspaces.
  static Result<std::unique_ptr<Server>> Start(std::unique_ptr<storage::Store> store,
                                               const Options& options);
  virtual ~Server() = default;  // stops

  virtual Dispatcher& dispatcher() = 0;
  virtual client::Transport& loopback() = 0;
  // The controllers over all workspaces, for a server that may not be the only one on its store.
  virtual Result<void> StartControllers() = 0;
  virtual void StopControllers() = 0;
  // Client certificates are verified with `client_ca_pem` from now on: those who verify them for
  // themselves are told.
  virtual void VerifyClientsWith(const std::string& client_ca_pem) = 0;
  // Says from now on that it is not ready: it is about to stop.
  virtual void Drain() = 0;
};

}  // namespace mailroom::apiserver
