// Who asks: the outcome of authentication.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/edge_names.h"

namespace mailroom::apiserver {

inline constexpr std::string_view kMasters = "system:masters";
inline constexpr std::string_view kAuthenticated = "system:authenticated";
inline constexpr std::string_view kUnauthenticated = "system:unauthenticated";
inline constexpr std::string_view kAnonymous = "system:anonymous";
// Group of syncer certificates; their common name is `system:syncer:<mailbox workspace>`.
inline constexpr std::string_view kSyncers = "system:mailroom:syncers";
inline constexpr std::string_view kSyncerPrefix = "system:syncer:";
inline constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

struct User {
  std::string name;
  std::vector<std::string> groups = {};
  std::string uid = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  // The workspace whose identity this is. Names mean something only there: a service account of
  // one workspace is nobody in another that has one of the same name. Certificates and front
  // proxies name users of root, whom any workspace may let in by its own bindings.
  std::string home = std::string(openapi::kRootWorkspace);
  // The mailbox whose syncer certificate a join token may ask for; that is all it may do.
  std::string joins = {};
  bool spent = false;  // it has done so; it may still read the answer
  // Groups in which only the host cluster knows the user: a front proxy named them, and here they
  // would make somebody else of them.
  std::vector<std::string> host_groups = {};

  bool InGroup(std::string_view group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }
};

}  // namespace mailroom::apiserver
