#include "openapi/base64.h"
#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kRequest = {"certificates.k8s.io", "v1", "CertificateSigningRequest"};

TEST(ValidateSigningRequests, Specs) {
  ExpectFaults(std::vector<NewCase>{
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: example.com/x}}",
       {}},
      {kRequest,
       "{spec: {}}",
       {"spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST",
        "spec.usages: Required value", "spec.signerName: Required value"}},
      {kRequest,
       "{spec: {request: ''}}",
       {"spec.request: Invalid value: \"\": PEM block type must be CERTIFICATE REQUEST",
        "spec.usages: Required value", "spec.signerName: Required value"}},
      {kRequest,
       "{}",
       {"spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST",
        "spec.usages: Required value", "spec.signerName: Required value"}},
      {kRequest,
       "{spec: {request: eA==, usages: [], signerName: x}}",
       {"spec.request: Invalid value: \"eA==\": PEM block type must be CERTIFICATE REQUEST",
        "spec.usages: Required value",
        "spec.signerName: Invalid value: \"x\": must be a fully qualified domain and path of the "
        "form 'example.com/signer-name'"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [], signerName: example.com/x}}",
       {"spec.usages: Required value"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth, Odd, client auth, '', Odd], signerName: example.com/x}}",
       {"spec.usages[1]: Unsupported value: \"Odd\": supported values: \"any\", \"cert sign\", "
        "\"client auth\", \"code signing\", \"content commitment\", \"crl sign\", \"data "
        "encipherment\", \"decipher only\", \"digital signature\", \"email protection\", "
        "\"encipher only\", \"ipsec end system\", \"ipsec tunnel\", \"ipsec user\", \"key "
        "agreement\", \"key encipherment\", \"microsoft sgc\", \"netscape sgc\", \"ocsp signing\", "
        "\"s/mime\", \"server auth\", \"signing\", \"timestamping\"",
        "spec.usages[3]: Unsupported value: \"\": supported values: \"any\", \"cert sign\", "
        "\"client auth\", \"code signing\", \"content commitment\", \"crl sign\", \"data "
        "encipherment\", \"decipher only\", \"digital signature\", \"email protection\", "
        "\"encipher only\", \"ipsec end system\", \"ipsec tunnel\", \"ipsec user\", \"key "
        "agreement\", \"key encipherment\", \"microsoft sgc\", \"netscape sgc\", \"ocsp signing\", "
        "\"s/mime\", \"server auth\", \"signing\", \"timestamping\"",
        "spec.usages[4]: Unsupported value: \"Odd\": supported values: \"any\", \"cert sign\", "
        "\"client auth\", \"code signing\", \"content commitment\", \"crl sign\", \"data "
        "encipherment\", \"decipher only\", \"digital signature\", \"email protection\", "
        "\"encipher only\", \"ipsec end system\", \"ipsec tunnel\", \"ipsec user\", \"key "
        "agreement\", \"key encipherment\", \"microsoft sgc\", \"netscape sgc\", \"ocsp signing\", "
        "\"s/mime\", \"server auth\", \"signing\", \"timestamping\"",
        "spec.usages[2]: Duplicate value: \"client auth\"",
        "spec.usages[4]: Duplicate value: \"Odd\""}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: kubernetes.io/legacy-unknown}}",
       {"spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName "
        "is not allowed via this API version"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: ''}}",
       {"spec.signerName: Required value"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'x'}}",
       {"spec.signerName: Invalid value: \"x\": must be a fully qualified domain and path of the "
        "form 'example.com/signer-name'"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'a/b'}}",
       {"spec.signerName: Invalid value: \"a\": should be a domain with at least two segments "
        "separated by dots"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'a/b/c'}}",
       {"spec.signerName: Invalid value: \"a/b/c\": must be a fully qualified domain and path of "
        "the form 'example.com/signer-name'"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'A.b/c'}}",
       {"spec.signerName: Invalid value: \"A.b\": validating label \"A\": a lowercase RFC 1123 "
        "label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation "
        "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'a.b/C'}}",
       {"spec.signerName: Invalid value: \"C\": validating label \"C\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'a.b/'}}",
       {"spec.signerName: Invalid value: \"\": validating label \"\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: '/b'}}",
       {"spec.signerName: Invalid value: \"\": validating label \"\": a lowercase RFC 1123 label "
        "must consist of lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "spec.signerName: Invalid value: \"\": should be a domain with at least two segments "
        "separated by dots"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'a.b/c d'}}",
       {"spec.signerName: Invalid value: \"c d\": validating label \"c d\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: "
       "'a.b/"
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
       "cccccccccccccccccccccccccccccccccccccccccccccccccccccc'}}",
       {"spec.signerName: Invalid value: "
        "\"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\": validating label "
        "\"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\": must be no more than "
        "253 characters",
        "spec.signerName: Too long: may not be more than 571 bytes"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'a.b/c.d'}}",
       {}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'x.y/..'}}",
       {"spec.signerName: Invalid value: \"..\": validating label \"\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: 'example.com/x:y'}}",
       {"spec.signerName: Invalid value: \"x:y\": validating label \"x:y\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: example.com/x, expirationSeconds: 599}}",
       {"spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 "
        "seconds (10 minutes)"}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [client auth], signerName: example.com/x, expirationSeconds: 600}}",
       {}},
      {kRequest,
       "{spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0"
       "tCg==, usages: [Odd, Odd], signerName: x, expirationSeconds: 1}}",
       {"spec.usages[0]: Unsupported value: \"Odd\": supported values: \"any\", \"cert sign\", "
        "\"client auth\", \"code signing\", \"content commitment\", \"crl sign\", \"data "
        "encipherment\", \"decipher only\", \"digital signature\", \"email protection\", "
        "\"encipher only\", \"ipsec end system\", \"ipsec tunnel\", \"ipsec user\", \"key "
        "agreement\", \"key encipherment\", \"microsoft sgc\", \"netscape sgc\", \"ocsp signing\", "
        "\"s/mime\", \"server auth\", \"signing\", \"timestamping\"",
        "spec.usages[1]: Unsupported value: \"Odd\": supported values: \"any\", \"cert sign\", "
        "\"client auth\", \"code signing\", \"content commitment\", \"crl sign\", \"data "
        "encipherment\", \"decipher only\", \"digital signature\", \"email protection\", "
        "\"encipher only\", \"ipsec end system\", \"ipsec tunnel\", \"ipsec user\", \"key "
        "agreement\", \"key encipherment\", \"microsoft sgc\", \"netscape sgc\", \"ocsp signing\", "
        "\"s/mime\", \"server auth\", \"signing\", \"timestamping\"",
        "spec.usages[1]: Duplicate value: \"Odd\"",
        "spec.signerName: Invalid value: \"x\": must be a fully qualified domain and path of the "
        "form 'example.com/signer-name'",
        "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 "
        "seconds (10 minutes)"}},
  });
}

TEST(ValidateSigningRequests, Conditions) {
  struct Write {
    const char *subresource, *before, *after;
    std::vector<std::string> expected;
  };
  const std::string where = "status.conditions";
  const Write writes[] = {
      {"approval", "", "{type: Approved, status: 'True'}, {type: X, status: Unknown}", {}},
      {"approval",
       "",
       "{}",
       {where + "[0].type: Required value", where + "[0].status: Required value"}},
      {"approval",
       "",
       "{type: Approved, status: 'False'}, {type: X, status: Odd}, {type: X, status: 'False'}",
       {where + "[0].status: Unsupported value: \"False\": supported values: \"True\"",
        where + "[1].status: Unsupported value: \"Odd\": supported values: \"False\", \"True\", "
                "\"Unknown\"",
        where + "[2].type: Duplicate value: \"X\""}},
      {"approval",
       "",
       "{type: Approved, status: 'True'}, {type: Denied, status: 'True'}",
       {where +
        ": Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive"}},
      {"approval",
       "{type: Approved, status: 'True'}",
       "",
       {where + ": Forbidden: updates may not remove a condition of type \"Approved\""}},
      {"status", "", "{type: Failed, status: 'True'}", {}},
      {"status",
       "{type: Approved, status: 'True'}",
       "{type: Denied, status: 'True'}",
       {where + ": Forbidden: updates may not remove a condition of type \"Approved\"",
        where + ": Forbidden: updates may not add a condition of type \"Denied\""}},
      {"approval",
       "{type: X, status: 'True'}, {type: X, status: 'True'}",
       "{type: X, status: 'True'}, {type: X, status: 'True'}",
       {}},
  };
  auto request = [](const char* conditions) {
    return std::string("{status: {conditions: [") + conditions + "]}}";
  };
  for (const Write& write : writes) {
    EXPECT_EQ(FaultsOf(kRequest, request(write.before).c_str(), request(write.after).c_str(),
                       write.subresource),
              write.expected)
        << write.after;
  }
}

constexpr const char* kCertificate =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBbDCCAROgAwIBAgIUNMSt8fWJYONCRnSBXqinMX75aRowCgYIKoZIzj0EAwIw\n"
    "DDEKMAgGA1UEAwwBYTAeFw0yNjExMTkxODE0MjFaFw0yNjEyMTkxODE0MjFaMAwx\n"
    "CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR84npgCp7s/nux\n"
    "+e7OX2OmCMMkV4GlWOMapgNzCZy6mhKqpCpsSjNJBxfzoqqBO6BWGSsBEhS9JZaw\n"
    "ZyXbz4Nlo1MwUTAdBgNVHQ4EFgQUD6tQEywDcIgolJD27ZWNBp3R31EwHwYDVR0j\n"
    "BBgwFoAUD6tQEywDcIgolJD27ZWNBp3R31EwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n"
    "hkjOPQQDAgNHADBEAiA6zbbLrssEdfT1raMmSi24W3IUyqApS0doxg37VYNJngIg\n"
    "FtFpKeMf1gEetX0aQ18scKEIe2teRwW5KwXSNhFYk+M=\n"
    "-----END CERTIFICATE-----\n";

TEST(ValidateSigningRequests, Certificates) {
  const auto block = [](const std::string& type, const std::string& text) {
    return "-----BEGIN " + type + "-----\n" + text + "-----END " + type + "-----\n";
  };
  const auto request = [](const std::string& pem) {
    return "{status: {certificate: '" + EncodeBase64(pem) + "'}}";
  };
  const auto faults = [&](const std::string& before, const std::string& after, const char* through) {
    return FaultsOf(kRequest, request(before).c_str(), request(after).c_str(), through);
  };
  using Texts = std::vector<std::string>;
  const std::string good = kCertificate, lead = "status.certificate: Invalid value: \"<certificate data>\": ";
  EXPECT_EQ(faults("", "lead\n" + good + "between\n" + good + "x", "status"), Texts());
  EXPECT_EQ(faults("", "x", "status"), Texts{lead + "must contain at least one CERTIFICATE PEM block"});
  EXPECT_EQ(faults("", block("FOO", "YQ==\n"), "status"),
            Texts{lead + "only CERTIFICATE PEM blocks are allowed, found \"FOO\""});
  EXPECT_EQ(faults("", block("CERTIFICATE", "YQ==\n"), "status"),
            Texts{lead + "x509: malformed certificate"});
  EXPECT_EQ(faults("", block("CERTIFICATE", "A: b\n\nYQ==\n"), "status"),
            Texts{lead + "no PEM block headers are permitted"});
  EXPECT_EQ(faults(good, good + "\n", "status"),
            Texts{"status.certificate: Forbidden: updates may not modify existing certificate content"});
  EXPECT_EQ(faults("", good, "approval"),
            Texts{"status.certificate: Forbidden: updates may not set certificate content"});
}

}  // namespace
}  // namespace mailroom::openapi
