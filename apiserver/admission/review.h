// AdmissionReview, v1 and v1beta1: the question put to a webhook and the reading of its answer,
// in kube-apiserver's words where the answer is wrong. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/admission/rules.h"

namespace mailroom::admission {

struct Question {
  std::string uid;
  std::string version;  // v1 or v1beta1
  std::string body;
};
// Nothing when the webhook knows no version of ours. `object` and `old` are in the invocation's
// version; null when there is none.
std::optional<Question> MakeQuestion(const std::vector<std::string>& versions,
                                     const Attributes& attributes, const Invocation& invocation,
                                     const Json* object, const Json* old);
// The request part alone, which CEL expressions see as well.
Json RequestPart(const Attributes& attributes, const Invocation& invocation);

struct Verdict {
  bool allowed = false;
  std::optional<Json> patch;  // JSON patch operations
  Json status;                // null when none was given
  std::vector<std::string> warnings;
  std::map<std::string, std::string> annotations;
};
// The text after `failed calling webhook "x": ` when the answer is none. A refusal is no error.
struct Misread {
  std::string text;
};
std::variant<Verdict, Misread> ReadAnswer(const Question& question, bool mutating, int code,
                                          const std::string& body);

// The answer to the client when the webhook said no.
Status Denied(const std::string& webhook, const Json& status);

}  // namespace mailroom::admission
