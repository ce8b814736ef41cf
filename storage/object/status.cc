#include "storage/object/status.h"

#include <array>
#include <cstdio>
#include <unordered_set>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/problems.h"

namespace mailroom {
namespace {

struct ReasonRow {
  Reason reason;
  std::string_view text;
  int code;
};

// The only reason -> HTTP code table.
constexpr std::array<ReasonRow, 18> kReasons = {{
    {Reason::kUnknown, "", 500},
    {Reason::kBadRequest, "BadRequest", 400},
    {Reason::kUnauthorized, "Unauthorized", 401},
    {Reason::kForbidden, "Forbidden", 403},
    {Reason::kNotFound, "NotFound", 404},
    {Reason::kAlreadyExists, "AlreadyExists", 409},
    {Reason::kConflict, "Conflict", 409},
    {Reason::kExpired, "Expired", 410},
    {Reason::kInvalid, "Invalid", 422},
    {Reason::kServerTimeout, "ServerTimeout", 500},
    {Reason::kTimeout, "Timeout", 504},
    {Reason::kTooManyRequests, "TooManyRequests", 429},
    {Reason::kMethodNotAllowed, "MethodNotAllowed", 405},
    {Reason::kNotAcceptable, "NotAcceptable", 406},
    {Reason::kRequestEntityTooLarge, "RequestEntityTooLarge", 413},
    {Reason::kUnsupportedMediaType, "UnsupportedMediaType", 415},
    {Reason::kInternalError, "InternalError", 500},
    {Reason::kServiceUnavailable, "ServiceUnavailable", 503},
}};

const ReasonRow& Row(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

StatusDetails Details(std::string_view resource, std::string_view group, std::string_view name) {
  StatusDetails details;
  details.name = name;
  details.group = group;
  details.kind = resource;
  return details;
}

// More than a value's length, for faults of an expression quote lines of it.
constexpr std::size_t kDetailBytes = 8 * limits::kProblemValueBytes;

Cause FieldCause(std::string_view reason, std::string_view text, std::string field,
                 const std::string& rendered_value, const std::string& detail) {
  std::string message(text);
  if (!rendered_value.empty()) message += ": " + CutText(rendered_value, limits::kProblemValueBytes);
  if (!detail.empty()) message += ": " + CutText(detail, kDetailBytes);
  if (field.size() > limits::kProblemPathBytes) field = CutText(field, limits::kProblemPathBytes);
  return {std::string(reason), std::move(message), std::move(field)};
}

}  // namespace

bool StatusDetails::empty() const {
  return name.empty() && group.empty() && kind.empty() && uid.empty() && causes.empty() &&
         retry_after_seconds == 0;
}

Status::Status(Reason reason, std::string message, StatusDetails details)
    : Status(reason, ReasonCode(reason), std::move(message), std::move(details)) {}

Status::Status(Reason reason, int code, std::string message, StatusDetails details)
    : reason_(reason), code_(code), message_(std::move(message)), details_(std::move(details)) {}

Status& Status::WithContinue(std::string token) {
  continue_token_ = std::move(token);
  return *this;
}

std::string Status::ToJson() const {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{)";
  if (!continue_token_.empty()) out += "\"continue\":" + JsonQuote(continue_token_);
  out += R"(},"status":"Failure","message":)" + JsonQuote(message_);
  if (reason_ != Reason::kUnknown) out += ",\"reason\":" + JsonQuote(ReasonText(reason_));
  if (!details_.empty()) {
    out += ",\"details\":{";
    const char* comma = "";
    auto member = [&](std::string_view key, const std::string& value) {
      if (value.empty()) return;
      out += comma;
      out += JsonQuote(key) + ":" + JsonQuote(value);
      comma = ",";
    };
    member("name", details_.name);
    member("group", details_.group);
    member("kind", details_.kind);
    member("uid", details_.uid);
    if (!details_.causes.empty()) {
      out += comma;
      out += "\"causes\":[";
      const char* between = "";
      for (const Cause& cause : details_.causes) {
        out += between;
        out += "{";
        comma = "";
        member("reason", cause.reason);
        member("message", cause.message);
        member("field", cause.field);
        out += "}";
        between = ",";
      }
      out += "]";
      comma = ",";
    }
    if (details_.retry_after_seconds > 0) {
      out += comma;
      out += "\"retryAfterSeconds\":" + std::to_string(details_.retry_after_seconds);
    }
    out += "}";
  }
  return out + ",\"code\":" + std::to_string(code_) + "}";
}

Status Status::FromBody(int http_code, std::string_view body) {
  auto parsed = ParseJson(body);
  if (!parsed.ok() || StringAt(*parsed, {"kind"}) != "Status") {
    std::string text(body.substr(0, 200));
    return Status(ParseReason("", http_code), http_code,
                  "the server answered " + std::to_string(http_code) +
                      (text.empty() ? "" : ": " + text));
  }
  const Json& tree = *parsed;
  Status status(ParseReason(StringAt(tree, {"reason"}), http_code), http_code,
                StringAt(tree, {"message"}));
  StatusDetails& details = status.details_;
  details.name = StringAt(tree, {"details", "name"});
  details.group = StringAt(tree, {"details", "group"});
  details.kind = StringAt(tree, {"details", "kind"});
  details.uid = StringAt(tree, {"details", "uid"});
  details.retry_after_seconds = static_cast<int>(IntAt(tree, {"details", "retryAfterSeconds"}));
  if (const Json* causes = Find(tree, {"details", "causes"}); causes && causes->is_array()) {
    for (const Json& cause : *causes) {
      details.causes.push_back({StringAt(cause, {"reason"}), StringAt(cause, {"message"}),
                                StringAt(cause, {"field"})});
    }
  }
  status.continue_token_ = StringAt(tree, {"metadata", "continue"});
  return status;
}

std::string_view ReasonText(Reason reason) { return Row(reason).text; }

int ReasonCode(Reason reason) { return Row(reason).code; }

Reason ParseReason(std::string_view text, int http_code) {
  if (text == "Gone") return Reason::kExpired;
  for (const ReasonRow& row : kReasons) {
    if (!text.empty() && row.text == text) return row.reason;
  }
  if (http_code == 409) return Reason::kConflict;
  if (http_code == 500) return Reason::kInternalError;
  for (const ReasonRow& row : kReasons) {
    if (row.code == http_code) return row.reason;
  }
  return Reason::kUnknown;
}

std::string Qualified(std::string_view name, std::string_view group) {
  std::string out(name);
  if (!group.empty()) {
    out += '.';
    out += group;
  }
  return out;
}

Status BadRequest(std::string message) { return {Reason::kBadRequest, std::move(message)}; }

Status Unauthorized() { return {Reason::kUnauthorized, "Unauthorized"}; }

Status NotFound(std::string_view resource, std::string_view group, std::string_view name) {
  return {Reason::kNotFound, Qualified(resource, group) + " " + Quoted(name) + " not found",
          Details(resource, group, name)};
}

Status AlreadyExists(std::string_view resource, std::string_view group, std::string_view name) {
  return {Reason::kAlreadyExists,
          Qualified(resource, group) + " " + Quoted(name) + " already exists",
          Details(resource, group, name)};
}

Status Conflict(std::string_view resource, std::string_view group, std::string_view name,
                std::string_view why) {
  return {Reason::kConflict,
          "Operation cannot be fulfilled on " + Qualified(resource, group) + " " + Quoted(name) +
              ": " + std::string(why),
          Details(resource, group, name)};
}

Status Modified(std::string_view resource, std::string_view group, std::string_view name) {
  return Conflict(resource, group, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Status Forbidden(std::string_view resource, std::string_view group, std::string_view name,
                 std::string_view why) {
  std::string message = Qualified(resource, group);
  if (!name.empty()) message += " " + Quoted(name);
  message += " is forbidden: ";
  message += why;
  return {Reason::kForbidden, std::move(message), Details(resource, group, name)};
}

Status Expired(std::string message) { return {Reason::kExpired, std::move(message)}; }

Status Internal(std::string_view error) {
  StatusDetails details;
  details.causes.push_back({"", std::string(error), ""});
  return {Reason::kInternalError, "Internal error occurred: " + std::string(error),
          std::move(details)};
}

Status Timeout(std::string_view why) { return {Reason::kTimeout, "Timeout: " + std::string(why)}; }

Status TooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current) {
  StatusDetails details;
  details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  details.retry_after_seconds = 1;
  return {Reason::kTimeout,
          "Timeout: Too large resource version: " + std::to_string(wanted) +
              ", current: " + std::to_string(current),
          std::move(details)};
}

Status TooManyRequests(std::string_view why, int retry_after_seconds) {
  StatusDetails details;
  details.retry_after_seconds = retry_after_seconds;
  return {Reason::kTooManyRequests, "Too many requests: " + std::string(why), std::move(details)};
}

Status RequestTooLarge(std::string_view why) {
  return {Reason::kRequestEntityTooLarge, "Request entity too large: " + std::string(why)};
}

Status MethodNotAllowed(std::string_view action, std::string_view resource,
                        std::string_view group) {
  return {Reason::kMethodNotAllowed,
          std::string(action) + " is not supported on resources of kind " +
              Quoted(Qualified(resource, group)),
          Details(resource, group, "")};
}

Status Unavailable(std::string_view why) {
  return {Reason::kServiceUnavailable, std::string(why)};
}

Cause RequiredValue(std::string field, std::string detail) {
  return FieldCause("FieldValueRequired", "Required value", std::move(field), "", detail);
}

Cause InvalidValue(std::string field, std::string rendered_value, std::string detail) {
  return FieldCause("FieldValueInvalid", "Invalid value", std::move(field), rendered_value, detail);
}

Cause UnsupportedValue(std::string field, std::string rendered_value,
                       const std::vector<std::string>& supported) {
  std::string detail;
  if (!supported.empty()) {
    detail = "supported values: ";
    for (std::size_t i = 0; i < supported.size(); ++i) {
      detail += (i ? ", " : "") + Quoted(supported[i]);
    }
  }
  return FieldCause("FieldValueNotSupported", "Unsupported value", std::move(field),
                    rendered_value, detail);
}

Cause ForbiddenValue(std::string field, std::string detail) {
  return FieldCause("FieldValueForbidden", "Forbidden", std::move(field), "", detail);
}

Cause DuplicateValue(std::string field, std::string rendered_value) {
  return FieldCause("FieldValueDuplicate", "Duplicate value", std::move(field), rendered_value,
                    "");
}

Cause TooLong(std::string field, std::size_t max_bytes) {
  return FieldCause("FieldValueTooLong", "Too long", std::move(field), "",
                    "may not be more than " + std::to_string(max_bytes) + " bytes");
}

Cause TypeInvalid(std::string field, std::string rendered_value, std::string detail) {
  return FieldCause("FieldValueTypeInvalid", "Invalid value", std::move(field), rendered_value,
                    detail);
}

Cause TooMany(std::string field, std::size_t actual, std::size_t max_items) {
  return FieldCause("FieldValueTooMany", "Too many", std::move(field), std::to_string(actual),
                    "must have at most " + std::to_string(max_items) + (max_items == 1 ? " item" : " items"));
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned char>(c));
          out += buffer;
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

Status Invalid(std::string_view kind, std::string_view group, std::string_view name,
               std::vector<Cause> causes) {
  if (causes.size() > limits::kProblemsTold) causes.resize(limits::kProblemsTold);
  std::string joined;
  std::unordered_set<std::string> told;
  for (const Cause& cause : causes) {
    std::string text = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (told.contains(text)) continue;
    joined += (told.empty() ? "" : ", ") + text;
    told.insert(std::move(text));
  }
  if (told.size() > 1) joined = "[" + joined + "]";
  StatusDetails details = Details(kind, group, name);
  details.causes = std::move(causes);
  return {Reason::kInvalid,
          Qualified(kind, group) + " " + Quoted(name) + " is invalid: " + joined,
          std::move(details)};
}

}  // namespace mailroom
