#include "apiserver/access_oracle.h"

#include "apiserver/auth/impersonate.h"

namespace mailroom::apiserver {
namespace {

class Oracle final : public cel::AccessOracle {
 public:
  explicit Oracle(const Call& call) : call_(call) {}

  cel::AccessAnswer Ask(const cel::AccessQuestion& question) const override {
    Attributes asked;
    asked.workspace = call_.info.workspace.name();
    asked.verb = question.verb;
    asked.is_resource = question.path.empty();
    asked.path = question.path;
    asked.group = question.group;
    asked.resource = question.resource;
    asked.subresource = question.subresource;
    asked.ns = question.namespace_;
    asked.name = question.name;
    const Decision decision = call_.hub.authorizer.Decide(
        question.user.empty() ? call_.user : ServiceAccount(question.user), asked);
    cel::AccessAnswer answer;
    answer.allowed = decision.allowed;
    answer.reason = decision.reason;
    return answer;
  }

 private:
  User ServiceAccount(const std::string& name) const {
    User user{name};
    if (const auto account = SplitServiceAccount(name)) {
      user.groups = ServiceAccountGroups(account->first);
    }
    AddAuthenticated(user);
    user.home = call_.info.workspace.name();
    return user;
  }

  const Call& call_;
};

}  // namespace

std::shared_ptr<const cel::AccessOracle> OracleFor(const Call& call) {
  return std::make_shared<const Oracle>(call);
}

}  // namespace mailroom::apiserver
