#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kAutoscaler = {"autoscaling", "v2", "HorizontalPodAutoscaler"};
const GroupVersionKind kOldAutoscaler = {"autoscaling", "v1", "HorizontalPodAutoscaler"};

TEST(ValidateAutoscalers, Autoscalers) {
  ExpectFaults(std::vector<NewCase>{
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3}}",
       {}},
      {kAutoscaler,
       "{spec: {}}",
       {"spec.maxReplicas: Required value: must be set and greater than 0",
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.kind: Required value", "spec.scaleTargetRef.name: Required value",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group"}},
      {kAutoscaler,
       "{spec: {maxReplicas: -1, minReplicas: 0, scaleTargetRef: {apiVersion: v1, kind: a/b, name: "
       "c%d}}}",
       {"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
        "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
        "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.kind: Invalid value: \"a/b\": may not contain '/'",
        "spec.scaleTargetRef.name: Invalid value: \"c%d\": may not contain '%'",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API group",
        "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
        "scaling to zero replicas"}},
      {kAutoscaler,
       "{spec: {maxReplicas: 2, minReplicas: 3, scaleTargetRef: {apiVersion: a/b/c, kind: a, name: "
       "c}}}",
       {"spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: "
        "a/b/c"}},
      {kAutoscaler,
       "{spec: {maxReplicas: 2, minReplicas: -1, scaleTargetRef: {kind: a, name: c}}}",
       {"spec.minReplicas: Invalid value: -1: must be greater than or equal to 1",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group"}},
      {kAutoscaler,
       "{spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: /v1, kind: ., name: ..}}}",
       {"spec.scaleTargetRef.kind: Invalid value: \".\": may not be '.'",
        "spec.scaleTargetRef.name: Invalid value: \"..\": may not be '..'",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"/v1\": apiVersion must specify API "
        "group"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{}]}}",
       {"spec.metrics[0].type: Required value: must specify a metric source type",
        "spec.metrics[0].type: Unsupported value: \"\": supported values: \"ContainerResource\", "
        "\"External\", \"Object\", \"Pods\", \"Resource\"",
        "spec.metrics[0].type: Unsupported value: \"\": supported values: \"ContainerResource\", "
        "\"External\", \"Object\", \"Pods\", \"Resource\""}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Odd}]}}",
       {"spec.metrics[0].type: Unsupported value: \"Odd\": supported values: "
        "\"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"",
        "spec.metrics[0].type: Unsupported value: \"Odd\": supported values: "
        "\"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\""}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Resource}]}}",
       {"spec.metrics[0].resource: Required value: must populate information for the given metric "
        "source"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Pods}, {type: Object}, {type: External}, {type: ContainerResource}]}}",
       {"spec.metrics[0].pods: Required value: must populate information for the given metric "
        "source",
        "spec.metrics[1].object: Required value: must populate information for the given metric "
        "source",
        "spec.metrics[2].external: Required value: must populate information for the given metric "
        "source",
        "spec.metrics[3].containerResource: Required value: must populate information for the "
        "given metric source"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
       "averageUtilization: 50}}}, {type: Pods, pods: {metric: {name: x}, target: {type: "
       "AverageValue, averageValue: '1'}}}, {type: Object, object: {describedObject: {apiVersion: "
       "v1, kind: K, name: nn}, metric: {name: x}, target: {type: Value, value: '1'}}}, {type: "
       "External, external: {metric: {name: x, selector: {matchLabels: {a: b}}}, target: {type: "
       "Value, value: '1'}}}, {type: ContainerResource, containerResource: {name: cpu, container: "
       "c, target: {type: Utilization, averageUtilization: 5}}}]}}",
       {}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
       "averageUtilization: 0}}}]}}",
       {"spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater "
        "than 0"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Resource, resource: {target: {}}}]}}",
       {"spec.metrics[0].resource.name: Required value: must specify a resource name",
        "spec.metrics[0].resource.target.type: Required value: must specify a metric target type",
        "spec.metrics[0].resource.target.type: Invalid value: \"\": must be either Utilization, "
        "Value, or AverageValue",
        "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a "
        "target raw value or a target utilization"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Resource, resource: {name: foo, target: {type: Odd, averageUtilization: "
       "5, averageValue: '0'}}}]}}",
       {"spec.metrics[0].resource.target.type: Invalid value: \"Odd\": must be either Utilization, "
        "Value, or AverageValue",
        "spec.metrics[0].resource.target.averageValue: Invalid value: \"0\": must be positive",
        "spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw "
        "value and a target utilization"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: ContainerResource, containerResource: {name: foo, container: A_b, target: "
       "{type: Value, value: '-1'}}}]}}",
       {"spec.metrics[0].containerResource.name: Invalid value: \"foo\": must be a standard "
        "resource type or fully qualified",
        "spec.metrics[0].containerResource.name: Invalid value: \"foo\": must be a standard "
        "resource for containers",
        "spec.metrics[0].containerResource.container: Invalid value: \"A_b\": a lowercase RFC 1123 "
        "label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation "
        "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        "spec.metrics[0].containerResource.target.value: Invalid value: \"-1\": must be positive",
        "spec.metrics[0].containerResource.target.averageUtilization: Required value: must set "
        "either a target raw value or a target utilization"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: ContainerResource, containerResource: {target: {type: Value, "
       "averageUtilization: 5, averageValue: '1'}}}]}}",
       {"spec.metrics[0].containerResource.name: Required value: must specify a resource name",
        "spec.metrics[0].containerResource.container: Required value: must specify a container",
        "spec.metrics[0].containerResource.target.averageValue: Forbidden: may not set both a "
        "target raw value and a target utilization"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Pods, pods: {metric: {}, target: {type: Value}}}]}}",
       {"spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
        "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target "
        "averageValue"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Pods, pods: {metric: {name: a/b}, target: {type: Value, averageValue: "
       "-500m}}}]}}",
       {"spec.metrics[0].pods.metric.name: Invalid value: \"a/b\": may not contain '/'",
        "spec.metrics[0].pods.target.averageValue: Invalid value: \"-500m\": must be positive"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: External, external: {metric: {name: x}, target: {type: Value, value: '1', "
       "averageValue: '1'}}}]}}",
       {"spec.metrics[0].external.target.value: Forbidden: may not set both a target value for "
        "metric and a per-pod target"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: External, external: {metric: {name: x, selector: {matchLabels: {'a b': "
       "c}}}, target: {type: Value}}}]}}",
       {"spec.metrics[0].external.target.averageValue: Required value: must set either a target "
        "value for metric or a per-pod target"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Object, object: {describedObject: {}, metric: {name: x}, target: {type: "
       "Value}}}]}}",
       {"spec.metrics[0].object.describedObject.kind: Required value",
        "spec.metrics[0].object.describedObject.name: Required value",
        "spec.metrics[0].object.target.averageValue: Required value: must set either a target "
        "value or averageValue"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Object, object: {describedObject: {apiVersion: a/b/c, kind: a/b, name: "
       "c}, metric: {name: x}, target: {type: Value, value: '1'}}}]}}",
       {"spec.metrics[0].object.describedObject.kind: Invalid value: \"a/b\": may not contain '/'",
        "spec.metrics[0].object.describedObject.apiVersion: Invalid value: \"a/b/c\": unexpected "
        "GroupVersion string: a/b/c"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Pods, resource: {name: cpu, target: {type: Utilization, "
       "averageUtilization: 5}}}]}}",
       {"spec.metrics[0].pods: Required value: must populate information for the given metric "
        "source"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
       "averageUtilization: 5}}, pods: {metric: {}, target: {type: X}}}]}}",
       {"spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
        "spec.metrics[0].pods.target.type: Invalid value: \"X\": must be either Utilization, "
        "Value, or AverageValue",
        "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target "
        "averageValue",
        "spec.metrics[0].pods: Forbidden: must populate the given metric source only"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "behavior: {scaleUp: {}}}}",
       {}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "behavior: {scaleUp: {stabilizationWindowSeconds: -1, selectPolicy: Odd, policies: [{type: "
       "Odd, value: 0, periodSeconds: 0}, {type: Pods, value: 1, periodSeconds: 1801}, {}]}}}}",
       {"spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than "
        "or equal to zero",
        "spec.behavior.scaleUp.selectPolicy: Unsupported value: \"Odd\": supported values: "
        "\"Disabled\", \"Max\", \"Min\"",
        "spec.behavior.scaleUp.policies[0].type: Unsupported value: \"Odd\": supported values: "
        "\"Percent\", \"Pods\"",
        "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
        "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than "
        "zero",
        "spec.behavior.scaleUp.policies[1].periodSeconds: Invalid value: 1801: must be less than "
        "or equal to 1800",
        "spec.behavior.scaleUp.policies[2].type: Unsupported value: \"\": supported values: "
        "\"Percent\", \"Pods\"",
        "spec.behavior.scaleUp.policies[2].value: Invalid value: 0: must be greater than zero",
        "spec.behavior.scaleUp.policies[2].periodSeconds: Invalid value: 0: must be greater than "
        "zero"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "behavior: {scaleUp: {stabilizationWindowSeconds: 3601, tolerance: '-1'}}}}",
       {"spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than "
        "or equal to 3600",
        "spec.behavior.scaleUp.tolerance: Invalid value: \"-1\": must be greater than or equal to "
        "0"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "behavior: {scaleDown: {stabilizationWindowSeconds: 3601, tolerance: 100m}}}}",
       {"spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less "
        "than or equal to 3600"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "behavior: {scaleDown: {selectPolicy: '', policies: [{type: '', value: 1, periodSeconds: "
       "1}]}}}}",
       {"spec.behavior.scaleDown.selectPolicy: Unsupported value: \"\": supported values: "
        "\"Disabled\", \"Max\", \"Min\"",
        "spec.behavior.scaleDown.policies[0].type: Unsupported value: \"\": supported values: "
        "\"Percent\", \"Pods\""}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "minReplicas: 0}}",
       {"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
        "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
        "scaling to zero replicas"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "minReplicas: 0, metrics: [{type: External, external: {metric: {name: x}, target: {type: "
       "Value, value: '1'}}}]}}",
       {"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"}},
      {kOldAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3}}",
       {}},
      {kOldAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "targetCPUUtilizationPercentage: 0}}",
       {"spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater "
        "than 0"}},
      {kOldAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "targetCPUUtilizationPercentage: -1, minReplicas: 0}}",
       {"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
        "spec.metrics[0].resource.target.averageUtilization: Invalid value: -1: must be greater "
        "than 0",
        "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
        "scaling to zero replicas"}},
      {kOldAutoscaler,
       "{spec: {}}",
       {"spec.maxReplicas: Required value: must be set and greater than 0",
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.kind: Required value", "spec.scaleTargetRef.name: Required value",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group"}},
      {kOldAutoscaler,
       "{spec: {maxReplicas: 1, minReplicas: 2, scaleTargetRef: {kind: a, name: b}}}",
       {"spec.maxReplicas: Invalid value: 1: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group"}},
  });
}

TEST(ValidateAutoscalers, AutoscalersChanges) {
  ExpectFaults(std::vector<ChangeCase>{
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "minReplicas: 1}}",
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3, "
       "minReplicas: 0}}",
       {"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
        "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
        "scaling to zero replicas"}},
      {kAutoscaler,
       "{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 3}}",
       "{spec: {maxReplicas: 2, scaleTargetRef: {kind: a, name: c}}}",
       {"spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group"}},
  });
}

TEST(ValidateAutoscalers, WrittenStatus) {
  EXPECT_EQ(
      FaultsOf(kAutoscaler, "{}", "{status: {currentReplicas: -1, desiredReplicas: 1}}", "status"),
      std::vector<std::string>{
          "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0"});
}

TEST(ValidateAutoscalers, WhatWasThereBeforeMayStay) {
  const char* old =
      "{spec: {minReplicas: 0, maxReplicas: 3, scaleTargetRef: {kind: K, name: nn}, metrics: "
      "[{type: Object, object: "
      "{describedObject: {apiVersion: a/b/c, kind: K, name: nn}, metric: {name: x}, target: {type: "
      "Value, value: '1'}}}]}}";
  EXPECT_EQ(FaultsOf(kAutoscaler, old, old), std::vector<std::string>());
  EXPECT_EQ(FaultsOf(kAutoscaler, "{spec: {scaleTargetRef: {kind: K, name: nn}, maxReplicas: 1}}",
                     "{spec: {scaleTargetRef: {kind: L, name: nn}, maxReplicas: 1}}"),
            std::vector<std::string>{"spec.scaleTargetRef.apiVersion: Invalid value: \"\": "
                                     "apiVersion must specify API group"});
}

}  // namespace
}  // namespace mailroom::openapi
