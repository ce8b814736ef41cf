#include "apiserver/workspace_archive.h"

#include <openssl/evp.h>

#include <array>
#include <istream>
#include <ostream>

#include "apiserver/workspaces.h"
#include "openapi/edge_names.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/resource_key.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kFormat = "mailroom-workspace-1";

// Over the lines of the objects, in order.
class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  ~Digest() { EVP_MD_CTX_free(context_); }
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void Add(std::string_view line) { EVP_DigestUpdate(context_, line.data(), line.size()); }
  std::string Hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_, bytes.data(), &size);
    static constexpr char kHex[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += kHex[bytes[i] >> 4];
      text += kHex[bytes[i] & 15];
    }
    return text;
  }

 private:
  EVP_MD_CTX* context_;
};

ResourceKey SelfKey(const Workspace& workspace) {
  return {Workspace(std::string(openapi::kRootWorkspace)), kWorkspacesResource, "",
          workspace.name()};
}

std::string LineOf(const ResourceKey& key, const std::string& value) {
  // The stored bytes are JSON already and go out as they are.
  const Json place = {{"group", key.resource.group},
                      {"resource", key.resource.resource},
                      {"namespace", key.ns},
                      {"name", key.name}};
  return R"({"at":)" + DumpJson(place) + R"(,"object":)" + value + "}\n";
}

Status Damaged(const std::string& why) { return BadRequest("the file is damaged: " + why); }

storage::Operation PutOf(const ResourceKey& key, std::string value) {
  storage::Operation put;
  put.key = key.ToStoreKey();
  put.value = std::make_shared<const std::string>(std::move(value));
  return put;
}

// One line of the archive as a write.
Result<storage::Operation> ParseLine(const Workspace& workspace, const std::string& line) {
  auto tree = ParseJson(line);
  if (!tree.ok()) return Damaged(tree.error().message());
  const Json* object = Find(*tree, {"object"});
  if (object == nullptr || !object->is_object()) return Damaged("a line without an object");
  const ResourceKey key{workspace,
                        {StringAt(*tree, {"at", "group"}), StringAt(*tree, {"at", "resource"})},
                        StringAt(*tree, {"at", "namespace"}), StringAt(*tree, {"at", "name"})};
  TRY(key.Check());
  return PutOf(key, Object::Encode(*object));
}

class Import {
 public:
  Import(storage::Store& store, const Workspace& workspace)
      : store_(store), workspace_(workspace) {}

  Result<std::size_t> Run(std::istream& in) {
    TRY(CheckAbsent());
    auto done = Write(in);
    if (!done.ok() && wrote_) Undo();
    return done;
  }

 private:
  Result<void> CheckAbsent() {
    if (TRY(store_.Get(SelfKey(workspace_).ToStoreKey())).entry) {
      return AlreadyExists("workspaces", kWorkspacesResource.group, workspace_.name());
    }
    storage::ListOptions any;
    any.prefix = WorkspacePrefix(workspace_);
    any.limit = 1;
    if (!TRY(store_.List(any)).entries.empty()) {
      return AlreadyExists("workspaces", kWorkspacesResource.group, workspace_.name());
    }
    return Ok();
  }

  Result<std::size_t> Write(std::istream& in) {
    std::string line;
    if (!std::getline(in, line)) return Damaged("it is empty");
    const Json head = TRY(ParseJson(line));
    if (StringAt(head, {"format"}) != kFormat) return BadRequest("not an exported workspace");
    if (StringAt(head, {"workspace"}) != workspace_.name()) {
      return BadRequest("the file holds workspace " + Quoted(StringAt(head, {"workspace"})));
    }
    Digest digest;
    std::size_t count = 0;
    while (std::getline(in, line)) {
      if (line.starts_with(R"({"count")")) return Finish(head, line, count, digest.Hex());
      digest.Add(line);
      Operation(TRY(ParseLine(workspace_, line)));
      ++count;
      if (pending_.operations.size() >= limits::kArchiveBatch) TRY(Flush());
    }
    return Damaged("its end is missing");
  }

  void Operation(storage::Operation operation) {
    // Nobody may have made it meanwhile.
    pending_.compares.push_back({operation.key, Revision()});
    pending_.operations.push_back(std::move(operation));
  }

  Result<void> Flush() {
    if (pending_.operations.empty()) return Ok();
    wrote_ = true;
    const auto result = TRY(storage::CommitAndWait(store_, std::exchange(pending_, {})));
    if (result.committed) return Ok();
    wrote_ = false;  // somebody else's workspace now; nothing of it may be taken back
    return AlreadyExists("workspaces", kWorkspacesResource.group, workspace_.name());
  }

  Result<std::size_t> Finish(const Json& head, const std::string& foot_line, std::size_t count,
                             const std::string& digest) {
    const Json foot = TRY(ParseJson(foot_line));
    if (IntAt(foot, {"count"}, -1) != static_cast<std::int64_t>(count)) {
      return Damaged("objects are missing");
    }
    if (StringAt(foot, {"sha256"}) != digest) return Damaged("the digest is another");
    const Json* self = Find(head, {"object"});
    if (self == nullptr) return Damaged("the Workspace object is missing");
    TRY(Flush());
    Operation(PutOf(SelfKey(workspace_), Object::Encode(*self)));
    TRY(Flush());
    return count;
  }

  void Undo() {
    storage::Txn txn;
    txn.compares.push_back({SelfKey(workspace_).ToStoreKey(), Revision()});
    storage::Operation all;
    all.type = storage::Operation::Type::kDeletePrefix;
    all.key = WorkspacePrefix(workspace_);
    txn.operations.push_back(std::move(all));
    (void)storage::CommitAndWait(store_, std::move(txn));
  }

  storage::Store& store_;
  const Workspace& workspace_;
  storage::Txn pending_;
  bool wrote_ = false;
};

}  // namespace

Result<std::size_t> ExportWorkspace(storage::Store& store, const Workspace& workspace,
                                    std::ostream& out) {
  const auto self = TRY(store.Get(SelfKey(workspace).ToStoreKey()));
  if (!self.entry) return NotFound("workspaces", kWorkspacesResource.group, workspace.name());
  storage::ListOptions page;
  page.prefix = WorkspacePrefix(workspace);
  page.limit = limits::kLoadPage;
  page.at = self.revision;
  out << R"({"format":)" << DumpJson(Json(kFormat)) << R"(,"workspace":)"
      << DumpJson(Json(workspace.name())) << R"(,"revision":)" << self.revision.value()
      << R"(,"object":)" << *self.entry->value << "}\n";
  Digest digest;
  std::size_t count = 0;
  for (bool more = true; more;) {
    const storage::ListResult listed = TRY(store.List(page));
    for (const storage::KeyValue& entry : listed.entries) {
      std::string line = LineOf(TRY(ResourceKey::Parse(entry.key)), *entry.value);
      out << line;
      line.pop_back();
      digest.Add(line);
      ++count;
      page.start_after = entry.key;
    }
    more = listed.more;
  }
  out << R"({"count":)" << count << R"(,"sha256":")" << digest.Hex() << "\"}\n";
  out.flush();
  if (!out) return Internal("the file cannot be written");
  return count;
}

Result<std::size_t> ImportWorkspace(storage::Store& store, const Workspace& workspace,
                                    std::istream& in) {
  if (!IsWorkspaceName(workspace.name()) || workspace.name() == openapi::kRootWorkspace) {
    return BadRequest("not usable as a workspace name");
  }
  return Import(store, workspace).Run(in);
}

}  // namespace mailroom::apiserver
