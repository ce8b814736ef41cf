#include "apiserver/list_form.h"

#include "openapi/protobuf.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

// Members are written in alphabetical order, so the items have some before them and some after.
struct Halves {
  Halves(const Json& frame, std::string_view items) {
    for (const auto& [name, value] : frame.items()) (name < items ? before : after)[name] = value;
  }
  Json before = Json::object(), after = Json::object();
};

ListForm Yaml(const Json& frame, std::string_view items) {
  const Halves halves(frame, items);
  return {.content_type = "application/yaml",
          .head = [text = DumpYaml(halves.before) + std::string(items) + ":\n"](
                      std::uint64_t) { return text; },
          .item = [](std::string& out, const Json& item) { out += DumpYaml(Json::array({item})); },
          .separator = "",
          .tail = halves.after.empty() ? "" : DumpYaml(halves.after)};
}

ListForm Indented(const Json& frame, std::string_view items) {
  const Halves halves(frame, items);
  std::string head = DumpJsonPretty(halves.before);
  head.resize(head.size() - 2);  // the line of the closing brace
  head += ",\n  \"" + std::string(items) + "\": [\n";
  std::string tail = "\n  ]";
  if (!halves.after.empty()) tail += ",";
  tail += halves.after.empty() ? "\n}" : DumpJsonPretty(halves.after).substr(1);
  const auto item = [](std::string& out, const Json& value) {
    constexpr char kIndent[] = "    ";
    out += kIndent;
    for (const char c : DumpJsonPretty(value)) {
      out += c;
      if (c == '\n') out += kIndent;
    }
  };
  return {.content_type = "application/json",
          .head = [head](std::uint64_t) { return head; },
          .item = item,
          .separator = ",\n",
          .tail = tail + "\n"};
}

Result<ListForm> Protobuf(const Json& frame) {
  const openapi::ProtobufList list = TRY(openapi::ProtobufList::Of(frame));
  return ListForm{.content_type = std::string(openapi::kProtobufMediaType),
                  .head = [list](std::uint64_t bytes) { return list.Head(bytes); },
                  .sized = true,
                  .item = [list](std::string& out, const Json& item) { list.Item(item, out); },
                  .separator = "",
                  .tail = list.Tail()};
}

}  // namespace

Result<ListForm> MakeListForm(const Accepted& accepted, const Json& frame, std::string_view items) {
  switch (accepted.media) {
    case Media::kYaml: return Yaml(frame, items);
    case Media::kProtobuf: return Protobuf(frame);
    case Media::kJson: break;
  }
  return Indented(frame, items);
}

}  // namespace mailroom::apiserver
