// What the labels of a namespace ask for, right and wrong ones.
#include "apiserver/admission/pod_security_levels.h"

#include <gtest/gtest.h>

#include <map>

namespace mailroom::admission {
namespace {

struct Case {
  std::map<std::string, std::string> labels;  // without their prefix
  std::string enforce, audit, warn;
  std::vector<std::string> problems = {};
};

SecurityPolicy Read(const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> full;
  for (const auto& [name, value] : given) full[kSecurityPrefix + name] = value;
  return ReadSecurityPolicy(Labels(full.begin(), full.end()));
}

void Expect(const Case& c) {
  const SecurityPolicy policy = Read(c.labels);
  EXPECT_EQ(policy.enforce.Text(), c.enforce);
  EXPECT_EQ(policy.audit.Text(), c.audit);
  EXPECT_EQ(policy.warn.Text(), c.warn);
  std::vector<std::string> problems;
  for (const Cause& cause : policy.problems) problems.push_back(cause.field + ": " + cause.message);
  EXPECT_EQ(problems, c.problems);
}

TEST(SecurityPolicy, IsWhatTheLabelsSay) {
  const std::string all = "privileged:latest";
  Expect({{}, all, all, all});
  Expect({{{"enforce", "privileged"}}, all, all, all});
  Expect({{{"enforce", "restricted"}, {"audit", "baseline"}, {"warn", "privileged"}},
          "restricted:latest", "baseline:latest", all});
  Expect({{{"enforce-version", "v1.3"}, {"audit-version", "latest"}, {"warn-version", "v1.999"}},
          "privileged:v1.3", all, "privileged:v1.999"});
  Expect({{{"audit", "restricted"}, {"audit-version", "v1.0"}}, all, "restricted:v1.0", all});
}

TEST(SecurityPolicy, WarnsOfWhatIsEnforced) {
  const std::string all = "privileged:latest";
  Expect({{{"enforce", "baseline"}, {"enforce-version", "v1.24"}}, "baseline:v1.24", all,
          "baseline:v1.24"});
  Expect({{{"enforce", "baseline"}, {"enforce-version", "v1.24"}, {"warn-version", "v1.25"}},
          "baseline:v1.24", all, "baseline:v1.25"});
  Expect({{{"enforce", "baseline"}, {"warn", "privileged"}}, "baseline:latest", all, all});
}

TEST(SecurityPolicy, BadLevelsEnforceTheStrictestAndBadVersionsTheLatest) {
  const std::string all = "privileged:latest";
  const std::string of_level = "must be one of privileged, baseline, restricted";
  const std::string of_version = "must be \"latest\" or \"v1.x\"";
  auto at = [](const std::string& name, const std::string& value, const std::string& why) {
    return "metadata.labels[pod-security.kubernetes.io/" + name + "]: Invalid value: \"" + value +
           "\": " + why;
  };
  Expect({{{"enforce", "Baseline"}}, "restricted:latest", all, all,
          {at("enforce", "Baseline", of_level)}});
  Expect({{{"enforce", ""}, {"audit", "x"}, {"warn", "y"}}, "restricted:latest", all, all,
          {at("enforce", "", of_level), at("audit", "x", of_level), at("warn", "y", of_level)}});
  for (const char* bad : {"", "v1", "1.2", "v1.", "v1.01", "v1.-1", "v1.+1", "v1.2.3", "v2.0",
                          "Latest", "v1.99999999999999999999"}) {
    Expect({{{"enforce", "baseline"}, {"enforce-version", bad}}, "baseline:latest", all,
            "baseline:latest", {at("enforce-version", bad, of_version)}});
  }
  Expect({{{"warn", "baseline"}, {"warn-version", "old"}, {"audit-version", "older"}}, all, all,
          "baseline:latest",
          {at("audit-version", "older", of_version), at("warn-version", "old", of_version)}});
}

TEST(SecurityPolicy, AllowsAllOnlyWithLabelsInOrder) {
  EXPECT_TRUE(Read({}).AllowsAll());
  EXPECT_TRUE(Read({{"enforce-version", "v1.2"}}).AllowsAll());
  EXPECT_FALSE(Read({{"warn", "baseline"}}).AllowsAll());
  EXPECT_FALSE(Read({{"audit", "nothing"}}).AllowsAll());
  EXPECT_FALSE(HasSecurityLabels({{"app", "a"}, {"pod-security", "restricted"}}));
}

}  // namespace
}  // namespace mailroom::admission
