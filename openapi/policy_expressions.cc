#include "openapi/policy_expressions.h"

#include <openssl/sha.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "openapi/cel/authorizer.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

using cel::Field;
using cel::Kind;
using cel::MakeObject;
using cel::Simple;
using cel::TypePtr;

Field Member(const char* name, TypePtr type) { return {name, name, std::move(type)}; }

TypePtr Named(const char* type, std::initializer_list<const char*> strings) {
  std::vector<Field> fields;
  for (const char* name : strings) fields.push_back(Member(name, Simple(Kind::kString)));
  return MakeObject(type, std::move(fields));
}

TypePtr MakeRequest() {
  const TypePtr text = Simple(Kind::kString);
  const TypePtr kind = Named("kubernetes.GroupVersionKind", {"group", "version", "kind"});
  const TypePtr resource =
      Named("kubernetes.GroupVersionResource", {"group", "version", "resource"});
  const TypePtr user = MakeObject(
      "kubernetes.UserInfo",
      {Member("username", text), Member("uid", text), Member("groups", cel::MakeList(text)),
       Member("extra", cel::MakeMap(text, cel::MakeList(text)))});
  return MakeObject(
      "kubernetes.AdmissionRequest",
      {Member("kind", kind), Member("resource", resource), Member("subResource", text),
       Member("requestKind", kind), Member("requestResource", resource),
       Member("requestSubResource", text), Member("name", text), Member("namespace", text),
       Member("operation", text), Member("userInfo", user), Member("dryRun", Simple(Kind::kBool)),
       Member("options", Simple(Kind::kDyn))});
}

// `Object{...}`, `Object.spec{...}` and so on, and `JSONPatch{...}`.
std::vector<TypePtr> PatchTypes() {
  static const std::vector<TypePtr> types = [] {
    auto object = std::make_shared<cel::Type>();
    object->kind = Kind::kObject;
    object->name = "Object";
    object->open = true;
    const TypePtr text = Simple(Kind::kString);
    return std::vector<TypePtr>{
        std::move(object),
        MakeObject("JSONPatch", {Member("op", text), Member("path", text), Member("from", text),
                                 Member("value", Simple(Kind::kDyn))})};
  }();
  return types;
}

// What is only known when it runs does not do.
bool ResultFits(const cel::Type& type, PolicyResult result) {
  switch (result) {
    case PolicyResult::kBool: return type.kind == Kind::kBool;
    case PolicyResult::kString: return type.kind == Kind::kString;
    case PolicyResult::kStringOrNull:
      return type.kind == Kind::kString || type.kind == Kind::kNull;
    case PolicyResult::kAny: return true;
    case PolicyResult::kObject: return type.kind == Kind::kObject && type.name == "Object";
    case PolicyResult::kPatches:
      return type.kind == Kind::kList && !type.params.empty() && type.params[0]->name == "JSONPatch";
  }
  return false;
}

const char* ResultText(PolicyResult result) {
  switch (result) {
    case PolicyResult::kBool: return "bool";
    case PolicyResult::kString: return "string";
    case PolicyResult::kStringOrNull: return "one of [string null_type]";
    case PolicyResult::kAny: return "any";
    case PolicyResult::kObject: return "Object";
    case PolicyResult::kPatches: return "list(JSONPatch)";
  }
  return "";
}

Result<cel::ProgramPtr> CompileOne(const std::string& text, const cel::Environment& environment) {
  auto compiled = cel::Compile(text, environment);
  if (!compiled.ok()) return BadRequest("compilation failed: " + compiled.error().message());
  return compiled;
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// As many bytes for every text.
std::string DigestOf(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

// Programs in use, by the digest of scope and text. Those nobody holds any more are swept out when the
// table has grown.
class Programs {
 public:
  Result<cel::ProgramPtr> Get(const std::string& key, const std::string& text,
                              const cel::Environment& environment) {
    {
      std::lock_guard lock(mutex_);
      auto it = programs_.find(key);
      if (it != programs_.end()) {
        if (cel::ProgramPtr program = it->second.lock()) return program;
      }
    }
    cel::ProgramPtr program = TRY(CompileOne(text, environment));
    std::lock_guard lock(mutex_);
    if (programs_.size() >= room_) {
      std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
      room_ = std::max(limits::kCompiledExpressions, 2 * programs_.size());
    }
    programs_[key] = program;
    return program;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const cel::Program>> programs_;
  std::size_t room_ = limits::kCompiledExpressions;
};

Programs& AllPrograms() {
  static auto* const programs = new Programs;
  return *programs;
}

}  // namespace

std::string Trimmed(std::string_view text) {
  const char* space = " \t\r\n";
  const std::size_t start = text.find_first_not_of(space);
  if (start == std::string_view::npos) return "";
  return std::string(text.substr(start, text.find_last_not_of(space) - start + 1));
}

const TypePtr& PolicyRequestType() {
  static const TypePtr type = MakeRequest();
  return type;
}

PolicyScope::PolicyScope(Params params, Patches patches)
    : params_(params == Params::kGiven), patches_(patches == Patches::kAllowed),
      object_(Simple(Kind::kDyn)) {}

void PolicyScope::ShapeObject(TypePtr type) {
  object_ = std::move(type);
  shared_ = false;
}

void PolicyScope::Declare(const std::string& name, TypePtr type) {
  std::string digest = DigestOf(cel::Display(*type));
  variables_.emplace(name, Declared{std::move(type), std::move(digest)});
}

std::map<std::string_view, const PolicyScope::Declared*> PolicyScope::MentionedIn(
    std::string_view text) const {
  std::map<std::string_view, const Declared*> mentioned;
  for (std::size_t start = 0, end = 0; start < text.size(); start = end + 1) {
    end = start;
    while (end < text.size() && IsNameByte(text[end])) ++end;
    const auto known = variables_.find(text.substr(start, end - start));
    if (known != variables_.end()) mentioned.emplace(known->first, &known->second);
  }
  return mentioned;
}

cel::Environment PolicyScope::Environment(
    const std::map<std::string_view, const Declared*>& mentioned) const {
  std::vector<Field> fields;
  for (const auto& [name, declared] : mentioned) {
    fields.push_back({std::string(name), std::string(name), declared->type});
  }
  cel::Environment environment;
  environment.variables = {
      {"object", object_},
      {"oldObject", object_},
      {"request", PolicyRequestType()},
      {"namespaceObject", Simple(Kind::kDyn)},
      {"authorizer", cel::AuthorizerType()},
      {"authorizer.requestResource", cel::ResourceCheckType()},
      {"variables", MakeObject("kubernetes.variables", std::move(fields))}};
  if (params_) environment.variables.push_back({"params", Simple(Kind::kDyn)});
  if (patches_) environment.messages = PatchTypes();
  return environment;
}

Result<cel::ProgramPtr> PolicyScope::Compile(const std::string& text, PolicyResult result) const {
  const auto mentioned = MentionedIn(text);
  const cel::Environment environment = Environment(mentioned);
  std::string key = std::string(params_ ? "p" : "-") + (patches_ ? "o" : "-");
  for (const auto& [name, declared] : mentioned) {
    key += '\n';
    key += name;
    key += ':' + declared->digest;
  }
  // A program for a shape is wanted once, to see whether it compiles.
  cel::ProgramPtr program =
      shared_ ? TRY(AllPrograms().Get(DigestOf(key + "\n\n" + text), text, environment))
              : TRY(CompileOne(text, environment));
  if (!ResultFits(*program->type(), result)) {
    return BadRequest(std::string("must evaluate to ") + ResultText(result) + " but got " +
                      cel::DisplayCut(*program->type()));
  }
  return program;
}

}  // namespace mailroom::openapi
