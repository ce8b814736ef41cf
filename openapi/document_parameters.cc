#include "openapi/document_parameters.h"

#include "openapi/builtin.h"

namespace mailroom::openapi {
namespace {

struct Words {
  std::string_view name;
  const char* text;
};

constexpr Words kWords[] = {
    {"allowWatchBookmarks", "Whether a watch may be told from time to time how far it has come."},
    {"command", "The command to run, without a shell; once for each of its words."},
    {"container", "Which container of the pod; needless where there is only one."},
    {"continue", "Where a list that was cut off by its limit goes on, as told with its end."},
    {"dryRun", "With All, everything is done but the writing."},
    {"fieldManager", "Who is taken to manage the fields that are written."},
    {"fieldSelector", "Which objects, by their fields; all without it."},
    {"fieldValidation",
     "What is said to unknown fields and ones given twice: Ignore, Warn or Strict."},
    {"follow", "Whether to go on with what is logged from now on."},
    {"force", "Whether an apply takes fields over from their other managers."},
    {"gracePeriodSeconds", "Seconds the object is given to end well; 0 ends it at once."},
    {"ignoreStoreReadErrorWithClusterBreakingPotential",
     "Whether an object that cannot be read from the store is removed from there nevertheless."},
    {"insecureSkipTLSVerifyBackend", "Whether the certificate of the node is believed unseen."},
    {"labelSelector", "Which objects, by their labels; all without it."},
    {"limit", "How many objects at most; the answer tells how to get the rest."},
    {"limitBytes", "How many bytes at most."},
    {"orphanDependents", "Outdated form of propagationPolicy: whether dependents stay."},
    {"path", "Path of what is called, with its query."},
    {"ports", "Which ports are forwarded."},
    {"pretty", "Whether the answer is indented for people."},
    {"previous", "Whether the log of the run before is meant."},
    {"propagationPolicy",
     "What becomes of dependents: Orphan, Background (removed later) or Foreground (removed first)."},
    {"resourceVersion", "How new the state must be, or at which one a watch begins."},
    {"resourceVersionMatch", "How resourceVersion is meant: NotOlderThan or Exact."},
    {"sendInitialEvents", "Whether a watch begins with what is there already."},
    {"shardSelector", "Which part of all objects, by an expression."},
    {"sinceSeconds", "How many seconds to go back."},
    {"stderr", "Whether its errors are wanted."},
    {"stdin", "Whether it is given input."},
    {"stdout", "Whether its output is wanted."},
    {"stream", "Which of the streams: All, Stdout or Stderr."},
    {"tailLines", "How many lines from the end."},
    {"timeoutSeconds", "After how many seconds the call is ended, whatever it does."},
    {"timestamps", "Whether each line begins with its time."},
    {"tty", "Whether it is given a terminal."},
    {"watch", "Whether changes are told as they happen, instead of a list."},
};

std::string DescriptionOf(std::string_view name) {
  for (const Words& words : kWords) {
    if (words.name == name) return words.text;
  }
  return "";
}

}  // namespace

ParameterFacts PathParameter(std::string name, std::string description) {
  return {std::move(name), "path", "string", std::move(description)};
}

ParameterFacts PrettyParameter() { return {"pretty", "query", "string", DescriptionOf("pretty")}; }

std::vector<ParameterFacts> OptionParameters(std::string_view type, std::string_view without) {
  std::vector<ParameterFacts> out;
  const Schema* schema = BuiltinType(type);
  if (schema == nullptr) return out;
  const std::string left_out = " " + std::string(without) + " ";
  for (const Property& property : schema->properties) {
    const bool says_kind = property.number == 0;
    if (says_kind || left_out.find(" " + property.name + " ") != std::string::npos) continue;
    const Schema* value = property.schema;
    if (value->type == Type::kArray) value = value->items;  // given several times
    if (value->type == Type::kObject || value->wire == Wire::kTime) continue;
    out.push_back({property.name, "query", std::string(TypeText(value->type)),
                   DescriptionOf(property.name)});
  }
  return out;
}

}  // namespace mailroom::openapi
