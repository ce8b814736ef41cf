#include "apiserver/admission/admission.h"

#include "apiserver/admission/configurations.h"
#include "apiserver/admission/limit_range.h"
#include "apiserver/admission/pod_security.h"
#include "apiserver/admission/policies.h"
#include "apiserver/admission/quota.h"
#include "apiserver/admission/webhooks.h"

namespace mailroom::admission {
namespace {

const GroupResource kNamespaces{"", "namespaces"};
const GroupResource kLimitRanges{"", "limitranges"};

class Chain final : public Admission {
 public:
  Chain(const storage::CachedStore& store, const Options& options)
      : store_(store), clock_(options.clock), disabled_(options.disabled),
        secures_pods_(!disabled_.contains(kPodSecurity)), configurations_(store),
        client_(options.webhooks) {}

  bool Concerns(const Workspace& workspace, const openapi::ResourceType& type,
                const std::string& ns) override {
    if (IsExempt(type)) return false;
    return PluginsConcern(type, disabled_) || configurations_.Of(workspace) != nullptr ||
           store_.LastChange(workspace, kLimitRanges) != Revision() ||
           (secures_pods_ && PodSecurityConcerns(store_, workspace, type, ns));
  }

  void Forget(const Workspace& workspace) override { configurations_.Forget(workspace); }

  Result<bool> Mutate(Attributes& attributes, Json* object) override {
    const ConfigurationPtr configuration = ConfigurationFor(attributes);
    const bool changed = TRY(ApplyBuiltins(attributes, object));
    if (configuration == nullptr) return changed;
    Reinvocation reinvocation;
    TRY(MutateOnce(*configuration, attributes, object, reinvocation));
    if (!reinvocation.wanted) return changed;
    reinvocation.again = true;
    if (TRY(ApplyBuiltins(attributes, object))) reinvocation.Changed();
    TRY(MutateOnce(*configuration, attributes, object, reinvocation));
    return true;
  }

  Result<void> Validate(Attributes& attributes, const Json* object) override {
    TRY(CheckLimitRanges(attributes, object));
    if (secures_pods_ && object != nullptr) {
      TRY(CheckPodSecurity(store_, clock_, attributes, *object));
    }
    if (PluginsSee(attributes, object)) {
      TRY(ValidateByPlugins({store_, attributes}, disabled_, *object));
    }
    const ConfigurationPtr configuration = ConfigurationFor(attributes);
    if (configuration == nullptr) return Ok();
    const FindNamespace find = FinderFor(attributes.workspace);
    TRY(ValidateByPolicies({store_, find}, configuration->validating_policies, attributes, object));
    return admission::Validate({client_, find}, configuration->validating, attributes,
                               object);
  }

  bool Charges(const Workspace& workspace) const override {
    return store_.LastChange(workspace, kQuotas) != Revision();
  }

  Result<bool> Charge(const Attributes& attributes, const Json& object,
                      storage::Txn& txn) override {
    const auto now = clock_.Now().time_since_epoch();
    return ChargeQuotas(store_, attributes, object,
                        std::chrono::duration_cast<std::chrono::seconds>(now).count(), txn);
  }

 private:
  std::vector<storage::Entry> LimitRangesFor(const Attributes& attributes) const {
    if (!LimitsApply(attributes) ||
        store_.LastChange(attributes.workspace, kLimitRanges) == Revision()) {
      return {};
    }
    auto list = store_.List({.scope = {attributes.workspace, kLimitRanges, attributes.ns}});
    return list.ok() ? std::move(list->entries) : std::vector<storage::Entry>();
  }
  bool ApplyLimits(const Attributes& attributes, Json* object) const {
    if (object == nullptr || attributes.type->plural != "pods") return false;
    bool changed = false;
    for (const storage::Entry& entry : LimitRangesFor(attributes)) {
      changed = ApplyLimitDefaults(entry.object->ToJson(), *object) || changed;
    }
    return changed;
  }
  bool PluginsSee(const Attributes& attributes, const Json* object) const {
    return object != nullptr && admission::PluginsSee(attributes, disabled_);
  }
  // What the built-in plugins fill in; true when it was anything.
  Result<bool> ApplyBuiltins(const Attributes& attributes, Json* object) const {
    const bool limited = ApplyLimits(attributes, object);
    if (!PluginsSee(attributes, object)) return limited;
    const Json before = *object;
    TRY(MutateByPlugins({store_, attributes}, disabled_, *object));
    return limited || *object != before;
  }
  Result<void> CheckLimitRanges(const Attributes& attributes, const Json* object) const {
    if (object == nullptr) return Ok();
    for (const storage::Entry& entry : LimitRangesFor(attributes)) {
      const std::string problem =
          CheckLimits(entry.object->ToJson(), *attributes.type, *object);
      if (!problem.empty()) return Refuse(attributes, problem);
    }
    return Ok();
  }
  ConfigurationPtr ConfigurationFor(const Attributes& attributes) {
    return IsExempt(*attributes.type) ? nullptr : configurations_.Of(attributes.workspace);
  }
  FindNamespace FinderFor(const Workspace& workspace) const {
    return [this, &workspace](const std::string& name) {
      return store_.Get({workspace, kNamespaces, "", name});
    };
  }
  Result<void> MutateOnce(const Configuration& configuration, Attributes& attributes, Json* object,
                          Reinvocation& reinvocation) {
    const FindNamespace find = FinderFor(attributes.workspace);
    TRY(MutateByPolicies({store_, find}, configuration.mutating_policies, attributes, object,
                         reinvocation));
    return admission::Mutate({client_, find}, configuration.mutating, attributes,
                             object, reinvocation);
  }

  const storage::CachedStore& store_;
  const Clock& clock_;
  const DisabledPlugins disabled_;
  const bool secures_pods_;
  Configurations configurations_;
  WebhookClient& client_;
};

}  // namespace

std::unique_ptr<Admission> Admission::Make(const storage::CachedStore& store, Options options) {
  return std::make_unique<Chain>(store, options);
}

}  // namespace mailroom::admission
