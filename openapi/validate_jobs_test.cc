#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kJob = {"batch", "v1", "Job"};

std::string Job(const std::string& more, const std::string& restart = "Never") {
  return "{spec: {template: {spec: {restartPolicy: " + restart +
         ", containers: [{name: c, image: i}]}}, " + more + "}}";
}

TEST(ValidateJobs, ChecksIndexes) {
  ExpectFaults(std::vector<NewCase>{
      {kJob, Job("managedBy: foo, maxFailedIndexes: 1").c_str(),
       {"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
        "spec.managedBy: Invalid value: \"foo\": must be a domain-prefixed path (such as \"acme.io/foo\")",
        "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode"}},
      {kJob,
       Job("completionMode: Indexed, completions: 3, parallelism: 100001, backoffLimitPerIndex: 1, "
           "maxFailedIndexes: 4").c_str(),
       {"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion "
        "mode is Indexed",
        "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"}},
      {kJob,
       Job("completionMode: Indexed, completions: 100002, parallelism: 10001, backoffLimitPerIndex: 1").c_str(),
       {"spec.maxFailedIndexes: Required value: must be specified when completions is above 100000",
        "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions "
        "are above 100000 and used with backoff limit per index"}},
  });
}

TEST(ValidateJobs, ChecksPolicies) {
  const std::string failure = "spec.podFailurePolicy.rules", success = "spec.successPolicy.rules";
  ExpectFaults(std::vector<NewCase>{
      {kJob,
       Job("podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, containerName: x, "
           "values: [0, 3, 2, 2]}}, {action: Ignore}, {action: Ignore, onExitCodes: {operator: NotIn, "
           "values: []}, onPodConditions: [{type: a, status: Foo}]}]}", "OnFailure").c_str(),
       {failure + "[0].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set",
        failure + "[0].onExitCodes.containerName: Invalid value: \"x\": must be one of the container or "
                  "initContainer names in the pod template",
        failure + "[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
        failure + "[0].onExitCodes.values[3]: Duplicate value: 2",
        failure + "[0].onExitCodes.values: Invalid value: [0,3,2,2]: must be ordered",
        failure + "[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
        failure + "[2].onExitCodes.values: Invalid value: []: at least one value is required",
        failure + "[2].onPodConditions[0].status: Unsupported value: \"Foo\": supported values: "
                  "\"False\", \"True\", \"Unknown\"",
        failure + "[2]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported",
        "spec.template.spec.restartPolicy: Invalid value: \"OnFailure\": only \"Never\" is supported when "
        "podFailurePolicy is specified"}},
      {kJob,
       Job("completionMode: Indexed, completions: 5, successPolicy: {rules: [{}, {succeededIndexes: "
           "'0,2-3', succeededCount: 4}, {succeededIndexes: 1-2-3}, {succeededIndexes: a}, "
           "{succeededIndexes: '5'}, {succeededIndexes: 3-2}, {succeededIndexes: '3,2'}]}").c_str(),
       {success + "[0]: Required value: at least one of succeededCount or succeededIndexes must be "
                  "specified",
        success + "[1].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of "
                  "indexes in the specified succeededIndexes field)",
        success + "[2].succeededIndexes: Invalid value: \"1-2-3\": error parsing succeededIndexes: the "
                  "fragment \"1-2-3\" violates the requirement that an index interval can have at most "
                  "two parts separated by '-'",
        success + "[3].succeededIndexes: Invalid value: \"a\": error parsing succeededIndexes: cannot "
                  "convert string to integer for index: \"a\"",
        success + "[4].succeededIndexes: Invalid value: \"5\": error parsing succeededIndexes: too large "
                  "index: \"5\"",
        success + "[5].succeededIndexes: Invalid value: \"3-2\": error parsing succeededIndexes: "
                  "non-increasing order, previous: 3, current: 2",
        success + "[6].succeededIndexes: Invalid value: \"3,2\": error parsing succeededIndexes: "
                  "non-increasing order, previous: 3, current: 2"}},
  });
  ExpectFaults(std::vector<ChangeCase>{
      {kJob, Job("completionMode: Indexed, completions: 5, parallelism: 5").c_str(),
       Job("completionMode: Indexed, completions: 6, parallelism: 5, managedBy: a/b").c_str(),
       {"spec.managedBy: Invalid value: \"a/b\": field is immutable",
        "spec.completions: Invalid value: 6: can only be modified in tandem with spec.parallelism"}},
  });
}

}  // namespace
}  // namespace mailroom::openapi
