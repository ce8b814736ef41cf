#include "apiserver/access_oracle.h"

#include "apiserver/authz.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

class Oracle final : public cel::AccessOracle {
 public:
  explicit Oracle(const Call& call) : call_(call) {}

  cel::AccessAnswer Ask(const cel::AccessQuestion& question) const override {
    RequestInfo info;
    info.workspace = call_.info.workspace;
    info.verb = question.verb;
    info.is_resource = question.path.empty();
    info.path = question.path;
    info.group = question.group;
    info.resource = question.resource;
    info.subresource = question.subresource;
    info.ns = question.namespace_;
    info.name = question.name;
    cel::AccessAnswer answer;
    auto allowed = Authorize(question.user.empty() ? call_.user : ServiceAccount(question.user), info);
    answer.allowed = allowed.ok();
    if (!allowed.ok()) answer.reason = allowed.error().message();
    return answer;
  }

 private:
  // A service account is in the groups of all of them and of its namespace.
  static User ServiceAccount(const std::string& name) {
    User user;
    user.name = name;
    const std::string rest = name.substr(std::min(kServiceAccount.size(), name.size()));
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + rest.substr(0, rest.find(':')),
                   "system:authenticated"};
    return user;
  }

  const Call& call_;
};

}  // namespace

std::shared_ptr<const cel::AccessOracle> OracleFor(const Call& call) {
  return std::make_shared<const Oracle>(call);
}

}  // namespace mailroom::apiserver
