#include "apiserver/read_options.h"

#include <algorithm>
#include <charconv>

#include "apiserver/go_text.h"
#include "apiserver/router_error.h"
#include "openapi/base64.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";

Result<void> CheckCauses(std::vector<Cause> causes) {
  if (causes.empty()) return Ok();
  return Invalid("ListOptions", "meta.k8s.io", "", std::move(causes));
}

// Tokens travel in query strings, so they use the URL-safe alphabet without padding.
std::string ToUrlAlphabet(std::string base64) {
  std::replace(base64.begin(), base64.end(), '+', '-');
  std::replace(base64.begin(), base64.end(), '/', '_');
  base64.erase(std::min(base64.find('='), base64.size()));
  return base64;
}

std::string FromUrlAlphabet(std::string token) {
  std::replace(token.begin(), token.end(), '-', '+');
  std::replace(token.begin(), token.end(), '_', '/');
  while (token.size() % 4 != 0) token += '=';
  return token;
}

Result<std::optional<Revision>> ParseRevision(const std::string& text) {
  if (text.empty()) return std::optional<Revision>();
  if (const std::string problem = ParseUintProblem(text); !problem.empty()) {
    return Status(Reason::kUnknown, 500,
                  "resourceVersion: Invalid value: " + Quoted(text) + ": " + problem);
  }
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::optional<Revision>(Revision(value));
}

Match ParseMatch(const std::string& text) {
  if (text == "Exact") return Match::kExact;
  if (text == "NotOlderThan") return Match::kNotOlderThan;
  return Match::kUnset;
}

Cause MatchForbidden(std::string why) {
  return ForbiddenValue("resourceVersionMatch", std::move(why));
}

// What each kind says about a field it cannot be selected by.
Status UnknownField(const openapi::ResourceType& type, const std::string& field) {
  if (type.selectable_fields.empty() && type.builtin) {
    return BadRequest(Quoted(field) +
                      " is not a known field selector: only \"metadata.name\", "
                      "\"metadata.namespace\"");
  }
  if (type.stored_as == GroupResource{"batch", "jobs"}) {
    return BadRequest("field label " + Quoted(field) + " not supported for Job");
  }
  if (type.stored_as == GroupResource{"resource.k8s.io", "resourceslices"}) {
    return BadRequest("field label not supported for " + type.gvk.ApiVersion() +
                      ", Kind=ResourceSlice: " + field);
  }
  return BadRequest("field label not supported: " + field);
}

// Kinds that list their fields themselves name the namespace only where they have one.
bool KnowsNamespace(const openapi::ResourceType& type) {
  return type.namespaced || (type.builtin && type.selectable_fields.empty());
}

Result<void> CheckFields(const Call& call, const FieldSelector& fields) {
  for (const FieldSelector::Term& term : fields.terms()) {
    if (term.field == "metadata.name") continue;
    if (term.field == "metadata.namespace" && KnowsNamespace(*call.type)) continue;
    if (call.type->FindSelectable(term.field) != nullptr) continue;
    return UnknownField(*call.type, term.field);
  }
  if (call.info.name.empty() || fields.empty()) return Ok();
  const std::string* name = fields.Exact("metadata.name");
  if (name == nullptr || *name != call.info.name) {
    return BadRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return Ok();
}

// The value of a field by the name selectors use.
std::string FieldOf(const openapi::ResourceType& type, const Object& object,
                    std::string_view name) {
  if (name == "metadata.name") return std::string(object.meta().name);
  if (name == "metadata.namespace") return std::string(object.meta().ns);
  const openapi::SelectableField* field = type.FindSelectable(name);
  if (field == nullptr) return "";
  for (const std::string& path : field->paths) {
    if (std::string value = object.ScalarAt(path); !value.empty()) return value;
  }
  return field->absent;
}

constexpr const char* kNotContinued = "resourceVersionMatch is forbidden when continue is provided";

// All that can be read without knowing the kind. Then come the rules among options (422), then
// the kind's own (400) and the revision.
Result<ReadOptions> ParseCommon(const Call& call) {
  const Query& query = call.info.query;
  ReadOptions options;
  options.labels = TRY(LabelSelector::Parse(query.Get("labelSelector")));
  options.fields = TRY(FieldSelector::Parse(query.Get("fieldSelector")));
  options.match = ParseMatch(query.Get("resourceVersionMatch"));
  options.timeout_seconds = TRY(query.Int("timeoutSeconds"));
  options.limit = static_cast<std::size_t>(std::max<std::int64_t>(0, TRY(query.Int("limit"))));
  options.continue_token = query.Get("continue");
  if (query.Has("sendInitialEvents")) options.send_initial = query.Bool("sendInitialEvents");
  return options;
}

}  // namespace

Result<ReadOptions> ParseListOptions(const Call& call) {
  ReadOptions options = TRY(ParseCommon(call));
  const Query& query = call.info.query;
  const std::string revision = query.Get("resourceVersion");
  std::vector<Cause> causes;
  if (const std::string match = query.Get("resourceVersionMatch"); !match.empty()) {
    if (revision.empty()) {
      causes.push_back(MatchForbidden(
          "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (!options.continue_token.empty()) {
      causes.push_back(MatchForbidden(kNotContinued));
    }
    if (options.match == Match::kUnset) {
      causes.push_back(UnsupportedValue("resourceVersionMatch", Quoted(match),
                                           {"Exact", "NotOlderThan", ""}));
    }
    if (options.match == Match::kExact && revision == "0") {
      causes.push_back(MatchForbidden(
          "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
  }
  if (options.send_initial) {
    causes.push_back(
        ForbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  TRY(CheckCauses(std::move(causes)));
  TRY(CheckFields(call, options.fields));
  auto parsed = ParseRevision(revision);
  if (!parsed.ok()) return BadRequest("invalid resource version: " + parsed.error().message());
  options.resource_version = *parsed;
  if (!options.continue_token.empty() && options.resource_version &&
      *options.resource_version != Revision()) {
    return BadRequest("specifying resource version is not allowed when using continue");
  }
  return options;
}

Result<ReadOptions> ParseWatchOptions(const Call& call) {
  ReadOptions options = TRY(ParseCommon(call));
  options.bookmarks = call.info.query.Bool("allowWatchBookmarks");
  std::vector<Cause> causes;
  if (options.send_initial && options.match != Match::kNotOlderThan) {
    causes.push_back(
        MatchForbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (const std::string match = call.info.query.Get("resourceVersionMatch"); !match.empty()) {
    if (!options.send_initial) {
      causes.push_back(MatchForbidden(
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (options.match != Match::kNotOlderThan) {
      causes.push_back(
          UnsupportedValue("resourceVersionMatch", Quoted(match), {"NotOlderThan"}));
    }
    if (!options.continue_token.empty()) causes.push_back(MatchForbidden(kNotContinued));
  } else if (const std::string revision = call.info.query.Get("resourceVersion");
             !options.send_initial && (revision.empty() || revision == "0") &&
             !options.continue_token.empty()) {
    // One that starts anywhere is taken to ask for initial events, not older than that.
    causes.push_back(MatchForbidden(kNotContinued));
  }
  TRY(CheckCauses(std::move(causes)));
  TRY(CheckFields(call, options.fields));
  options.resource_version = TRY(ParseGetRevision(call));
  return options;
}

Result<std::optional<Revision>> ParseGetRevision(const Call& call) {
  return ParseRevision(call.info.query.Get("resourceVersion"));
}

storage::Filter FilterOf(const Call& call, const ReadOptions& options) {
  storage::Filter beside = FilterBeside(call, options);
  if (options.labels.empty()) return beside;
  return [labels = options.labels, beside = std::move(beside)](const Object& object) {
    return labels.Matches(object.meta().labels) && (!beside || beside(object));
  };
}

storage::Filter FilterBeside(const Call& call, const ReadOptions& options) {
  if (options.fields.empty() && call.info.name.empty()) return {};
  return [fields = options.fields, name = call.info.name, type = call.type](const Object& object) {
    if (!name.empty() && object.meta().name != name) return false;
    return fields.empty() || fields.Matches([&](std::string_view field) {
      return FieldOf(*type, object, field);
    });
  };
}

std::string EncodeContinue(const ContinueAt& at) {
  const Json token = {{"v", kTokenVersion},
                      {"rv", at.revision ? static_cast<std::int64_t>(at.revision->value()) : -1},
                      {"start", at.start_after}};
  return ToUrlAlphabet(openapi::EncodeBase64(DumpJson(token)));
}

Result<ContinueAt> DecodeContinue(std::string_view token) {
  auto bad = [](const std::string& why) {
    return BadRequest("invalid continue token: continue key is not valid: " + why);
  };
  if (const std::string problem = Base64Problem(token); !problem.empty()) return bad(problem);
  auto text = openapi::DecodeBase64(FromUrlAlphabet(std::string(token)));
  if (!text) return bad("illegal base64 data");
  auto tree = ParseJson(*text);
  if (!tree.ok()) return bad(JsonSyntaxProblem(*text));
  if (const std::string version = StringAt(*tree, {"v"}); version != kTokenVersion) {
    return bad("server does not recognize this encoded version " + version);
  }
  const std::int64_t revision = IntAt(*tree, {"rv"});
  ContinueAt at;
  at.start_after = StringAt(*tree, {"start"});
  if (revision == 0) {
    return bad("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (at.start_after.empty()) return bad("encoded start key empty (version meta.k8s.io/v1)");
  for (std::string_view dots : {"/../", "/./"}) {
    if (("/" + at.start_after + "/").find(dots) != std::string::npos) return bad(at.start_after);
  }
  if (revision > 0) at.revision = Revision(static_cast<std::uint64_t>(revision));
  return at;
}

}  // namespace mailroom::apiserver
