#include "openapi/cel/authorizer.h"
#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

constexpr const char* kAuthorizer = "kubernetes.authorization.Authorizer";
constexpr const char* kPathCheck = "kubernetes.authorization.PathCheck";
constexpr const char* kGroupCheck = "kubernetes.authorization.GroupCheck";
constexpr const char* kResourceCheck = "kubernetes.authorization.ResourceCheck";
constexpr const char* kDecision = "kubernetes.authorization.Decision";

// A question under construction; its stage is its type.
struct Draft : Opaque {
  const char* stage = kAuthorizer;
  std::shared_ptr<const AccessOracle> oracle;
  AccessQuestion question;
  std::string_view type_name() const override { return stage; }
  bool Equals(const Opaque& other) const override { return this == &other; }
};
struct Decision : Opaque {
  AccessAnswer answer;
  std::string_view type_name() const override { return kDecision; }
  bool Equals(const Opaque& other) const override { return this == &other; }
};

Value Next(const Value& from, const char* stage, auto change) {
  auto draft = std::make_shared<Draft>(*static_cast<const Draft*>(from.opaque()));
  draft->stage = stage;
  change(draft->question);
  return Value::Of(std::shared_ptr<const Opaque>(std::move(draft)));
}
bool Blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Value Path(Meter&, Args a) {
  if (Blank(a[1].text())) return Value::Error("path must not be empty");
  return Next(a[0], kPathCheck, [&](AccessQuestion& q) { q.path = a[1].text(); });
}
Value Group(Meter&, Args a) {
  return Next(a[0], kGroupCheck, [&](AccessQuestion& q) { q.group = a[1].text(); });
}
Value ServiceAccount(Meter&, Args a) {
  static constexpr const char* kName = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
  if (!Matches(a[2].text(), kName).is_true()) return Value::Error("Invalid service account name");
  if (!Matches(a[1].text(), kName).is_true()) {
    return Value::Error("Invalid service account namespace");
  }
  return Next(a[0], kAuthorizer, [&](AccessQuestion& q) {
    q.user = "system:serviceaccount:" + std::string(a[1].text()) + ":" + std::string(a[2].text());
  });
}
Value Resource(Meter&, Args a) {
  if (Blank(a[1].text())) return Value::Error("resource must not be empty");
  return Next(a[0], kResourceCheck, [&](AccessQuestion& q) { q.resource = a[1].text(); });
}
template <std::string AccessQuestion::*Member>
Value Narrow(Meter&, Args a) {
  return Next(a[0], kResourceCheck, [&](AccessQuestion& q) { q.*Member = a[1].text(); });
}
Value Check(Meter&, Args a) {
  const auto* draft = static_cast<const Draft*>(a[0].opaque());
  AccessQuestion question = draft->question;
  question.verb = a[1].text();
  auto decision = std::make_shared<Decision>();
  decision->answer = draft->oracle->Ask(question);
  return Value::Of(std::shared_ptr<const Opaque>(std::move(decision)));
}
const AccessAnswer& AnswerOf(const Value& value) {
  return static_cast<const Decision*>(value.opaque())->answer;
}
Value Allowed(Meter&, Args a) { return Value::Bool(AnswerOf(a[0]).allowed); }
Value ReasonOf(Meter&, Args a) { return Value::String(AnswerOf(a[0]).reason); }
Value Errored(Meter&, Args a) { return Value::Bool(!AnswerOf(a[0]).error.empty()); }
Value ErrorOf(Meter&, Args a) { return Value::String(AnswerOf(a[0]).error); }

// Two questions an expression, no more.
std::uint64_t PriceOfCheck(Args, const Value&) { return 350'000; }
std::uint64_t PriceOfSelector(Args a, const Value&) {
  const std::uint64_t size = SizeOf(a[1]);
  return 10 + Scaled(size, 0.1) + Scaled(Scaled(size, 0.5), 50);
}

#define AUTHZ "kubernetes.authorization."
constexpr Row kRows[] = {
    {"path", AUTHZ "Authorizer.(string) " AUTHZ "PathCheck", Path},
    {"group", AUTHZ "Authorizer.(string) " AUTHZ "GroupCheck", Group},
    {"serviceAccount", AUTHZ "Authorizer.(string, string) " AUTHZ "Authorizer", ServiceAccount},
    {"resource", AUTHZ "GroupCheck.(string) " AUTHZ "ResourceCheck", Resource},
    {"subresource", AUTHZ "ResourceCheck.(string) " AUTHZ "ResourceCheck",
     Narrow<&AccessQuestion::subresource>},
    {"namespace", AUTHZ "ResourceCheck.(string) " AUTHZ "ResourceCheck",
     Narrow<&AccessQuestion::namespace_>},
    {"name", AUTHZ "ResourceCheck.(string) " AUTHZ "ResourceCheck",
     Narrow<&AccessQuestion::name>},
    {"fieldSelector", AUTHZ "ResourceCheck.(string) " AUTHZ "ResourceCheck",
     Narrow<&AccessQuestion::field_selector>, PriceOfSelector},
    {"labelSelector", AUTHZ "ResourceCheck.(string) " AUTHZ "ResourceCheck",
     Narrow<&AccessQuestion::label_selector>, PriceOfSelector},
    {"check", AUTHZ "PathCheck.(string) " AUTHZ "Decision", Check, PriceOfCheck},
    {"check", AUTHZ "ResourceCheck.(string) " AUTHZ "Decision", Check, PriceOfCheck},
    {"allowed", AUTHZ "Decision.() bool", Allowed},
    {"reason", AUTHZ "Decision.() string", ReasonOf},
    {"errored", AUTHZ "Decision.() bool", Errored},
    {"error", AUTHZ "Decision.() string", ErrorOf},
};
#undef AUTHZ

Value Make(const char* stage, std::shared_ptr<const AccessOracle> oracle, AccessQuestion about) {
  auto draft = std::make_shared<Draft>();
  draft->stage = stage;
  draft->oracle = std::move(oracle);
  draft->question = std::move(about);
  return Value::Of(std::shared_ptr<const Opaque>(std::move(draft)));
}

}  // namespace

TypePtr AuthorizerType() { return MakeOpaque(kAuthorizer); }
TypePtr ResourceCheckType() { return MakeOpaque(kResourceCheck); }
Value MakeAuthorizer(std::shared_ptr<const AccessOracle> oracle) {
  return Make(kAuthorizer, std::move(oracle), {});
}
Value MakeResourceCheck(std::shared_ptr<const AccessOracle> oracle, AccessQuestion about) {
  return Make(kResourceCheck, std::move(oracle), std::move(about));
}

std::span<const Row> AuthorizerRows() { return kRows; }

}  // namespace mailroom::cel
