#include "storage/object/resource_key.h"

#include "test/fuzz/fuzz.h"

// What parses is built again to the same key and lies in its own workspace's range.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(FuzzText(data, size));
  auto key = mailroom::ResourceKey::Parse(text);
  if (!key.ok()) return 0;
  FUZZ_CHECK(key->ToStoreKey() == text);
  const std::string prefix = mailroom::WorkspacePrefix(key->workspace);
  FUZZ_CHECK(text >= prefix && text < mailroom::PrefixEnd(prefix));
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"/mailroom/wds1/core/configmaps/default/a", "/mailroom/its1-mb-1/example.com/widgets/w",
          "/mailroom/root/rbac.authorization.k8s.io/clusterroles/system:node", "/mailroom/../x/y/z"};
}
