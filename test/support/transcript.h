// Transcripts of the Kubernetes protocol (test/transcripts; hack/compare explains the form),
// played against a TestHub. The same files, played by hack/compare against a kube-apiserver,
// prove the expectations. One thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/support/test_hub.h"

namespace mailroom {

struct TranscriptAnswer {
  int code = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names lower-case
  std::string body;
};

struct Exchange {
  int line = 0;
  std::string method, path;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  TranscriptAnswer expected;
  std::vector<std::pair<std::string, std::string>> kept;  // variable, dotted path
};

std::vector<Exchange> ParseTranscript(const std::string& text);

// Plays a transcript in the workspace at `prefix`; one text per difference.
std::vector<std::string> PlayTranscript(TestHub& hub, const std::string& prefix,
                                        const std::vector<Exchange>& exchanges);

// Differences between an expected value with placeholders and a found one.
void Differences(const Json& want, const Json& got, const std::string& path,
                 std::vector<std::string>& out);

}  // namespace mailroom
