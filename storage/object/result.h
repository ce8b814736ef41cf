// Result<T>: a T or the Status that says why there is none. TRY unwraps one or returns its
// Status from the enclosing function (which must return a Result or a Status-convertible type).
//
//   Result<Json> Load(std::string_view text) {
//     Json tree = TRY(ParseJson(text));
//     TRY(CheckShape(tree));
//     return tree;
//   }
#pragma once

#include <utility>
#include <variant>

#include "storage/object/status.h"

namespace mailroom {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Status error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !ok().
  const Status& error() const& { return std::get<1>(state_); }
  Status&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Status> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() : error_(std::in_place_index<0>) {}
  Result(Status error) : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return error_.index() == 0; }
  explicit operator bool() const { return ok(); }
  void value() const {}
  const Status& error() const& { return std::get<1>(error_); }
  Status&& error() && { return std::get<1>(std::move(error_)); }

 private:
  std::variant<std::monostate, Status> error_;
};

inline Result<void> Ok() { return {}; }

}  // namespace mailroom

// The variable's name is new in each use, so that a TRY may stand inside another's expression.
#define TRY(expression) MAILROOM_TRY_(expression, __COUNTER__)
#define MAILROOM_TRY_(expression, number) MAILROOM_TRY_NAMED_(expression, number)
#define MAILROOM_TRY_NAMED_(expression, number)                                 \
  __extension__({                                                               \
    auto try_result_##number = (expression);                                    \
    if (!try_result_##number.ok()) return std::move(try_result_##number).error(); \
    std::move(try_result_##number).value();                                     \
  })
