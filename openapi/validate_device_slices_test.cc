#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kSlice = {"resource.k8s.io", "v1", "ResourceSlice"};

TEST(ValidateDeviceSlices, BoundsSlices) {
  ExpectFaults(std::vector<NewCase>{
      {kSlice,
       "{spec: {driver: d, allNodes: true, pool: {name: m, resourceSliceCount: 1}, devices: "
       "[{name: d0},{name: d1},{name: d2},{name: d3},{name: d4},{name: d5},{name: d6},{name: "
       "d7},{name: d8},{name: d9},{name: d10},{name: d11},{name: d12},{name: d13},{name: "
       "d14},{name: d15},{name: d16},{name: d17},{name: d18},{name: d19},{name: d20},{name: "
       "d21},{name: d22},{name: d23},{name: d24},{name: d25},{name: d26},{name: d27},{name: "
       "d28},{name: d29},{name: d30},{name: d31},{name: d32},{name: d33},{name: d34},{name: "
       "d35},{name: d36},{name: d37},{name: d38},{name: d39},{name: d40},{name: d41},{name: "
       "d42},{name: d43},{name: d44},{name: d45},{name: d46},{name: d47},{name: d48},{name: "
       "d49},{name: d50},{name: d51},{name: d52},{name: d53},{name: d54},{name: d55},{name: "
       "d56},{name: d57},{name: d58},{name: d59},{name: d60},{name: d61},{name: d62},{name: "
       "d63},{name: d64},{name: d65},{name: d66},{name: d67},{name: d68},{name: d69},{name: "
       "d70},{name: d71},{name: d72},{name: d73},{name: d74},{name: d75},{name: d76},{name: "
       "d77},{name: d78},{name: d79},{name: d80},{name: d81},{name: d82},{name: d83},{name: "
       "d84},{name: d85},{name: d86},{name: d87},{name: d88},{name: d89},{name: d90},{name: "
       "d91},{name: d92},{name: d93},{name: d94},{name: d95},{name: d96},{name: d97},{name: "
       "d98},{name: d99},{name: d100},{name: d101},{name: d102},{name: d103},{name: "
       "d104},{name: d105},{name: d106},{name: d107},{name: d108},{name: d109},{name: "
       "d110},{name: d111},{name: d112},{name: d113},{name: d114},{name: d115},{name: "
       "d116},{name: d117},{name: d118},{name: d119},{name: d120},{name: d121},{name: "
       "d122},{name: d123},{name: d124},{name: d125},{name: d126},{name: d127},{name: d128}]}}",
       {"spec.devices: Too many: 129: must have at most 128 items"}},
      {kSlice,
       "{spec: {driver: d, allNodes: true, pool: {name: m, resourceSliceCount: 1}, devices: "
       "[{name: d0, taints: [{key: a, effect: None}]},{name: d1, taints: [{key: a, effect: "
       "None}]},{name: d2, taints: [{key: a, effect: None}]},{name: d3, taints: [{key: a, "
       "effect: None}]},{name: d4, taints: [{key: a, effect: None}]},{name: d5, taints: [{key: "
       "a, effect: None}]},{name: d6, taints: [{key: a, effect: None}]},{name: d7, taints: "
       "[{key: a, effect: None}]},{name: d8, taints: [{key: a, effect: None}]},{name: d9, "
       "taints: [{key: a, effect: None}]},{name: d10, taints: [{key: a, effect: None}]},{name: "
       "d11, taints: [{key: a, effect: None}]},{name: d12, taints: [{key: a, effect: "
       "None}]},{name: d13, taints: [{key: a, effect: None}]},{name: d14, taints: [{key: a, "
       "effect: None}]},{name: d15, taints: [{key: a, effect: None}]},{name: d16, taints: "
       "[{key: a, effect: None}]},{name: d17, taints: [{key: a, effect: None}]},{name: d18, "
       "taints: [{key: a, effect: None}]},{name: d19, taints: [{key: a, effect: None}]},{name: "
       "d20, taints: [{key: a, effect: None}]},{name: d21, taints: [{key: a, effect: "
       "None}]},{name: d22, taints: [{key: a, effect: None}]},{name: d23, taints: [{key: a, "
       "effect: None}]},{name: d24, taints: [{key: a, effect: None}]},{name: d25, taints: "
       "[{key: a, effect: None}]},{name: d26, taints: [{key: a, effect: None}]},{name: d27, "
       "taints: [{key: a, effect: None}]},{name: d28, taints: [{key: a, effect: None}]},{name: "
       "d29, taints: [{key: a, effect: None}]},{name: d30, taints: [{key: a, effect: "
       "None}]},{name: d31, taints: [{key: a, effect: None}]},{name: d32, taints: [{key: a, "
       "effect: None}]},{name: d33, taints: [{key: a, effect: None}]},{name: d34, taints: "
       "[{key: a, effect: None}]},{name: d35, taints: [{key: a, effect: None}]},{name: d36, "
       "taints: [{key: a, effect: None}]},{name: d37, taints: [{key: a, effect: None}]},{name: "
       "d38, taints: [{key: a, effect: None}]},{name: d39, taints: [{key: a, effect: "
       "None}]},{name: d40, taints: [{key: a, effect: None}]},{name: d41, taints: [{key: a, "
       "effect: None}]},{name: d42, taints: [{key: a, effect: None}]},{name: d43, taints: "
       "[{key: a, effect: None}]},{name: d44, taints: [{key: a, effect: None}]},{name: d45, "
       "taints: [{key: a, effect: None}]},{name: d46, taints: [{key: a, effect: None}]},{name: "
       "d47, taints: [{key: a, effect: None}]},{name: d48, taints: [{key: a, effect: "
       "None}]},{name: d49, taints: [{key: a, effect: None}]},{name: d50, taints: [{key: a, "
       "effect: None}]},{name: d51, taints: [{key: a, effect: None}]},{name: d52, taints: "
       "[{key: a, effect: None}]},{name: d53, taints: [{key: a, effect: None}]},{name: d54, "
       "taints: [{key: a, effect: None}]},{name: d55, taints: [{key: a, effect: None}]},{name: "
       "d56, taints: [{key: a, effect: None}]},{name: d57, taints: [{key: a, effect: "
       "None}]},{name: d58, taints: [{key: a, effect: None}]},{name: d59, taints: [{key: a, "
       "effect: None}]},{name: d60, taints: [{key: a, effect: None}]},{name: d61, taints: "
       "[{key: a, effect: None}]},{name: d62, taints: [{key: a, effect: None}]},{name: d63, "
       "taints: [{key: a, effect: None}]},{name: d64, taints: [{key: a, effect: None}]}]}}",
       {"spec.devices: Too many: 65: must have at most 64 items"}},
      {kSlice,
       "{spec: {driver: d, allNodes: true, pool: {name: m, resourceSliceCount: 1}, devices: "
       "[{name: a, attributes: {a0: {int: 1},a1: {int: 1},a2: {int: 1},a3: {int: 1},a4: {int: "
       "1},a5: {int: 1},a6: {int: 1},a7: {int: 1},a8: {int: 1},a9: {int: 1},a10: {int: 1},a11: "
       "{int: 1},a12: {int: 1},a13: {int: 1},a14: {int: 1},a15: {int: 1},a16: {int: 1},a17: "
       "{int: 1},a18: {int: 1},a19: {int: 1},a20: {int: 1},a21: {int: 1},a22: {int: 1},a23: "
       "{int: 1},a24: {int: 1},a25: {int: 1},a26: {int: 1},a27: {int: 1},a28: {int: 1},a29: "
       "{int: 1},a30: {int: 1},a31: {int: 1},a32: {int: 1},a33: {int: 1},a34: {int: 1},a35: "
       "{int: 1},a36: {int: 1},a37: {int: 1},a38: {int: 1},a39: {int: 1},a40: {int: 1},a41: "
       "{int: 1},a42: {int: 1},a43: {int: 1},a44: {int: 1},a45: {int: 1},a46: {int: 1},a47: "
       "{int: 1},a48: {int: 1},a49: {int: 1}}}]}}",
       {"spec.devices[0]: Invalid value: 50: the total number of attributes and capacities "
        "must not exceed 32",
        "spec.devices[0]: Invalid value: 50: the total number of attribute values must not "
        "exceed 48"}},
      {kSlice,
       "{spec: {driver: d, allNodes: true, pool: {name: m, resourceSliceCount: 1}, devices: "
       "[{name: a, bindingConditions: [a, a, b, c, d], bindingFailureConditions: [a, b, b]}]}}",
       {"spec.devices[0].bindingConditions: Too many: 5: must have at most 4 items",
        "spec.devices[0].bindingConditions[1]: Duplicate value: \"a\"",
        "spec.devices[0].bindingFailureConditions[0]: Invalid value: \"a\": "
        "bindingFailureConditions must not overlap with bindingConditions",
        "spec.devices[0].bindingFailureConditions[1]: Invalid value: \"b\": "
        "bindingFailureConditions must not overlap with bindingConditions",
        "spec.devices[0].bindingFailureConditions[2]: Duplicate value: \"b\"",
        "spec.devices[0].bindingFailureConditions[2]: Invalid value: \"b\": "
        "bindingFailureConditions must not overlap with bindingConditions"}},
      {kSlice,
       "{spec: {driver: d, allNodes: true, pool: {name: m, resourceSliceCount: 1}, devices: "
       "[{name: a, bindingConditions: [a, a, 'b c'], bindingFailureConditions: [a, b, b]}]}}",
       {"spec.devices[0].bindingConditions[2]: Invalid value: \"b c\": name part must consist "
        "of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.devices[0].bindingConditions[1]: Duplicate value: \"a\"",
        "spec.devices[0].bindingFailureConditions[0]: Invalid value: \"a\": "
        "bindingFailureConditions must not overlap with bindingConditions",
        "spec.devices[0].bindingFailureConditions[2]: Duplicate value: \"b\""}},
      {kSlice,
       "{spec: {driver: d, allNodes: true, pool: {name: m, resourceSliceCount: 1}, devices: "
       "[{name: a, consumesCounters: [{counterSet: a, counters: {b: {value: '1'}}}, "
       "{counterSet: a, counters: {b: {value: '1'}}}]}, {name: b, consumesCounters: "
       "[{counterSet: A, counters: {B: {value: '1'}}},{},{}]}]}}",
       {"spec.devices[0].consumesCounters[1]: Duplicate value: \"a\"",
        "spec.devices[1].consumesCounters: Too many: 3: must have at most 2 items"}},
      {kSlice,
       "{spec: {driver: D_, pool: {name: 'a//b', resourceSliceCount: 1}, "
       "perDeviceNodeSelection: true, devices: [{name: a}, {name: b, nodeName: '', allNodes: "
       "false}, {name: c, nodeName: A_, allNodes: true, nodeSelector: {nodeSelectorTerms: "
       "[]}}]}}",
       {"spec.driver: Invalid value: \"D_\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.pool.name: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or "
        "`allNodes` is required when `perDeviceNodeSelection` is set to true in the "
        "ResourceSlice spec",
        "spec.devices[1].nodeName: Invalid value: \"\": must not be empty",
        "spec.devices[1].allNodes: Invalid value: false: must be either unset or set to true",
        "spec.devices[1]: Required value: exactly one of `nodeName`, `nodeSelector`, or "
        "`allNodes` is required when `perDeviceNodeSelection` is set to true in the "
        "ResourceSlice spec",
        "spec.devices[2].nodeName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must "
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.devices[2].nodeSelector.nodeSelectorTerms: Required value: must have at least "
        "one node selector term",
        "spec.devices[2]: Invalid value: \"{`nodeName`, `nodeSelector`, `allNodes`}\": exactly "
        "one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
        "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"}},
      {kSlice,
       "{spec: {driver: d, pool: {name: 'a', resourceSliceCount: 1}, perDeviceNodeSelection: "
       "false, allNodes: false, nodeSelector: {}}}",
       {"spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node "
        "selector term",
        "spec.nodeSelector.nodeSelectorTerms: Invalid value: null: must have exactly one node "
        "selector term",
        "spec.allNodes: Invalid value: false: must be either unset or set to true",
        "spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true"}},
      {kSlice,
       "{spec: {driver: d, pool: {name: 'a', resourceSliceCount: 1}, nodeName: a, "
       "sharedCounters: [{name: a0, counters: {a: {value: 1}}},{name: a1, counters: {a: {value: "
       "1}}},{name: a2, counters: {a: {value: 1}}},{name: a3, counters: {a: {value: 1}}},{name: "
       "a4, counters: {a: {value: 1}}},{name: a5, counters: {a: {value: 1}}},{name: a6, "
       "counters: {a: {value: 1}}},{name: a7, counters: {a: {value: 1}}},{name: a8, counters: "
       "{a: {value: 1}}}]}}",
       {"spec.sharedCounters: Too many: 9: must have at most 8 items"}},
      {kSlice,
       "{spec: {driver: d, pool: {name: 'a', resourceSliceCount: 1}, nodeName: a, "
       "sharedCounters: [{name: a, counters: {c0: {value: 1},c1: {value: 1},c2: {value: 1},c3: "
       "{value: 1},c4: {value: 1},c5: {value: 1},c6: {value: 1},c7: {value: 1},c8: {value: "
       "1},c9: {value: 1},c10: {value: 1},c11: {value: 1},c12: {value: 1},c13: {value: 1},c14: "
       "{value: 1},c15: {value: 1},c16: {value: 1},c17: {value: 1},c18: {value: 1},c19: {value: "
       "1},c20: {value: 1},c21: {value: 1},c22: {value: 1},c23: {value: 1},c24: {value: 1},c25: "
       "{value: 1},c26: {value: 1},c27: {value: 1},c28: {value: 1},c29: {value: 1},c30: {value: "
       "1},c31: {value: 1},c32: {value: 1}}}]}}",
       {"spec.sharedCounters[0].counters: Too many: 33: must have at most 32 items"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
