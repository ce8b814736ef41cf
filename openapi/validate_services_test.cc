#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kService = {"", "v1", "Service"};

std::string Service(const std::string& more) { return "{spec: {ports: [{port: 80}], " + more + "}}"; }

TEST(ValidateServices, ChecksAddresses) {
  ExpectFaults({
      {kService,
       Service("externalIPs: [1.2.3.4, foo, 127.0.0.1, 010.1.1.1, 0.0.0.0, 169.254.1.1, 224.0.0.1, "
               "'::ffff:1.2.3.4']").c_str(),
       {"spec.externalIPs[1]: Invalid value: \"foo\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)",
        "spec.externalIPs[2]: Invalid value: \"127.0.0.1\": may not be in the loopback range "
        "(127.0.0.0/8, ::1/128)",
        "spec.externalIPs[3]: Invalid value: \"010.1.1.1\": must not have leading 0s",
        "spec.externalIPs[4]: Invalid value: \"0.0.0.0\": may not be unspecified (0.0.0.0)",
        "spec.externalIPs[5]: Invalid value: \"169.254.1.1\": may not be in the link-local range "
        "(169.254.0.0/16, fe80::/10)",
        "spec.externalIPs[6]: Invalid value: \"224.0.0.1\": may not be in the link-local multicast "
        "range (224.0.0.0/24, ff02::/10)",
        "spec.externalIPs[7]: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 "
        "address"}},
      {kService, Service("clusterIP: foo").c_str(),
       {"spec.clusterIPs[0]: Invalid value: \"foo\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)"}},
      {kService, Service("clusterIPs: [10.0.0.5]").c_str(),
       {"spec.clusterIPs: Invalid value: [\"10.0.0.5\"]: must be empty when `clusterIP` is not "
        "specified"}},
      {kService, Service("clusterIP: 10.0.0.5, clusterIPs: [10.0.0.6]").c_str(),
       {"spec.clusterIPs: Invalid value: [\"10.0.0.6\"]: first value must match `clusterIP`"}},
      {kService, Service("clusterIP: 10.0.0.5, clusterIPs: [10.0.0.5, 10.0.0.6]").c_str(),
       {"spec.clusterIPs: Invalid value: [\"10.0.0.5\",\"10.0.0.6\"]: may specify no more than one IP "
        "for each IP family"}},
      {kService, Service("clusterIP: 10.0.0.5, clusterIPs: [10.0.0.5, 'fd00::1'], ipFamilies: [IPv6, IPv6]").c_str(),
       {"spec.ipFamilies[1]: Duplicate value: \"IPv6\"",
        "spec.clusterIPs[0]: Invalid value: \"10.0.0.5\": expected an IPv6 value as indicated by "
        "`ipFamilies[0]`"}},
      {kService, Service("clusterIP: None, clusterIPs: [None, 1.2.3.4]").c_str(),
       {"spec.clusterIPs: Invalid value: [\"None\",\"1.2.3.4\"]: 'None' must be the first and only "
        "value"}},
      {kService,
       "{spec: {type: ExternalName, externalName: a.b, clusterIP: None, ipFamilies: [IPv4], "
       "ipFamilyPolicy: SingleStack}}",
       {"spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
        "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services"}},
  });
}

TEST(ValidateServices, ChecksWhatATypeHas) {
  const std::string note = "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]";
  ExpectFaults({
      {kService,
       Service("loadBalancerClass: a/b, allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "
               "Local, loadBalancerSourceRanges: [1.2.3.0/24], healthCheckNodePort: 30000").c_str(),
       {"spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
        "'LoadBalancer'",
        "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
        "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
        "externally-accessible services",
        "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
        "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"}},
      {kService, Service("externalIPs: [1.2.3.4], externalTrafficPolicy: Local").c_str(), {}},
      {kService,
       Service("type: LoadBalancer, loadBalancerSourceRanges: [' 1.2.3.0/24 ', foo, 1.2.3.4/24]").c_str(),
       {"spec.LoadBalancerSourceRanges[1]: Invalid value: \"foo\": must be a valid CIDR value, (e.g. "
        "10.9.8.0/24 or 2001:db8::/64)",
        "spec.LoadBalancerSourceRanges[2]: Invalid value: \"1.2.3.4/24\": must not have bits set "
        "beyond the prefix length"}},
      {kService,
       "{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: "
       "'1.2.3.0/24, foo'}}, spec: {ports: [{port: 80}]}}",
       {note + ": Forbidden: may only be used when `type` is 'LoadBalancer'",
        note + ": Invalid value: \"foo\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
               "2001:db8::/64)"}},
      {kService, Service("type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 70000").c_str(),
       {"spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive"}},
      {kService,
       Service("sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 86401}}").c_str(),
       {"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater "
        "than 0 and less than 86400"}},
      {kService, Service("trafficDistribution: Foo").c_str(),
       {"spec.trafficDistribution: Unsupported value: \"Foo\": supported values: \"PreferClose\", "
        "\"PreferSameZone\", \"PreferSameNode\""}},
      {kService, "{spec: {ports: [{port: 80, appProtocol: 'a b'}]}}",
       {"spec.ports[0].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
  });
}

TEST(ValidateServices, ChecksChanges) {
  const std::string probed = "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: ";
  ExpectFaults({
      {kService, Service("externalIPs: [010.1.1.1]").c_str(), Service("externalIPs: [010.1.1.1, 1.1.1.1]").c_str(), {}},
      {kService, Service("type: LoadBalancer, loadBalancerClass: a/b").c_str(),
       Service("type: LoadBalancer, loadBalancerClass: a/c").c_str(),
       {"spec.loadBalancerClass: Invalid value: \"a/c\": may not change once set"}},
      {kService, Service(probed + "30001").c_str(), Service(probed + "30002").c_str(),
       {"spec.healthCheckNodePort: Forbidden: field is immutable"}},
  });
  const std::string before = Service("type: LoadBalancer");
  EXPECT_EQ(FaultsOf(kService, before.c_str(),
                     "{spec: {type: LoadBalancer, ports: [{port: 80}]}, status: {loadBalancer: {ingress: "
                     "[{ip: foo}, {hostname: 1.2.3.4}, {ipMode: VIP, hostname: a}]}}}",
                     "status"),
            (std::vector<std::string>{
                "status.loadBalancer.ingress[0].ip: Invalid value: \"foo\": must be a valid IP address, "
                "(e.g. 10.9.8.7 or 2001:db8::ffff)",
                "status.loadBalancer.ingress[1].hostname: Invalid value: \"1.2.3.4\": must be a DNS "
                "name, not an IP address",
                "status.loadBalancer.ingress[2].ipMode: Forbidden: may not be specified when `ip` is "
                "not set"}));
}

}  // namespace
}  // namespace mailroom::openapi
