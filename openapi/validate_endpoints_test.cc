#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kSlice = {"discovery.k8s.io", "v1", "EndpointSlice"};
const GroupVersionKind kEndpoints = {"", "v1", "Endpoints"};

TEST(ValidateEndpoints, Endpoints) {
  ExpectFaults(std::vector<NewCase>{
      {kSlice, "{addressType: IPv4, endpoints: []}", {}},
      {kSlice, "{}", {"addressType: Required value"}},
      {kSlice,
       "{addressType: Odd, endpoints: []}",
       {"addressType: Unsupported value: \"Odd\": supported values: \"FQDN\", \"IPv4\", \"IPv6\""}},
      {kSlice, "{addressType: IPv4}", {}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3], nodeName: a.b, hostname: h, zone: "
       "z, targetRef: {kind: Pod}, hints: {forZones: [{name: a}], forNodes: [{name: b}]}}]}",
       {}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{}]}",
       {"endpoints[0].addresses: Required value: must contain at least 1 address"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: []}]}",
       {"endpoints[0].addresses: Required value: must contain at least 1 address"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.0.0.0, 10.0.0.1, 10.0.0.2, 10.0.0.3, "
       "10.0.0.4, 10.0.0.5, 10.0.0.6, 10.0.0.7, 10.0.0.8, 10.0.0.9, 10.0.0.10, 10.0.0.11, "
       "10.0.0.12, 10.0.0.13, 10.0.0.14, 10.0.0.15, 10.0.0.16, 10.0.0.17, 10.0.0.18, 10.0.0.19, "
       "10.0.0.20, 10.0.0.21, 10.0.0.22, 10.0.0.23, 10.0.0.24, 10.0.0.25, 10.0.0.26, 10.0.0.27, "
       "10.0.0.28, 10.0.0.29, 10.0.0.30, 10.0.0.31, 10.0.0.32, 10.0.0.33, 10.0.0.34, 10.0.0.35, "
       "10.0.0.36, 10.0.0.37, 10.0.0.38, 10.0.0.39, 10.0.0.40, 10.0.0.41, 10.0.0.42, 10.0.0.43, "
       "10.0.0.44, 10.0.0.45, 10.0.0.46, 10.0.0.47, 10.0.0.48, 10.0.0.49, 10.0.0.50, 10.0.0.51, "
       "10.0.0.52, 10.0.0.53, 10.0.0.54, 10.0.0.55, 10.0.0.56, 10.0.0.57, 10.0.0.58, 10.0.0.59, "
       "10.0.0.60, 10.0.0.61, 10.0.0.62, 10.0.0.63, 10.0.0.64, 10.0.0.65, 10.0.0.66, 10.0.0.67, "
       "10.0.0.68, 10.0.0.69, 10.0.0.70, 10.0.0.71, 10.0.0.72, 10.0.0.73, 10.0.0.74, 10.0.0.75, "
       "10.0.0.76, 10.0.0.77, 10.0.0.78, 10.0.0.79, 10.0.0.80, 10.0.0.81, 10.0.0.82, 10.0.0.83, "
       "10.0.0.84, 10.0.0.85, 10.0.0.86, 10.0.0.87, 10.0.0.88, 10.0.0.89, 10.0.0.90, 10.0.0.91, "
       "10.0.0.92, 10.0.0.93, 10.0.0.94, 10.0.0.95, 10.0.0.96, 10.0.0.97, 10.0.0.98, 10.0.0.99, "
       "10.0.0.100]}]}",
       {"endpoints[0].addresses: Too many: 101: must have at most 100 items"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [x, 010.1.2.3, '::1', 'fd00::1', "
       "'::ffff:1.2.3.4', 0.0.0.0, 127.0.0.1, 169.254.1.1, 224.0.0.1, 255.255.255.255, "
       "1.2.3.4.5]}]}",
       {"endpoints[0].addresses[0]: Invalid value: \"x\": must be a valid IP address, (e.g. "
        "10.9.8.7 or 2001:db8::ffff)",
        "endpoints[0].addresses[1]: Invalid value: \"010.1.2.3\": must not have leading 0s",
        "endpoints[0].addresses: Invalid value: \"::1\": must be an IPv4 address",
        "endpoints[0].addresses: Invalid value: \"fd00::1\": must be an IPv4 address",
        "endpoints[0].addresses[4]: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped "
        "IPv6 address",
        "endpoints[0].addresses[5]: Invalid value: \"0.0.0.0\": may not be unspecified (0.0.0.0)",
        "endpoints[0].addresses[7]: Invalid value: \"169.254.1.1\": may not be in the link-local "
        "range (169.254.0.0/16, fe80::/10)",
        "endpoints[0].addresses[8]: Invalid value: \"224.0.0.1\": may not be in the link-local "
        "multicast range (224.0.0.0/24, ff02::/10)",
        "endpoints[0].addresses[10]: Invalid value: \"1.2.3.4.5\": must be a valid IP address, "
        "(e.g. 10.9.8.7 or 2001:db8::ffff)"}},
      {kSlice,
       "{addressType: IPv6, endpoints: [{addresses: [x, 10.1.2.3, '::', '::1', 'fd00::1', "
       "'fd00:0::1', 'FD00::1', 'fe80::1', 'ff02::1', '::ffff:1.2.3.4', 'fd00::00001']}]}",
       {"endpoints[0].addresses[0]: Invalid value: \"x\": must be a valid IP address, (e.g. "
        "10.9.8.7 or 2001:db8::ffff)",
        "endpoints[0].addresses: Invalid value: \"10.1.2.3\": must be an IPv6 address",
        "endpoints[0].addresses[2]: Invalid value: \"::\": may not be unspecified (::)",
        "endpoints[0].addresses[5]: Invalid value: \"fd00:0::1\": must be in canonical form "
        "(\"fd00::1\")",
        "endpoints[0].addresses[6]: Invalid value: \"FD00::1\": must be in canonical form "
        "(\"fd00::1\")",
        "endpoints[0].addresses[7]: Invalid value: \"fe80::1\": may not be in the link-local range "
        "(169.254.0.0/16, fe80::/10)",
        "endpoints[0].addresses[8]: Invalid value: \"ff02::1\": may not be in the link-local "
        "multicast range (224.0.0.0/24, ff02::/10)",
        "endpoints[0].addresses[9]: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped "
        "IPv6 address",
        "endpoints[0].addresses[10]: Invalid value: \"fd00::00001\": must not have leading 0s"}},
      {kSlice,
       "{addressType: FQDN, endpoints: [{addresses: [a.b, a, A_b.c, 'a.b.', 1.2.3.4, '']}]}",
       {"endpoints[0].addresses[1]: Invalid value: \"a\": should be a domain with at least two "
        "segments separated by dots",
        "endpoints[0].addresses[2]: Invalid value: \"A_b.c\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "endpoints[0].addresses[5]: Required value"}},
      {kSlice,
       "{addressType: Odd, endpoints: [{addresses: [x]}]}",
       {"addressType: Unsupported value: \"Odd\": supported values: \"FQDN\", \"IPv4\", \"IPv6\""}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3], nodeName: A_b, hostname: a.b}]}",
       {"endpoints[0].nodeName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "endpoints[0].hostname: Invalid value: \"a.b\": must not contain dots"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3], nodeName: '', hostname: ''}]}",
       {"endpoints[0].nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "endpoints[0].hostname: Invalid value: \"\": a lowercase RFC 1123 label must consist of "
        "lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
        "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3], hints: {forZones: [{name: 'a b'}, "
       "{name: c}, {name: c}, {}], forNodes: [{name: A_b}, {name: c}, {name: c}]}}]}",
       {"endpoints[0].hints.forZones[0].name: Invalid value: \"a b\": a valid label must be an "
        "empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
        "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
        "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "endpoints[0].hints.forZones[2].name: Duplicate value: \"c\"",
        "endpoints[0].hints.forNodes[0].name: Invalid value: \"A_b\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "endpoints[0].hints.forNodes[2].name: Duplicate value: \"c\""}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3], hints: {forZones: [{name: z0}, "
       "{name: z1}, {name: z2}, {name: z3}, {name: z4}, {name: z5}, {name: z6}, {name: z7}, {name: "
       "z8}]}}]}",
       {"endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3], hints: {forNodes: [{name: z0}, "
       "{name: z1}, {name: z2}, {name: z3}, {name: z4}, {name: z5}, {name: z6}, {name: z7}, {name: "
       "z8}]}}]}",
       {"endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [], ports: [{name: A_b}, {name: x, protocol: Odd, "
       "appProtocol: 'a b'}, {name: x}]}",
       {"ports[0].name: Invalid value: \"A_b\": a lowercase RFC 1123 label must consist of lower "
        "case alphanumeric characters or '-', and must start and end with an alphanumeric "
        "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "ports[1].protocol: Unsupported value: \"Odd\": supported values: \"SCTP\", \"TCP\", "
        "\"UDP\"",
        "ports[1].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "ports[2].name: Duplicate value: \"x\""}},
      {kSlice,
       "{addressType: IPv4, endpoints: [], ports: [{}, {}]}",
       {"ports[1].name: Duplicate value: \"\""}},
      {kSlice,
       "{addressType: IPv4, endpoints: [], ports: [{name: ''}, {port: 80, name: http, appProtocol: "
       "example.com/x}]}",
       {}},
      {kSlice,
       "{addressType: IPv4, endpoints: [], ports: [{port: 70000}, {name: b, port: 0}]}",
       {}},
      {kSlice,
       "{addressType: IPv4, endpoints: [], ports: [{name: a, protocol: ''}]}",
       {"ports[0].protocol: Unsupported value: \"\": supported values: \"SCTP\", \"TCP\", "
        "\"UDP\""}},
      {kSlice,
       "{addressType: IPv4, endpoints: [], ports: [{name: a, appProtocol: ''}]}",
       {"ports[0].appProtocol: Invalid value: \"\": name part must be non-empty",
        "ports[0].appProtocol: Invalid value: \"\": name part must consist of alphanumeric "
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {kEndpoints, "{}", {}},
      {kEndpoints,
       "{subsets: [{}]}",
       {"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"}},
      {kEndpoints,
       "{subsets: [{addresses: []}]}",
       {"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"}},
      {kEndpoints,
       "{subsets: [{addresses: [{ip: 10.1.2.3, hostname: h, nodeName: nn}], notReadyAddresses: "
       "[{ip: 'fd00::1'}], ports: [{port: 80}]}]}",
       {}},
      {kEndpoints,
       "{subsets: [{addresses: [{}], notReadyAddresses: [{ip: x}, {ip: 010.1.1.1}, {ip: "
       "'::ffff:1.2.3.4'}, {ip: 0.0.0.0}, {ip: '::'}, {ip: 127.0.0.1}, {ip: '::1'}, {ip: "
       "169.254.0.1}, {ip: 'fe80::1'}, {ip: 224.0.0.5}, {ip: 'ff02::1'}]}]}",
       {"subsets[0].addresses[0].ip: Invalid value: \"\": must be a valid IP address, (e.g. "
        "10.9.8.7 or 2001:db8::ffff)",
        "subsets[0].addresses[0].ip: Invalid value: \"\": must be a valid IP address",
        "subsets[0].notReadyAddresses[0].ip: Invalid value: \"x\": must be a valid IP address, "
        "(e.g. 10.9.8.7 or 2001:db8::ffff)",
        "subsets[0].notReadyAddresses[0].ip: Invalid value: \"x\": must be a valid IP address",
        "subsets[0].notReadyAddresses[1].ip: Invalid value: \"010.1.1.1\": must not have leading "
        "0s",
        "subsets[0].notReadyAddresses[2].ip: Invalid value: \"::ffff:1.2.3.4\": must not be an "
        "IPv4-mapped IPv6 address",
        "subsets[0].notReadyAddresses[3].ip: Invalid value: \"0.0.0.0\": may not be unspecified "
        "(0.0.0.0)",
        "subsets[0].notReadyAddresses[4].ip: Invalid value: \"::\": may not be unspecified (::)",
        "subsets[0].notReadyAddresses[7].ip: Invalid value: \"169.254.0.1\": may not be in the "
        "link-local range (169.254.0.0/16, fe80::/10)",
        "subsets[0].notReadyAddresses[8].ip: Invalid value: \"fe80::1\": may not be in the "
        "link-local range (169.254.0.0/16, fe80::/10)",
        "subsets[0].notReadyAddresses[9].ip: Invalid value: \"224.0.0.5\": may not be in the "
        "link-local multicast range (224.0.0.0/24, ff02::/10)",
        "subsets[0].notReadyAddresses[10].ip: Invalid value: \"ff02::1\": may not be in the "
        "link-local multicast range (224.0.0.0/24, ff02::/10)"}},
      {kEndpoints,
       "{subsets: [{addresses: [{ip: 10.1.2.3, hostname: a.b, nodeName: A_b}, {ip: 0.0.0.0, "
       "hostname: A, nodeName: ''}]}]}",
       {"subsets[0].addresses[0].hostname: Invalid value: \"a.b\": must not contain dots",
        "subsets[0].addresses[0].nodeName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain "
        "must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "subsets[0].addresses[1].hostname: Invalid value: \"A\": a lowercase RFC 1123 label must "
        "consist of lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "subsets[0].addresses[1].nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain "
        "must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "subsets[0].addresses[1].ip: Invalid value: \"0.0.0.0\": may not be unspecified (0.0.0.0)"}},
      {kEndpoints,
       "{subsets: [{addresses: [{ip: 10.1.2.3}], ports: [{}, {name: A_b, port: 70000, protocol: "
       "Odd, appProtocol: 'a b'}, {name: x, port: 1}, {name: x, port: 1}]}]}",
       {"subsets[0].ports[0].name: Required value",
        "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "subsets[0].ports[1].name: Invalid value: \"A_b\": a lowercase RFC 1123 label must consist "
        "of lower case alphanumeric characters or '-', and must start and end with an alphanumeric "
        "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "subsets[0].ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
        "subsets[0].ports[1].protocol: Unsupported value: \"Odd\": supported values: \"SCTP\", "
        "\"TCP\", \"UDP\"",
        "subsets[0].ports[1].appProtocol: Invalid value: \"a b\": name part must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {kEndpoints,
       "{subsets: [{addresses: [{ip: 10.1.2.3}], ports: [{port: 1, protocol: ''}]}]}",
       {}},
      {kEndpoints,
       "{subsets: [{addresses: [{ip: 10.1.2.3}], ports: [{port: 80, name: a.b}]}]}",
       {"subsets[0].ports[0].name: Invalid value: \"a.b\": must not contain dots"}},
  });
}

TEST(ValidateEndpoints, EndpointsChanges) {
  ExpectFaults(std::vector<ChangeCase>{
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3]}]}",
       "{addressType: IPv6, endpoints: [{addresses: [10.1.2.3]}]}",
       {"addressType: Invalid value: \"IPv6\": field is immutable"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3]}]}",
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3, 169.254.1.1]}]}",
       {"endpoints[0].addresses[1]: Invalid value: \"169.254.1.1\": may not be in the link-local range "
        "(169.254.0.0/16, fe80::/10)"}},
      {kSlice,
       "{addressType: IPv4, endpoints: [{addresses: [10.1.2.3]}]}",
       "{addressType: FQDN, endpoints: [{addresses: [10.1.2.3]}]}",
       {"addressType: Invalid value: \"FQDN\": field is immutable"}},
      {kEndpoints,
       "{subsets: [{addresses: [{ip: 10.1.2.3}]}]}",
       "{subsets: [{addresses: [{ip: x}]}]}",
       {"subsets[0].addresses[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. "
        "10.9.8.7 or 2001:db8::ffff)",
        "subsets[0].addresses[0].ip: Invalid value: \"x\": must be a valid IP address"}},
  });
}

TEST(ValidateEndpoints, WhatWasThereBeforeMayStay) {
  const char* slice = "{addressType: IPv4, endpoints: [{addresses: [x]}]}";
  EXPECT_EQ(FaultsOf(kSlice, slice, slice), std::vector<std::string>());
  const char* endpoints = "{subsets: [{addresses: [{ip: x}]}]}";
  EXPECT_EQ(FaultsOf(kEndpoints, endpoints, endpoints), std::vector<std::string>());
}

}  // namespace
}  // namespace mailroom::openapi
