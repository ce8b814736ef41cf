#include "apiserver/aggregated_resources.h"

#include <map>
#include <vector>

#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

struct Kind {
  std::string group, version, kind;
};

void AppendKind(std::string& out, const Kind& kind) {
  out += "\"responseKind\":{\"group\":" + JsonQuote(kind.group) + ",\"version\":" +
         JsonQuote(kind.version) + ",\"kind\":" + JsonQuote(kind.kind) + "}";
}

void AppendVerbs(std::string& out, const Json& resource) {
  out += ",\"verbs\":" + DumpJson(Json(StringsAt(resource, {"verbs"})));
}

Kind KindOf(const Json& resource, const RemoteApi& api) {
  Kind kind{StringAt(resource, {"group"}), StringAt(resource, {"version"}),
            StringAt(resource, {"kind"})};
  if (kind.group.empty()) kind.group = api.group;
  if (kind.version.empty()) kind.version = api.version;
  return kind;
}

// A list of resources on its way into the aggregated form: each with what is said of it, and its
// subresources so far.
class ResourceTexts {
 public:
  ResourceTexts(const RemoteApi& api, std::size_t max_bytes) : api_(api), max_bytes_(max_bytes) {}

  bool TooLong() const { return bytes_ > max_bytes_; }

  void AddResource(const Json& resource, const std::string& name) {
    std::string text = Begin(resource, name, KindOf(resource, api_));
    text += ",\"singularResource\":" + JsonQuote(StringAt(resource, {"singularName"}));
    AppendVerbs(text, resource);
    for (const char* member : {"shortNames", "categories"}) {
      if (Find(resource, {member}) == nullptr) continue;
      text += std::string(",\"") + member + "\":" + DumpJson(Json(StringsAt(resource, {member})));
    }
    Keep(name, std::move(text));
  }

  // One whose resource is not in the list stands for it, as in the original.
  void AddSubresource(const Json& resource, const std::string& parent, const std::string& name) {
    auto at = by_name_.find(parent);
    if (at == by_name_.end()) {
      Keep(parent, Begin(resource, parent, {}) + ",\"singularResource\":\"\",\"verbs\":null");
      at = by_name_.find(parent);
    }
    const Kind kind = StringAt(resource, {"kind"}).empty() ? Kind() : KindOf(resource, api_);
    std::string& texts = texts_[at->second].subresources;
    const std::size_t before = texts.size();
    texts += std::string(texts.empty() ? "" : ",") + "{\"subresource\":" + JsonQuote(name) + ",";
    AppendKind(texts, kind);
    AppendVerbs(texts, resource);
    texts += "}";
    bytes_ += texts.size() - before;
  }

  std::string Joined() const {
    std::string out = "[";
    for (const Text& text : texts_) {
      if (out.size() > 1) out += ",";
      out += text.own;
      if (!text.subresources.empty()) out += ",\"subresources\":[" + text.subresources + "]";
      out += "}";
    }
    return out + "]";
  }

 private:
  struct Text {
    std::string own;  // without the closing brace
    std::string subresources;
  };

  static std::string Begin(const Json& resource, const std::string& name, const Kind& kind) {
    std::string text = "{\"resource\":" + JsonQuote(name) + ",";
    AppendKind(text, kind);
    return text + ",\"scope\":" +
           (BoolAt(resource, {"namespaced"}, false) ? "\"Namespaced\"" : "\"Cluster\"");
  }

  // Of several of one name the last has the subresources.
  void Keep(const std::string& name, std::string text) {
    constexpr std::size_t kAround = 24;  // what Joined puts around it
    bytes_ += text.size() + kAround;
    by_name_[name] = texts_.size();
    texts_.push_back({std::move(text), ""});
  }

  const RemoteApi& api_;
  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::vector<Text> texts_;
  std::map<std::string, std::size_t> by_name_;
};

}  // namespace

std::optional<std::string> AggregatedResources(const Json& resources, const RemoteApi& api,
                                               std::size_t max_bytes) {
  ResourceTexts texts(api, max_bytes);
  for (const bool subresources : {false, true}) {
    for (const Json& resource : resources) {
      const std::string name = StringAt(resource, {"name"});
      const std::size_t slash = name.find('/');
      if (name.empty() || subresources == (slash == std::string::npos)) continue;
      if (subresources) {
        texts.AddSubresource(resource, name.substr(0, slash), name.substr(slash + 1));
      } else {
        texts.AddResource(resource, name);
      }
      if (texts.TooLong()) return std::nullopt;
    }
  }
  return texts.Joined();
}

}  // namespace mailroom::apiserver
