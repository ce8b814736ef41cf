// CertificateSigningRequests: what is asked of whom, and what was decided.
#include <algorithm>
#include <array>
#include <set>

#include "openapi/base64.h"
#include "openapi/validate_builtin.h"
#include "openapi/validate_certificates.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::int64_t kShortestSeconds = 600;
constexpr std::size_t kDomainBytes = 253, kSignerBytes = 571;
constexpr std::string_view kLegacySigner = "kubernetes.io/legacy-unknown";
// Conditions that are never false, and never go again.
constexpr std::array<std::string_view, 3> kFinal = {"Approved", "Denied", "Failed"};
constexpr std::string_view kConditions = "status.conditions";

const std::vector<std::string>& Usages() {
  static const std::vector<std::string> kUsages = {"any",
                                                   "cert sign",
                                                   "client auth",
                                                   "code signing",
                                                   "content commitment",
                                                   "crl sign",
                                                   "data encipherment",
                                                   "decipher only",
                                                   "digital signature",
                                                   "email protection",
                                                   "encipher only",
                                                   "ipsec end system",
                                                   "ipsec tunnel",
                                                   "ipsec user",
                                                   "key agreement",
                                                   "key encipherment",
                                                   "microsoft sgc",
                                                   "netscape sgc",
                                                   "ocsp signing",
                                                   "s/mime",
                                                   "server auth",
                                                   "signing",
                                                   "timestamping"};
  return kUsages;
}

std::vector<std::string> Labels(const std::string& text) {
  std::vector<std::string> labels(1);
  for (char c : text) {
    if (c == '.') {
      labels.emplace_back();
    } else {
      labels.back() += c;
    }
  }
  return labels;
}

// The labels of one half of a signer's name; no more is said after the first that is wrong.
void CheckHalf(const BuiltinCheck& check, const std::string& half,
               Complaints (*of_label)(std::string_view), const std::string& path) {
  for (const std::string& label : Labels(half)) {
    const Complaints complaints = of_label(label);
    for (const std::string& complaint : complaints) {
      check.Invalid(path, half, "validating label " + Quoted(label) + ": " + complaint);
    }
    if (!complaints.empty()) return;
  }
}

void CheckSigner(const BuiltinCheck& check) {
  const std::string path = "spec.signerName", name = StringAt(check.object, {"spec", "signerName"});
  if (name.empty()) return check.Required(path);
  if (name == kLegacySigner) {
    return check.Invalid(path, name, "the legacy signerName is not allowed via this API version");
  }
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash != name.rfind('/')) {
    return check.Invalid(path, name,
                         "must be a fully qualified domain and path of the form "
                         "'example.com/signer-name'");
  }
  const std::string domain = name.substr(0, slash);
  if (domain.size() > kDomainBytes) check.causes.push_back(TooLong(path, kDomainBytes));
  CheckHalf(check, domain, CheckLabel, path);
  if (domain.find('.') == std::string::npos) {
    check.Invalid(path, domain, "should be a domain with at least two segments separated by dots");
  }
  CheckHalf(check, name.substr(slash + 1), CheckSubdomain, path);
  if (name.size() > kSignerBytes) check.causes.push_back(TooLong(path, kSignerBytes));
}

// Whether there is a request at all; what it holds is read elsewhere.
void CheckRequest(const BuiltinCheck& check) {
  const std::string text = StringAt(check.object, {"spec", "request"});
  const std::string pem = DecodeBase64(text).value_or("");
  const std::size_t block = pem.find("-----BEGIN ");
  if (block != std::string::npos &&
      std::string_view(pem).substr(block).starts_with("-----BEGIN CERTIFICATE REQUEST-----") &&
      pem.find("-----END CERTIFICATE REQUEST-----", block) != std::string::npos) {
    return;
  }
  const Json* given = Find(check.object, {"spec", "request"});
  check.Invalid("spec.request", given == nullptr ? Json() : *given,
                "PEM block type must be CERTIFICATE REQUEST");
}

void CheckUsages(const BuiltinCheck& check) {
  const std::string path = "spec.usages";
  const Json& usages = ArrayAt(check.object, {"spec", "usages"});
  if (usages.empty()) check.Required(path);
  for (std::size_t i = 0; i < usages.size() && !check.causes.full(); ++i) {
    if (std::find(Usages().begin(), Usages().end(), usages[i]) == Usages().end()) {
      check.causes.push_back(NotSupported(Indexed(path, i), usages[i], Usages()));
    }
  }
  std::set<Json> seen;
  for (std::size_t i = 0; i < usages.size() && !check.causes.full(); ++i) {
    if (!seen.insert(usages[i]).second) {
      check.causes.push_back(DuplicateValue(Indexed(path, i), Rendered(usages[i])));
    }
  }
}

// How often each type stands in the status; none without an object.
std::multiset<std::string> TypesOf(const Json* request) {
  std::multiset<std::string> types;
  if (request == nullptr) return types;
  for (const Json& condition : ArrayAt(*request, {"status", "conditions"})) {
    types.insert(StringAt(condition, {"type"}));
  }
  return types;
}

// Faults of an older status that a newer one may repeat.
struct Tolerance {
  bool empty_type, repeated_type, both_decisions;

  explicit Tolerance(const std::multiset<std::string>& before)
      : empty_type(before.contains("")),
        repeated_type(std::set(before.begin(), before.end()).size() != before.size()),
        both_decisions(before.contains("Approved") && before.contains("Denied")) {}
};

void CheckCondition(const BuiltinCheck& check, const Json& condition, const Tolerance& tolerance,
                    const std::string& path) {
  const std::string type = StringAt(condition, {"type"}), status = StringAt(condition, {"status"});
  if (type.empty() && !tolerance.empty_type) check.Required(path + ".type");
  std::vector<std::string> allowed = {"False", "True", "Unknown"};
  if (std::find(kFinal.begin(), kFinal.end(), type) != kFinal.end()) allowed = {"True"};
  if (status.empty()) {
    check.Required(path + ".status");
  } else if (std::find(allowed.begin(), allowed.end(), status) == allowed.end()) {
    check.causes.push_back(NotSupported(path + ".status", status, allowed));
  }
}

void CheckConditions(const BuiltinCheck& check, const Tolerance& tolerance) {
  const Json& conditions = ArrayAt(check.object, {"status", "conditions"});
  std::set<std::string> seen;
  for (std::size_t i = 0; i < conditions.size() && !check.causes.full(); ++i) {
    const std::string path = Indexed(std::string(kConditions), i);
    const std::string type = StringAt(conditions[i], {"type"});
    CheckCondition(check, conditions[i], tolerance, path);
    const bool excluded = (type == "Approved" && seen.contains("Denied")) ||
                          (type == "Denied" && seen.contains("Approved"));
    if (excluded && !tolerance.both_decisions) {
      check.Invalid(std::string(kConditions), type,
                    "Approved and Denied conditions are mutually exclusive");
    }
    if (!seen.insert(type).second && !tolerance.repeated_type) {
      check.causes.push_back(DuplicateValue(path + ".type", Quoted(type)));
    }
  }
}

// Final conditions stay; decisions come by approval alone.
void CheckDecisions(const BuiltinCheck& check, const std::multiset<std::string>& before,
                    const std::multiset<std::string>& now) {
  auto forbid = [&](const char* verb, std::string_view type) {
    check.Forbidden(std::string(kConditions), std::string("updates may not ") + verb +
                                                  " a condition of type " + Quoted(type));
  };
  for (std::string_view type : kFinal) {
    const std::string name(type);
    if (now.count(name) < before.count(name)) forbid("remove", type);
  }
  if (check.subresource == "approval") return;
  for (const char* type : {"Approved", "Denied"}) {
    if (now.count(type) > before.count(type)) forbid("add", type);
  }
}

std::string CertificateOf(const Json& request) {
  const std::string text = StringAt(request, {"status", "certificate"});
  return DecodeBase64(text).value_or(text);
}

// Only what is new has to be a certificate, unless what was there was none either.
void CheckIssued(const BuiltinCheck& check) {
  const std::string now = CertificateOf(check.object), before = CertificateOf(*check.old);
  if (now == before || !CertificatesFault(before).empty()) return;
  const std::string fault = CertificatesFault(now);
  if (!fault.empty()) check.Invalid("status.certificate", "<certificate data>", fault);
}

// It is set once, by the signer.
void CheckIssue(const BuiltinCheck& check) {
  const std::string before = CertificateOf(*check.old);
  if (CertificateOf(check.object) == before) return;
  if (check.subresource != "status") {
    check.Forbidden("status.certificate", "updates may not set certificate content");
  } else if (!before.empty()) {
    check.Forbidden("status.certificate", "updates may not modify existing certificate content");
  }
}

}  // namespace

void CheckCertificateRequest(const BuiltinCheck& check) {
  if (check.old != nullptr) {  // its spec does not change
    const auto before = TypesOf(check.old);
    CheckConditions(check, Tolerance(before));
    CheckIssued(check);
    CheckDecisions(check, before, TypesOf(&check.object));
    return CheckIssue(check);
  }
  CheckRequest(check);
  CheckUsages(check);
  CheckSigner(check);
  const std::int64_t seconds = IntAt(check.object, {"spec", "expirationSeconds"}, kShortestSeconds);
  if (seconds < kShortestSeconds) {
    check.Invalid("spec.expirationSeconds", seconds,
                  "may not specify a duration less than 600 seconds (10 minutes)");
  }
}

}  // namespace mailroom::openapi
