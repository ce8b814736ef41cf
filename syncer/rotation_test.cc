#include "syncer/rotation.h"

#include <gtest/gtest.h>

#include "storage/object/limits.h"

namespace mailroom::syncer {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Time = std::chrono::system_clock::time_point;

class HandClock final : public Clock {
 public:
  Time Now() const override { return now; }
  std::chrono::steady_clock::time_point Monotonic() const override { return {}; }
  Time now = Time() + hours(1);
};

// Credentials whose token says in which hour they are to be renewed.
class RotationTest : public testing::Test {
 protected:
  static client::ServerConfig Until(int hour) {
    client::ServerConfig config;
    config.token = std::to_string(hour);
    return config;
  }
  Rotation Make(client::ServerConfig first) {
    return Rotation(std::move(first),
                    {.due = [](const client::ServerConfig& config) -> std::optional<Time> {
                       if (config.token.empty()) return std::nullopt;
                       return Time() + hours(std::stoi(config.token));
                     },
                     .renew = [this](const client::ServerConfig& config) -> Result<client::ServerConfig> {
                       asked.push_back(config.token);
                       if (refuse) return Unavailable("away");
                       return Until(std::stoi(config.token) + 24);
                     },
                     .keep = [this](const client::ServerConfig& config) -> Result<void> {
                       if (full) return Internal("disk full");
                       kept.push_back(config.token);
                       return Ok();
                     }},
                    clock);
  }
  HandClock clock;
  bool refuse = false, full = false;
  std::vector<std::string> asked, kept;
};

TEST_F(RotationTest, RenewsInTimeAndAgain) {
  Rotation rotation = Make(Until(16));
  EXPECT_EQ(rotation.Left(), milliseconds(hours(15)));
  EXPECT_FALSE(rotation.Attempt()) << "too early";
  EXPECT_TRUE(asked.empty());
  clock.now += hours(15);
  EXPECT_EQ(rotation.Left(), milliseconds(0));
  EXPECT_TRUE(rotation.Attempt());
  EXPECT_EQ(rotation.config().token, "40");
  EXPECT_EQ(rotation.Left(), milliseconds(hours(24)));
  EXPECT_FALSE(rotation.Attempt());
  clock.now += hours(24);
  EXPECT_TRUE(rotation.Attempt());
  EXPECT_EQ(asked, (std::vector<std::string>{"16", "40"})) << "each with the one before";
  EXPECT_EQ(kept, (std::vector<std::string>{"40", "64"}));
}

TEST_F(RotationTest, TriesAgainWithPausesAndKeepsTheOldOne) {
  Rotation rotation = Make(Until(0));
  refuse = true;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(rotation.Attempt());
    EXPECT_EQ(rotation.config().token, "0");
    const auto left = rotation.Left();
    ASSERT_TRUE(left.has_value());
    EXPECT_GT(*left, milliseconds(0));
    EXPECT_LE(*left, milliseconds(limits::kReconnectLast));
    EXPECT_FALSE(rotation.Attempt()) << "not before the pause is over";
    clock.now += *left;
  }
  EXPECT_EQ(asked.size(), 20u);
  refuse = false;
  EXPECT_TRUE(rotation.Attempt());
  EXPECT_EQ(rotation.Left(), std::chrono::ceil<milliseconds>(Time() + hours(24) - clock.now));
}

TEST_F(RotationTest, WhatCannotBeKeptIsUsed) {
  Rotation rotation = Make(Until(0));
  full = true;
  EXPECT_TRUE(rotation.Attempt());
  EXPECT_EQ(rotation.config().token, "24");
}

TEST_F(RotationTest, OtherCredentialsAreForEver) {
  Rotation rotation = Make(client::ServerConfig());
  EXPECT_FALSE(rotation.Left().has_value());
  EXPECT_FALSE(rotation.Attempt());
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace mailroom::syncer
