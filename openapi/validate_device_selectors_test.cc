#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kClass = {"resource.k8s.io", "v1", "DeviceClass"};
const GroupVersionKind kClaim = {"resource.k8s.io", "v1", "ResourceClaim"};

TEST(ValidateDeviceSelectors, ChecksSelectors) {
  ExpectFaults(std::vector<NewCase>{
      {kClass,
       "{spec: {selectors: [{cel: {expression: ''}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"\": compilation failed: ERROR: "
        "<input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', "
        "'-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
        "IDENTIFIER}"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].b'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].b == 1'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes.exists(k, k == \"x\")'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].exists(k, "
       "device.attributes[\"a\"].exists(j, j == k))'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes.all(a, "
       "device.attributes.all(b, device.attributes.all(c, device.attributes[a].all(d, "
       "device.attributes[b].all(e, true)))))'}}]}}",
       {"spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'cel.bind(d, device.attributes[\"x.y\"], d.a && "
       "d.b)'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: "
       "'device.capacity[\"a\"].b.isGreaterThan(quantity(\"1\"))'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.capacity[\"a\"].b'}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"device.capacity[\\\"a\\\"].b\": "
        "must evaluate to bool or the unknown type, not kubernetes.Quantity"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.allowMultipleAllocations'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: "
       "'device.attributes[\"a\"].v.compareTo(semver(\"1.0.0\")) > 0'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: '\"a\" in device.attributes'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'has(device.attributes[\"a\"].b)'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.driver.matches(\"^a+$\")'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'true && '}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"true && \": compilation failed: "
        "ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', "
        "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
        "IDENTIFIER}\n | true && \n | ........^"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: '1'}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"1\": must evaluate to bool or the "
        "unknown type, not int"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'dyn(1)'}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"dyn(1)\": must evaluate to bool or "
        "the unknown type, not dyn"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'object.x'}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"object.x\": compilation failed: "
        "ERROR: <input>:1:1: undeclared reference to 'object' (in container '')\n | object.x\n "
        "| ^"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: "
       "'device.attributes[\"a\"].b.startsWith(\"x\")'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device[\"driver\"] == \"x\"'}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"device[\\\"driver\\\"] == "
        "\\\"x\\\"\": compilation failed: ERROR: <input>:1:7: found no matching overload for "
        "'_[_]' applied to '(kubernetes.DRADevice, string)'\n | device[\"driver\"] == \"x\"\n "
        "| ......^"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"][\"b\"].lowerAscii() == "
       "\"x\"'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'isSemver(device.driver)'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].b ? true : false'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: '[device.driver].exists(x, x == \"a\")'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].b in [\"x\", "
       "\"y\"]'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].b.size() > 2'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.?attributes[\"a\"].b.orValue(true)'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[?\"a\"].hasValue()'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'ip(device.driver).family() == 4'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'authorizer'}}]}}",
       {"spec.selectors[0].cel.expression: Invalid value: \"authorizer\": compilation failed: "
        "ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | "
        "authorizer\n | ^"}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes[\"a\"].map(k, "
       "device.attributes[\"a\"].map(j, k + j)).size() > 0'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes.map(k, "
       "device.attributes.map(j, k + j)).size() > 0'}}]}}",
       {}},
      {kClass,
       "{spec: {selectors: [{cel: {expression: 'device.attributes.all(a, "
       "device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a+b+c+d == "
       "\"x\"))))'}}]}}",
       {"spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit"}},
  });
}

TEST(ValidateDeviceSelectors, BoundsClaims) {
  ExpectFaults(std::vector<NewCase>{
      {kClaim,
       "{spec: {devices: {requests: [{name: a0, exactly: {deviceClassName: c}},{name: a1, "
       "exactly: {deviceClassName: c}},{name: a2, exactly: {deviceClassName: c}},{name: a3, "
       "exactly: {deviceClassName: c}},{name: a4, exactly: {deviceClassName: c}},{name: a5, "
       "exactly: {deviceClassName: c}},{name: a6, exactly: {deviceClassName: c}},{name: a7, "
       "exactly: {deviceClassName: c}},{name: a8, exactly: {deviceClassName: c}},{name: a9, "
       "exactly: {deviceClassName: c}},{name: a10, exactly: {deviceClassName: c}},{name: a11, "
       "exactly: {deviceClassName: c}},{name: a12, exactly: {deviceClassName: c}},{name: a13, "
       "exactly: {deviceClassName: c}},{name: a14, exactly: {deviceClassName: c}},{name: a15, "
       "exactly: {deviceClassName: c}},{name: a16, exactly: {deviceClassName: c}},{name: a17, "
       "exactly: {deviceClassName: c}},{name: a18, exactly: {deviceClassName: c}},{name: a19, "
       "exactly: {deviceClassName: c}},{name: a20, exactly: {deviceClassName: c}},{name: a21, "
       "exactly: {deviceClassName: c}},{name: a22, exactly: {deviceClassName: c}},{name: a23, "
       "exactly: {deviceClassName: c}},{name: a24, exactly: {deviceClassName: c}},{name: a25, "
       "exactly: {deviceClassName: c}},{name: a26, exactly: {deviceClassName: c}},{name: a27, "
       "exactly: {deviceClassName: c}},{name: a28, exactly: {deviceClassName: c}},{name: a29, "
       "exactly: {deviceClassName: c}},{name: a30, exactly: {deviceClassName: c}},{name: a31, "
       "exactly: {deviceClassName: c}},{name: a32, exactly: {deviceClassName: c}}]}}}",
       {"spec.devices.requests: Too many: 33: must have at most 32 items"}},
      {kClaim,
       "{spec: {devices: {requests: [{name: a, firstAvailable: [{name: a0, deviceClassName: "
       "c},{name: a1, deviceClassName: c},{name: a2, deviceClassName: c},{name: a3, "
       "deviceClassName: c},{name: a4, deviceClassName: c},{name: a5, deviceClassName: "
       "c},{name: a6, deviceClassName: c},{name: a7, deviceClassName: c},{name: a8, "
       "deviceClassName: c}]}]}}}",
       {"spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 items"}},
      {kClaim,
       "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: 'C_', tolerations: "
       "[{key: 'a b', value: 'b c'}]}}], config: [{}, {requests: [b], opaque: {driver: d, "
       "parameters: x}}]}}}",
       {"spec.devices.requests[0].exactly.deviceClassName: Invalid value: \"C_\": a lowercase "
        "RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
        "and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
        "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.devices.requests[0].exactly.tolerations[0].key: Invalid value: \"a b\": name "
        "part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
        "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
        "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        "spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: \"b c\": a "
        "valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
        "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        "spec.devices.config[0].opaque: Required value",
        "spec.devices.config[1].requests[0]: Invalid value: \"b\": must be the name of a "
        "request in the claim or the name of a request and a subrequest separated by '/'",
        "spec.devices.config[1].opaque.parameters: Invalid value: \"<value omitted>\": must be "
        "a valid JSON object"}},
      {kClaim,
       "{spec: {}}",
       {}},
      {kClaim,
       "{}",
       {}},
      {kClaim,
       "{spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c, selectors: [{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}},{cel: {expression: \"true\"}},{cel: {expression: \"true\"}},{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}},{cel: {expression: \"true\"}},{cel: {expression: \"true\"}},{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}},{cel: {expression: \"true\"}},{cel: {expression: \"true\"}},{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}},{cel: {expression: \"true\"}},{cel: {expression: \"true\"}},{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}},{cel: {expression: \"true\"}},{cel: {expression: \"true\"}},{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}},{cel: {expression: \"true\"}},{cel: {expression: \"true\"}},{cel: "
       "{expression: \"true\"}},{cel: {expression: \"true\"}},{cel: {expression: "
       "\"true\"}}]}}]}}}",
       {"spec.devices.requests[0].exactly.selectors: Too many: 33: must have at most 32 items"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
