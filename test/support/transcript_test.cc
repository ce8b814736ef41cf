#include "test/support/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace mailroom {
namespace {

class Transcript : public testing::TestWithParam<std::string> {};

TEST_P(Transcript, IsWhatTheServerSays) {
  std::ifstream file(std::string(MAILROOM_TRANSCRIPTS) + "/" + GetParam() + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  const std::vector<Exchange> exchanges = ParseTranscript(text.str());
  ASSERT_FALSE(exchanges.empty()) << GetParam();
  TestHub hub;
  const std::string prefix = hub.NewWorkspace("transcript", "cluster");
  for (const std::string& problem : PlayTranscript(hub, prefix, exchanges)) {
    ADD_FAILURE() << GetParam() << ".txt " << problem;
  }
}

std::vector<std::string> Files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MAILROOM_TRANSCRIPTS)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, Transcript, testing::ValuesIn(Files()),
                         [](const auto& file) { return file.param; });

TEST(TranscriptMatching, SeesWhatDiffers) {
  auto differ = [](const char* want, const char* got) {
    std::vector<std::string> out;
    Differences(*ParseJson(want), *ParseJson(got), "", out);
    return out.size();
  };
  EXPECT_EQ(differ(R"({"a":1})", R"({"a":1})"), 0u);
  EXPECT_EQ(differ(R"({"a":1})", R"({"a":2})"), 1u);
  EXPECT_EQ(differ(R"({"a":1})", R"({"a":1,"b":2})"), 1u);
  EXPECT_EQ(differ(R"({"a":1,"...":""})", R"({"a":1,"b":2})"), 0u);
  EXPECT_EQ(differ(R"({"a":1})", R"({})"), 1u);
  EXPECT_EQ(differ(R"({"a":"<revision>"})", R"({"a":"12"})"), 0u);
  EXPECT_EQ(differ(R"({"a":"<revision>"})", R"({"a":"x"})"), 1u);
  EXPECT_EQ(differ(R"({"a":"at <time>."})", R"({"a":"at 2020-01-02T03:04:05Z."})"), 0u);
  EXPECT_EQ(differ(R"({"a":[1,2]})", R"({"a":[1]})"), 1u);
  EXPECT_EQ(differ(R"({"a":{}})", R"({"a":{"managedFields":[]}})"), 0u);
}

}  // namespace
}  // namespace mailroom
