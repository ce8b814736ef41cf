#include "apiserver/list_body.h"

#include "apiserver/table.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// Writes one item of the list in the accepted form.
using WriteItem = std::function<void(std::string& out, const storage::Entry& entry)>;

// What is left of a list: its head, then items, then its end.
class ListText {
 public:
  ListText(std::string head, std::vector<storage::Entry> entries, WriteItem write)
      : block_(std::move(head)), entries_(std::move(entries)), write_(std::move(write)) {}

  bool Next(std::vector<SharedBytes>& out, std::size_t max_bytes) {
    while (next_ < entries_.size() && block_.size() < max_bytes) {
      if (next_ > 0) block_ += ',';
      write_(block_, entries_[next_]);
      entries_[next_++] = {};  // not held longer than needed
    }
    const bool more = next_ < entries_.size();
    if (!more) block_ += "]}\n";
    out.push_back(std::make_shared<const std::string>(std::move(block_)));
    block_.clear();
    return more;
  }

 private:
  std::string block_;
  std::vector<storage::Entry> entries_;
  std::size_t next_ = 0;
  const WriteItem write_;
};

Result<Json> Tree(const openapi::ResourceType& type, bool all, const storage::Entry& entry) {
  return ParseJson(ServedBytes(type, *entry.object, all ? entry.workspace.get() : nullptr));
}

}  // namespace

std::string ListMetadata(const ListPage& page) {
  std::string out = "\"metadata\":{\"resourceVersion\":\"" + page.revision.ToString() + "\"";
  if (!page.continue_token.empty()) {
    out += ",\"continue\":" + JsonQuote(page.continue_token);
    if (page.remaining > 0) out += ",\"remainingItemCount\":" + std::to_string(page.remaining);
  }
  return out + "}";
}

void AppendListItem(std::string& out, const openapi::ResourceType& type, bool all_workspaces,
                    const storage::Entry& entry) {
  if (all_workspaces || !ServedAsStored(type, *entry.object)) {
    out += ServedBytes(type, *entry.object, all_workspaces ? entry.workspace.get() : nullptr);
  } else if (type.builtin) {
    out += '{';
    out += entry.object->bytes_after_kind();
  } else {
    out += entry.object->bytes();
  }
}

Result<std::string> IncludeObject(const Query& query) {
  const std::string include = query.Get("includeObject");
  if (include.empty() || include == "Metadata" || include == "Object" || include == "None") {
    return include.empty() ? std::string("Metadata") : include;
  }
  return BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: " +
                    Quoted(include) + ": must be 'Metadata', 'Object', 'None', or empty");
}

bool StreamsList(const Accepted& accepted, const ListPage& page) {
  if (accepted.media != Media::kJson || accepted.pretty) return false;
  std::size_t bytes = 0;
  for (const storage::Entry& entry : page.entries) bytes += entry.object->bytes().size();
  return bytes > limits::kStreamedListBytes;
}

Result<Response> StreamList(const Call& call, const Accepted& accepted, ListPage page) {
  const openapi::ResourceTypePtr type = call.type;
  const bool all = call.info.all_workspaces;
  const std::string meta = "meta.k8s.io/" + accepted.meta_version;
  std::string head;
  WriteItem write;
  if (accepted.form == Form::kObject) {
    head = "{\"kind\":" + JsonQuote(type->list_kind) +
           ",\"apiVersion\":" + JsonQuote(type->gvk.ApiVersion()) + "," + ListMetadata(page) +
           ",\"items\":[";
    write = [type, all](std::string& out, const storage::Entry& entry) {
      AppendListItem(out, *type, all, entry);
    };
  } else if (accepted.form == Form::kTable) {
    const std::string include = TRY(IncludeObject(call.info.query));
    const Json empty = MakeTable(*type, {}, accepted.meta_version, include, true);
    head = "{\"kind\":\"Table\",\"apiVersion\":" + JsonQuote(meta) + "," + ListMetadata(page) +
           ",\"columnDefinitions\":" + DumpJson(*Find(empty, {"columnDefinitions"})) +
           ",\"rows\":[";
    write = [type, all, include, version = accepted.meta_version](std::string& out,
                                                                  const storage::Entry& entry) {
      auto tree = Tree(*type, all, entry);
      if (!tree.ok()) return void(out += "{\"cells\":[]}");
      const Json table = MakeTable(*type, {std::move(*tree)}, version, include, false);
      out += DumpJson(Find(table, {"rows"})->front());
    };
  } else {
    head = "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":" + JsonQuote(meta) + "," +
           ListMetadata(page) + ",\"items\":[";
    write = [type, all, version = accepted.meta_version](std::string& out,
                                                         const storage::Entry& entry) {
      auto tree = Tree(*type, all, entry);
      out += tree.ok() ? DumpJson(PartialMetadata(*tree, version)) : "{}";
    };
  }
  auto text = std::make_shared<ListText>(std::move(head), std::move(page.entries), std::move(write));
  Response response;
  response.headers.Add("content-type", "application/json");
  response.stream = StreamDocument([text](std::vector<SharedBytes>& out, std::size_t max_bytes) {
    return text->Next(out, max_bytes);
  });
  return response;
}

}  // namespace mailroom::apiserver
