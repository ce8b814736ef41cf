// What is told of the faults of one body: no more than limits::kProblemsTold, each of bounded length,
// so that a small text full of faults does not become an answer many thousand times its size. Paths of
// fields are bounded while they are built, since a name of a megabyte may stand before any number of
// faults.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/status.h"

namespace mailroom {

// `text`, or its beginning and `...` when it has more bytes than that; cut between characters.
std::string CutText(std::string_view text, std::size_t bytes);

// A path and one step more. Past limits::kProblemPathBytes it is cut, and grows no more.
std::string MemberPath(const std::string& path, std::string_view name);   // `path.name`
std::string EntryPath(const std::string& path, std::string_view key);     // `path[key]`
std::string ElementPath(const std::string& path, std::size_t position);   // `path[3]`

// Texts in the order they were added, each once. Past the bound nothing is added.
class Problems {
 public:
  void Add(std::string text);
  bool full() const { return texts_.size() >= limits::kProblemsTold; }
  std::vector<std::string> Take() && { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::unordered_set<std::string> known_;
};

// Field errors as they are collected. Past the bound they are dropped; walks over what a client sent
// ask full() and stop.
class Causes {
 public:
  Causes() = default;
  Causes(std::initializer_list<Cause> causes) : list_(causes) {}

  void push_back(Cause cause) {
    if (!full()) list_.push_back(std::move(cause));
  }
  void Add(std::vector<Cause> more) {
    for (Cause& cause : more) push_back(std::move(cause));
  }
  bool full() const { return list_.size() >= limits::kProblemsTold; }
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  void clear() { list_.clear(); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  const Cause& operator[](std::size_t i) const { return list_[i]; }
  // For Invalid() and others that take over what was collected.
  operator std::vector<Cause>() && { return std::move(list_); }

 private:
  std::vector<Cause> list_;
};

}  // namespace mailroom
