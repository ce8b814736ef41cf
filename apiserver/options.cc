#include "apiserver/options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "apiserver/admission/plugins.h"
#include "apiserver/client/curl_calls.h"
#include "apiserver/deadline.h"

namespace mailroom::apiserver {
namespace {

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> out;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    if (comma > start) out.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return out;
}

Result<void> SetListen(Options& options, const std::string& value) {
  const std::size_t colon = value.rfind(':');
  if (colon == std::string::npos) return BadRequest("--listen wants HOST:PORT");
  const std::string port = value.substr(colon + 1);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty()) {
    return BadRequest("--listen: " + Quoted(port) + " is not a port");
  }
  options.host = value.substr(0, colon);
  if (options.host.size() > 2 && options.host.front() == '[' && options.host.back() == ']') {
    options.host = options.host.substr(1, options.host.size() - 2);
  }
  return Ok();
}

Result<void> SetLevel(Options& options, const std::string& value) {
  static const std::map<std::string, Level> kLevels = {{"debug", Level::kDebug},
                                                       {"info", Level::kInfo},
                                                       {"warn", Level::kWarn},
                                                       {"error", Level::kError}};
  auto it = kLevels.find(value);
  if (it == kLevels.end()) return BadRequest("--log-level is one of debug, info, warn, error");
  options.log_level = it->second;
  return Ok();
}

Result<void> SetAdvertiseUrl(Options& options, std::string value) {
  const Status wrong = BadRequest("--advertise-url is like https://hub.example.com:6443");
  const std::size_t scheme = value.find("://");
  if (scheme == std::string::npos) return wrong;
  const std::string_view name = std::string_view(value).substr(0, scheme);
  if (name != "https" && name != "http") return wrong;
  if (value.ends_with('/')) value.pop_back();
  const std::string_view rest = std::string_view(value).substr(std::min(scheme + 3, value.size()));
  if (rest.empty() || rest.front() == ':' || rest.find_first_of("/?#@ ") != std::string_view::npos) {
    return wrong;
  }
  options.advertise_url = std::move(value);
  return Ok();
}

using Setter = std::function<Result<void>(Options&, const std::string&)>;

Setter Text(std::string Options::*member) {
  return [member](Options& options, const std::string& value) {
    options.*member = value;
    return Ok();
  };
}

Setter List(std::vector<std::string> Options::*member) {
  return [member](Options& options, const std::string& value) {
    options.*member = SplitCommas(value);
    return Ok();
  };
}

Setter Switch(std::string flag, bool Options::*member) {
  return [flag, member](Options& options, const std::string& value) -> Result<void> {
    if (value != "true" && value != "false") return BadRequest(flag + " is true or false");
    options.*member = value == "true";
    return Ok();
  };
}

// A positive number.
Setter Count(std::size_t Options::*member) {
  return [member](Options& options, const std::string& value) -> Result<void> {
    std::size_t& count = options.*member;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (error == std::errc() && end == value.data() + value.size() && count > 0) return Ok();
    return BadRequest(Quoted(value) + " is not a positive number");
  };
}

// A time of at least a second, as Go writes it.
Setter Duration(std::string flag, std::chrono::seconds Options::*member) {
  return [flag, member](Options& options, const std::string& value) -> Result<void> {
    const auto time = ParseDuration(value);
    if (!time.ok() || *time < std::chrono::seconds(1)) {
      return BadRequest(flag + " is a time such as 24h or 90m");
    }
    options.*member = std::chrono::duration_cast<std::chrono::seconds>(*time);
    return Ok();
  };
}

const std::map<std::string, Setter>& Flags() {
  static const std::map<std::string, Setter> flags = {
      {"--data-dir", Text(&Options::data_dir)},
      {"--listen", SetListen},
      {"--plain-http", Switch("--plain-http", &Options::plain_http)},
      {"--kubeconfig-out", Text(&Options::kubeconfig_out)},
      {"--etcd-servers", List(&Options::etcd_servers)},
      {"--etcd-cafile", Text(&Options::etcd_ca_file)},
      {"--etcd-certfile", Text(&Options::etcd_cert_file)},
      {"--etcd-keyfile", Text(&Options::etcd_key_file)},
      {"--etcd-user", Text(&Options::etcd_user)},
      {"--etcd-password-file", Text(&Options::etcd_password_file)},
      {"--client-ca-file", Text(&Options::client_ca_file)},
      {"--tls-cert-file", Text(&Options::tls_cert_file)},
      {"--tls-private-key-file", Text(&Options::tls_key_file)},
      {"--tls-ca-file", Text(&Options::tls_ca_file)},
      {"--advertise-url", SetAdvertiseUrl},
      {"--tls-san", List(&Options::extra_sans)},
      {"--log-level", SetLevel},
      {"--io-threads", Count(&Options::io_threads)},
      {"--workers", Count(&Options::workers)},
      {"--max-queued-requests", Count(&Options::queued_requests)},
      {"--max-request-body-bytes", Count(&Options::body_bytes)},
      {"--max-request-bytes-inflight", Count(&Options::request_bytes)},
      {"--max-watch-pending-bytes", Count(&Options::watch_pending)},
      {"--max-connections", Count(&Options::connections)},
      {"--controllers", Switch("--controllers", &Options::controllers)},
      {"--access-log", Switch("--access-log", &Options::access_log)},
      {"--untrusted-tenants", Switch("--untrusted-tenants", &Options::untrusted_tenants)},
      {"--webhook-refuse",
       [](Options& options, const std::string& value) -> Result<void> {
         TRY(client::AddressPolicy::Parse(value));
         options.webhook_refuse = value;
         options.webhook_refuse_given = true;
         return Ok();
       }},
      {"--disable-admission-plugins",
       [](Options& options, const std::string& value) -> Result<void> {
         options.disabled_admission = SplitCommas(value);
         const auto& known = admission::PluginNames();
         for (const std::string& name : options.disabled_admission) {
           if (std::find(known.begin(), known.end(), name) == known.end()) {
             return BadRequest("there is no admission plugin " + Quoted(name) + " to disable");
           }
         }
         return Ok();
       }},
      {"--requestheader-client-ca-file", Text(&Options::request_header_ca_file)},
      {"--requestheader-allowed-names", List(&Options::request_header_names)},
      {"--requestheader-username-headers", List(&Options::request_header_users)},
      {"--requestheader-uid-headers", List(&Options::request_header_uids)},
      {"--requestheader-group-headers", List(&Options::request_header_groups)},
      {"--requestheader-extra-headers-prefix", List(&Options::request_header_extras)},
      {"--authorization-kubeconfig", Text(&Options::authorization_kubeconfig)},
      {"--service-account-issuer", Text(&Options::token_issuer)},
      {"--service-account-signing-key-file", Text(&Options::token_signing_key_file)},
      {"--service-account-key-file", List(&Options::token_key_files)},
      {"--syncer-certificate-duration",
       Duration("--syncer-certificate-duration", &Options::syncer_certificate)},
      {"--audit-log-path", Text(&Options::audit_log_path)},
      {"--audit-policy-file", Text(&Options::audit_policy_file)},
      {"--audit-log-maxsize", Count(&Options::audit_log_max_mib)},
      {"--audit-log-maxbackup", Count(&Options::audit_log_max_backups)},
      {"--max-watches-per-user", Count(&Options::watches_per_user)},
      {"--api-docs", Text(&Options::api_docs_file)},
      {"--encryption-keys-file", Text(&Options::encryption_keys_file)},
  };
  return flags;
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& args) {
  Options options;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string name = args[i], value;
    if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.erase(equals);
    } else if (i + 1 < args.size()) {
      value = args[++i];
    } else {
      return BadRequest(name + " wants a value");
    }
    auto it = Flags().find(name);
    if (it == Flags().end()) return BadRequest("unknown flag " + name);
    TRY(it->second(options, value));
  }
  if (options.untrusted_tenants && !options.webhook_refuse_given) {
    options.webhook_refuse = "loopback,link-local";
  }
  if (options.watch_pending < limits::kStreamPendingLeast ||
      options.watch_pending > limits::kWatchQueueBytes) {
    return BadRequest("--max-watch-pending-bytes is between " +
                      std::to_string(limits::kStreamPendingLeast) + " and " +
                      std::to_string(limits::kWatchQueueBytes));
  }
  if (options.data_dir.empty()) return BadRequest("--data-dir is required");
  if (options.tls_cert_file.empty() != options.tls_key_file.empty()) {
    return BadRequest("--tls-cert-file and --tls-private-key-file go together");
  }
  if (!options.tls_ca_file.empty() && options.tls_cert_file.empty()) {
    return BadRequest("--tls-ca-file needs --tls-cert-file");
  }
  if (options.etcd_cert_file.empty() != options.etcd_key_file.empty()) {
    return BadRequest("--etcd-certfile and --etcd-keyfile go together");
  }
  if (options.etcd_user.empty() != options.etcd_password_file.empty()) {
    return BadRequest("--etcd-user and --etcd-password-file go together");
  }
  if (!options.request_header_ca_file.empty() && options.request_header_names.empty()) {
    return BadRequest("--requestheader-client-ca-file needs --requestheader-allowed-names");
  }
  if (!options.audit_policy_file.empty() && options.audit_log_path.empty()) {
    return BadRequest("--audit-policy-file needs --audit-log-path");
  }
  return options;
}

std::vector<std::string> OptionNames() {
  std::vector<std::string> names;
  for (const auto& [name, set] : Flags()) names.push_back(name);
  return names;
}

std::string OptionsUsage() {
  return "usage: mailroom serve --data-dir DIR [--listen HOST:PORT] [--kubeconfig-out FILE]\n"
         "         [--etcd-servers URL,URL... [--etcd-cafile F] [--etcd-certfile F --etcd-keyfile F]\n"
         "             [--etcd-user NAME --etcd-password-file F]]\n"
         "         [--client-ca-file F] [--plain-http true|false (loopback only)]\n"
         "         [--tls-cert-file F --tls-private-key-file F [--tls-ca-file F]]\n"
         "         [--tls-san NAME,NAME...] [--advertise-url URL]\n"
         "         [--io-threads N] [--workers N] [--max-queued-requests N]\n"
         "         [--max-request-body-bytes N] [--max-request-bytes-inflight N] [--max-connections N]\n"
         "         [--max-watch-pending-bytes N]\n"
         "         [--untrusted-tenants true|false] [--webhook-refuse loopback,link-local,private|none]\n"
         "         [--disable-admission-plugins NAME,NAME...]\n"
         "         [--requestheader-client-ca-file F --requestheader-allowed-names CN,CN...]\n"
         "         [--requestheader-username-headers H,H...] [--requestheader-uid-headers H,H...]\n"
         "         [--requestheader-group-headers H,H...]\n"
         "         [--requestheader-extra-headers-prefix P,P...] [--authorization-kubeconfig F]\n"
         "         [--service-account-issuer URL] [--service-account-signing-key-file F]\n"
         "         [--service-account-key-file F,F...] [--max-watches-per-user N]\n"
         "         [--syncer-certificate-duration 24h]\n"
         "         [--audit-log-path F [--audit-policy-file F] [--audit-log-maxsize MIB]\n"
         "          [--audit-log-maxbackup N]] [--encryption-keys-file F] [--api-docs F]\n"
         "         [--controllers true|false] [--access-log true|false] [--log-level debug|info|warn|error]\n"
         "       mailroom join-command --kubeconfig FILE --mailbox NAME [--workspace NAME]\n"
         "       mailroom syncer-kubeconfig --data-dir DIR --server URL --mailbox NAME --out FILE\n"
         "         [--validity 24h] [--tls-ca-file F]\n";
}

}  // namespace mailroom::apiserver
