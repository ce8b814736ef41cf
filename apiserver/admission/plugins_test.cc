// The built-in plugins, over a whole server: what they fill in, what they refuse, and that they
// leave workspaces alone whose policies are payload.
#include <gtest/gtest.h>

#include <algorithm>

#include "apiserver/admission/tolerations.h"
#include "apiserver/client/certificate_request.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr const char* kIngresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
constexpr const char* kPriorityClasses = "/apis/scheduling.k8s.io/v1/priorityclasses";
constexpr const char* kRuntimeClasses = "/apis/node.k8s.io/v1/runtimeclasses";
constexpr const char* kStorageClasses = "/apis/storage.k8s.io/v1/storageclasses";
constexpr const char* kIngressClasses = "/apis/networking.k8s.io/v1/ingressclasses";

Json Object(const std::string& api, const std::string& kind, const std::string& name,
            const Json& more = Json::object()) {
  Json out = {{"apiVersion", api}, {"kind", kind}, {"metadata", {{"name", name}}}};
  out.update(more);
  return out;
}

Json Pod(const std::string& name, const Json& spec = Json::object()) {
  Json all = {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}};
  all.update(spec);
  return Object("v1", "Pod", name, {{"spec", all}});
}

Json PriorityClass(const std::string& name, int value, const Json& more = Json::object()) {
  Json out = Object("scheduling.k8s.io/v1", "PriorityClass", name, {{"value", value}});
  out.update(more);
  return out;
}

Json Default(Json object, const std::string& annotation) {
  Set(object, {"metadata", "annotations", annotation}, "true");
  return object;
}

class Plugins : public testing::Test {
 protected:
  Plugins() : ws_(hub_.NewWorkspace("c1", "cluster")) {}

  Json Make(const std::string& path, const Json& object) {
    const auto made = hub_.Do("POST", ws_ + path, object);
    EXPECT_EQ(made.code, 201) << made.text;
    return made.body;
  }
  void Refused(const std::string& path, const Json& object, const std::string& why) {
    const auto answer = hub_.Do("POST", ws_ + path, object);
    EXPECT_EQ(answer.code, 403) << answer.text;
    EXPECT_EQ(answer.body["message"], why);
  }

  TestHub hub_;
  std::string ws_;
};

TEST_F(Plugins, PriorityIsThatOfTheClass) {
  for (const auto& [name, value] : {std::pair{"system-cluster-critical", 2'000'000'000},
                                    std::pair{"system-node-critical", 2'000'001'000}}) {
    EXPECT_EQ(hub_.Get(ws_ + kPriorityClasses + "/" + name).body["value"], value);
  }
  const Json plain = Make(kPods, Pod("plain"));
  EXPECT_EQ(plain["spec"]["priority"], 0);
  EXPECT_EQ(plain["spec"]["preemptionPolicy"], "PreemptLowerPriority");
  EXPECT_FALSE(plain["spec"].contains("priorityClassName"));
  const Json critical = Make(kPods, Pod("critical", {{"priorityClassName", "system-node-critical"}}));
  EXPECT_EQ(critical["spec"]["priority"], 2'000'001'000);

  Make(kPriorityClasses, PriorityClass("calm", 7, {{"preemptionPolicy", "Never"}}));
  const Json calm = Make(kPods, Pod("calm", {{"priorityClassName", "calm"}}));
  EXPECT_EQ(calm["spec"]["priority"], 7);
  EXPECT_EQ(calm["spec"]["preemptionPolicy"], "Never");
  Refused(kPods, Pod("a", {{"priorityClassName", "none"}}),
          "pods \"a\" is forbidden: no PriorityClass with name none was found");
  Refused(kPods, Pod("a", {{"priorityClassName", "calm"}, {"priority", 8}}),
          "pods \"a\" is forbidden: the integer value of priority (8) must not be provided in pod "
          "spec; priority admission controller computed 7 from the given PriorityClass name");
  Refused(kPods,
          Pod("a", {{"priorityClassName", "calm"}, {"preemptionPolicy", "PreemptLowerPriority"}}),
          "pods \"a\" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) "
          "must not be provided in pod spec; priority admission controller computed Never from the "
          "given PriorityClass name");
  // What was settled stays: an update without it does not unset it.
  Json put = hub_.Get(ws_ + kPods + "/calm").body;
  put["spec"].erase("priority");
  put["spec"].erase("preemptionPolicy");
  put["metadata"]["labels"] = {{"a", "b"}};
  const auto updated = hub_.Do("PUT", ws_ + kPods + "/calm", put);
  EXPECT_EQ(updated.code, 200) << updated.text;
  EXPECT_EQ(updated.body["spec"]["priority"], 7);
}

TEST_F(Plugins, OneDefaultPriority) {
  Make(kPriorityClasses, PriorityClass("usual", 5, {{"globalDefault", true}}));
  const Json pod = Make(kPods, Pod("a"));
  EXPECT_EQ(pod["spec"]["priority"], 5);
  EXPECT_EQ(pod["spec"]["priorityClassName"], "usual");
  Refused(kPriorityClasses, PriorityClass("other", 6, {{"globalDefault", true}}),
          "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass usual is already "
          "marked as default. Only one default can exist");
  Json own = hub_.Get(ws_ + kPriorityClasses + "/usual").body;
  own["description"] = "changed";
  EXPECT_EQ(hub_.Do("PUT", ws_ + kPriorityClasses + "/usual", own).code, 200);
}

TEST_F(Plugins, NobodyAsksToBeAMaster) {
  auto request = [](const std::string& group) {
    const std::string pem = *client::NewSigningRequest(*client::NewKey(), "u", {group});
    return Object("certificates.k8s.io/v1", "CertificateSigningRequest", "r",
                  {{"spec",
                    {{"request", openapi::EncodeBase64(pem)},
                     {"signerName", "kubernetes.io/kube-apiserver-client"},
                     {"usages", Json::array({"client auth"})}}}});
  };
  constexpr const char* kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  Refused(kRequests, request("system:masters"),
          "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: use of "
          "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
  Make(kRequests, request("others"));
}

TEST_F(Plugins, PodsStayForFiveMinutes) {
  auto wait = [](const char* taint) {
    return Json{{"key", taint}, {"operator", "Exists"}, {"effect", "NoExecute"},
                {"tolerationSeconds", 300}};
  };
  const Json not_ready = wait("node.kubernetes.io/not-ready");
  const Json unreachable = wait("node.kubernetes.io/unreachable");
  EXPECT_EQ(Make(kPods, Pod("a"))["spec"]["tolerations"], Json::array({not_ready, unreachable}));
  Json own = not_ready;
  own["tolerationSeconds"] = 1;
  EXPECT_EQ(Make(kPods, Pod("b", {{"tolerations", Json::array({own})}}))["spec"]["tolerations"],
            Json::array({own, unreachable}));
  const Json all = Json::array({{{"operator", "Exists"}}});
  EXPECT_EQ(Make(kPods, Pod("c", {{"tolerations", all}}))["spec"]["tolerations"], all);
}

TEST_F(Plugins, ARuntimeClassAddsWhatItCosts) {
  Json heavy = Object("node.k8s.io/v1", "RuntimeClass", "heavy", {{"handler", "h"}});
  heavy["overhead"] = {{"podFixed", {{"cpu", "250m"}, {"memory", "64Mi"}}}};
  const Json toleration = {{"key", "sandbox"}, {"operator", "Exists"}};
  heavy["scheduling"] = {{"nodeSelector", {{"sandbox", "yes"}}},
                         {"tolerations", Json::array({toleration})}};
  Make(kRuntimeClasses, heavy);
  const Json pod = Make(kPods, Pod("a", {{"runtimeClassName", "heavy"},
                                         {"nodeSelector", {{"disk", "ssd"}}}}));
  EXPECT_EQ(pod["spec"]["overhead"], (Json{{"cpu", "250m"}, {"memory", "64Mi"}}));
  EXPECT_EQ(pod["spec"]["nodeSelector"], (Json{{"disk", "ssd"}, {"sandbox", "yes"}}));
  const Json& tolerations = pod["spec"]["tolerations"];
  EXPECT_NE(std::find(tolerations.begin(), tolerations.end(), toleration), tolerations.end());

  EXPECT_EQ(Make(kPods, Pod("same", {{"runtimeClassName", "heavy"},
                                     {"overhead", {{"cpu", "0.25"}, {"memory", "64Mi"}}}}))
                ["spec"]["overhead"]["memory"], "64Mi");
  Refused(kPods, Pod("b", {{"runtimeClassName", "none"}}),
          "pods \"b\" is forbidden: pod rejected: RuntimeClass \"none\" not found");
  Refused(kPods, Pod("b", {{"runtimeClassName", "heavy"}, {"overhead", {{"cpu", "1"}}}}),
          "pods \"b\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's "
          "defined Overhead");
  Refused(kPods, Pod("b", {{"overhead", {{"cpu", "1"}}}}),
          "pods \"b\" is forbidden: pod rejected: Pod Overhead set without corresponding "
          "RuntimeClass defined Overhead");
  Refused(kPods, Pod("b", {{"runtimeClassName", "heavy"}, {"nodeSelector", {{"sandbox", "no"}}}}),
          "pods \"b\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; "
          "pod.spec.nodeSelector[sandbox] = no");
}

TEST_F(Plugins, ARuntimeClassMaySayLittle) {
  const std::string mismatch =
      "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined "
      "Overhead";
  Json empty = Object("node.k8s.io/v1", "RuntimeClass", "empty", {{"handler", "h"}});
  empty["overhead"] = Json::object();
  empty["scheduling"] = Json::object();
  Make(kRuntimeClasses, empty);
  const Json overhead = {{"cpu", "1"}};
  Refused(kPods, Pod("p", {{"runtimeClassName", "empty"}, {"overhead", overhead}}), mismatch);
  // Tolerations of the pod that others include go, by the class's leave.
  const Json all = {{"key", "k"}, {"operator", "Exists"}};
  const Json one = {{"key", "k"}, {"operator", "Equal"}, {"value", "v"}};
  const Json plain = {{"key", "j"}, {"value", "v"}};
  const Json made = Make(kPods, Pod("p", {{"runtimeClassName", "empty"},
                                          {"tolerations", {one, all, plain, plain}}}));
  const Json& tolerations = made["spec"]["tolerations"];
  ASSERT_EQ(tolerations.size(), 4u) << tolerations;
  EXPECT_EQ(tolerations[0], all);
  EXPECT_EQ(tolerations[1], plain);
}

TEST_F(Plugins, TolerationsIncludeOthersByTheirWords) {
  // Without an operator one includes what says Equal, and only that.
  const Json silent = {{"key", "k"}, {"value", "v"}};
  const Json equal = {{"key", "k"}, {"value", "v"}, {"operator", "Equal"}};
  Json once = silent;
  once["effect"] = "NoSchedule";
  EXPECT_EQ(MergeTolerations(Json::array({silent}), Json::array({equal})), Json::array({silent}));
  EXPECT_EQ(MergeTolerations(Json::array({silent}), Json::array({once})), Json::array({silent, once}));
}

TEST_F(Plugins, ClaimsGetTheDefaultClass) {
  auto claim = [](const std::string& name, const Json& spec = Json::object()) {
    Json all = {{"accessModes", {"ReadWriteOnce"}},
                {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
    all.update(spec);
    return Object("v1", "PersistentVolumeClaim", name, {{"spec", all}});
  };
  EXPECT_FALSE(Make(kClaims, claim("none"))["spec"].contains("storageClassName"));
  const Json plain = Object("storage.k8s.io/v1", "StorageClass", "fast",
                            {{"provisioner", "example.com/p"}, {"allowVolumeExpansion", true}});
  Make(kStorageClasses, Default(plain, "storageclass.kubernetes.io/is-default-class"));
  EXPECT_EQ(Make(kClaims, claim("a"))["spec"]["storageClassName"], "fast");
  EXPECT_EQ(Make(kClaims, claim("b", {{"storageClassName", ""}}))["spec"]["storageClassName"], "");

  auto grow = [&](const std::string& name) {
    return hub_.Do("PATCH", ws_ + kClaims + "/" + name,
                   {{"spec", {{"resources", {{"requests", {{"storage", "2Gi"}}}}}}}},
                   "application/merge-patch+json");
  };
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(hub_.Do("PATCH", ws_ + kClaims + "/" + name + "/status",
                      {{"status", {{"phase", "Bound"}}}}, "application/merge-patch+json").code,
              200);
  }
  EXPECT_EQ(grow("b").body["message"],
            "persistentvolumeclaims \"b\" is forbidden: only dynamically provisioned pvc can be "
            "resized and the storageclass that provisions the pvc must support resize");
  // The class is the one the annotation names, if there is one.
  Json older = claim("c", {{"storageClassName", "none"}});
  Set(older, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"}, "fast");
  Make(kClaims, older);
  ASSERT_EQ(hub_.Do("PATCH", ws_ + kClaims + "/c/status", {{"status", {{"phase", "Bound"}}}},
                    "application/merge-patch+json").code,
            200);
  EXPECT_EQ(grow("c").code, 200);
  const auto grown = grow("a");
  EXPECT_EQ(grown.code, 200) << grown.text;
}

TEST_F(Plugins, IngressesGetTheDefaultClass) {
  auto ingress = [](const std::string& name, const Json& more = Json::object()) {
    const Json backend = {{"service", {{"name", "s"}, {"port", {{"number", 80}}}}}};
    Json out = Object("networking.k8s.io/v1", "Ingress", name,
                      {{"spec", {{"defaultBackend", backend}}}});
    out["spec"].update(more);
    return out;
  };
  EXPECT_FALSE(Make(kIngresses, ingress("none"))["spec"].contains("ingressClassName"));
  const std::string mark = "ingressclass.kubernetes.io/is-default-class";
  for (const char* name : {"b", "a"}) {
    Make(kIngressClasses, Default(Object("networking.k8s.io/v1", "IngressClass", name,
                                         {{"spec", {{"controller", "example.com/c"}}}}), mark));
  }
  const std::string chosen = Make(kIngresses, ingress("x"))["spec"]["ingressClassName"];
  EXPECT_TRUE(chosen == "a" || chosen == "b");  // the newer one, when a second passed between them
  EXPECT_EQ(Make(kIngresses, ingress("y", {{"ingressClassName", "c"}}))["spec"]["ingressClassName"],
            "c");
  Json old = ingress("z");
  Set(old, {"metadata", "annotations", "kubernetes.io/ingress.class"}, "nginx");
  EXPECT_FALSE(Make(kIngresses, old)["spec"].contains("ingressClassName"));
}

TEST_F(Plugins, AreInertWherePoliciesArePayload) {
  for (const char* type : {"wds", "mailbox"}) {
    const std::string ws = hub_.NewWorkspace(std::string("inert-") + type, type);
    auto make = [&](const std::string& path, const Json& object) {
      const auto made = hub_.Do("POST", ws + path, object);
      EXPECT_EQ(made.code, 201) << made.text;
      return made.body;
    };
    EXPECT_EQ(hub_.Get(ws + kPriorityClasses).body["items"].size(), 0u);
    make(kPriorityClasses, PriorityClass("usual", 5, {{"globalDefault", true}}));
    make(kPriorityClasses, PriorityClass("other", 6, {{"globalDefault", true}}));
    const Json pod = make(kPods, Pod("a", {{"runtimeClassName", "none"},
                                           {"priorityClassName", "absent"},
                                           {"serviceAccountName", "nobody"}}));
    for (const char* member : {"priority", "preemptionPolicy", "tolerations", "overhead",
                               "volumes"}) {
      EXPECT_FALSE(pod["spec"].contains(member)) << member;
    }
  }
}

TEST(ServiceAccountPlugin, GivesPodsTheirAccountAndToken) {
  TestHub hub("authority");
  const std::string ws = hub.NewWorkspace("c1", "cluster");
  const std::string accounts = ws + "/api/v1/namespaces/default/serviceaccounts";
  ASSERT_TRUE(Eventually([&] { return hub.Get(accounts + "/default").code == 200; }));
  const auto made = hub.Do("POST", ws + kPods, Pod("a"));
  ASSERT_EQ(made.code, 201) << made.text;
  const Json& spec = made.body["spec"];
  EXPECT_EQ(spec["serviceAccountName"], "default");
  EXPECT_EQ(spec["serviceAccount"], "default");
  const std::string volume = spec["volumes"][0]["name"];
  EXPECT_TRUE(volume.starts_with("kube-api-access-")) << volume;
  EXPECT_EQ(volume.size(), std::string("kube-api-access-").size() + 5);
  EXPECT_EQ(spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"],
            (Json{{"expirationSeconds", 3607}, {"path", "token"}}));
  EXPECT_EQ(spec["containers"][0]["volumeMounts"],
            Json::array({{{"name", volume},
                          {"readOnly", true},
                          {"mountPath", "/var/run/secrets/kubernetes.io/serviceaccount"}}}));

  const auto refused = hub.Do("POST", ws + kPods, Pod("b", {{"serviceAccountName", "none"}}));
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.body["message"],
            "pods \"b\" is forbidden: error looking up service account default/none: "
            "serviceaccount \"none\" not found");
  const Json pulls = Json::array({{{"name", "registry"}}});
  ASSERT_EQ(hub.Do("POST", accounts, Object("v1", "ServiceAccount", "quiet",
                                            {{"automountServiceAccountToken", false},
                                             {"imagePullSecrets", pulls}})).code, 201);
  const Json quiet = hub.Do("POST", ws + kPods, Pod("c", {{"serviceAccountName", "quiet"}})).body;
  EXPECT_FALSE(quiet["spec"].contains("volumes")) << quiet;
  EXPECT_EQ(quiet["spec"]["imagePullSecrets"], pulls);
  const Json asked = hub.Do("POST", ws + kPods,
                            Pod("d", {{"serviceAccountName", "quiet"},
                                      {"automountServiceAccountToken", true}})).body;
  EXPECT_TRUE(asked["spec"].contains("volumes")) << asked;
}

TEST(DisabledPlugins, DoNothing) {
  apiserver::Server::Options options;
  options.disabled_admission = {"Priority", "DefaultTolerationSeconds"};
  TestHub hub(options);
  const std::string ws = hub.NewWorkspace("c1", "cluster");
  const auto made = hub.Do("POST", ws + kPods, Pod("a", {{"priorityClassName", "none"}}));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_FALSE(made.body["spec"].contains("priority"));
  EXPECT_FALSE(made.body["spec"].contains("tolerations"));
}

}  // namespace
}  // namespace mailroom::admission
