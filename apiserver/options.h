// The flags of `mailroom serve` as one validated struct.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

struct Options {
  std::string data_dir;
  std::string host = "127.0.0.1";
  std::uint16_t port = 6443;
  bool plain_http = false;  // no TLS, on a loopback address only
  std::string kubeconfig_out;
  std::vector<std::string> etcd_servers;  // empty: the embedded engine
  std::string etcd_ca_file, etcd_cert_file, etcd_key_file;
  std::string etcd_user, etcd_password_file;
  std::string client_ca_file;  // beside the hub's own authority
  std::string tls_cert_file, tls_key_file;
  std::string tls_ca_file;    // what clients verify that certificate with
  std::string advertise_url;  // "": where it listens
  std::vector<std::string> extra_sans;
  // Front proxies: who may vouch for users, and in which headers.
  std::string request_header_ca_file;
  std::vector<std::string> request_header_names;
  std::vector<std::string> request_header_users = {"X-Remote-User"};
  std::vector<std::string> request_header_uids = {"X-Remote-Uid"};
  std::vector<std::string> request_header_groups = {"X-Remote-Group"};
  std::vector<std::string> request_header_extras = {"X-Remote-Extra-"};
  std::string authorization_kubeconfig;  // a cluster that is asked too; "": none
  // Tokens of service accounts.
  std::string token_issuer;
  std::string token_signing_key_file;
  std::vector<std::string> token_key_files;
  std::chrono::seconds syncer_certificate = limits::kSyncerCertificate;  // how long one is good
  std::string audit_log_path, audit_policy_file;
  std::size_t audit_log_max_mib = 0, audit_log_max_backups = 0;  // 0: as limits say
  std::size_t watches_per_user = 0;                              // likewise
  std::string encryption_keys_file;
  std::string api_docs_file;  // texts on built-in types; "": our own words
  bool controllers = true;
  bool untrusted_tenants = false;      // users of workspaces are not the hub's operators
  std::string webhook_refuse = "";     // classes of addresses webhooks may not have
  bool webhook_refuse_given = false;
  std::vector<std::string> disabled_admission;  // plugins
  std::size_t io_threads = 2;
  std::size_t workers = limits::kWorkers;             // requests that may wait, at a time
  std::size_t queued_requests = limits::kWorkerQueue;  // for a worker; more is 429
  std::size_t body_bytes = limits::kBodyBytes;
  std::size_t request_bytes = limits::kRequestBytes;  // of bodies not yet answered
  std::size_t watch_pending = limits::kStreamPendingBytes;  // of events behind a slow reader
  std::size_t connections = limits::kConnections;
  bool access_log = false;  // a line for each request
  Level log_level = Level::kInfo;
};

// `--name value` and `--name=value`; BadRequest names the flag that is wrong.
Result<Options> ParseOptions(const std::vector<std::string>& args);
std::vector<std::string> OptionNames();
std::string OptionsUsage();

}  // namespace mailroom::apiserver
