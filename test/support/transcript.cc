#include "test/support/transcript.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>

namespace mailroom {
namespace {

using Values = std::map<std::string, std::string>;

constexpr std::pair<const char*, const char*> kForms[] = {
    {"<uid>", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"},
    {"<time>", R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z)"},
    {"<revision>", "[1-9][0-9]*"},
    {"<any>", "(?s:.*)"},
};
constexpr const char* kMustList[] = {"warning", "retry-after"};

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string Fill(std::string text, const Values& values) {
  for (const auto& [name, value] : values) ReplaceAll(text, "${" + name + "}", value);
  return text;
}

bool SameText(const std::string& want, const std::string& got) {
  if (want == got) return true;
  std::string pattern = RE2::QuoteMeta(want);
  for (const auto& [form, expression] : kForms) {
    ReplaceAll(pattern, RE2::QuoteMeta(form), expression);
  }
  RE2::Options options;
  options.set_log_errors(false);
  return RE2::FullMatch(got, RE2(pattern, options));
}

// The JSON documents of a text, one after the other; empty when it is something else.
std::vector<Json> Documents(const std::string& text) {
  std::vector<Json> out;
  std::size_t start = std::string::npos;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) start = i;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      auto parsed = ParseJson(text.substr(start, i - start + 1));
      if (!parsed.ok()) return {};
      out.push_back(std::move(*parsed));
    } else if (depth == 0 && std::isspace(static_cast<unsigned char>(c)) == 0) {
      return {};
    }
  }
  return depth == 0 && !quoted ? out : std::vector<Json>();
}

std::string ValueAt(const Json& tree, const std::string& dotted) {
  const Json* node = &tree;
  std::istringstream steps(dotted);
  for (std::string step; std::getline(steps, step, '.');) {
    if (node->is_array()) {
      const std::size_t index = std::stoul(step);
      if (index >= node->size()) return "<missing>";
      node = &(*node)[index];
    } else {
      auto it = node->find(step);
      if (!node->is_object() || it == node->end()) return "<missing>";
      node = &*it;
    }
  }
  return node->is_string() ? node->get<std::string>() : DumpJson(*node);
}

std::vector<std::string> HeaderValues(const TranscriptAnswer& answer, const std::string& name) {
  std::vector<std::string> out;
  for (const auto& [key, value] : answer.headers) {
    if (key == name) out.push_back(value);
  }
  return out;
}

void JudgeHeaders(const TranscriptAnswer& want, const TranscriptAnswer& got,
                  const Values& values, std::vector<std::string>& out) {
  std::vector<std::string> names(std::begin(kMustList), std::end(kMustList));
  for (const auto& [name, value] : want.headers) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    std::vector<std::string> wanted = HeaderValues(want, name);
    const std::vector<std::string> found = HeaderValues(got, name);
    bool same = wanted.size() == found.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) {
      same = SameText(Fill(wanted[i], values), found[i]);
    }
    if (!same) out.push_back("header " + name + ": got " + DumpJson(Json(found)) + ", want " +
                             DumpJson(Json(wanted)));
  }
}

void Judge(const TranscriptAnswer& want, const TranscriptAnswer& got, const Values& values,
           std::vector<std::string>& out) {
  if (got.code != want.code) {
    out.push_back("code " + std::to_string(got.code) + ", want " + std::to_string(want.code));
  }
  JudgeHeaders(want, got, values, out);
  const std::string wanted = Fill(want.body, values);
  if (wanted.empty()) return;
  const std::vector<Json> expected = Documents(wanted);
  if (expected.empty()) {
    std::string text = got.body;
    while (text.ends_with('\n')) text.pop_back();
    if (!SameText(wanted, text)) out.push_back("body: got " + text + "\nwant " + wanted);
    return;
  }
  const std::vector<Json> found = Documents(got.body);
  if (found.size() != expected.size()) {
    out.push_back(std::to_string(found.size()) + " documents, want " +
                  std::to_string(expected.size()) + ": " + got.body);
    return;
  }
  for (std::size_t i = 0; i < found.size(); ++i) Differences(expected[i], found[i], "", out);
}

// Pulls a stream to its end, which a watch's own timeout brings.
std::string ReadAll(Stream& stream) {
  std::mutex mutex;
  std::condition_variable wake;
  bool ready = false;
  stream.OnReady([&] {
    std::lock_guard lock(mutex);
    ready = true;
    wake.notify_all();
  });
  std::string out;
  while (true) {
    std::vector<SharedBytes> pieces;
    const Stream::State state = stream.Pull(pieces, 1 << 16);
    for (const SharedBytes& piece : pieces) out += *piece;
    if (state == Stream::State::kEnd || state == Stream::State::kAborted) break;
    if (state == Stream::State::kMore) continue;
    std::unique_lock lock(mutex);
    if (!wake.wait_for(lock, std::chrono::seconds(30), [&] { return ready; })) break;
    ready = false;
  }
  stream.Cancel();
  return out;
}

TranscriptAnswer Ask(TestHub& hub, const std::string& prefix, const Exchange& exchange,
                     const Values& values) {
  Request request;
  request.method = exchange.method;
  const std::string path = prefix + Fill(exchange.path, values);
  const std::size_t mark = path.find('?');
  request.path = path.substr(0, mark);
  if (mark != std::string::npos) request.query = path.substr(mark + 1);
  request.body = Fill(exchange.body, values);
  request.headers.Add("user-agent", "transcript/1.0");
  for (const auto& [name, value] : exchange.headers) {
    request.headers.Set(name, Fill(value, values));
  }
  if (!request.body.empty() && request.headers.Get("content-type").empty()) {
    request.headers.Add("content-type", "application/json");
  }
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  Response response = hub.server().dispatcher().Handle(request);
  TranscriptAnswer out;
  out.code = response.code;
  out.headers = response.headers.fields();
  out.body = response.BodyText();
  if (response.stream != nullptr) out.body += ReadAll(*response.stream);
  return out;
}

// Repeats a request with a header `until` until its answer has that code.
TranscriptAnswer AskUntil(TestHub& hub, const std::string& prefix, const Exchange& exchange,
                          const Values& values) {
  std::string until;
  for (const auto& [name, value] : exchange.headers) {
    if (name == "until") until = value;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (true) {
    TranscriptAnswer answer = Ask(hub, prefix, exchange, values);
    if (until.empty() || std::to_string(answer.code) == until ||
        std::chrono::steady_clock::now() > deadline) {
      return answer;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

std::vector<Exchange> ParseTranscript(const std::string& text) {
  std::vector<Exchange> exchanges;
  TranscriptAnswer ignored;
  enum class Part { kNone, kRequest, kExpected, kIgnored } part = Part::kNone;
  std::istringstream lines(text);
  int number = 0;
  auto add = [](std::string& body, const std::string& line) {
    if (!body.empty()) body += '\n';
    body += line;
  };
  auto header = [](const std::string& line) {
    const std::size_t colon = line.find(':');
    std::string name = line.substr(2, colon - 2);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::pair(name, line.substr(line.find_first_not_of(' ', colon + 1)));
  };
  for (std::string line; std::getline(lines, line);) {
    ++number;
    static const RE2 kRequest("> ([A-Z]+) (/.*)");
    static const RE2 kCode("< ([0-9]+)");
    static const RE2 kKeep("! *(\\w+) *= *(\\S+)");
    std::string one, two;
    if (line.starts_with('#')) continue;
    if (RE2::FullMatch(line, kRequest, &one, &two)) {
      Exchange exchange;
      exchange.line = number;
      exchange.method = one;
      exchange.path = two;
      exchanges.push_back(std::move(exchange));
      part = Part::kRequest;
    } else if (line.starts_with("<1.20 ")) {
      part = Part::kIgnored;
    } else if (RE2::FullMatch(line, kCode, &one)) {
      exchanges.back().expected.code = std::stoi(one);
      part = Part::kExpected;
    } else if (RE2::FullMatch(line, kKeep, &one, &two)) {
      exchanges.back().kept.emplace_back(one, two);
    } else if (line.starts_with("> ")) {
      exchanges.back().headers.push_back(header(line));
    } else if (line.starts_with("< ")) {
      (part == Part::kIgnored ? ignored : exchanges.back().expected).headers.push_back(header(line));
    } else if (line.find_first_not_of(' ') != std::string::npos) {
      if (part == Part::kRequest) add(exchanges.back().body, line);
      if (part == Part::kExpected) add(exchanges.back().expected.body, line);
    }
  }
  return exchanges;
}

std::vector<std::string> PlayTranscript(TestHub& hub, const std::string& prefix,
                                        const std::vector<Exchange>& exchanges) {
  std::vector<std::string> out;
  // As long as the names hack/compare makes, because some errors cut texts at a length.
  Values values = {{"ns", "play-local"}};
  hub.Do("POST", prefix + "/api/v1/namespaces", {{"metadata", {{"name", "play-local"}}}});
  for (const Exchange& exchange : exchanges) {
    const TranscriptAnswer answer = AskUntil(hub, prefix, exchange, values);
    auto tree = ParseJson(answer.body);
    for (const auto& [name, path] : exchange.kept) {
      values[name] = tree.ok() ? ValueAt(*tree, path) : "<missing>";
    }
    std::vector<std::string> problems;
    Judge(exchange.expected, answer, values, problems);
    for (const std::string& problem : problems) {
      out.push_back("line " + std::to_string(exchange.line) + ": " + exchange.method + " " +
                    exchange.path + ": " + problem);
    }
  }
  return out;
}

void Differences(const Json& want, const Json& got, const std::string& path,
                 std::vector<std::string>& out) {
  if (want.is_string() && want == "<any>") return;
  if (want.is_object() && got.is_object()) {
    const bool open = want.contains("...");
    for (const auto& [name, value] : want.items()) {
      if (name == "...") continue;
      auto it = got.find(name);
      if (it == got.end()) {
        out.push_back(path + "." + name + ": missing");
      } else {
        Differences(value, *it, path + "." + name, out);
      }
    }
    for (const auto& [name, value] : got.items()) {
      if (open || want.contains(name) || name == "managedFields") continue;
      out.push_back(path + "." + name + ": not expected: " + DumpJson(value));
    }
  } else if (want.is_array() && got.is_array()) {
    if (want.size() != got.size()) {
      out.push_back(path + ": " + std::to_string(got.size()) + " elements, want " +
                    std::to_string(want.size()) + ": " + DumpJson(got));
      return;
    }
    for (std::size_t i = 0; i < want.size(); ++i) {
      Differences(want[i], got[i], path + "[" + std::to_string(i) + "]", out);
    }
  } else if (want.is_string() && got.is_string()) {
    if (!SameText(want.get<std::string>(), got.get<std::string>())) {
      out.push_back(path + ": got " + DumpJson(got) + ", want " + DumpJson(want));
    }
  } else if (want != got) {
    out.push_back(path + ": got " + DumpJson(got) + ", want " + DumpJson(want));
  }
}

}  // namespace mailroom
