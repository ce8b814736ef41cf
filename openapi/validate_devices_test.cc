#include "openapi/validate_devices.h"

#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kClass = {"resource.k8s.io", "v1", "DeviceClass"};
const GroupVersionKind kClaim = {"resource.k8s.io", "v1", "ResourceClaim"};
const GroupVersionKind kTemplate = {"resource.k8s.io", "v1", "ResourceClaimTemplate"};
const GroupVersionKind kSlice = {"resource.k8s.io", "v1", "ResourceSlice"};

constexpr const char* kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

TEST(ValidateDevices, ChecksClasses) {
  ExpectFaults(std::vector<NewCase>{
      {kClass, "{spec: {}}", {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.driver == \"a\" && "
       "device.attributes[\"a\"].size > 3 && device.capacity[\"a\"].m.compareTo(quantity(\"1Gi\")) >= 0'}}], "
       "config: [{opaque: {driver: a.b, parameters: {x: 1}}}], extendedResourceName: example.com/gpu}}",
       {}},
      {kClass,
       "{spec: {selectors: [{}, {cel: {expression: device.driver}}, {cel: {expression: device.x}}], config: [{}, "
       "{opaque: {driver: a_, parameters: [1]}}, {opaque: {driver: a}}], extendedResourceName: cpu}}",
       {"spec.selectors[0].cel: Required value",
        "spec.selectors[1].cel.expression: Invalid value: \"device.driver\": must evaluate to bool or the "
        "unknown type, not string",
        "spec.selectors[2].cel.expression: Invalid value: \"device.x\": compilation failed: ERROR: "
        "<input>:1:7: undefined field 'x'\n | device.x\n | ......^",
        "spec.config[0].opaque: Required value",
        "spec.config[1].opaque.driver: Invalid value: \"a_\": a lowercase RFC 1123 subdomain must consist "
        "of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.config[1].opaque.parameters: Invalid value: \"<value omitted>\": must be a valid JSON object",
        "spec.config[2].opaque.parameters: Required value",
        "spec.extendedResourceName: Invalid value: \"cpu\": must be a valid extended resource name"}},
  });
}

TEST(ValidateDevices, ChecksClaims) {
  ExpectFaults(std::vector<NewCase>{
      {kClaim, "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}", {}},
      {kClaim,
       "{spec: {devices: {requests: [{name: a}, {name: A, exactly: {}}, {name: b, firstAvailable: [{name: x, "
       "deviceClassName: c, allocationMode: All, count: 1}, {name: x, deviceClassName: c, allocationMode: "
       "Foo}]}, {name: a, exactly: {deviceClassName: c, count: -1, tolerations: [{operator: Foo, effect: "
       "Bar}, {key: a, operator: Exists, value: b}]}}, {name: d, exactly: {}, firstAvailable: [{}]}]}}}",
       {"spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
        std::string("spec.devices.requests[1].name: Invalid value: \"A\": ") + kLabelRule,
        "spec.devices.requests[1].exactly.deviceClassName: Required value",
        "spec.devices.requests[2].firstAvailable[0].count: Invalid value: 1: must not be specified when "
        "allocationMode is 'All'",
        "spec.devices.requests[2].firstAvailable[1].allocationMode: Unsupported value: \"Foo\": supported "
        "values: \"All\", \"ExactCount\"",
        "spec.devices.requests[2].firstAvailable[1]: Duplicate value: \"x\"",
        "spec.devices.requests[3].exactly.count: Invalid value: -1: must be greater than zero",
        "spec.devices.requests[3].exactly.tolerations[0].operator: Unsupported value: \"Foo\": supported "
        "values: \"Equal\", \"Exists\"",
        "spec.devices.requests[3].exactly.tolerations[0].effect: Unsupported value: \"Bar\": supported "
        "values: \"NoExecute\", \"NoSchedule\", \"None\"",
        "spec.devices.requests[3].exactly.tolerations[1].value: Invalid value: \"b\": must be empty for "
        "operator `Exists`",
        "spec.devices.requests[4]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is "
        "required, but multiple fields are set",
        "spec.devices.requests[3]: Duplicate value: \"a\""}},
  });
}

TEST(ValidateDevices, ChecksWhatRefersToRequests) {
  const std::string rule =
      "must be the name of a request in the claim or the name of a request and a subrequest separated by "
      "'/'";
  ExpectFaults(std::vector<NewCase>{
      {kClaim,
       "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}, {name: b, firstAvailable: "
       "[{name: x, deviceClassName: c}]}], constraints: [{requests: [a, b, b/x], matchAttribute: d.e/f}, "
       "{requests: [c, b/y, a/x, a/b/c, a, a], distinctAttribute: f}, {}], config: [{requests: [a], opaque: "
       "{driver: d, parameters: {}}}]}}}",
       {"spec.devices.constraints[1].requests[0]: Invalid value: \"c\": " + rule,
        "spec.devices.constraints[1].requests[1]: Invalid value: \"b/y\": " + rule,
        "spec.devices.constraints[1].requests[2]: Invalid value: \"a/x\": " + rule,
        "spec.devices.constraints[1].requests[3]: Invalid value: \"a/b/c\": " + rule,
        "spec.devices.constraints[1].requests[5]: Duplicate value: \"a\"",
        "spec.devices.constraints[1].distinctAttribute: Invalid value: \"f\": a fully qualified name must be "
        "a domain and a name separated by a slash",
        "spec.devices.constraints[2]: Required value: exactly one of \"matchAttribute\" or "
        "\"distinctAttribute\" is required, but multiple fields are set"}},
  });
}

TEST(ValidateDevices, KeepsSpecs) {
  ExpectFaults(std::vector<ChangeCase>{
      {kClaim, "{spec: {devices: {requests: [{name: A}]}}}", "{spec: {devices: {requests: [{name: A}]}}}", {}},
      {kClaim, "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}",
       "{spec: {devices: {requests: [{name: b, exactly: {deviceClassName: c}}]}}}",
       {"spec: Invalid value: {\"Devices\":{\"Requests\":[{\"Name\":\"b\",\"Exactly\":{\"DeviceClassName\":"
        "\"c\",\"Selectors\":null,\"AllocationMode\":\"ExactCount\",\"Count\":1,\"AdminAccess\":null,"
        "\"Tolerations\":null,\"Capacity\":null},\"FirstAvailable\":null}],\"Constraints\":null,\"Config\":"
        "null}}: field is immutable"}},
      {kTemplate, "{spec: {metadata: {labels: {a: b}}, spec: {devices: {}}}}",
       "{spec: {metadata: {labels: {a: c}, name: x}, spec: {devices: {requests: [{name: b}]}}}}",
       {"spec.metadata.name: Forbidden: cannot be set",
        "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is "
        "required",
        "spec: Invalid value: {\"name\":\"x\",\"labels\":{\"a\":\"c\"},\"Spec\":{\"Devices\":{\"Requests\":"
        "[{\"Name\":\"b\",\"Exactly\":null,\"FirstAvailable\":null}],\"Constraints\":null,\"Config\":null}}}:"
        " field is immutable"}},
  });
}

TEST(ValidateDevices, ChecksSlices) {
  ExpectFaults(std::vector<NewCase>{
      {kSlice, "{spec: {driver: d, pool: {name: n/m, generation: 0, resourceSliceCount: 1}, nodeName: w}}", {}},
      {kSlice, "{spec: {}}",
       {"spec.driver: Required value", "spec.pool.name: Required value",
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
        "`perDeviceNodeSelection` is required"}},
      {kSlice,
       "{spec: {driver: d, pool: {name: m, generation: -1, resourceSliceCount: 1}, nodeName: '', allNodes: "
       "true, perDeviceNodeSelection: true, nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: "
       "metadata.name, operator: In, values: [a]}]}, {}]}, devices: [{name: a, allNodes: true}], sharedCounters: [{name: c, counters: "
       "{a: {value: '1'}}}, {name: c}, {counters: {A: {value: '1'}}}]}}",
       {"spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
        "spec.nodeName: Invalid value: \"\": must be either unset or set to a non-empty string",
        "spec.nodeSelector.nodeSelectorTerms: Invalid value: [{\"MatchExpressions\":null,\"MatchFields\":"
        "[{\"Key\":\"metadata.name\",\"Operator\":\"In\",\"Values\":[\"a\"]}]},{\"MatchExpressions\":null,"
        "\"MatchFields\":null}]: must have exactly one node selector term",
        "spec: Invalid value: \"{`nodeSelector`, `allNodes`, `perDeviceNodeSelection`}\": exactly one of "
        "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields "
        "are set",
        "spec: Invalid value: \"\": only one of `sharedCounters` or `devices` is allowed",
        "spec.sharedCounters[1].counters: Required value", "spec.sharedCounters[2].name: Required value",
        std::string("spec.sharedCounters[2].counters: Invalid value: \"A\": ") + kLabelRule,
        "spec.sharedCounters[1]: Duplicate value: \"c\""}},
  });
}

constexpr const char* kSliceStart =
    "{spec: {driver: d, pool: {name: m, generation: 0, resourceSliceCount: 1}, ";

TEST(ValidateDevices, ChecksDevices) {
  const std::string devices =
      std::string(kSliceStart) +
      "allNodes: true, devices: [{name: a, attributes: {x: {int: 1}, y.z/w: {version: 1.2.3}}}, {name: A, "
      "attributes: {1x: {}, /a: {int: 1, bool: true}, v: {version: v1}}, nodeName: w, capacity: {c: {value: '1', "
      "requestPolicy: {}}}, consumesCounters: [{}], taints: [{value: b}], bindingConditions: [a]}, {name: a}]}}";
  const std::string at = "spec.devices[1]";
  const std::string identifier =
      "a valid C identifier must start with alphabetic character or '_', followed by a string of "
      "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
      "validation is '[A-Za-z_][A-Za-z0-9_]*')";
  ExpectFaults(std::vector<NewCase>{
      {kSlice, devices.c_str(),
       {at + ".name: Invalid value: \"A\": " + kLabelRule,
        at + ".attributes: Invalid value: \"\": the domain must not be empty",
        at + ".attributes[/a]: Invalid value: {\"IntValue\":1,\"BoolValue\":true,\"StringValue\":null,"
             "\"VersionValue\":null,\"IntValues\":null,\"BoolValues\":null,\"StringValues\":null,"
             "\"VersionValues\":null}: exactly one value must be specified",
        at + ".attributes: Invalid value: \"1x\": " + identifier,
        at + ".attributes[1x]: Invalid value: \"\": exactly one value must be specified",
        at + ".attributes[v].version: Invalid value: \"v1\": must be a string compatible with semver.org "
             "spec 2.0.0",
        at + ".capacity[c].requestPolicy: Forbidden: allowMultipleAllocations must be true",
        at + ".taints[0].key: Invalid value: \"\": name part must be non-empty",
        at + ".taints[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', "
             "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
             "'my.name',  or '123-abc', regex used for validation is "
             "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        at + ".taints[0].effect: Required value",
        at + ".consumesCounters[0].counterSet: Required value",
        at + ".consumesCounters[0].counters: Required value",
        at + ": Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if "
             "`perDeviceNodeSelection` is set to true in the ResourceSlice spec",
        at + ".bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use "
             "bindingConditions",
        "spec.devices[2]: Duplicate value: \"a\""}},
  });
}

TEST(ValidateDevices, ChecksCapacities) {
  const auto slice = [](const std::string& policy) {
    return std::string(kSliceStart) +
           "allNodes: true, devices: [{name: a, allowMultipleAllocations: true, capacity: {c: {value: 10Gi, "
           "requestPolicy: " + policy + "}}}]}}";
  };
  const std::string at = "spec.devices[0].capacity[c].requestPolicy";
  const std::string good = slice("{default: 1Gi, validRange: {min: 1Gi, max: 4Gi, step: 1Gi}}");
  const std::string both = slice("{default: 1Gi, validRange: {min: 1Gi}, validValues: [1Gi]}");
  const std::string none = slice("{validRange: {min: 1Gi}}");
  const std::string values = slice("{default: 3Gi, validValues: [2Gi, 1Gi, 20Gi, 20Gi]}");
  const std::string range = slice("{default: 1Gi, validRange: {min: 2Gi, max: 11Gi, step: 3Gi}}");
  const std::string back = slice("{default: 100E, validRange: {min: -1, step: -1}}");
  const std::string stay = slice("{default: 1Gi, validRange: {min: 1Gi, step: 0}}");
  ExpectFaults(std::vector<NewCase>{
      {kSlice, good.c_str(), {}},
      {kSlice, back.c_str(), {}},
      {kSlice, stay.c_str(),
       {at + ".validRange.step: Invalid value: \"1Gi\": value is not a multiple of a given step (0) from (1Gi)"}},
      {kSlice, both.c_str(),
       {at + ": Forbidden: exactly one policy can be specified, cannot specify \"validValues\" and "
             "\"validRange\" at the same time"}},
      {kSlice, none.c_str(), {at + ".default: Required value: required when validRange is defined"}},
      {kSlice, values.c_str(),
       {at + ".validValues[1]: Invalid value: \"1Gi\": values must be sorted in ascending order",
        at + ".validValues[2]: Invalid value: \"20Gi\": option is larger than capacity value: 10Gi",
        at + ".validValues[3]: Invalid value: \"20Gi\": option is larger than capacity value: 10Gi",
        at + ".validValues[3]: Duplicate value: \"21474836480\"",
        at + ".validValues: Invalid value: \"3Gi\": default value is not valid according to the "
             "requestPolicy"}},
      {kSlice, range.c_str(),
       {at + ".validRange.min: Invalid value: \"1Gi\": default is less than min: 2Gi",
        at + ".validRange.max: Invalid value: \"11Gi\": max is larger than capacity value: 10Gi",
        at + ".validRange.step: Invalid value: \"1Gi\": value is not a multiple of a given step (3Gi) from "
             "(2Gi)"}},
  });
}

TEST(ValidateDevices, ChecksClaimStatus) {
  const std::string spec = "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}";
  const auto faults = [&](const std::string& before, const std::string& after) {
    return FaultsOf(kClaim, (spec + ", status: " + before + "}").c_str(),
                    (spec + ", status: " + after + "}").c_str(), "status");
  };
  using Texts = std::vector<std::string>;
  const std::string results = "allocation: {devices: {results: [{request: a, driver: d, pool: p, device: e}]}}";
  EXPECT_EQ(faults("{}", "{" + results + ", reservedFor: [{resource: pods, name: p, uid: u}], devices: [{driver: "
                         "d, pool: p, device: e, networkData: {ips: [10.1.2.3/24]}}]}"),
            Texts());
  EXPECT_EQ(faults("{}", "{reservedFor: [{uid: u}]}"),
            (Texts{"status.reservedFor[0].resource: Required value",
                   "status.reservedFor[0].name: Required value",
                   "status.reservedFor: Forbidden: may not be specified when `allocated` is not set"}));
  EXPECT_EQ(faults("{" + results + "}", "{allocation: {}}"),
            (Texts{"status.allocation: Invalid value: {\"Devices\":{\"Results\":null,\"Config\":null},"
                   "\"NodeSelector\":null,\"AllocationTimestamp\":null}: field is immutable"}));
  EXPECT_EQ(faults("{}", "{allocation: {devices: {results: [{request: b, driver: d, pool: p, device: e, shareID: "
                         "x}], config: [{source: X, opaque: {driver: d, parameters: {}}}]}}, devices: [{driver: d, pool: q, "
                         "device: e, networkData: {ips: [10.1.2.3/24, 10.1.2.3, 1::0/8]}}]}"),
            (Texts{"status.devices[0]: Invalid value: {\"Driver\":\"d\",\"Pool\":\"q\",\"Device\":\"e\",\"ShareID\":\"\"}: "
                   "must be an allocated device in the claim",
                   "status.devices[0].networkData.ips[1]: Invalid value: \"10.1.2.3\": must be a valid address "
                   "in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
                   "status.devices[0].networkData.ips[2]: Invalid value: \"1::0/8\": must be in canonical form "
                   "(\"1::/8\")",
                   "status.allocation.devices.results[0].request: Invalid value: \"b\": must be the name of a "
                   "request in the claim or the name of a request and a subrequest separated by '/'",
                   "status.allocation.devices.results[0].shareID: Invalid value: \"x\": error validating uid: "
                   "invalid UUID length: 1",
                   "status.allocation.devices.config[0].source: Unsupported value: \"X\": supported values: "
                   "\"FromClaim\", \"FromClass\""}));
}

}  // namespace
}  // namespace mailroom::openapi
