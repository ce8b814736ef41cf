// The CEL expressions of admission: what they may refer to, what they must result in, and their
// programs. Equal expressions in equal scopes share one program, whoever wrote them down and in
// however many workspaces. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "openapi/cel/program.h"

namespace mailroom::openapi {

// Places of the variables in a run. `params` comes last because not every scope has it.
enum PolicySlot : std::size_t {
  kObjectSlot,
  kOldObjectSlot,
  kRequestSlot,
  kNamespaceSlot,
  kAuthorizerSlot,
  kAuthorizerResourceSlot,
  kVariablesSlot,
  kParamsSlot,
  kPolicySlots,
};

enum class PolicyResult { kBool, kString, kStringOrNull, kAny, kObject, kPatches };

// Without the white space around it.
std::string Trimmed(std::string_view text);

// The shape of `request`.
const cel::TypePtr& PolicyRequestType();

// What the expressions of one policy or webhook may refer to.
class PolicyScope {
 public:
  enum class Params { kNone, kGiven };
  enum class Patches { kNone, kAllowed };
  PolicyScope(Params params, Patches patches);
  // Gives `object` and `oldObject` a type, for type checking.
  void ShapeObject(cel::TypePtr type);
  // Adds `variables.<name>`.
  void Declare(const std::string& name, cel::TypePtr type);
  // An error's message is the compiler's, or says that the result is of a wrong type.
  Result<cel::ProgramPtr> Compile(const std::string& text, PolicyResult result) const;

 private:
  struct Declared {
    cel::TypePtr type;
    std::string digest;  // of the type as it is shown
  };
  // Variables that the text may refer to: those whose names occur in it.
  std::map<std::string_view, const Declared*> MentionedIn(std::string_view text) const;
  cel::Environment Environment(const std::map<std::string_view, const Declared*>& mentioned) const;
  bool params_;
  bool patches_;
  bool shared_ = true;  // equal expressions share a program
  cel::TypePtr object_;
  std::map<std::string, Declared, std::less<>> variables_;  // of one name the first counts
};

}  // namespace mailroom::openapi
