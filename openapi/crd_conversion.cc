// spec.conversion of a definition. Errors stand where the field was in v1beta1, as kube-apiserver
// reports them.
#include <openssl/err.h>
#include <openssl/pem.h>

#include "openapi/crd.h"
#include "openapi/validate_rules.h"
#include "openapi/webhook_endpoint.h"
#include "storage/object/openssl.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kPath = "spec.conversion";

// The first certificate of a bundle can be read, or why it cannot.
std::string BundleProblem(const std::string& pem) {
  const openssl::Bio reader = openssl::Reader(pem);
  const openssl::Certificate first(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();  // the end of the text is one, too
  return first != nullptr ? "" : "data does not contain any valid RSA or ECDSA certificates";
}

const Json* ClientConfig(const Json& crd) {
  return Find(crd, {"spec", "conversion", "webhook", "clientConfig"});
}

void CheckBundle(const BuiltinCheck& check, const Json& config) {
  const std::string pem = ParseWebhookEndpoint(config).ca_pem;
  if (pem.empty()) return;
  // New definitions are let in and stay unestablished; one that had no good bundle may keep that.
  if (check.old == nullptr || !HasValidBundle(*check.old)) return;
  if (const std::string problem = BundleProblem(pem); !problem.empty()) {
    check.Invalid(std::string(kPath) + ".webhookClientConfig.caBundle",
                  StringAt(config, {"caBundle"}), "unable to load root certificates: " + problem);
  }
}

void CheckWebhook(const BuiltinCheck& check) {
  const std::string field = std::string(kPath) + ".webhookClientConfig";
  if (const Json* config = ClientConfig(check.object); config == nullptr) {
    check.Required(field, "required when strategy is set to Webhook");
  } else {
    CheckClientConfig(check, *config, field);
    CheckBundle(check, *config);
  }
  CheckReviewVersions(
      check, StringsAt(check.object, {"spec", "conversion", "webhook", "conversionReviewVersions"}),
      std::string(kPath) + ".conversionReviewVersions", "");
}

}  // namespace

bool HasValidBundle(const Json& crd) {
  const Json* config = ClientConfig(crd);
  if (config == nullptr || StringAt(crd, {"spec", "conversion", "strategy"}) != "Webhook") {
    return true;
  }
  const std::string text = StringAt(*config, {"caBundle"});
  return text.empty() || BundleProblem(ParseWebhookEndpoint(*config).ca_pem).empty();
}

void CheckConversion(const Json& crd, const Json* old, Causes& causes) {
  const Json* conversion = Find(crd, {"spec", "conversion"});
  if (conversion == nullptr) return;
  const BuiltinCheck check{crd, old, causes};
  const std::string strategy = StringAt(*conversion, {"strategy"});
  const std::string field = std::string(kPath) + ".strategy";
  if (strategy.empty()) {
    check.Required(field);
  } else {
    CheckOneOf(check, field, strategy, {"None", "Webhook"});
  }
  if (strategy == "Webhook") {
    if (BoolAt(crd, {"spec", "preserveUnknownFields"})) {
      check.Invalid(field, strategy, "must be None if spec.preserveUnknownFields is true");
    }
    return CheckWebhook(check);
  }
  const std::string unwanted = "should not be set when strategy is not set to Webhook";
  if (ClientConfig(crd) != nullptr) {
    check.Forbidden(std::string(kPath) + ".webhookClientConfig", unwanted);
  }
  if (!StringsAt(*conversion, {"webhook", "conversionReviewVersions"}).empty()) {
    check.Forbidden(std::string(kPath) + ".conversionReviewVersions", unwanted);
  }
}

}  // namespace mailroom::openapi
