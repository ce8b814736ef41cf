#include "storage/object/resource_key.h"

#include <gtest/gtest.h>

#include <random>

namespace mailroom {
namespace {

ResourceKey Key(std::string ws, std::string group, std::string resource, std::string ns,
                std::string name) {
  return {Workspace(std::move(ws)), {std::move(group), std::move(resource)}, std::move(ns),
          std::move(name)};
}

TEST(ResourceKey, BuildsAndParses) {
  struct Case {
    ResourceKey key;
    std::string text;
  };
  const Case cases[] = {
      {Key("wds1", "", "configmaps", "default", "a"), "/mailroom/wds1/core/configmaps/default/a"},
      {Key("its1-mb-12", "example.com", "widgets", "", "w"),
       "/mailroom/its1-mb-12/example.com/widgets/w"},
      {Key("root", "rbac.authorization.k8s.io", "clusterroles", "", "system:node"),
       "/mailroom/root/rbac.authorization.k8s.io/clusterroles/system:node"},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(c.key.Check().ok());
    EXPECT_EQ(c.key.ToStoreKey(), c.text);
    auto parsed = ResourceKey::Parse(c.text);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, c.key);
  }
}

TEST(ResourceKey, RefusesShapesThatCouldEscape) {
  for (const ResourceKey& key :
       {Key("", "", "pods", "a", "b"), Key("a/b", "", "pods", "a", "b"), Key("..", "", "p", "", "b"),
        Key("w", "", "pods", "..", "b"), Key("w", "", "pods", "a", ".."),
        Key("w", "", "pods", "a", "b/c"), Key("w", "", "", "a", "b"), Key("w", "core", "p", "", "b"),
        Key("w", "", "pods", "a", ""), Key("W", "", "pods", "a", "b"),
        Key("w", "", "pods", "a", std::string("b\0c", 3))}) {
    EXPECT_FALSE(key.Check().ok()) << key.workspace.name() << "|" << key.ns << "|" << key.name;
  }
  for (const char* text : {"", "/", "/mailroom/", "/mailroom/w/core/pods", "/mailroom/w/core/pods/a/b/c",
                           "/other/w/core/pods/a", "/mailroom/w/core/pods//b", "/mailroom//core/pods/b"}) {
    EXPECT_FALSE(ResourceKey::Parse(text).ok()) << text;
  }
}

TEST(ResourceKey, NoWorkspaceRangeCoversAnother) {
  std::mt19937 random(3);
  auto name = [&] {
    std::string out(1 + random() % 4, 'a');
    for (char& c : out) c = "ab0-."[random() % 5];
    return out;
  };
  int compared = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string a = name(), b = name();
    if (a == b || !IsWorkspaceName(a) || !IsWorkspaceName(b)) continue;
    std::string key = Key(b, "", "pods", "n", "x").ToStoreKey();
    std::string prefix = WorkspacePrefix(Workspace(a));
    EXPECT_FALSE(key >= prefix && key < PrefixEnd(prefix)) << a << " " << b;
    ++compared;
  }
  EXPECT_GT(compared, 1000);
}

TEST(ResourceKey, ParseNeverAcceptsWhatItWouldNotBuild) {
  std::mt19937 random(11);
  const std::string alphabet = "/ab.core\x01%";
  for (int i = 0; i < 50'000; ++i) {
    std::string text = "/mailroom/";
    for (std::size_t n = random() % 24; n > 0; --n) text += alphabet[random() % alphabet.size()];
    auto parsed = ResourceKey::Parse(text);
    if (parsed.ok()) {
      EXPECT_EQ(parsed->ToStoreKey(), text);
    }
  }
}

}  // namespace
}  // namespace mailroom
