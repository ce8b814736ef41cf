// ConversionReview, v1 and v1beta1: the question put to the webhook of a definition and the
// reading of its answer, in kube-apiserver's words where the answer is wrong. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

struct ConversionQuestion {
  std::string uid;
  std::string review_version;   // v1 or v1beta1
  std::string api_version;      // wanted
  std::vector<Json> originals;  // of one kind, none of them in the wanted version; not empty
};
ConversionQuestion AskConversion(std::string review_version, std::string api_version,
                                 std::vector<Json> originals);
std::string ReviewBody(const ConversionQuestion& question);

// The originals as the webhook has them. Of their metadata only labels and annotations are the
// webhook's to change: the rest stays, and another name, namespace or uid is an error.
Result<std::vector<Json>> ReadConversion(const ConversionQuestion& question, int code,
                                         const std::string& body);
// 500 `conversion webhook for <kind> <what>`.
Status ConversionProblem(const ConversionQuestion& question, const std::string& what);

}  // namespace mailroom::apiserver
