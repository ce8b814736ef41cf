#include "apiserver/conversion_review.h"

#include "apiserver/admission/answer.h"
#include "apiserver/auth/uid.h"
#include "openapi/validate.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kGroup = "apiextensions.k8s.io/";

// How Go names the type of a JSON value.
std::string GoType(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_boolean()) return "bool";
  if (value.is_string()) return "string";
  if (value.is_number_integer()) return "int64";
  if (value.is_number()) return "float64";
  return value.is_array() ? "[]interface {}" : "map[string]interface {}";
}

// Why the answer holds no converted objects; "" when it does.
std::string Unanswered(const ConversionQuestion& question, const Json& tree) {
  if (question.review_version == "v1") {
    const std::string wanted = std::string(kGroup) + "v1, Kind=ConversionReview";
    if (const std::string found = admission::KindText(tree); found != wanted) {
      return "expected webhook response of " + wanted + ", got " + found;
    }
  }
  const Json* response = Find(tree, {"response"});
  if (response == nullptr || !response->is_object()) return "no response provided";
  if (question.review_version == "v1") {
    if (const std::string uid = StringAt(*response, {"uid"}); uid != question.uid) {
      return "expected response.uid=" + Quoted(question.uid) + ", got " + Quoted(uid);
    }
  }
  const std::string status = StringAt(*response, {"result", "status"});
  if (status == "Success") return "";
  if (std::string message = StringAt(*response, {"result", "message"}); !message.empty()) {
    return message;
  }
  return "response.result.status was '" + status + "', not 'Success'";
}

std::string Differs(const char* what, const std::string& original, const std::string& converted) {
  if (original == converted) return "";
  return std::string("must have the same ") + what + ": " + original + " != " + converted;
}

// What is wrong with the identity of a converted object; "" when nothing is.
std::string WrongIdentity(const Json& original, const Json& converted) {
  std::string why = Differs("name", StringAt(original, {"metadata", "name"}),
                            StringAt(converted, {"metadata", "name"}));
  if (why.empty()) {
    why = Differs("namespace", StringAt(original, {"metadata", "namespace"}),
                  StringAt(converted, {"metadata", "namespace"}));
  }
  if (why.empty()) {
    why = Differs("UID", StringAt(original, {"metadata", "uid"}),
                  StringAt(converted, {"metadata", "uid"}));
  }
  return why;
}

// Labels or annotations of the answer, checked when they were changed.
std::string WrongMap(const char* member, const Json& given, const Json* original) {
  const std::string field = std::string("metadata.") + member;
  if (!given.is_object()) {
    return "invalid " + field + " of type " + GoType(given) + " in converted object";
  }
  for (const auto& [key, value] : given.items()) {
    if (value.is_string()) continue;
    return field + "[" + key + "] must be a string, but is " + GoType(value) +
           " in converted object";
  }
  if (original != nullptr && *original == given) return "";
  const std::vector<Cause> causes =
      std::string_view(member) == "labels"
          ? openapi::ValidateLabels(&given, "metadata.labels")
          : openapi::ValidateAnnotations(&given, "metadata.annotation");
  std::string why;
  for (const Cause& cause : causes) {
    why += (why.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  }
  return causes.size() > 1 ? "[" + why + "]" : why;
}

// Gives the converted object the original's metadata but for labels and annotations.
std::string RestoreMetadata(const Json& original, Json& converted) {
  const Json* given = Find(converted, {"metadata"});
  if (given == nullptr) return "missing metadata in converted object";
  if (!given->is_object()) {
    return "invalid metadata of type " + GoType(*given) + " in converted object";
  }
  Json metadata = original.value("metadata", Json::object());
  for (const char* member : {"labels", "annotations"}) {
    const Json* wanted = Find(*given, {member});
    if (wanted == nullptr || wanted->is_null()) {
      metadata.erase(member);
      continue;
    }
    const Json* before = Find(original, {"metadata", member});
    if (std::string why = WrongMap(member, *wanted, before); !why.empty()) return why;
    metadata[member] = *wanted;
  }
  converted["metadata"] = std::move(metadata);
  return "";
}

// What is wrong with one converted object, after `conversion webhook for <kind> `; "" when
// nothing is. Its metadata is restored.
std::string Adopt(const ConversionQuestion& question, std::size_t index, Json& converted) {
  const Json& original = question.originals[index];
  const std::string invalid = "returned invalid object at index " + std::to_string(index) + ": ";
  if (!converted.is_object()) return invalid + "not an object";
  const std::string version = StringAt(converted, {"apiVersion"});
  if (version != question.api_version) {
    return invalid + "invalid groupVersion (expected " + question.api_version + ", received " +
           version + ")";
  }
  const std::string kind = StringAt(converted, {"kind"});
  if (const std::string wanted = StringAt(original, {"kind"}); kind != wanted) {
    return invalid + "invalid kind (expected " + wanted + ", received " + kind + ")";
  }
  if (std::string why = WrongIdentity(original, converted); !why.empty()) {
    return "returned invalid object: " + why;
  }
  if (std::string why = RestoreMetadata(original, converted); !why.empty()) {
    return "returned invalid metadata: " + why;
  }
  return "";
}

}  // namespace

ConversionQuestion AskConversion(std::string review_version, std::string api_version,
                                 std::vector<Json> originals) {
  return {NewUid(), std::move(review_version), std::move(api_version), std::move(originals)};
}

std::string ReviewBody(const ConversionQuestion& question) {
  std::string out = "{\"kind\":\"ConversionReview\",\"apiVersion\":\"" + std::string(kGroup) +
                    question.review_version + "\",\"request\":{\"uid\":" +
                    JsonQuote(question.uid) +
                    ",\"desiredAPIVersion\":" + JsonQuote(question.api_version) +
                    ",\"objects\":[";
  const char* comma = "";
  for (const Json& original : question.originals) {
    out += comma + DumpJson(original);
    comma = ",";
  }
  return out + "]}}";
}

Status ConversionProblem(const ConversionQuestion& question, const std::string& what) {
  return Status(Reason::kUnknown, 500,
                "conversion webhook for " + admission::KindText(question.originals.front()) + " " +
                    what);
}

Result<std::vector<Json>> ReadConversion(const ConversionQuestion& question, int code,
                                         const std::string& body) {
  std::string problem;
  auto tree = admission::ParseAnswer(code, body, problem);
  if (tree) problem = Unanswered(question, *tree);
  if (!problem.empty()) return ConversionProblem(question, "failed: " + problem);
  std::vector<Json> converted;
  if (Json* objects = Find(*tree, {"response", "convertedObjects"});
      objects != nullptr && objects->is_array()) {
    for (Json& object : *objects) converted.push_back(std::move(object));
  }
  if (converted.size() != question.originals.size()) {
    return ConversionProblem(question, "returned " + std::to_string(converted.size()) +
                                           " objects, expected " +
                                           std::to_string(question.originals.size()));
  }
  for (std::size_t i = 0; i < converted.size(); ++i) {
    if (const std::string why = Adopt(question, i, converted[i]); !why.empty()) {
      return ConversionProblem(question, why);
    }
  }
  return converted;
}

}  // namespace mailroom::apiserver
