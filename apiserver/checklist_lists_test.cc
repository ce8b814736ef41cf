// Lists while others write, and selectors judged by a simpler reading of them.
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";

std::string Name(int i) { return "m" + std::to_string(1000 + i); }

std::string RevisionOf(const Json& object) {
  return StringAt(object, {"metadata", "resourceVersion"});
}

TEST(Pages, OfEverySizeShowOneStateWhileOthersWrite) {
  constexpr int kObjects = 500;
  TestHub hub;
  for (int i = 0; i < kObjects; ++i) {
    ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap(Name(i))).code, 201);
  }
  std::atomic<int> written = 0;
  std::jthread writer([&](const std::stop_token& stop) {
    std::mt19937 random(3);
    for (; !stop.stop_requested(); ++written) {
      const std::string name = Name(static_cast<int>(random() % kObjects));
      if (random() % 3 == 0) {
        hub.Do("DELETE", kMaps + "/" + name);
        hub.Do("POST", kMaps, ConfigMap(name));
      } else {
        hub.Do("PUT", kMaps + "/" + name, ConfigMap(name, {{"n", std::to_string(written)}}));
      }
    }
  });
  for (const int limit : {1, 2, 7, 100, 250, 499, 500}) {
    SCOPED_TRACE(limit);
    const int before = written;
    Json joined = Json::array();
    std::string revision, token;
    do {
      const std::string query = "?limit=" + std::to_string(limit) +
                                (token.empty() ? "" : "&continue=" + token);
      const auto page = hub.Get(kMaps + query);
      ASSERT_EQ(page.code, 200) << page.text;
      if (revision.empty()) {
        revision = RevisionOf(page.body);
        while (written == before) std::this_thread::yield();
      }
      EXPECT_EQ(RevisionOf(page.body), revision);
      token = StringAt(page.body, {"metadata", "continue"});
      const Json& items = page.body["items"];
      EXPECT_TRUE(token.empty() || items.size() == static_cast<std::size_t>(limit));
      joined.insert(joined.end(), items.begin(), items.end());
    } while (!token.empty());
    const auto whole = hub.Get(kMaps + "?resourceVersionMatch=Exact&resourceVersion=" + revision);
    EXPECT_EQ(joined, whole.body["items"]);
    for (std::size_t i = 1; i < joined.size(); ++i) {
      EXPECT_LT(StringAt(joined[i - 1], {"metadata", "name"}),
                StringAt(joined[i], {"metadata", "name"}));
    }
  }
}

using Labels = std::map<std::string, std::string>;

// One requirement, as text in one of its spellings and as what it means.
struct Requirement {
  std::string text;
  std::function<bool(const Labels&)> holds;
};

class Requirements {
 public:
  Requirement Next() {
    const std::string key = Pick({"a", "b", "example.com/c"});
    const std::set<std::string> values = Values();
    const auto has = [key](const Labels& l) { return l.contains(key); };
    const auto in = [key, values](const Labels& l) {
      return l.contains(key) && values.contains(l.at(key));
    };
    const std::string one = *values.begin(), blank = Pick({"", " "});
    const auto is = [key, one](const Labels& l) { return l.contains(key) && l.at(key) == one; };
    const auto number = [key](const Labels& l) {
      const bool digit = l.contains(key) && l.at(key).size() == 1 && std::isdigit(l.at(key)[0]);
      return digit ? l.at(key)[0] - '0' : -1;
    };
    const int bound = static_cast<int>(random_() % 4);
    const std::string sharp = std::to_string(bound);
    switch (random_() % 8) {
      case 0: return {key, has};
      case 1: return {"!" + key, [has](const Labels& l) { return !has(l); }};
      case 2: return {key + blank + Pick({"=", "=="}) + blank + one, is};
      case 3: return {key + blank + "!=" + blank + one, [is](const Labels& l) { return !is(l); }};
      case 4: return {key + " in " + blank + "(" + Joined(values) + ")", in};
      case 5:
        return {key + " notin (" + Joined(values) + ")", [in](const Labels& l) { return !in(l); }};
      case 6:
        return {key + blank + ">" + blank + sharp,
                [number, bound](const Labels& l) { return number(l) > bound; }};
      default:
        return {key + "<" + sharp, [number, bound](const Labels& l) {
                  return number(l) >= 0 && number(l) < bound;
                }};
    }
  }
  // Any labels of those the requirements speak of.
  Labels Any() {
    Labels labels;
    for (const char* key : {"a", "b", "example.com/c"}) {
      if (random_() % 4 != 0) labels[key] = Pick({"", "x", "y", "1", "2", "3"});
    }
    return labels;
  }
  std::size_t Number(std::size_t below) { return random_() % below; }

 private:
  std::string Pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  std::set<std::string> Values() {
    std::set<std::string> values;
    for (std::size_t n = 1 + random_() % 3; n > 0; --n) {
      values.insert(Pick({"", "x", "y", "1", "2"}));
    }
    if (values == std::set<std::string>{""}) values.insert("x");  // `()` is no list
    return values;
  }
  static std::string Joined(const std::set<std::string>& values) {
    std::string text;
    for (const std::string& value : values) {
      text += (&value == &*values.begin() ? "" : ", ") + value;
    }
    return text;
  }
  std::mt19937 random_{17};
};

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += c;
      continue;
    }
    constexpr const char* kHex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte / 16], kHex[byte % 16]};
  }
  return out;
}

TEST(Selectors, MeanWhatTheySay) {
  TestHub hub;
  Requirements requirements;
  std::map<std::string, Labels> stored;
  for (int i = 0; i < 60; ++i) {
    Json map = ConfigMap(Name(i));
    stored[Name(i)] = requirements.Any();
    map["metadata"]["labels"] = stored[Name(i)];
    ASSERT_EQ(hub.Do("POST", kMaps, map).code, 201);
  }
  for (int round = 0; round < 400; ++round) {
    std::vector<Requirement> all;
    std::string text;
    for (std::size_t n = 1 + requirements.Number(3); n > 0; --n) {
      all.push_back(requirements.Next());
      text += (text.empty() ? "" : ",") + all.back().text;
    }
    std::vector<std::string> wanted, found;
    for (const auto& [name, labels] : stored) {
      bool matches = true;
      for (const Requirement& each : all) matches = matches && each.holds(labels);
      if (matches) wanted.push_back(name);
    }
    const auto list = hub.Get(kMaps + "?labelSelector=" + Escaped(text));
    ASSERT_EQ(list.code, 200) << text << "\n" << list.text;
    for (const Json& item : list.body["items"]) {
      found.push_back(StringAt(item, {"metadata", "name"}));
    }
    EXPECT_EQ(found, wanted) << text;
  }
}

}  // namespace
}  // namespace mailroom
