#include "openapi/validate_schedules.h"

#include "openapi/validate_cases.h"

namespace mailroom::openapi {
namespace {

const GroupVersionKind kCronJob = {"batch", "v1", "CronJob"};

struct TextCase {
  const char* text;
  std::vector<std::string> expected;
};

// A CronJob with `spec` and a job that nothing is wrong with.
std::string Job(const std::string& spec) {
  return "{spec: {" + spec +
         ", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
         "image: i}]}}}}}}";
}

std::string Scheduled(const std::string& schedule, const std::string& more = "") {
  return Job("schedule: " + Quoted(schedule) + more);
}

std::vector<std::string> FaultsOfJob(const std::string& after, const std::string& before = "") {
  return FaultsOf(kCronJob, before.empty() ? nullptr : before.c_str(), after.c_str());
}

void ExpectTexts(const std::vector<TextCase>& cases, const std::string& member,
                 const std::string& field) {
  for (const TextCase& c : cases) {
    std::vector<std::string> expected;
    for (const std::string& fault : c.expected) {
      expected.push_back(field + ": Invalid value: " + Quoted(c.text) + ": " + fault);
    }
    EXPECT_EQ(FaultsOfJob(Job(member + Quoted(c.text))), expected) << c.text;
  }
}

TEST(ValidateSchedules, Schedules) {
  ExpectTexts(
      {
          {"* * * * *", {}},
          {"*/5 1-3,5 ? jan-MAR sun", {}},
          {"0/15 * * * *", {}},
          {"1-3/2 * * * *", {}},
          {"@hourly", {}},
          {"@midnight", {}},
          {"@every 1h30m", {}},
          {"@every -1.5h", {}},
          {"@every 5m0.5s", {}},
          {"  1   2 3 4 5  ", {}},
          {",,, * * * *", {}},
          {"+1 * * * *", {}},
          {"007 * * * *", {}},
          {"*-x * * * *", {}},
          {"*/1 * * * *", {}},
          {"1 * * * ,", {}},
          {" * * * * *", {}},
          {"* * * *", {"expected exactly 5 fields, found 4: [* * * *]"}},
          {"* *", {"expected exactly 5 fields, found 2: [* *]"}},
          {"* * * * * *", {"expected exactly 5 fields, found 6: [* * * * * *]"}},
          {" ", {"expected exactly 5 fields, found 0: []"}},
          {"*/0 * * * *", {"step of range should be a positive number: */0"}},
          {"61 * * * *", {"end of range (61) above maximum (59): 61"}},
          {"5-1 * * * *", {"beginning of range (5) beyond end of range (1): 5-1"}},
          {"* * * * 7", {"end of range (7) above maximum (6): 7"}},
          {"* * 0 * *", {"beginning of range (0) below minimum (1): 0"}},
          {"* * 32 * *", {"end of range (32) above maximum (31): 32"}},
          {"* 24 * * *", {"end of range (24) above maximum (23): 24"}},
          {"* * * 13 *", {"end of range (13) above maximum (12): 13"}},
          {"* * * 0 *", {"beginning of range (0) below minimum (1): 0"}},
          {"* * * foo *",
           {"failed to parse int from foo: strconv.Atoi: parsing \"foo\": invalid syntax"}},
          {"a * * * *",
           {"failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"}},
          {"* * * * mon-tue-wed", {"too many hyphens: mon-tue-wed"}},
          {"1-2-3 * * * *", {"too many hyphens: 1-2-3"}},
          {"*/2/3 * * * *", {"too many slashes: */2/3"}},
          {"*/x * * * *",
           {"failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"}},
          {"1/-1 * * * *", {"negative number (-1) not allowed: -1"}},
          {"-1 * * * *", {"failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"}},
          {"1- * * * *", {"failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"}},
          {"99999999999999999999 * * * *",
           {"failed to parse int from 99999999999999999999: strconv.Atoi: parsing "
            "\"99999999999999999999\": value out of range"}},
          {"jan * * * *",
           {"failed to parse int from jan: strconv.Atoi: parsing \"jan\": invalid syntax"}},
          {"1,2,99 * * * *", {"end of range (99) above maximum (59): 99"}},
          {"1.5 * * * *",
           {"failed to parse int from 1.5: strconv.Atoi: parsing \"1.5\": invalid syntax"}},
          {"60-70 * * * *", {"end of range (70) above maximum (59): 60-70"}},
          {"1_0 * * * *",
           {"failed to parse int from 1_0: strconv.Atoi: parsing \"1_0\": invalid syntax"}},
          {"0x1 * * * *",
           {"failed to parse int from 0x1: strconv.Atoi: parsing \"0x1\": invalid syntax"}},
          {"@reboot", {"unrecognized descriptor: @reboot"}},
          {"@every", {"unrecognized descriptor: @every"}},
          {"@every ", {"failed to parse duration @every : time: invalid duration \"\""}},
          {"@every x", {"failed to parse duration @every x: time: invalid duration \"x\""}},
          {"@every 1", {"failed to parse duration @every 1: time: missing unit in duration \"1\""}},
          {"@every 1x",
           {"failed to parse duration @every 1x: time: unknown unit \"x\" in duration \"1x\""}},
          {"@every .s", {"failed to parse duration @every .s: time: invalid duration \".s\""}},
          {"@every 9999999999h",
           {"failed to parse duration @every 9999999999h: time: invalid duration \"9999999999h\""}},
          {"@HOURLY", {"unrecognized descriptor: @HOURLY"}},
          {"@daily ", {"unrecognized descriptor: @daily "}},
          {"@", {"unrecognized descriptor: @"}},
          {"@every -", {"failed to parse duration @every -: time: invalid duration \"-\""}},
          {"@every 1h 2m",
           {"failed to parse duration @every 1h 2m: time: unknown unit \"h \" in duration \"1h "
            "2m\""}},
          {"TZ=UTC * * * * *",
           {"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"CRON_TZ=Europe/Berlin * * * * *",
           {"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ=Nowhere/Else * * * * *",
           {"provided bad location Nowhere/Else: unknown time zone Nowhere/Else",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ=UTC",
           {"invalid schedule format: runtime error: slice bounds out of range [:-1]",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ=UTC @hourly", {"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ= * * * * *", {"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ=UTC * *",
           {"expected exactly 5 fields, found 2: [* *]",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ=../x * * * * *",
           {"provided bad location ../x: time: invalid location name",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"\t* * * * *", {}},
          {"* * * * *", {}},
          {"* * * * TZ",
           {"failed to parse int from TZ: strconv.Atoi: parsing \"TZ\": invalid syntax",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"* * TZ",
           {"expected exactly 5 fields, found 3: [* * TZ]",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"CRON_TZ=Local 0 0 * * *",
           {"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
          {"TZ=UTC  ",
           {"expected exactly 5 fields, found 0: []",
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}},
      },
      "schedule: ", "spec.schedule");
}

TEST(ValidateSchedules, TimeZones) {
  ExpectTexts(
      {
          {"UTC", {}},
          {"Europe/Berlin", {}},
          {"Etc/GMT+5", {}},
          {"Local",
           {"timeZone must be an explicit time zone as defined in "
            "https://www.iana.org/time-zones"}},
          {"local",
           {"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
            "unknown time zone local"}},
          {"utc", {"unknown time zone utc"}},
          {"Nowhere", {"unknown time zone Nowhere"}},
          {"", {"timeZone must be nil or non-empty string"}},
          {"/UTC", {"unknown time zone /UTC"}},
          {"Europe//Berlin", {"unknown time zone Europe//Berlin"}},
          {"Europe/..", {"unknown time zone Europe/.."}},
          {"-x", {"unknown time zone -x"}},
          {"Europe/-x", {"unknown time zone Europe/-x"}},
          {"Europe/Berlin ", {"unknown time zone Europe/Berlin "}},
          {"Abcdefghijklmnopq", {"unknown time zone Abcdefghijklmnopq"}},
          {"America/Argentina/Buenos_Aires", {}},
          {"europe/berlin", {"unknown time zone europe/berlin"}},
          {"LOCAL",
           {"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
            "unknown time zone LOCAL"}},
          {"EST5EDT", {}},
          {"Zulu", {}},
          {"America/North_Dakota/New_Salem", {}},
          {"US/Pacific-New", {"unknown time zone US/Pacific-New"}},
          {"Asia/Hanoi", {"unknown time zone Asia/Hanoi"}},
      },
      "schedule: '* * * * *', timeZone: ", "spec.timeZone");
}

TEST(ValidateSchedules, OtherMembers) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      FaultsOfJob(Job("startingDeadlineSeconds: -1, schedule: '', failedJobsHistoryLimit: -2, "
                      "successfulJobsHistoryLimit: -1")),
      (Texts{
          "spec.schedule: Required value",
          "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
          "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
          "spec.failedJobsHistoryLimit: Invalid value: -2: must be greater than or equal to 0"}));
  EXPECT_EQ(FaultsOfJob("{spec: {schedule: '* * * * *', jobTemplate: {spec: {selector: "
                        "{matchLabels: {a: b}}, manualSelector: true, template: {spec: "
                        "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}"),
            (Texts{"spec.jobTemplate.spec.selector: Invalid value: "
                   "{\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated",
                   "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported "
                   "values: \"nil\", \"false\""}));
}

TEST(ValidateSchedules, WhatWasThereBeforeMayStay) {
  using Texts = std::vector<std::string>;
  const std::string named = Scheduled("TZ=UTC * * * * *");
  EXPECT_EQ(FaultsOfJob(named, named), Texts());
  EXPECT_EQ(
      FaultsOfJob(Scheduled("TZ=UTC * * * * *", ", timeZone: UTC"), named),
      Texts{"spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use both timeZone field "
            "and TZ or CRON_TZ in schedule"});
  EXPECT_EQ(FaultsOfJob(named, Scheduled("* * * * *")),
            Texts{"spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use TZ or CRON_TZ in "
                  "schedule, use timeZone field instead"});
  const std::string lost = Scheduled("* * * * *", ", timeZone: Nowhere");
  EXPECT_EQ(FaultsOfJob(lost, lost), Texts());
  EXPECT_EQ(FaultsOfJob(lost, Scheduled("* * * * *")),
            Texts{"spec.timeZone: Invalid value: \"Nowhere\": unknown time zone Nowhere"});
  const std::string broken = Scheduled("61 * * * *");
  EXPECT_EQ(FaultsOf(kCronJob, broken.c_str(), broken.c_str(), "status"), Texts());
}

}  // namespace
}  // namespace mailroom::openapi
