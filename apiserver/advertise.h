// How the hub shows itself to those outside: under which URL, verified by which authority; and
// whose certificates it believes. Decided by the flags of `mailroom serve`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apiserver/options.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// Where this process listens, as those on the same machine reach it.
std::string LocalUrl(const Options& options, std::uint16_t port);
// What is written into kubeconfigs, statuses and tokens: --advertise-url, else LocalUrl.
std::string AdvertisedUrl(const Options& options, std::uint16_t port);
// Host names and addresses of the hub's own serving certificate, sorted.
std::vector<std::string> ServingNames(const Options& options);

// PEM of what clients verify the serving certificate with: --tls-ca-file; or the self-signed
// certificates of --tls-cert-file; or the hub's own authority, `own_ca`.
Result<std::string> AdvertisedAuthority(const Options& options, const std::string& own_ca);

// The file of all authorities that vouch for clients. The hub's own is always among them, for it
// signs the administrator's and the syncers' certificates; --client-ca-file comes beside it, in a
// bundle under the data directory that is written anew when either has changed.
Result<std::string> ClientAuthorities(const Options& options, const std::string& own_ca);

}  // namespace mailroom::apiserver
