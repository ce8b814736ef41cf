#include "apiserver/authn.h"

namespace mailroom::apiserver {

Result<User> Authenticate(const Request& request) {
  const Peer& peer = request.peer;
  if (peer.certificate_rejected) return Unauthorized();
  if (!request.headers.Get("authorization").empty()) return Unauthorized();
  if (!peer.common_name.empty() && !peer.front_proxy) {
    User user{peer.common_name, peer.organizations};
    user.groups.emplace_back("system:authenticated");
    return user;
  }
  return User{"system:anonymous", {"system:unauthenticated"}};
}

}  // namespace mailroom::apiserver
