#include "syncer/memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace mailroom::syncer {
namespace {

class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "memory-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    folder_ = root_ + "/not/yet/there";
  }
  ~MemoryTest() override { std::filesystem::remove_all(root_); }
  std::string root_, folder_;
};

TEST_F(MemoryTest, SurvivesARestartOnceComplete) {
  {
    Memory memory(folder_, "m1");
    EXPECT_FALSE(memory.known());
    ASSERT_TRUE(memory.Remember({"apps", "deployments"}, "apps/v1").ok());
    EXPECT_FALSE(Memory(folder_, "m1").known());
    ASSERT_TRUE(memory.Complete().ok());
    ASSERT_TRUE(memory.Remember({"", "configmaps"}, "v1").ok());
    ASSERT_TRUE(memory.Remember({"g", "x"}, "g/v1").ok());
    ASSERT_TRUE(memory.Forget({"g", "x"}).ok());
  }
  const Memory again(folder_, "m1");
  EXPECT_TRUE(again.known());
  EXPECT_EQ(again.resources(),
            (std::map<GroupResource, std::string>{{{"apps", "deployments"}, "apps/v1"},
                                                  {{"", "configmaps"}, "v1"}}));
}

TEST_F(MemoryTest, AnotherMailboxOrABrokenFileIsNoMemory) {
  {
    Memory memory(folder_, "m1");
    ASSERT_TRUE(memory.Remember({"", "secrets"}, "v1").ok());
    ASSERT_TRUE(memory.Complete().ok());
  }
  EXPECT_FALSE(Memory(folder_, "m2").known());
  EXPECT_TRUE(Memory(folder_, "m2").resources().empty());
  std::ofstream(std::filesystem::path(folder_) / "resources.json") << "{";
  EXPECT_FALSE(Memory(folder_, "m1").known());
  EXPECT_FALSE(Memory("", "m1").known());
}

}  // namespace
}  // namespace mailroom::syncer
