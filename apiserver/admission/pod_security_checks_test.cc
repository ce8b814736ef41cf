// The rules of the Pod Security Standards, each by the fields it looks at and the versions it has.
#include "apiserver/admission/pod_security_checks.h"

#include <gtest/gtest.h>

#include "storage/object/json.h"

namespace mailroom::admission {
namespace {

constexpr SecurityLevel kBaseline = SecurityLevel::kBaseline;
constexpr SecurityLevel kRestricted = SecurityLevel::kRestricted;
constexpr std::int64_t kLatest = LevelVersion::kLatest;

Json Parsed(const std::string& text) {
  auto parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// A pod that no level forbids, with some members of its spec and of its container `a` replaced.
Json Pod(const std::string& spec, const std::string& container = "{}") {
  Json pod = Parsed(R"({"metadata": {"name": "p"}, "spec": {
    "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{"name": "a", "image": "i", "securityContext": {
      "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}})");
  pod["spec"].merge_patch(Parsed(spec));
  pod["spec"]["containers"][0].merge_patch(Parsed(container));
  return pod;
}

Json Annotated(const std::string& key, const std::string& value) {
  Json pod = Pod("{}");
  pod["metadata"]["annotations"] = {{key, value}};
  return pod;
}

std::string At(SecurityLevel level, std::int64_t minor, const Json& pod) {
  return DetailsText(FindViolations({level, minor}, pod));
}

// What is said from version `since` on, and that before nothing was.
void ExpectSince(SecurityLevel level, std::int64_t since, const Json& pod, const std::string& said) {
  EXPECT_EQ(At(level, kLatest, pod), said);
  EXPECT_EQ(At(level, 999, pod), said);
  EXPECT_EQ(At(level, since, pod), said);
  if (since > 0) {
    EXPECT_EQ(At(level, since - 1, pod), "");
  }
  EXPECT_EQ(At(SecurityLevel::kPrivileged, kLatest, pod), "");
}
void ExpectUntil(SecurityLevel level, std::int64_t until, const Json& pod, const std::string& said) {
  EXPECT_EQ(At(level, 0, pod), said);
  EXPECT_EQ(At(level, until - 1, pod), said);
  EXPECT_EQ(At(level, until, pod), "");
  EXPECT_EQ(At(level, kLatest, pod), "");
}

TEST(PodSecurityChecks, AHarmlessPodIsAllowed) {
  for (std::int64_t minor = -1; minor < 40; ++minor) {
    EXPECT_EQ(At(kBaseline, minor, Pod("{}")), "");
    EXPECT_EQ(At(kRestricted, minor, Pod("{}")), "");
  }
}

TEST(PodSecurityChecks, HostNamespacesPortsAndPaths) {
  ExpectSince(kBaseline, 0, Pod(R"({"hostNetwork": true, "hostIPC": true, "hostPID": true})"),
              "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)");
  ExpectSince(kBaseline, 0, Pod("{}", R"({"ports": [{"hostPort": 90}, {"hostPort": 8080}, {}]})"),
              "hostPort (container \"a\" uses hostPorts 8080, 90)");
  ExpectSince(kBaseline, 0, Pod(R"({"initContainers": [{"name": "b", "ports": [{"hostPort": 7}]}]})",
                                R"({"ports": [{"hostPort": 7}]})"),
              "hostPort (containers \"b\", \"a\" use hostPort 7)");
  const Json volumes = Pod(R"({"volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w",
                               "emptyDir": {}}, {"name": "x", "hostPath": {"path": "/"}}]})");
  ExpectSince(kBaseline, 0, volumes, "hostPath volumes (volumes \"v\", \"x\")");
  ExpectSince(kRestricted, 0, volumes, "restricted volume types (volumes \"v\", \"x\" use "
                                       "restricted volume type \"hostPath\")");
}

TEST(PodSecurityChecks, PrivilegesAndCapabilities) {
  ExpectSince(kBaseline, 0, Pod("{}", R"({"securityContext": {"privileged": true}})"),
              "privileged (container \"a\" must not set securityContext.privileged=true)");
  const Json added = Pod("{}", R"({"securityContext": {"capabilities": {
      "add": ["SYS_TIME", "CHOWN", "NET_RAW"]}}})");
  ExpectSince(kBaseline, 0, added, "non-default capabilities (container \"a\" must not include "
                                   "\"NET_RAW\", \"SYS_TIME\" in securityContext.capabilities.add)");
  EXPECT_EQ(At(kRestricted, 21, added), At(kBaseline, 21, added));
  EXPECT_EQ(At(kRestricted, 22, added),
            "unrestricted capabilities (container \"a\" must not include \"CHOWN\", \"NET_RAW\", "
            "\"SYS_TIME\" in securityContext.capabilities.add)");
  ExpectSince(kRestricted, 22,
              Pod("{}", R"({"securityContext": {"capabilities": {"add": ["KILL"], "drop": ["KILL"]}}})"),
              "unrestricted capabilities (container \"a\" must set "
              "securityContext.capabilities.drop=[\"ALL\"]; container \"a\" must not include \"KILL\" "
              "in securityContext.capabilities.add)");
  EXPECT_EQ(At(kRestricted, kLatest, Pod("{}", R"({"securityContext": {"capabilities": {
      "add": ["NET_BIND_SERVICE"]}}})")), "");
  ExpectSince(kRestricted, 8, Pod("{}", R"({"securityContext": {"allowPrivilegeEscalation": null}})"),
              "allowPrivilegeEscalation != false (container \"a\" must set "
              "securityContext.allowPrivilegeEscalation=false)");
}

TEST(PodSecurityChecks, AppArmor) {
  ExpectSince(kBaseline, 0,
              Pod(R"({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}})",
                  R"({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}})"),
              "forbidden AppArmor profile (pod and container \"a\" must not set AppArmor profile type "
              "to \"Unconfined\")");
  const std::string key = "container.apparmor.security.beta.kubernetes.io/a";
  ExpectSince(kBaseline, 0, Annotated(key, "unconfined"),
              "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
              "\"" + key + "=\"unconfined\"\")");
  for (const char* fine : {"", "runtime/default", "localhost/x"}) {
    EXPECT_EQ(At(kBaseline, kLatest, Annotated(key, fine)), "");
  }
  Json both = Annotated(key, "x");
  both["metadata"]["annotations"][key + "b"] = "y";
  both["spec"]["securityContext"]["appArmorProfile"]["type"] = "Unconfined";
  EXPECT_EQ(At(kBaseline, kLatest, both),
            "forbidden AppArmor profiles (pod and annotations must not set AppArmor profile type to "
            "\"Unconfined\", \"" + key + "=\"x\"\", \"" + key + "b=\"y\"\")");
}

TEST(PodSecurityChecks, Seccomp) {
  const std::string key = "seccomp.security.alpha.kubernetes.io/pod";
  ExpectUntil(kBaseline, 19, Annotated(key, "unconfined"),
              "seccompProfile (forbidden annotation " + key + "=\"unconfined\")");
  Json pod = Annotated("container." + key.substr(0, key.size() - 3) + "a", "");
  pod["metadata"]["annotations"][key] = "docker/default";
  ExpectUntil(kBaseline, 19, pod,
              "seccompProfile (forbidden annotation container.seccomp.security.alpha.kubernetes.io/"
              "a=\"\")");
  const Json unconfined =
      Pod(R"({"securityContext": {"seccompProfile": {"type": "Unconfined"}},
              "ephemeralContainers": [{"name": "e", "securityContext": {"capabilities":
                {"drop": ["ALL"]}, "allowPrivilegeEscalation": false,
                "seccompProfile": {"type": "Unconfined"}}}]})");
  for (const SecurityLevel level : {kBaseline, kRestricted}) {
    ExpectSince(level, 19, unconfined,
                "seccompProfile (pod and container \"e\" must not set "
                "securityContext.seccompProfile.type to \"Unconfined\")");
  }
  ExpectSince(kRestricted, 19, Pod(R"({"securityContext": {"seccompProfile": null}})"),
              "seccompProfile (pod or container \"a\" must set securityContext.seccompProfile.type to "
              "\"RuntimeDefault\" or \"Localhost\")");
  EXPECT_EQ(At(kRestricted, kLatest,
               Pod(R"({"securityContext": {"seccompProfile": null}})",
                   R"({"securityContext": {"seccompProfile": {"type": "Localhost"}}})")), "");
}

TEST(PodSecurityChecks, SeLinux) {
  ExpectSince(kBaseline, 0, Pod(R"({"securityContext": {"seLinuxOptions": {"type": "b", "user": "u"}}})",
                                R"({"securityContext": {"seLinuxOptions": {"type": "a", "role": "r"}}})"),
              "seLinuxOptions (pod and container \"a\" set forbidden securityContext.seLinuxOptions: "
              "types \"a\", \"b\"; user may not be set; role may not be set)");
  ExpectSince(kBaseline, 0, Pod(R"({"securityContext": {"seLinuxOptions": {"role": "r"}}})"),
              "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: role may not be set)");
  ExpectUntil(kBaseline, 31,
              Pod(R"({"securityContext": {"seLinuxOptions": {"type": "container_engine_t"}}})"),
              "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "
              "\"container_engine_t\")");
  for (const char* fine : {"", "container_t", "container_init_t", "container_kvm_t"}) {
    Json pod = Pod("{}");
    pod["spec"]["securityContext"]["seLinuxOptions"] = {{"type", fine}, {"level", "s0"}};
    EXPECT_EQ(At(kBaseline, 0, pod), "");
  }
}

TEST(PodSecurityChecks, Sysctls) {
  auto with = [](const std::string& name) {
    Json pod = Pod("{}");
    pod["spec"]["securityContext"]["sysctls"] = {{{"name", name}, {"value", "1"}},
                                                 {{"name", "net.ipv4.tcp_syncookies"}}};
    return pod;
  };
  ExpectSince(kBaseline, 0, with("kernel.msgmax"), "forbidden sysctls (kernel.msgmax)");
  for (const auto& [name, since] : {std::pair{"net.ipv4.ip_local_reserved_ports", 27},
                                    std::pair{"net.ipv4.tcp_keepalive_time", 29},
                                    std::pair{"net.ipv4.tcp_fin_timeout", 29},
                                    std::pair{"net.ipv4.tcp_keepalive_intvl", 29},
                                    std::pair{"net.ipv4.tcp_keepalive_probes", 29},
                                    std::pair{"net.ipv4.tcp_rmem", 32},
                                    std::pair{"net.ipv4.tcp_wmem", 32}}) {
    ExpectUntil(kBaseline, since, with(name), "forbidden sysctls (" + std::string(name) + ")");
  }
  Json twice = with("b");
  twice["spec"]["securityContext"]["sysctls"][1]["name"] = "a";
  EXPECT_EQ(At(kBaseline, kLatest, twice), "forbidden sysctls (b, a)");
}

TEST(PodSecurityChecks, HostsOfProbesAndHandlers) {
  ExpectSince(kBaseline, 34,
              Pod("{}", R"({"livenessProbe": {"httpGet": {"host": "b"}},
                            "readinessProbe": {"tcpSocket": {"host": ""}},
                            "lifecycle": {"preStop": {"tcpSocket": {"host": "a"}}}})"),
              "probe or lifecycle host (container \"a\" uses probe or lifecycle hosts \"a\", \"b\")");
  ExpectSince(kBaseline, 34,
              Pod(R"({"initContainers": [{"name": "z", "startupProbe": {"httpGet": {"host": "h"}}}]})",
                  R"({"lifecycle": {"postStart": {"httpGet": {"host": "h"}}}})"),
              "probe or lifecycle host (containers \"a\", \"z\" use probe or lifecycle host \"h\")");
}

TEST(PodSecurityChecks, ProcMountAndOwnUsers) {
  const std::string unmasked = R"({"securityContext": {"procMount": "Unmasked"}})";
  const std::string said =
      "procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")";
  for (const SecurityLevel level : {kBaseline, kRestricted}) {
    ExpectSince(level, 0, Pod("{}", unmasked), said);
  }
  const Json own = Pod(R"({"hostUsers": false})", unmasked);
  ExpectUntil(kBaseline, 35, own, said);
  ExpectSince(kRestricted, 0, own, said);
  EXPECT_EQ(At(kBaseline, 0, Pod("{}", R"({"securityContext": {"procMount": "Default"}})")), "");
}

TEST(PodSecurityChecks, Users) {
  const std::string root = R"({"securityContext": {"runAsUser": 0}})";
  ExpectSince(kRestricted, 23, Pod(root, root),
              "runAsUser=0 (pod and container \"a\" must not set runAsUser=0)");
  EXPECT_EQ(At(kRestricted, 34, Pod(R"({"hostUsers": false})", root)),
            "runAsUser=0 (container \"a\" must not set runAsUser=0)");
  EXPECT_EQ(At(kRestricted, 35, Pod(R"({"hostUsers": false})", root)), "");
  const std::string may = R"({"securityContext": {"runAsNonRoot": false}})";
  ExpectSince(kRestricted, 0, Pod(may, may),
              "runAsNonRoot != true (pod and container \"a\" must not set "
              "securityContext.runAsNonRoot=false)");
  ExpectSince(kRestricted, 0, Pod(R"({"securityContext": {"runAsNonRoot": null}})"),
              "runAsNonRoot != true (pod or container \"a\" must set "
              "securityContext.runAsNonRoot=true)");
  EXPECT_EQ(At(kRestricted, 0, Pod(R"({"securityContext": {"runAsNonRoot": null}})",
                                   R"({"securityContext": {"runAsNonRoot": true}})")), "");
  ExpectUntil(kRestricted, 35, Pod(R"({"hostUsers": false})", may),
              "runAsNonRoot != true (container \"a\" must not set "
              "securityContext.runAsNonRoot=false)");
}

TEST(PodSecurityChecks, Windows) {
  const std::string host = R"({"securityContext": {"windowsOptions": {"hostProcess": true}}})";
  ExpectSince(kBaseline, 0, Pod(host, host),
              "hostProcess (pod and container \"a\" must not set "
              "securityContext.windowsOptions.hostProcess=true)");
  const Json bare = Pod(R"({"os": {"name": "windows"}, "securityContext": {"seccompProfile": null}})",
                        R"({"securityContext": null})");
  EXPECT_EQ(ReasonsText(FindViolations({kRestricted, 24}, bare)),
            "allowPrivilegeEscalation != false, unrestricted capabilities, seccompProfile");
  EXPECT_EQ(At(kRestricted, 25, bare), "");
}

TEST(PodSecurityChecks, Volumes) {
  ExpectSince(kRestricted, 0,
              Pod(R"({"volumes": [{"name": "a", "nfs": {}}, {"name": "b", "secret": {}},
                      {"name": "c", "fc": {}}, {"name": "d", "newlyMade": {}}]})"),
              "restricted volume types (volumes \"a\", \"c\", \"d\" use restricted volume types "
              "\"fc\", \"nfs\", \"unknown\")");
  ExpectSince(kRestricted, 0, Pod(R"({"volumes": [{"name": "a", "gitRepo": {}}]})"),
              "restricted volume types (volume \"a\" uses restricted volume type \"gitRepo\")");
  for (const char* fine : {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image",
                           "persistentVolumeClaim", "projected", "secret"}) {
    Json pod = Pod("{}");
    pod["spec"]["volumes"] = {{{"name", "v"}, {fine, Json::object()}}};
    EXPECT_EQ(At(kRestricted, kLatest, pod), "") << fine;
  }
}

TEST(PodSecurityChecks, AreToldInOrder) {
  const Json bare = Parsed(R"({"spec": {"hostNetwork": true, "containers": [{"name": "a",
    "securityContext": {"privileged": true, "procMount": "Unmasked"}}]}})");
  EXPECT_EQ(ReasonsText(FindViolations({kRestricted, kLatest}, bare)),
            "host namespaces, privileged, allowPrivilegeEscalation != false, unrestricted "
            "capabilities, procMount, runAsNonRoot != true, seccompProfile");
  EXPECT_EQ(ReasonsText(FindViolations({kRestricted, 34}, bare)),
            "host namespaces, privileged, procMount, allowPrivilegeEscalation != false, unrestricted "
            "capabilities, runAsNonRoot != true, seccompProfile");
  EXPECT_EQ(ReasonsText(FindViolations({kRestricted, 0}, bare)),
            "host namespaces, privileged, procMount, runAsNonRoot != true");
}

}  // namespace
}  // namespace mailroom::admission
