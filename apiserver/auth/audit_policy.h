// What is recorded about which request: an audit.k8s.io/v1 Policy, first matching rule. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/attributes.h"
#include "apiserver/auth/user.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

enum class AuditLevel { kNone, kMetadata, kRequest, kRequestResponse };
enum class AuditStage { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };

std::string_view AuditLevelText(AuditLevel level);
std::string_view AuditStageText(AuditStage stage);

struct AuditChoice {
  AuditLevel level = AuditLevel::kNone;
  std::vector<AuditStage> omitted = {};
  bool omit_managed_fields = false;
  bool Wants(AuditStage stage) const;
};

class AuditPolicy {
 public:
  // Metadata of everything.
  AuditPolicy();
  // YAML or JSON of kind Policy.
  static Result<AuditPolicy> Parse(std::string_view text);

  // Bodies of Secrets and of anything that carries a token are never chosen, whatever a rule says.
  AuditChoice Choose(const User& user, const Attributes& asked) const;

 private:
  struct Resources {
    std::string group;
    std::vector<std::string> resources, names;
  };
  struct Rule {
    AuditLevel level;
    std::vector<std::string> users, groups, verbs, namespaces, urls, workspaces;
    std::vector<Resources> resources;
    std::vector<AuditStage> omitted;
    bool omit_managed_fields = false;
  };
  static bool Matches(const Rule& rule, const User& user, const Attributes& asked);

  std::vector<Rule> rules_;
};

}  // namespace mailroom::apiserver
