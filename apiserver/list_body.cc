#include "apiserver/list_body.h"

#include "apiserver/list_form.h"
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
  ListText(std::vector<storage::Entry> entries, WriteItem write, const ListForm& form,
           std::uint64_t item_bytes)
      : block_(form.head(item_bytes)),
        entries_(std::move(entries)),
        write_(std::move(write)),
        separator_(form.separator),
        tail_(form.tail) {}

  bool Next(std::vector<SharedBytes>& out, std::size_t max_bytes) {
    while (next_ < entries_.size() && block_.size() < max_bytes) {
      if (next_ > 0) block_ += separator_;
      write_(block_, entries_[next_]);
      entries_[next_++] = {};  // not held longer than needed
    }
    const bool more = next_ < entries_.size();
    if (!more) block_ += tail_;
    out.push_back(std::make_shared<const std::string>(std::move(block_)));
    block_.clear();
    return more;
  }

 private:
  std::string block_;
  std::vector<storage::Entry> entries_;
  std::size_t next_ = 0;
  const WriteItem write_;
  const std::string separator_, tail_;
};

// A list in JSON: everything but its items, the name of the member they are, and how to write one.
struct Parts {
  std::string frame;  // without the closing brace
  std::string items;
  WriteItem write;
};

Result<Json> Tree(const openapi::ResourceType& type, bool all, const storage::Entry& entry) {
  return ParseJson(ServedBytes(type, *entry.object, all ? entry.workspace.get() : nullptr));
}

}  // namespace

std::string ListMetadata(const ListPage& page, bool says_end) {
  std::string out = "\"metadata\":{\"resourceVersion\":\"" + page.revision.ToString() + "\"";
  if (!page.continue_token.empty()) {
    out += ",\"continue\":" + JsonQuote(page.continue_token);
    if (page.remaining > 0) out += ",\"remainingItemCount\":" + std::to_string(page.remaining);
  } else if (says_end) {
    out += ",\"continue\":\"\"";
  }
  return out + "}";
}

namespace {

// Items of built-in lists do not say what they are.
std::string WithoutKind(const openapi::ResourceType& type, const std::string& bytes) {
  const std::string start = "{\"apiVersion\":" + JsonQuote(type.gvk.ApiVersion()) +
                            ",\"kind\":" + JsonQuote(type.gvk.kind) + ",";
  return bytes.starts_with(start) ? "{" + bytes.substr(start.size()) : bytes;
}

}  // namespace

void AppendListItem(std::string& out, const openapi::ResourceType& type, bool all_workspaces,
                    const storage::Entry& entry) {
  if (all_workspaces) {
    out += ServedBytes(type, *entry.object, entry.workspace.get());
  } else if (!ServedAsStored(type, *entry.object)) {
    const std::string bytes = ServedBytes(type, *entry.object, nullptr);
    out += type.builtin ? WithoutKind(type, bytes) : bytes;
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

bool StreamsList(const ListPage& page) {
  std::size_t bytes = 0;
  for (const storage::Entry& entry : page.entries) bytes += entry.object->bytes().size();
  return bytes > limits::kStreamedListBytes;
}

namespace {

Result<Parts> PartsOf(const Call& call, const Accepted& accepted, const ListPage& page) {
  const openapi::ResourceTypePtr type = call.type;
  const bool all = call.info.all_workspaces;
  const std::string meta = "meta.k8s.io/" + accepted.meta_version;
  const auto frame = [&](const std::string& kind, const std::string& api_version) {
    return "{\"kind\":" + JsonQuote(kind) + ",\"apiVersion\":" + JsonQuote(api_version) + "," +
           ListMetadata(page, accepted.form == Form::kObject && !type->builtin);
  };
  if (accepted.form == Form::kObject) {
    return Parts{frame(type->list_kind, type->gvk.ApiVersion()), "items",
                 [type, all](std::string& out, const storage::Entry& entry) {
                   AppendListItem(out, *type, all, entry);
                 }};
  }
  if (accepted.form == Form::kTable) {
    const std::string include = TRY(IncludeObject(call.info.query));
    const Json empty = MakeTable(*type, {}, accepted.meta_version, include, true);
    return Parts{frame("Table", meta) +
                     ",\"columnDefinitions\":" + DumpJson(*Find(empty, {"columnDefinitions"})),
                 "rows",
                 [type, all, include, version = accepted.meta_version](
                     std::string& out, const storage::Entry& entry) {
                   auto tree = Tree(*type, all, entry);
                   if (!tree.ok()) return void(out += "{\"cells\":[]}");
                   const Json table = MakeTable(*type, {std::move(*tree)}, version, include, false);
                   out += DumpJson(Find(table, {"rows"})->front());
                 }};
  }
  return Parts{frame("PartialObjectMetadataList", meta), "items",
               [type, all, version = accepted.meta_version](std::string& out,
                                                            const storage::Entry& entry) {
                 auto tree = Tree(*type, all, entry);
                 out += tree.ok() ? DumpJson(PartialMetadata(*tree, version)) : "{}";
               }};
}

// Items of a form other than plain JSON go through a tree.
WriteItem Through(WriteItem json, const ListForm& form) {
  return [json = std::move(json), item = form.item](std::string& out, const storage::Entry& entry) {
    std::string text;
    json(text, entry);
    auto tree = ParseJson(text);
    item(out, tree.ok() ? *tree : Json::object());
  };
}

}  // namespace

Result<Response> StreamList(const Call& call, const Accepted& accepted, ListPage page) {
  Parts parts = TRY(PartsOf(call, accepted, page));
  ListForm form{.content_type = "application/json",
                .head = [&](std::uint64_t) { return parts.frame + ",\"" + parts.items + "\":["; },
                .item = {},
                .separator = ",",
                .tail = "]}\n"};
  if (accepted.media != Media::kJson || accepted.pretty) {
    form = TRY(MakeListForm(accepted, TRY(ParseJson(parts.frame + "}")), parts.items));
    parts.write = Through(std::move(parts.write), form);
  }
  std::uint64_t bytes = 0;
  std::string measured;
  for (std::size_t i = 0; form.sized && i < page.entries.size(); ++i) {
    measured.clear();
    parts.write(measured, page.entries[i]);
    bytes += measured.size();
  }
  auto text = std::make_shared<ListText>(std::move(page.entries), std::move(parts.write), form,
                                         bytes);
  Response response;
  response.headers.Add("content-type", form.content_type);
  response.stream = StreamDocument([text](std::vector<SharedBytes>& out, std::size_t max_bytes) {
    return text->Next(out, max_bytes);
  });
  return response;
}

}  // namespace mailroom::apiserver
