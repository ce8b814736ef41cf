#include "apiserver/apply.h"

#include "storage/object/yaml.h"
#include "test/fuzz/patching.h"

using mailroom::Json;
using mailroom::apiserver::Writer;

namespace {

constexpr std::string_view kBetween = "\n---\n";

// Two configurations, read as the body of an apply is.
std::optional<std::pair<Json, Json>> Configurations(std::string_view text) {
  const std::size_t line = text.find(kBetween);
  if (line == std::string_view::npos) return std::nullopt;
  auto first = mailroom::ParseYamlStrict(text.substr(0, line));
  auto second = mailroom::ParseYamlStrict(text.substr(line + kBetween.size()));
  if (!first.ok() || !second.ok()) return std::nullopt;
  if (!first->value.is_object() || !second->value.is_object()) return std::nullopt;
  return std::pair(std::move(first->value), std::move(second->value));
}

// A kind that nobody has described.
const mailroom::openapi::ResourceType& Undescribed() {
  static const auto* made = [] {
    auto* type = new mailroom::openapi::ResourceType();
    type->gvk = {"apps", "v1", "Deployment"};
    type->builtin = false;
    return type;
  }();
  return *made;
}

// The same without the facts of a kind.
void ApplyUndescribed(const Json& first, const Json& second, const Writer& one, const Writer& two) {
  const auto& type = Undescribed();
  auto made = mailroom::apiserver::Apply(type, nullptr, first, one, false);
  if (!made.ok()) return;
  (void)mailroom::apiserver::Apply(type, &*made, second, two, false);
  auto changed = mailroom::apiserver::Apply(type, &*made, second, two, true);
  if (!changed.ok()) return;
  Json updated = first;
  mailroom::apiserver::TrackUpdate(type, &*changed, updated, one);
  FUZZ_CHECK(mailroom::ParseJson(mailroom::DumpJson(updated)).ok());
}

}  // namespace

// Two managers apply anything, one after the other. Applying the same again changes nothing but
// what a first apply of an old object may, and tracking an update always ends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto documents = Configurations(FuzzText(data, size));
  if (!documents) return 0;
  const auto& type = FuzzDeployments();
  const Writer one{"one", "apps/v1", "", "2026-01-02T03:04:05Z"};
  const Writer two{"two", "apps/v1", "", "2026-01-02T03:04:06Z"};
  ApplyUndescribed(documents->first, documents->second, one, two);
  auto made = mailroom::apiserver::Apply(type, nullptr, documents->first, one, false);
  if (!made.ok() || !FuzzNormalize(*made)) return 0;
  mailroom::apiserver::StripMissingOwned(type, *made);
  (void)mailroom::apiserver::Apply(type, &*made, documents->second, two, false);
  auto changed = mailroom::apiserver::Apply(type, &*made, documents->second, two, true);
  if (!changed.ok() || !FuzzNormalize(*changed)) return 0;
  mailroom::apiserver::StripMissingOwned(type, *changed);
  Json updated = documents->first;
  if (!FuzzNormalize(updated)) return 0;
  mailroom::apiserver::TrackUpdate(type, &*changed, updated, one);
  FUZZ_CHECK(mailroom::ParseJson(mailroom::DumpJson(updated)).ok());
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  const std::string a = FuzzDeployment(R"({"name":"c","image":"i","ports":[{"containerPort":80}]})");
  const std::string b = FuzzDeployment(R"({"name":"c","image":"j"},{"name":"d","env":[{"name":"e"}]})");
  const std::string between(kBetween);
  return {a + between + b, b + between + a,
          a + between + R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{}})",
          "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  replicas: 1\n" + between +
              "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, labels: {x: \"y\"}}\nspec:\n"
              "  template:\n    spec:\n      containers:\n      - name: c\n        args: [a, b]\n"};
}
