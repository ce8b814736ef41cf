#include "apiserver/services.h"

#include <gtest/gtest.h>

#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

struct Case {
  const char *live, *change, *expected;
};

TEST(Services, LoseWhatTheirNewTypeDoesNotHave) {
  const Case cases[] = {
      {"{spec: {type: LoadBalancer, loadBalancerClass: a/b, externalTrafficPolicy: Local, "
       "healthCheckNodePort: 30001, ports: [{port: 80, nodePort: 30002}]}, status: {loadBalancer: "
       "{ingress: [{ip: 1.2.3.4}]}}}",
       "{spec: {type: ClusterIP, loadBalancerClass: a/b, externalTrafficPolicy: Local, "
       "healthCheckNodePort: 30001, ports: [{port: 80, nodePort: 30002}]}, status: {loadBalancer: "
       "{ingress: [{ip: 1.2.3.4}]}}}",
       "{spec: {type: ClusterIP, ports: [{port: 80}]}, status: {loadBalancer: {}}}"},
      {"{spec: {type: ClusterIP, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv4]}}",
       "{spec: {type: ExternalName, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv4]}}",
       "{spec: {type: ExternalName}}"},
      // What was changed as well is left for validation to refuse.
      {"{spec: {type: LoadBalancer, loadBalancerClass: a/b}}",
       "{spec: {type: ClusterIP, loadBalancerClass: a/c}}",
       "{spec: {type: ClusterIP, loadBalancerClass: a/c}}"},
      {"{spec: {type: NodePort, ports: [{port: 80, nodePort: 30002}]}}",
       "{spec: {type: ClusterIP, ports: [{port: 80, nodePort: 30003}]}}",
       "{spec: {type: ClusterIP, ports: [{port: 80, nodePort: 30003}]}}"},
      {"{spec: {type: NodePort, externalTrafficPolicy: Local, ports: [{port: 80, nodePort: 30002}]}}",
       "{spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80, nodePort: 30002}]}}",
       "{spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80, nodePort: 30002}]}}"},
  };
  for (const Case& c : cases) {
    Json service = *ParseYaml(c.change);
    DropMembersOfOldType(*ParseYaml(c.live), service);
    EXPECT_EQ(service, *ParseYaml(c.expected)) << c.change;
  }
}

}  // namespace
}  // namespace mailroom::apiserver
