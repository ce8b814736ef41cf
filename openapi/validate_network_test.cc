#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kPolicy = {"networking.k8s.io", "v1", "NetworkPolicy"};
const GroupVersionKind kIngress = {"networking.k8s.io", "v1", "Ingress"};

TEST(ValidateNetwork, Policies) {
  ExpectFaults(std::vector<NewCase>{
      {kPolicy, "{spec: {podSelector: {}}}", {}},
      {kPolicy,
       "{spec: {podSelector: {matchLabels: {a: 'b c'}, matchExpressions: [{key: a, operator: In, "
       "values: ['x y']}, {key: '-', operator: Odd}]}}}",
       {"spec.podSelector.matchLabels: Invalid value: \"b c\": a valid label must be an empty "
        "string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
        "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "spec.podSelector.matchExpressions[0].values[0]: Invalid value: \"x y\": a valid label "
        "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
        "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "spec.podSelector.matchExpressions[1].operator: Invalid value: \"Odd\": not a valid "
        "selector operator",
        "spec.podSelector.matchExpressions[1].key: Invalid value: \"-\": name part must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {kPolicy,
       "{spec: {podSelector: {}, ingress: [{from: [{}, {ipBlock: {cidr: 10.0.0.0/8}, podSelector: "
       "{}}, {podSelector: {}, namespaceSelector: {matchLabels: {'a/b/c': d}}}]}]}}",
       {"spec.ingress[0].from[0]: Required value: must specify a peer",
        "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer",
        "spec.ingress[0].from[2].namespaceSelector.matchLabels: Invalid value: \"a/b/c\": a valid "
        "label key must consist of alphanumeric characters, '-', '_' or '.', and must start and "
        "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
        "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
        "subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
      {kPolicy,
       "{spec: {podSelector: {}, egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16, "
       "10.0.0.0/8, 11.0.0.0/16, x, 'fd00::/64']}}, {ipBlock: {cidr: x, except: [y]}}, {ipBlock: "
       "{}}]}]}}",
       {"spec.egress[0].to[0].ipBlock.except[1]: Invalid value: \"10.0.0.0/8\": must be a strict "
        "subset of `cidr`",
        "spec.egress[0].to[0].ipBlock.except[2]: Invalid value: \"11.0.0.0/16\": must be a strict "
        "subset of `cidr`",
        "spec.egress[0].to[0].ipBlock.except[3]: Invalid value: \"x\": must be a valid CIDR value, "
        "(e.g. 10.9.8.0/24 or 2001:db8::/64)",
        "spec.egress[0].to[0].ipBlock.except[4]: Invalid value: \"fd00::/64\": must be a strict "
        "subset of `cidr`",
        "spec.egress[0].to[1].ipBlock.cidr: Invalid value: \"x\": must be a valid CIDR value, "
        "(e.g. 10.9.8.0/24 or 2001:db8::/64)",
        "spec.egress[0].to[2].ipBlock.cidr: Required value"}},
      {kPolicy,
       "{spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 010.0.0.0/8}}, {ipBlock: "
       "{cidr: 10.0.0.0/08}}, {ipBlock: {cidr: '::ffff:10.0.0.0/104'}}, {ipBlock: {cidr: "
       "10.0.0.1/8}}, {ipBlock: {cidr: 'fd00:0::/16'}}, {ipBlock: {cidr: 10.0.0.0/33}}, {ipBlock: "
       "{cidr: 10.0.0.0}}, {ipBlock: {cidr: 10.0.0.0/-1}}, {ipBlock: {cidr: 'fe80::%a/64'}}]}]}}",
       {"spec.ingress[0].from[0].ipBlock.cidr: Invalid value: \"010.0.0.0/8\": must not have "
        "leading 0s in IP or prefix length",
        "spec.ingress[0].from[1].ipBlock.cidr: Invalid value: \"10.0.0.0/08\": must not have "
        "leading 0s in IP or prefix length",
        "spec.ingress[0].from[2].ipBlock.cidr: Invalid value: \"::ffff:10.0.0.0/104\": must not "
        "have an IPv4-mapped IPv6 address",
        "spec.ingress[0].from[3].ipBlock.cidr: Invalid value: \"10.0.0.1/8\": must not have bits "
        "set beyond the prefix length",
        "spec.ingress[0].from[5].ipBlock.cidr: Invalid value: \"10.0.0.0/33\": must be a valid "
        "CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        "spec.ingress[0].from[6].ipBlock.cidr: Invalid value: \"10.0.0.0\": must be a valid CIDR "
        "value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        "spec.ingress[0].from[7].ipBlock.cidr: Invalid value: \"10.0.0.0/-1\": must be a valid "
        "CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        "spec.ingress[0].from[8].ipBlock.cidr: Invalid value: \"fe80::%a/64\": must be a valid "
        "CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"}},
      {kPolicy,
       "{spec: {podSelector: {}, ingress: [{ports: [{port: 0}, {port: http}, {port: a_b}, {port: "
       "80, endPort: 79}, {port: 80, endPort: 70000}, {port: http, endPort: 80}, {endPort: 80}, "
       "{protocol: X}, {port: 80, endPort: 90}, {port: ''}, {port: 80, endPort: 0}]}]}}",
       {"spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "spec.ingress[0].ports[2].port: Invalid value: \"a_b\": must contain only alpha-numeric "
        "characters (a-z, 0-9), and hyphens (-)",
        "spec.ingress[0].ports[3].endPort: Invalid value: 80: must be greater than or equal to "
        "`port`",
        "spec.ingress[0].ports[4].endPort: Invalid value: 70000: must be between 1 and 65535, "
        "inclusive",
        "spec.ingress[0].ports[5].endPort: Invalid value: 80: may not be specified when `port` is "
        "non-numeric",
        "spec.ingress[0].ports[6].endPort: Invalid value: 80: may not be specified when `port` is "
        "not specified",
        "spec.ingress[0].ports[7].protocol: Unsupported value: \"X\": supported values: \"TCP\", "
        "\"UDP\", \"SCTP\"",
        "spec.ingress[0].ports[9].port: Invalid value: \"\": must contain only alpha-numeric "
        "characters (a-z, 0-9), and hyphens (-)",
        "spec.ingress[0].ports[9].port: Invalid value: \"\": must contain at least one letter "
        "(a-z)",
        "spec.ingress[0].ports[10].endPort: Invalid value: 80: must be greater than or equal to "
        "`port`",
        "spec.ingress[0].ports[10].endPort: Invalid value: 0: must be between 1 and 65535, "
        "inclusive"}},
      {kPolicy,
       "{spec: {podSelector: {}, egress: [{ports: [{port: 0}], to: [{}]}], policyTypes: [Egress, "
       "Odd]}}",
       {"spec.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "spec.egress[0].to[0]: Required value: must specify a peer",
        "spec.policyTypes[1]: Unsupported value: \"Odd\": supported values: \"Ingress\", "
        "\"Egress\""}},
      {kPolicy,
       "{spec: {podSelector: {}, policyTypes: [Egress, Ingress, Egress]}}",
       {"spec.policyTypes: Invalid value: [\"Egress\",\"Ingress\",\"Egress\"]: may not specify "
        "more than two policyTypes"}},
      {kPolicy,
       "{spec: {podSelector: {}, policyTypes: ['']}}",
       {"spec.policyTypes[0]: Unsupported value: \"\": supported values: \"Ingress\", \"Egress\""}},
  });
}

TEST(ValidateNetwork, PoliciesChanges) {
  ExpectFaults(std::vector<ChangeCase>{
      {kPolicy,
       "{spec: {podSelector: {}}}",
       "{spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: x}}]}]}}",
       {"spec.ingress[0].from[0].ipBlock.cidr: Invalid value: \"x\": must be a valid CIDR value, "
        "(e.g. 10.9.8.0/24 or 2001:db8::/64)"}},
  });
}

TEST(ValidateNetwork, Ingresses) {
  ExpectFaults(std::vector<NewCase>{
      {kIngress,
       "{spec: {}}",
       {"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
      {kIngress, "{spec: {rules: [{}]}}", {}},
      {kIngress, "{spec: {rules: [{http: {}}]}}", {"spec.rules[0].http.paths: Required value"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: []}}]}}",
       {"spec.rules[0].http.paths: Required value"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '/a//b', pathType: Prefix, backend: {service: "
       "{name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": must not contain '//'"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '/a/./b/../c%2fd%2Fe', pathType: Exact, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"/a/./b/../c%2fd%2Fe\": must not "
        "contain '/./'",
        "spec.rules[0].http.paths[0].path: Invalid value: \"/a/./b/../c%2fd%2Fe\": must not "
        "contain '/../'",
        "spec.rules[0].http.paths[0].path: Invalid value: \"/a/./b/../c%2fd%2Fe\": must not "
        "contain '%2f'",
        "spec.rules[0].http.paths[0].path: Invalid value: \"/a/./b/../c%2fd%2Fe\": must not "
        "contain '%2F'"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '/a/..', pathType: Prefix, backend: {service: "
       "{name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"/a/..\": cannot end with '/..'"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '/a/.', pathType: Prefix, backend: {service: {name: "
       "s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"/a/.\": cannot end with '/.'"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: 'a//', pathType: Prefix, backend: {service: {name: "
       "s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"a//\": must be an absolute path",
        "spec.rules[0].http.paths[0].path: Invalid value: \"a//\": must not contain '//'"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '', pathType: Prefix, backend: {service: {name: s, "
       "port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"\": must be an absolute path"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '/a//b', pathType: ImplementationSpecific, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: 'a', pathType: ImplementationSpecific, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: '', pathType: ImplementationSpecific, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: 'a', pathType: Odd, backend: {service: {name: s, "
       "port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].pathType: Unsupported value: \"Odd\": supported values: "
        "\"Exact\", \"ImplementationSpecific\", \"Prefix\""}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: s, port: {number: "
       "80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: /, pathType: '', backend: {service: {name: s, port: "
       "{number: 80}}}}]}}]}}",
       {"spec.rules[0].http.paths[0].pathType: Unsupported value: \"\": supported values: "
        "\"Exact\", \"ImplementationSpecific\", \"Prefix\""}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: /, pathType: Prefix}]}}]}}",
       {"spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is "
        "required"}},
      {kIngress,
       "{spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {}}]}}]}}",
       {"spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is "
        "required"}},
      {kIngress,
       "{spec: {rules: [{host: '*', http: {paths: [{path: /, pathType: Prefix, backend: {service: "
       "{name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"*\": a wildcard DNS-1123 subdomain must start with "
        "'*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric "
        "characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
        "regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {rules: [{host: 'a.*.b', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"a.*.b\": a wildcard DNS-1123 subdomain must start "
        "with '*.', followed by a valid DNS subdomain, which must consist of lower case "
        "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. "
        "'*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {rules: [{host: '*.a.b', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {}},
      {kIngress,
       "{spec: {rules: [{host: '*a.b', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"*a.b\": a wildcard DNS-1123 subdomain must start "
        "with '*.', followed by a valid DNS subdomain, which must consist of lower case "
        "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. "
        "'*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {rules: [{host: '1.2.3.4', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address"}},
      {kIngress,
       "{spec: {rules: [{host: '::1', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"::1\": must be a DNS name, not an IP address",
        "spec.rules[0].host: Invalid value: \"::1\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {rules: [{host: 'A.b', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"A.b\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {rules: [{host: 'x*', http: {paths: [{path: /, pathType: Prefix, backend: {service: "
       "{name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"x*\": a wildcard DNS-1123 subdomain must start with "
        "'*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric "
        "characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
        "regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {rules: [{host: '01.2.3.4', http: {paths: [{path: /, pathType: Prefix, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}}",
       {"spec.rules[0].host: Invalid value: \"01.2.3.4\": must be a DNS name, not an IP address"}},
      {kIngress,
       "{spec: {defaultBackend: {}}}",
       {"spec.defaultBackend: Invalid value: \"\": resource or service backend is required"}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s, port: {number: 80}}, resource: {kind: K, name: "
       "nn}}}}",
       {"spec.defaultBackend: Invalid value: \"\": cannot set both resource and service backends"}},
      {kIngress,
       "{spec: {defaultBackend: {resource: {}}}}",
       {"spec.defaultBackend.resource.kind: Required value",
        "spec.defaultBackend.resource.name: Required value"}},
      {kIngress,
       "{spec: {defaultBackend: {resource: {apiGroup: A_b, kind: a/b, name: c%d}}}}",
       {"spec.defaultBackend.resource.apiGroup: Invalid value: \"A_b\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.defaultBackend.resource.kind: Invalid value: \"a/b\": may not contain '/'",
        "spec.defaultBackend.resource.name: Invalid value: \"c%d\": may not contain '%'"}},
      {kIngress,
       "{spec: {defaultBackend: {resource: {apiGroup: '', kind: K, name: nn}}}}",
       {"spec.defaultBackend.resource.apiGroup: Invalid value: \"\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {defaultBackend: {resource: {apiGroup: example.com, kind: K, name: nn}}}}",
       {}},
      {kIngress,
       "{spec: {defaultBackend: {service: {}}}}",
       {"spec.defaultBackend.service.name: Required value",
        "spec.defaultBackend: Required value: port name or number is required"}},
      {kIngress, "{spec: {defaultBackend: {service: {name: 1-a, port: {number: 80}}}}}", {}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: a.b, port: {number: 80}}}}}",
       {"spec.defaultBackend.service.name: Invalid value: \"a.b\": must not contain dots"}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s, port: {number: 80, name: x}}}}}",
       {"spec.defaultBackend: Invalid value: \"\": cannot set both port name & port number"}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s, port: {number: 70000}}}}}",
       {"spec.defaultBackend.service.port.number: Invalid value: 70000: must be between 1 and "
        "65535, inclusive"}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s, port: {name: a_b}}}}}",
       {"spec.defaultBackend.service.port.name: Invalid value: \"a_b\": must contain only "
        "alpha-numeric characters (a-z, 0-9), and hyphens (-)"}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s}}}}",
       {"spec.defaultBackend: Required value: port name or number is required"}},
      {kIngress,
       "{spec: {tls: [{}], defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {}},
      {kIngress,
       "{spec: {tls: [{hosts: ['*', a.b, '*.c.d', A_b, 'a.*', 1.2.3.4], secretName: A_b}], "
       "defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {"spec.tls[0].hosts[0]: Invalid value: \"*\": a wildcard DNS-1123 subdomain must start with "
        "'*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric "
        "characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
        "regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.tls[0].hosts[3]: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.tls[0].hosts[4]: Invalid value: \"a.*\": a wildcard DNS-1123 subdomain must start "
        "with '*.', followed by a valid DNS subdomain, which must consist of lower case "
        "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. "
        "'*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.tls[0].secretName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {tls: [{hosts: [''], secretName: ok}], defaultBackend: {service: {name: s, port: "
       "{number: 80}}}}}",
       {"spec.tls[0].hosts[0]: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {ingressClassName: A_b, defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {"spec.ingressClassName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{spec: {ingressClassName: '', defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {"spec.ingressClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kIngress,
       "{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {ingressClassName: b, "
       "defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {"annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match "
        "`ingressClassName` when both are specified"}},
      {kIngress,
       "{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {ingressClassName: a, "
       "defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {}},
      {kIngress,
       "{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {defaultBackend: "
       "{service: {name: s, port: {number: 80}}}}}",
       {}},
      {kIngress,
       "{spec: {rules: [{host: A_b, http: {paths: [{path: x, pathType: Odd, backend: {}}, {}]}}, "
       "{host: '*', http: {}}], defaultBackend: {}, tls: [{secretName: A_b}]}}",
       {"spec.defaultBackend: Invalid value: \"\": resource or service backend is required",
        "spec.rules[0].host: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.rules[0].http.paths[0].pathType: Unsupported value: \"Odd\": supported values: "
        "\"Exact\", \"ImplementationSpecific\", \"Prefix\"",
        "spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is "
        "required",
        "spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified",
        "spec.rules[1].host: Invalid value: \"*\": a wildcard DNS-1123 subdomain must start with "
        "'*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric "
        "characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
        "regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.rules[1].http.paths: Required value",
        "spec.tls[0].secretName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
  });
}

TEST(ValidateNetwork, IngressesChanges) {
  ExpectFaults(std::vector<ChangeCase>{
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       "{metadata: {annotations: {kubernetes.io/ingress.class: a}}, spec: {ingressClassName: b, "
       "defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       {}},
      {kIngress,
       "{spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}",
       "{spec: {tls: [{secretName: A_b}], defaultBackend: {service: {name: s, port: {number: "
       "80}}}}}",
       {"spec.tls[0].secretName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
  });
}

TEST(ValidateNetwork, WrittenStatus) {
  EXPECT_EQ(FaultsOf(kIngress, "{status: {loadBalancer: {ingress: [{ip: 010.1.1.2}]}}}",
                     "{status: {loadBalancer: {ingress: [{ip: 010.1.1.1, hostname: 1.2.3.4}, {ip: "
                     "010.1.1.2}]}}}",
                     "status"),
            (std::vector<std::string>{"status.loadBalancer.ingress[0].ip: Invalid value: "
                                      "\"010.1.1.1\": must not have leading 0s",
                                      "status.loadBalancer.ingress[0].hostname: Invalid value: "
                                      "\"1.2.3.4\": must be a DNS name, not an IP address"}));
}

TEST(ValidateNetwork, WhatWasThereBeforeMayStay) {
  const char* policy =
      "{spec: {podSelector: {matchExpressions: [{key: a, operator: In, values: ['x y']}]}, "
      "ingress: [{from: [{ipBlock: "
      "{cidr: 010.0.0.0/8}}]}]}}";
  EXPECT_EQ(FaultsOf(kPolicy, policy, policy), std::vector<std::string>());
  const char* ingress =
      "{spec: {rules: [{host: '*.a.b', http: {}}], tls: [{secretName: A_b}], ingressClassName: b}, "
      "metadata: {annotations: {kubernetes.io/ingress.class: a}}}";
  EXPECT_EQ(FaultsOf(kIngress, ingress, ingress), std::vector<std::string>());
}

}  // namespace
}  // namespace mailroom::openapi
