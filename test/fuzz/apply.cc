#include "apiserver/apply.h"

#include "test/fuzz/patching.h"

using mailroom::Json;
using mailroom::apiserver::Writer;

// Two managers apply anything, one after the other. Applying the same again changes nothing but
// what a first apply of an old object may, and tracking an update always ends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto documents = FuzzDocuments(FuzzText(data, size));
  if (!documents || !documents->first.is_object() || !documents->second.is_object()) return 0;
  const auto& type = FuzzDeployments();
  const Writer one{"one", "apps/v1", "", "2026-01-02T03:04:05Z"};
  const Writer two{"two", "apps/v1", "", "2026-01-02T03:04:06Z"};
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
  return {a + "\n" + b, b + "\n" + a,
          a + "\n" + R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{}})"};
}
