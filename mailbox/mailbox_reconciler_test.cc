// The controller against a whole hub: what is an inventory entry, and what only looks like one.
#include "mailbox/mailbox_reconciler.h"

#include <gtest/gtest.h>

#include "mailbox/start.h"
#include "openapi/edge_names.h"
#include "storage/object/resource_key.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::mailbox {
namespace {

const std::string kWorkspaces = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces/";

Json SyncTarget(const std::string& uid) {
  return {{"apiVersion", "edge.kubestellar.io/v2alpha1"}, {"kind", "SyncTarget"},
          {"metadata", {{"name", "florin"}, {"uid", uid}}}};
}

class MailboxController : public testing::Test {
 protected:
  MailboxController() {
    running = Start(client::Client(hub.server().loopback(), "/clusters/root", "test"));
  }
  // Whatever the workspace serves.
  void Store(const std::string& workspace, const Json& target) {
    const ResourceKey key{Workspace(workspace), {"edge.kubestellar.io", "synctargets"}, "", "florin"};
    storage::Txn txn;
    txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                              std::make_shared<const std::string>(Object::Encode(target))});
    ASSERT_TRUE(hub.server().dispatcher().hub().store.Commit(std::move(txn)).ok());
  }
  bool HasMailbox(const std::string& inventory, const std::string& uid) {
    return hub.Get(kWorkspaces + openapi::MailboxNameOf(inventory, uid)).code == 200;
  }
  TestHub hub;
  std::unique_ptr<Running> running;
};

TEST_F(MailboxController, EntriesCountInInventoriesOnly) {
  for (const char* type : {"cluster", "wds", "mailbox"}) {
    hub.NewWorkspace(std::string("of-") + type, type);
    Store(std::string("of-") + type, SyncTarget(type));
  }
  Store("later", SyncTarget("first"));
  Store("its1", SyncTarget("real"));
  EXPECT_TRUE(Eventually([&] { return HasMailbox("its1", "real"); }));
  for (const char* type : {"cluster", "wds", "mailbox"}) {
    EXPECT_FALSE(HasMailbox(std::string("of-") + type, type)) << type;
  }
  EXPECT_FALSE(HasMailbox("later", "first"));
  // The workspace may be told of after what it holds.
  hub.NewWorkspace("later", "inventory");
  EXPECT_TRUE(Eventually([&] { return HasMailbox("later", "first"); }));
  hub.Do("DELETE", kWorkspaces + "later");
  EXPECT_TRUE(Eventually([&] { return !HasMailbox("later", "first"); }));
  EXPECT_TRUE(HasMailbox("its1", "real"));
}

}  // namespace
}  // namespace mailroom::mailbox
