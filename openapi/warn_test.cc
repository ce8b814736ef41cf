#include "openapi/warn_builtin.h"

#include <gtest/gtest.h>

#include "openapi/base64.h"
#include "openapi/catalog.h"
#include "openapi/validate.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

using Texts = std::vector<std::string>;

Texts Of(const char* group, const char* plural, const Json& object, const Json* old = nullptr) {
  const auto type = BaseCatalog(WorkspaceType::kCluster)->FindShared(group, "v1", plural);
  return WarningsFor(*type, object, old);
}

Json Container(const Json& more = Json::object()) {
  Json out = {{"name", "c"}, {"image", "i"}};
  out.update(more);
  return out;
}

Json Pod(const Json& spec, const Json& annotations = Json::object()) {
  Json whole = {{"containers", Json::array({Container()})}};
  whole.update(spec);
  return {{"metadata", {{"name", "p"}, {"annotations", annotations}}}, {"spec", whole}};
}

Texts OfPod(const Json& spec, const Json& annotations = Json::object()) {
  return Of("", "pods", Pod(spec, annotations));
}

Json Deployment(const Json& pod, int generation = 1) {
  return {{"metadata", {{"name", "d"}, {"generation", generation}}}, {"spec", {{"template", pod}}}};
}

TEST(PodWarnings, ASoundPodHasNone) {
  EXPECT_EQ(OfPod(Json::object()), Texts());
  EXPECT_EQ(Of("apps", "deployments", Deployment(Pod(Json::object()))), Texts());
}

TEST(PodWarnings, NameWhatIsDeprecated) {
  EXPECT_EQ(OfPod({{"nodeSelector", {{"beta.kubernetes.io/os", "linux"}, {"kubernetes.io/os", "linux"}}}}),
            (Texts{"spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
                   "\"kubernetes.io/os\" instead"}));
  EXPECT_EQ(OfPod(Json::object(), {{"scheduler.alpha.kubernetes.io/critical-pod", ""}}),
            (Texts{"metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: "
                   "non-functional in v1.16+; use the \"priorityClassName\" field instead"}));
  EXPECT_EQ(OfPod({{"volumes", Json::array({{{"name", "v"}, {"gitRepo", {{"repository", "r"}}}}})}}),
            (Texts{"spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"}));
  EXPECT_EQ(OfPod(Json::object(), {{"seccomp.security.alpha.kubernetes.io/pod", "unconfined"},
                                   {"container.seccomp.security.alpha.kubernetes.io/c", "unconfined"}}),
            (Texts{"metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional "
                   "in v1.27+; use the \"seccompProfile\" field instead",
                   "metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: "
                   "non-functional in v1.27+; use the \"seccompProfile\" field instead"}));
  const Json expressions = Json::array(
      {{{"key", "failure-domain.beta.kubernetes.io/zone"}, {"operator", "In"}, {"values", {"a b"}}}});
  EXPECT_EQ(
      OfPod({{"affinity",
              {{"nodeAffinity",
                {{"preferredDuringSchedulingIgnoredDuringExecution",
                  Json::array({{{"preference", {{"matchExpressions", expressions}}}}})}}}}}}),
      (Texts{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
             "preference.matchExpressions[0].key: failure-domain.beta.kubernetes.io/zone is "
             "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
             "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
             "preference.matchExpressions[0].values[0]: a b is invalid, a valid label must be an "
             "empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
             "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
             "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}));
}

TEST(PodWarnings, NameWhatIsSaidTwice) {
  const auto of_env = [](const Json& env) {
    return OfPod({{"containers", Json::array({Container({{"env", env}})})}});
  };
  EXPECT_EQ(of_env(Json::array({{{"name", "A"}, {"value", "1"}}, {{"name", "A"}, {"value", "2"}}})),
            (Texts{"spec.containers[0].env[1]: hides previous definition of \"A\", which may be "
                   "dropped when using apply"}));
  EXPECT_EQ(of_env(Json::array({{{"name", "A"}, {"value", "1"}}, {{"name", "A"}, {"value", "$(A)2"}}})),
            Texts());
  EXPECT_EQ(of_env(Json::array({{{"name", "A"}, {"value", "1"}}, {{"name", "A"}, {"value", "$(A)"}}})).size(),
            1u);
  EXPECT_EQ(OfPod({{"hostAliases", Json::array({{{"ip", "1.2.3.4"}}, {{"ip", "1.2.3.4"}}})},
                   {"imagePullSecrets", Json::array({{{"name", "s"}}, {{"name", "s"}}, Json::object()})}}),
            (Texts{"spec.hostAliases[1].ip: duplicate ip \"1.2.3.4\"",
                   "spec.imagePullSecrets[1].name: duplicate name \"s\"",
                   "spec.imagePullSecrets[2].name: invalid empty name \"\""}));
  const Json port = {{"name", "web"}, {"containerPort", 80}, {"protocol", "TCP"}};
  EXPECT_EQ(OfPod({{"containers",
                    Json::array({Container({{"ports", Json::array({port})}}),
                                 Container({{"name", "d"}, {"ports", Json::array({port})}})})}}),
            (Texts{"spec.containers[1].ports[0]: duplicate port definition with "
                   "spec.containers[0].ports[0]",
                   "spec.containers[1].ports[0]: duplicate port name \"web\" with "
                   "spec.containers[0].ports[0], services and probes that select ports by name "
                   "will use spec.containers[0].ports[0]"}));
}

TEST(PodWarnings, NameWhatCannotBeMeant) {
  EXPECT_EQ(OfPod({{"containers",
                    Json::array({Container({{"resources", {{"requests", {{"memory", "100m"}}}}}})})}}),
            (Texts{"spec.containers[0].resources.requests[memory]: fractional byte value \"100m\" "
                   "is invalid, must be an integer"}));
  EXPECT_EQ(OfPod({{"terminationGracePeriodSeconds", -1}}),
            (Texts{"spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid "
                   "and will be treated as 1"}));
  EXPECT_EQ(OfPod({{"topologySpreadConstraints", Json::array({{{"topologyKey", "z"}}})}}),
            (Texts{"spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results "
                   "in matching no pod"}));
  const Json hostless = {{"containerPort", 80}, {"protocol", "TCP"}, {"hostIP", "10.1.1.1"}};
  EXPECT_EQ(OfPod({{"containers", Json::array({Container({{"ports", Json::array({hostless})}})})}}),
            (Texts{"spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 "
                   "ContainerPort:80 Protocol:TCP HostIP:10.1.1.1}"}));
  const Json items = Json::array({{{"key", "a"}, {"path", "dir"}}, {{"key", "b"}, {"path", "dir/x"}}});
  EXPECT_EQ(OfPod({{"volumes", Json::array({{{"name", "v"}, {"configMap", {{"name", "m"}, {"items", items}}}}})}}),
            (Texts{"volume \"v\" (ConfigMap \"m\"): overlapping paths: \"dir/x\" with \"dir\""}));
  EXPECT_EQ(OfPod({{"volumes",
                    Json::array({{{"name", "v"},
                                  {"projected",
                                   {{"sources",
                                     Json::array({{{"secret", {{"name", "s"}, {"items", items}}}},
                                                  {{"serviceAccountToken", {{"path", "dir"}}}}})}}}}})}}),
            (Texts{"volume \"v\" (Projected): overlapping paths: \"dir/x\" (Secret \"s\") with "
                   "\"dir\" (Secret \"s\")",
                   "volume \"v\" (Projected): overlapping paths: \"dir\" (ServiceAccountToken) with "
                   "\"dir\" (Secret \"s\")",
                   "volume \"v\" (Projected): overlapping paths: \"dir\" (ServiceAccountToken) with "
                   "\"dir/x\" (Secret \"s\")"}));
}

TEST(PodWarnings, StandWhereTheTemplateStands) {
  const Json pod = Pod({{"nodeSelector", {{"beta.kubernetes.io/os", "linux"}}}});
  const std::string rest = "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
                           "\"kubernetes.io/os\" instead";
  for (const char* plural : {"deployments", "replicasets", "daemonsets", "statefulsets"}) {
    EXPECT_EQ(Of("apps", plural, Deployment(pod)), (Texts{"spec.template." + rest})) << plural;
  }
  EXPECT_EQ(Of("", "podtemplates", {{"metadata", {{"name", "t"}}}, {"template", pod}}),
            (Texts{"template." + rest}));
  EXPECT_EQ(Of("batch", "jobs", Deployment(pod)), (Texts{"spec.template." + rest}));
  const Json job = {{"spec", {{"template", pod}}}};
  EXPECT_EQ(Of("batch", "cronjobs", {{"metadata", {{"name", "c"}}}, {"spec", {{"jobTemplate", job}}}}),
            (Texts{"spec.jobTemplate.spec.template." + rest}));
  // Once said, it is not said again until the object's wish changes.
  const Json first = Deployment(pod, 1), second = Deployment(pod, 2);
  EXPECT_EQ(Of("apps", "deployments", first, &first), Texts());
  EXPECT_EQ(Of("apps", "deployments", second, &first).size(), 1u);
  EXPECT_EQ(Of("", "pods", pod, &pod), Texts());
  const Json armored = Pod(Json::object(), {{"container.apparmor.security.beta.kubernetes.io/c", "runtime/default"}});
  EXPECT_EQ(Of("apps", "deployments", Deployment(armored)),
            (Texts{"spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
                   "deprecated since v1.30; use the \"appArmorProfile\" field instead"}));
  Json same = armored;
  Set(same, {"spec", "securityContext", "appArmorProfile"}, {{"type", "RuntimeDefault"}});
  EXPECT_EQ(Of("apps", "deployments", Deployment(same)), Texts());
  EXPECT_EQ(Of("", "pods", same), Texts());
  Json windows = armored;
  Set(windows, {"spec", "os", "name"}, "windows");
  EXPECT_EQ(Of("apps", "deployments", Deployment(windows)).size(), 1u);
  EXPECT_EQ(Of("", "pods", windows), Texts());
}

TEST(PodWarnings, RecommendNamesThatMakeHostNames) {
  Json deployment = Deployment(Pod(Json::object()));
  Set(deployment, {"metadata", "name"}, "a.b");
  const Texts found = Of("apps", "deployments", deployment);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0],
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
            "behavior; a DNS label is recommended: [must not contain dots]");
}

TEST(Warnings, AreGivenForServices) {
  const auto of = [](const Json& spec) { return Of("", "services", {{"spec", spec}}); };
  EXPECT_EQ(of({{"type", "ClusterIP"}, {"sessionAffinity", "None"}}), Texts());
  EXPECT_EQ(of({{"type", "ClusterIP"}, {"clusterIP", "None"}, {"sessionAffinity", "ClientIP"},
                {"externalIPs", {"1.1.1.1"}}}),
            (Texts{"spec.externalIPs is ignored for headless services",
                   "spec.SessionAffinity is ignored for headless services"}));
  EXPECT_EQ(of({{"type", "ClusterIP"}, {"externalName", "x.y"}}),
            (Texts{"spec.externalName is ignored when spec.type is not \"ExternalName\""}));
  EXPECT_EQ(of({{"type", "LoadBalancer"}, {"loadBalancerSourceRanges", {"10.0.0.1/8"}}}),
            (Texts{"spec.loadBalancerSourceRanges[0]: CIDR value \"10.0.0.1/8\" is ambiguous in "
                   "this context (should be \"10.0.0.0/8\" or \"10.0.0.1/32\"?)"}));
}

TEST(Warnings, AreGivenForOtherKinds) {
  EXPECT_EQ(Of("networking.k8s.io", "ingresses",
               {{"metadata", {{"annotations", {{"kubernetes.io/ingress.class", "x"}}}}},
                {"spec", {{"ingressClassName", "x"}}}}),
            Texts());
  EXPECT_EQ(Of("networking.k8s.io", "ingresses",
               {{"metadata", {{"annotations", {{"kubernetes.io/ingress.class", "x"}}}}}}),
            (Texts{"annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                   "'spec.ingressClassName' instead"}));
  EXPECT_EQ(Of("", "persistentvolumes", {{"spec", {{"persistentVolumeReclaimPolicy", "Recycle"}}}}),
            (Texts{"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
                   "Instead, the recommended approach is to use dynamic provisioning."}));
  EXPECT_EQ(Of("", "persistentvolumeclaims",
               {{"spec", {{"resources", {{"requests", {{"storage", "1500m"}}}}}}}}),
            (Texts{"spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, "
                   "must be an integer"}));
  EXPECT_EQ(Of("node.k8s.io", "runtimeclasses",
               {{"scheduling", {{"nodeSelector", {{"beta.kubernetes.io/arch", "x"}}}}}}),
            (Texts{"scheduling.nodeSelector: deprecated since v1.14; use \"kubernetes.io/arch\" "
                   "instead"}));
  EXPECT_EQ(Of("", "resourcequotas",
               {{"spec", {{"hard", {{"cpu", "3"}, {"limits.cpu", "2"}, {"requests.memory", "1Gi"},
                                    {"limits.memory", "2Gi"}}}}}}),
            (Texts{"ResourceQuota cpu (3) should be less than limits.cpu (2)"}));
  EXPECT_EQ(
      Of("storage.k8s.io", "csidrivers",
         {{"spec", {{"tokenRequests", {{{"audience", "a"}, {"expirationSeconds", 600}}}}}}}),
      (Texts{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set "
             "to true to prevent possible logging of tokens in volume attributes"}));
}

TEST(Warnings, CertificatesFitTheirKeys) {
  constexpr const char* kCertificate =
      "-----BEGIN CERTIFICATE-----\n"
      "MIIBbjCCARWgAwIBAgIUFxa5jqitCLSQvbPeNgvm3HjVWmMwCgYIKoZIzj0EAwIw\n"
      "DDEKMAgGA1UEAwwBYTAgFw0yNjExMTkxODM0MjJaGA8yMTI2MTAyNjE4MzQyMlow\n"
      "DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAqtaHYEiCKs\n"
      "jH2qjMIk2OKjTauqqWgo3diab23zE8dmrhBkcfTeyivbHTIAgjGibmzTlvSWBQiH\n"
      "GiE4JswYS/yjUzBRMB0GA1UdDgQWBBQ+olICUwPLsaiaF5y4Tpex/57b4jAfBgNV\n"
      "HSMEGDAWgBQ+olICUwPLsaiaF5y4Tpex/57b4jAPBgNVHRMBAf8EBTADAQH/MAoG\n"
      "CCqGSM49BAMCA0cAMEQCIA9V2FAAlS4ZgHpmvXEBNy3cM5Qor1A0iykloVDcOtiB\n"
      "AiA/my+ai3V7uNWJL/IHyNbTTH+pelfXFibFth9DZ62Mlg==\n"
      "-----END CERTIFICATE-----\n";
  constexpr const char* kKey =
      "-----BEGIN PRIVATE KEY-----\n"
      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQB64dqdstiPGPE4B\n"
      "Hxfoqpjk8EhQ0m9DB9T3qqDVLM+hRANCAAQKrWh2BIgirIx9qozCJNjio02rqqlo\n"
      "KN3Ymm9t8xPHZq4QZHH03sor2x0yAIIxom5s05b0lgUIhxohOCbMGEv8\n"
      "-----END PRIVATE KEY-----\n";
  constexpr const char* kOther =
      "-----BEGIN PRIVATE KEY-----\n"
      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMI7THznMkBDYLYri\n"
      "jxgnThV1l8WYqsWiPAPQ7igtMAqhRANCAASbiTGy9+5wWaXSRAs8v0cZBHUu4KEV\n"
      "Rs2YW36Jgt/u0J1Nab3USb/EFxSpAUg6KHEhoy5SfCpMpS1TAV+UGbKj\n"
      "-----END PRIVATE KEY-----\n";
  const auto of = [](const std::string& certificate, const std::string& key) {
    return Of("", "secrets",
              {{"type", "kubernetes.io/tls"},
               {"data", {{"tls.crt", EncodeBase64(certificate)}, {"tls.key", EncodeBase64(key)}}}});
  };
  EXPECT_EQ(of(kCertificate, kKey), Texts());
  EXPECT_EQ(of(kCertificate, kOther), (Texts{"tls: private key does not match public key"}));
  EXPECT_EQ(of("", ""), (Texts{"tls: failed to find any PEM data in certificate input"}));
  EXPECT_EQ(of(kCertificate, ""), (Texts{"tls: failed to find any PEM data in key input"}));
  EXPECT_EQ(of(kKey, kKey),
            (Texts{"tls: failed to find certificate PEM data in certificate input, but did find a "
                   "private key; PEM inputs may have been switched"}));
  EXPECT_EQ(of(kCertificate, kCertificate),
            (Texts{"tls: found a certificate rather than a key in the PEM for the private key"}));
}

TEST(Warnings, LookAtEveryAddress) {
  const std::string why =
      ": IPv6 address \"2001:DB8:0::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")";
  const Json odd = {{"ip", "2001:DB8:0::1"}};
  EXPECT_EQ(Of("", "endpoints", {{"subsets", {{{"notReadyAddresses", Json::array({odd})}}}}}),
            (Texts{"subsets[0].notReadyAddresses[0].ip" + why}));
  Json slice = {{"endpoints", Json::array({{{"addresses", {"2001:DB8:0::1"}}}})}};
  EXPECT_EQ(Of("discovery.k8s.io", "endpointslices", slice),
            (Texts{"endpoints[0].addresses[0]" + why}));
  Set(slice, {"metadata", "labels", "endpointslice.kubernetes.io/managed-by"},
      "endpointslice-controller.k8s.io");
  EXPECT_EQ(Of("discovery.k8s.io", "endpointslices", slice), Texts());
  const auto of_status = [](const char* plural, const Json& status) {
    ResourceType type;
    type.stored_as = {"", plural};
    return WarningsFor(type, {{"status", status}}, nullptr, "status");
  };
  EXPECT_EQ(of_status("pods", {{"podIPs", Json::array({odd})}}),
            (Texts{"status.podIPs[0].ip" + why}));
  EXPECT_EQ(of_status("services", {{"loadBalancer", {{"ingress", Json::array({odd})}}}}),
            (Texts{"status.loadBalancer.ingress[0]" + why}));
  EXPECT_EQ(of_status("nodes", {{"podIPs", Json::array({odd})}}), Texts());
}

TEST(Warnings, TellHowAddressesAreWritten) {
  const auto ip = [](const std::string& text) {
    Texts out;
    WarnAboutIp("f", text, out);
    return out;
  };
  EXPECT_EQ(ip("10.0.0.1"), Texts());
  EXPECT_EQ(ip("2001:db8::1"), Texts());
  EXPECT_EQ(ip("2001:DB8:0::1"),
            (Texts{"f: IPv6 address \"2001:DB8:0::1\" should be in RFC 5952 canonical format "
                   "(\"2001:db8::1\")"}));
  EXPECT_EQ(ip("::ffff:1.2.3.4"),
            (Texts{"f: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\""}));
  const auto cidr = [](const std::string& text) {
    Texts out;
    WarnAboutCidr("f", text, out);
    return out;
  };
  EXPECT_EQ(cidr("10.0.0.0/8"), Texts());
  EXPECT_EQ(cidr("nonsense"), Texts());
  EXPECT_EQ(cidr("2001:DB8::/32"),
            (Texts{"f: IPv6 CIDR value \"2001:DB8::/32\" should be in RFC 5952 canonical format "
                   "(\"2001:db8::/32\")"}));
}

TEST(Warnings, TellOfOtherNames) {
  const Json topology = {{"matchExpressions", Json::array({{{"key", "beta.kubernetes.io/os"}}})},
                         {"matchLabels", {{"beta.kubernetes.io/arch", "x"}}}};
  EXPECT_EQ(Of("storage.k8s.io", "csistoragecapacities", {{"nodeTopology", topology}}),
            (Texts{"nodeTopology.matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; "
                   "use \"kubernetes.io/os\" instead",
                   "nodeTopology.matchLabels.beta.kubernetes.io/arch: deprecated since v1.14; use "
                   "\"kubernetes.io/arch\" instead"}));
  EXPECT_EQ(Of("resource.k8s.io", "resourceslices", {{"spec", {{"driver", "Dx"}}}}),
            (Texts{"spec.driver: driver names should be lowercase; \"Dx\" contains uppercase characters"}));
  EXPECT_EQ(Of("resource.k8s.io", "resourceslices", {{"spec", {{"driver", "dx"}}}}), Texts());
  EXPECT_EQ(Of("admissionregistration.k8s.io", "validatingwebhookconfigurations",
               {{"metadata", {{"name", "a.static.k8s.io"}}}}),
            (Texts{"metadata.name: names ending with \".static.k8s.io\" are reserved for static "
                   "manifest-based configurations and cannot be managed via the API"}));
}

}  // namespace
}  // namespace mailroom::openapi
