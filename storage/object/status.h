// A failure in the words of the Kubernetes protocol. Every fallible function of this project
// returns a Result<T> (result.h) whose error is one of these; the HTTP code is derived from the
// reason in one table (status.cc). Values are cheap to move and hold no references.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json_fwd.h"

namespace mailroom {

enum class Reason {
  kUnknown,
  kBadRequest,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kAlreadyExists,
  kConflict,
  kExpired,
  kInvalid,
  kServerTimeout,
  kTimeout,
  kTooManyRequests,
  kMethodNotAllowed,
  kNotAcceptable,
  kRequestEntityTooLarge,
  kUnsupportedMediaType,
  kInternalError,
  kServiceUnavailable,
};

// One entry of status.details.causes.
struct Cause {
  std::string reason;   // e.g. FieldValueInvalid
  std::string message;  // the text without the field
  std::string field;    // e.g. spec.containers[0].name
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;  // the resource name, except for Invalid, where it is the Kind
  std::string uid;
  std::vector<Cause> causes;
  int retry_after_seconds = 0;

  bool empty() const;
};

class [[nodiscard]] Status {
 public:
  Status(Reason reason, std::string message, StatusDetails details = {});
  // An error whose HTTP code differs from the reason's usual one (an unmapped internal error).
  Status(Reason reason, int code, std::string message, StatusDetails details = {});

  Reason reason() const { return reason_; }
  int code() const { return code_; }
  const std::string& message() const { return message_; }
  const StatusDetails& details() const { return details_; }
  StatusDetails& mutable_details() { return details_; }
  // Token for an inconsistent continuation; rendered as metadata.continue of an Expired list.
  const std::string& continue_token() const { return continue_token_; }
  Status& WithContinue(std::string token);

  // The Status object as JSON text (kind Status, apiVersion v1), without a trailing newline.
  std::string ToJson() const;
  // Reads a Status (or any other body) that a server sent with `http_code`.
  static Status FromBody(int http_code, std::string_view body);

 private:
  Reason reason_;
  int code_;
  std::string message_;
  StatusDetails details_;
  std::string continue_token_;
};

std::string_view ReasonText(Reason reason);
int ReasonCode(Reason reason);
Reason ParseReason(std::string_view text, int http_code);

// `<resource>` or `<resource>.<group>`, as error texts name it; also `<Kind>.<group>`.
std::string Qualified(std::string_view name, std::string_view group);

Status BadRequest(std::string message);
Status Unauthorized();
Status NotFound(std::string_view resource, std::string_view group, std::string_view name);
Status AlreadyExists(std::string_view resource, std::string_view group, std::string_view name);
Status Conflict(std::string_view resource, std::string_view group, std::string_view name,
                std::string_view why);
// The optimistic-lock conflict, with the sentence that kubectl looks for.
Status Modified(std::string_view resource, std::string_view group, std::string_view name);
Status Forbidden(std::string_view resource, std::string_view group, std::string_view name,
                 std::string_view why);
Status Expired(std::string message);
Status Internal(std::string_view error);
Status Timeout(std::string_view why);
Status TooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current);
Status TooManyRequests(std::string_view why, int retry_after_seconds);
Status RequestTooLarge(std::string_view why);
Status MethodNotAllowed(std::string_view action, std::string_view resource,
                        std::string_view group);
Status Unavailable(std::string_view why);

// Field errors: cause.reason decides the text, as in kube's field.Error.
Cause RequiredValue(std::string field, std::string detail = "");
Cause InvalidValue(std::string field, std::string rendered_value, std::string detail);
Cause UnsupportedValue(std::string field, std::string rendered_value,
                       const std::vector<std::string>& supported);
Cause ForbiddenValue(std::string field, std::string detail);
Cause DuplicateValue(std::string field, std::string rendered_value);
Cause TooLong(std::string field, std::size_t max_bytes);
Cause TypeInvalid(std::string field, std::string rendered_value, std::string detail);
Cause TooMany(std::string field, std::size_t actual, std::size_t max_items);
// A string as Go's %q prints it; for the rendered_value arguments above.
std::string Quoted(std::string_view text);

// 422 `<Kind.group> "<name>" is invalid: ...`; causes must not be empty.
Status Invalid(std::string_view kind, std::string_view group, std::string_view name,
               std::vector<Cause> causes);

}  // namespace mailroom
