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

constexpr const char* kFormat = "mailroom-workspace-2";
constexpr const char* kFormerFormat = "mailroom-workspace-1";  // its digest leaves the head out
// Of one transaction with several objects: 1 MiB, which leaves room for what etcd adds to it.
constexpr std::size_t kBatchBytes = limits::kStoredObjectBytes * 2 / 3;

// Over the lines of the head and the objects, in order.
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

std::size_t SizeOf(const storage::Operation& operation) {
  return operation.key.size() + (operation.value ? operation.value->size() : 0);
}

class Import {
 public:
  Import(storage::Store& store, const Workspace& workspace)
      : store_(store), workspace_(workspace) {}

  Result<std::size_t> Run(std::istream& in) {
    TRY(CheckAbsent());
    auto done = Write(in);
    if (!done.ok()) Undo();
    return done;
  }

 private:
  Result<void> CheckAbsent() {
    if (TRY(store_.Get(self_)).entry) return TakenMeanwhile();
    storage::ListOptions any;
    any.prefix = WorkspacePrefix(workspace_);
    any.limit = 1;
    if (!TRY(store_.List(any)).entries.empty()) return TakenMeanwhile();
    return Ok();
  }

  Status TakenMeanwhile() const {
    return AlreadyExists("workspaces", kWorkspacesResource.group, workspace_.name());
  }

  Result<std::size_t> Write(std::istream& in) {
    std::string line;
    if (!std::getline(in, line)) return Damaged("it is empty");
    const Json head = TRY(ParseJson(line));
    const std::string format = StringAt(head, {"format"});
    if (format != kFormat && format != kFormerFormat) {
      return BadRequest("not an exported workspace");
    }
    if (StringAt(head, {"workspace"}) != workspace_.name()) {
      return BadRequest("the file holds workspace " + Quoted(StringAt(head, {"workspace"})));
    }
    const Json* self = Find(head, {"object"});
    if (self == nullptr || !self->is_object()) return Damaged("the Workspace object is missing");
    Digest digest;
    if (format == kFormat) digest.Add(line);
    std::size_t count = 0;
    while (std::getline(in, line)) {
      if (line.starts_with(R"({"count")")) return Finish(head, line, count, digest.Hex());
      digest.Add(line);
      TRY(Add(TRY(ParseLine(workspace_, line))));
      ++count;
    }
    return Damaged("its end is missing");
  }

  // Many small objects or few large ones in a transaction: etcd bounds the operations of one, and
  // its bytes.
  Result<void> Add(storage::Operation put) {
    const bool full = pending_.size() >= limits::kArchiveBatch ||
                      pending_bytes_ + SizeOf(put) > kBatchBytes;
    if (full) TRY(Flush());
    pending_bytes_ += SizeOf(put);
    pending_.push_back(std::move(put));
    return Ok();
  }

  // Only while nobody else has made the workspace, or any of these objects.
  Result<void> Flush() {
    if (pending_.empty()) return Ok();
    storage::Txn txn;
    txn.operations = std::exchange(pending_, {});
    pending_bytes_ = 0;
    bool with_self = false;
    std::vector<std::string> keys;
    for (const storage::Operation& put : txn.operations) {
      txn.compares.push_back({put.key, Revision()});
      keys.push_back(put.key);
      with_self |= put.key == self_;
    }
    if (!with_self) txn.compares.push_back({self_, Revision()});
    const storage::Operation first = txn.operations.front();
    auto result = storage::CommitAndWait(store_, std::move(txn));
    if (!result.ok()) {
      // It may have been done all the same; all of it or nothing.
      const auto found = TRY(store_.Get(first.key)).entry;
      if (!found || *found->value != *first.value) return std::move(result).error();
      result = storage::TxnResult{true, found->mod_revision, {}};
    }
    if (!result->committed) return TakenMeanwhile();
    written_.push_back({result->revision, std::move(keys)});
    return Ok();
  }

  Result<std::size_t> Finish(const Json& head, const std::string& foot_line, std::size_t count,
                             const std::string& digest) {
    const Json foot = TRY(ParseJson(foot_line));
    if (IntAt(foot, {"count"}, -1) != static_cast<std::int64_t>(count)) {
      return Damaged("objects are missing");
    }
    if (StringAt(foot, {"sha256"}) != digest) return Damaged("the digest is another");
    TRY(Flush());
    TRY(Add(PutOf(SelfKey(workspace_), Object::Encode(*Find(head, {"object"})))));
    TRY(Flush());
    return count;
  }

  // What this import wrote and nobody has changed since. The rest is somebody else's.
  void Undo() {
    for (const Written& batch : written_) {
      std::vector<std::string> keys = batch.keys;
      for (int round = 0; round < limits::kCommitRetries && !keys.empty(); ++round) {
        storage::Txn txn;
        for (const std::string& key : keys) {
          txn.compares.push_back({key, batch.revision});
          storage::Operation gone;
          gone.type = storage::Operation::Type::kDelete;
          gone.key = key;
          txn.operations.push_back(std::move(gone));
        }
        const auto done = storage::CommitAndWait(store_, std::move(txn));
        if (!done.ok() || done->committed) break;
        keys.clear();
        for (const storage::KeyValue& entry : done->actual) {
          if (entry.mod_revision == batch.revision) keys.push_back(entry.key);
        }
      }
    }
  }

  struct Written {
    Revision revision;
    std::vector<std::string> keys;
  };

  storage::Store& store_;
  const Workspace& workspace_;
  const std::string self_ = SelfKey(workspace_).ToStoreKey();
  std::vector<storage::Operation> pending_;
  std::size_t pending_bytes_ = 0;
  std::vector<Written> written_;
};

// Sealed values are no JSON, and nobody could read them but this store.
Result<void> CheckPlain(const ResourceKey& key, const std::string& value) {
  if (value.starts_with('{')) return Ok();
  const std::string name = key.ns.empty() ? key.name : key.ns + "/" + key.name;
  return BadRequest(key.resource.resource + " " + Quoted(name) +
                    " is encrypted at rest: --encryption-keys-file is needed to export it");
}

}  // namespace

Result<std::size_t> ExportWorkspace(storage::Store& store, const Workspace& workspace,
                                    std::ostream& out) {
  const auto self = TRY(store.Get(SelfKey(workspace).ToStoreKey()));
  if (!self.entry) return NotFound("workspaces", kWorkspacesResource.group, workspace.name());
  storage::ListOptions page;
  page.prefix = WorkspacePrefix(workspace);
  page.limit = limits::kLoadPage;
  page.at = self.revision;
  TRY(CheckPlain(SelfKey(workspace), *self.entry->value));
  const std::string head = R"({"format":)" + DumpJson(Json(kFormat)) + R"(,"workspace":)" +
                           DumpJson(Json(workspace.name())) + R"(,"revision":)" +
                           std::to_string(self.revision.value()) + R"(,"object":)" +
                           *self.entry->value + "}";
  out << head << "\n";
  Digest digest;
  digest.Add(head);
  std::size_t count = 0;
  for (bool more = true; more;) {
    const storage::ListResult listed = TRY(store.List(page));
    for (const storage::KeyValue& entry : listed.entries) {
      const ResourceKey key = TRY(ResourceKey::Parse(entry.key));
      TRY(CheckPlain(key, *entry.value));
      std::string line = LineOf(key, *entry.value);
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
