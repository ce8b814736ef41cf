#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kLease = {"coordination.k8s.io", "v1", "Lease"};
const GroupVersionKind kValidating = {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"};
const GroupVersionKind kFlow = {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"};
const GroupVersionKind kLevel = {"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration"};

TEST(ValidateMore, ReadsAddresses) {
  ExpectFaults(std::vector<NewCase>{
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'http://u@/?a#b'}}]}",
       {"webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed "
        "URL scheme; desired format: https://host[/path]",
        "webhooks[0].clientConfig.url: Invalid value: \"\": host must be specified; desired "
        "format: https://host[/path]",
        "webhooks[0].clientConfig.url: Invalid value: \"u\": user information is not permitted "
        "in the URL",
        "webhooks[0].clientConfig.url: Invalid value: \"b\": fragments are not permitted in "
        "the URL",
        "webhooks[0].clientConfig.url: Invalid value: \"a\": query parameters are not "
        "permitted in the URL"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://'}}]}",
       {"webhooks[0].clientConfig.url: Invalid value: \"\": host must be specified; desired "
        "format: https://host[/path]"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a/b?'}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: '://x'}}]}",
       {"webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "
        "\"://x\": missing protocol scheme; desired format: https://host[/path]"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a:b@c/d?x=y#z'}}]}",
       {"webhooks[0].clientConfig.url: Invalid value: \"a:b\": user information is not "
        "permitted in the URL",
        "webhooks[0].clientConfig.url: Invalid value: \"z\": fragments are not permitted in "
        "the URL",
        "webhooks[0].clientConfig.url: Invalid value: \"x=y\": query parameters are not "
        "permitted in the URL"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://h:99999/'}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: '%zz'}}]}",
       {"webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse \"%zz\": "
        "invalid URL escape \"%zz\"; desired format: https://host[/path]"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://[::1]/x'}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'HTTPS://a'}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://u@h'}}]}",
       {"webhooks[0].clientConfig.url: Invalid value: \"u\": user information is not permitted "
        "in the URL"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'a b'}}]}",
       {"webhooks[0].clientConfig.url: Invalid value: \"\": 'https' is the only allowed URL "
        "scheme; desired format: https://host[/path]",
        "webhooks[0].clientConfig.url: Invalid value: \"\": host must be specified; desired "
        "format: https://host[/path]"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: ''}}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: '/'}}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: '//'}}}]}",
       {"webhooks[0].clientConfig.service.path: Invalid value: \"//\": segment[0] may not be "
        "empty"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: '/a/'}}}]}",
       {}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: '/a//'}}}]}",
       {"webhooks[0].clientConfig.service.path: Invalid value: \"/a//\": segment[1] may not be "
        "empty"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: 'a'}}}]}",
       {"webhooks[0].clientConfig.service.path: Invalid value: \"a\": must start with a '/'",
        "webhooks[0].clientConfig.service.path: Invalid value: \"a\": segment[0] may not be "
        "empty"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: '/A_b/c'}}}]}",
       {"webhooks[0].clientConfig.service.path: Invalid value: \"/A_b/c\": segment[0]: a "
        "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kValidating,
       "{webhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {service: {name: a, namespace: b, path: '/a/b//c'}}}]}",
       {"webhooks[0].clientConfig.service.path: Invalid value: \"/a/b//c\": segment[2] may not "
        "be empty"}},
      {kValidating,
       "{webhooks: [{name: 'a.b.c.', sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}}]}",
       {"webhooks[0].name: Invalid value: \"a.b.c.\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kValidating,
       "{webhooks: [{name: 'A.b.c', sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}}]}",
       {"webhooks[0].name: Invalid value: \"A.b.c\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kValidating,
       "{webhooks: [{name: 'a..c', sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}}]}",
       {"webhooks[0].name: Invalid value: \"a..c\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kValidating,
       "{webhooks: [{name: '.a.b', sideEffects: None, admissionReviewVersions: [v1], "
       "clientConfig: {url: 'https://a'}}]}",
       {"webhooks[0].name: Invalid value: \".a.b\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
      {kValidating,
       "{webhooks: [{name: 'a', sideEffects: None, admissionReviewVersions: [v1], clientConfig: "
       "{url: 'https://a'}}]}",
       {"webhooks[0].name: Invalid value: \"a\": should be a domain with at least three "
        "segments separated by dots"}},
  });
}

TEST(ValidateMore, ChecksLeases) {
  ExpectFaults(std::vector<NewCase>{
      {kLease,
       "{spec: {leaseDurationSeconds: 0, leaseTransitions: -1, preferredHolder: a, strategy: "
       "b/c/d}}",
       {"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"}},
      {kLease,
       "{spec: {holderIdentity: ''}}",
       {}},
  });
}

TEST(ValidateMore, ChecksQueues) {
  ExpectFaults(std::vector<NewCase>{
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: "
       "10000001, handSize: 1}}}}}",
       {"spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be "
        "greater than 10000000"}},
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: 64, "
       "handSize: 65}}}}}",
       {"spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater "
        "than queues (64)"}},
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: 64, "
       "handSize: 10}}}}}",
       {}},
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: -1, "
       "handSize: 1}}}}}",
       {"spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive",
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 1: should not be greater "
        "than queues (-1)"}},
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: 1, "
       "handSize: -1}}}}}",
       {"spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive"}},
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: 2, "
       "handSize: 2}}}}}",
       {}},
      {kLevel,
       "{metadata: {annotations: {flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: "
       "''}}, spec: {type: Limited, limited: {limitResponse: {type: Reject, queuing: {}}, "
       "nominalConcurrencyShares: 0, lendablePercent: -1}}}",
       {"metadata.annotations: Forbidden: annotation "
        "'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
        "spec.limited.limitResponse.queuing: Forbidden: must be nil if "
        "limited.limitResponse.type is not Limited",
        "spec.limited.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive"}},
      {kLevel,
       "{spec: {type: Limited, limited: {limitResponse: {type: Queue}}}}",
       {"spec.limited.limitResponse.queuing: Required value: must not be empty if "
        "limited.limitResponse.type is Limited"}},
      {kLevel,
       "{spec: {type: '', limited: {}}}",
       {"spec.type: Required value"}},
  });
}

TEST(ValidateMore, ChecksFlows) {
  ExpectFaults(std::vector<NewCase>{
      {kFlow,
       "{spec: {priorityLevelConfiguration: {name: A_}, matchingPrecedence: 0, "
       "distinguisherMethod: {}, rules: [{subjects: [{kind: User}, {kind: Group}, {kind: "
       "ServiceAccount, serviceAccount: {name: 'a b', namespace: 'A'}, user: {name: x}, group: "
       "{name: x}}, {kind: Group, group: {}, user: {}, serviceAccount: {}}], resourceRules: "
       "[{clusterScope: true, verbs: [get], apiGroups: [a], resources: [b], namespaces: ['*', "
       "b]}, {verbs: ['*'], apiGroups: ['*'], resources: ['*', a], namespaces: ['']}]}]}}",
       {"spec.distinguisherMethod.type: Unsupported value: {\"Type\":\"\"}: supported values: "
        "\"ByNamespace\", \"ByUser\"",
        "spec.priorityLevelConfiguration.name: Invalid value: \"A_\": a lowercase RFC 1123 "
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for "
        "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is "
        "'User'",
        "spec.rules[0].subjects[1].group: Required value: group is required when subject kind "
        "is 'Group'",
        "spec.rules[0].subjects[2].serviceAccount.name: Invalid value: \"a b\": a lowercase "
        "RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
        "and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
        "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.rules[0].subjects[2].serviceAccount.namespace: Invalid value: \"A\": a lowercase "
        "RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
        "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
        "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "spec.rules[0].subjects[2].user: Forbidden: user is forbidden when subject kind is not "
        "'User'",
        "spec.rules[0].subjects[2].group: Forbidden: group is forbidden when subject kind is "
        "not 'Group'",
        "spec.rules[0].subjects[3].group.name: Required value",
        "spec.rules[0].subjects[3].serviceAccount: Forbidden: serviceAccount is forbidden when "
        "subject kind is not 'ServiceAccount'",
        "spec.rules[0].subjects[3].user: Forbidden: user is forbidden when subject kind is not "
        "'User'",
        "spec.rules[0].resourceRules[0].namespaces: Invalid value: [\"*\",\"b\"]: if '*' is "
        "present, must not specify other namespaces",
        "spec.rules[0].resourceRules[1].resources: Invalid value: [\"*\",\"a\"]: if '*' is "
        "present, must not specify other resources",
        "spec.rules[0].resourceRules[1].namespaces[0]: Invalid value: \"\": each member of "
        "this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of "
        "lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
