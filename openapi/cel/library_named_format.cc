// Named formats: format.dns1123Label().validate(text) tells what is wrong, if anything.
#include <array>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

constexpr const char* kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* k1035 =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr const char* kNamePart =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

using Faults = std::vector<std::string>;

bool Fits(std::string_view text, const char* pattern) { return Matches(text, pattern).is_true(); }
void TooLong(std::string_view text, std::size_t most, Faults& faults) {
  if (text.size() > most) {
    faults.push_back("must be no more than " + std::to_string(most) + " characters");
  }
}
// generateName leaves a dash at the end, behind which something will come.
std::string Masked(std::string_view text) {
  std::string out(text);
  if (out.size() > 1 && out.back() == '-') out.back() = 'a';
  return out;
}

void Label(std::string_view text, Faults& faults) {
  TooLong(text, 63, faults);
  if (!Fits(text, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")) faults.emplace_back(kLabel);
}
void Subdomain(std::string_view text, Faults& faults) {
  TooLong(text, 253, faults);
  if (!Fits(text, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")) {
    faults.emplace_back(kSubdomain);
  }
}
void Label1035(std::string_view text, Faults& faults) {
  TooLong(text, 63, faults);
  if (!Fits(text, "^[a-z]([-a-z0-9]*[a-z0-9])?$")) faults.emplace_back(k1035);
}
void LabelPrefix(std::string_view text, Faults& faults) { Label(Masked(text), faults); }
void SubdomainPrefix(std::string_view text, Faults& faults) { Subdomain(Masked(text), faults); }
void Label1035Prefix(std::string_view text, Faults& faults) { Label1035(Masked(text), faults); }
void LabelValue(std::string_view text, Faults& faults) {
  TooLong(text, 63, faults);
  if (!Fits(text, "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")) {
    faults.emplace_back(kLabelValue);
  }
}
void QualifiedName(std::string_view text, Faults& faults) {
  const std::size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    if (text.find('/', slash + 1) != std::string_view::npos) {
      faults.push_back(std::string("a qualified name ") + kNamePart +
                       " with an optional DNS subdomain prefix and '/' (e.g. "
                       "'example.com/MyName')");
      return;
    }
    if (slash == 0) {
      faults.emplace_back("prefix part must be non-empty");
    } else {
      Faults inner;
      Subdomain(text.substr(0, slash), inner);
      for (const std::string& fault : inner) faults.push_back("prefix part " + fault);
    }
    name = text.substr(slash + 1);
  }
  if (name.empty()) {
    faults.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    faults.emplace_back("name part must be no more than 63 characters");
  }
  if (!Fits(name, "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$")) {
    faults.push_back(std::string("name part ") + kNamePart);
  }
}
void Uri(std::string_view text, Faults& faults) {
  Meter meter(UINT64_MAX, SIZE_MAX);
  const Value given[] = {Value::Borrowed(text)};
  const Value url = Library::Get().Find("url")[0]->run(meter, Args(given, 1));
  static constexpr std::string_view kPrefix = "URL parse error during conversion from string: ";
  if (url.is_error()) faults.emplace_back(url.text().substr(kPrefix.size()));
}
void Uuid(std::string_view text, Faults& faults) {
  if (!Fits(text, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$")) {
    faults.emplace_back("does not match the UUID format");
  }
}
void Byte(std::string_view text, Faults& faults) {
  if (!Fits(text, "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|"
                  "[A-Za-z0-9+/]{4})$")) {
    faults.emplace_back("invalid base64");
  }
}
void Date(std::string_view text, Faults& faults) {
  Moment moment;
  if (text.size() != 10 || !ParseMoment(std::string(text) + "T00:00:00Z", moment)) {
    faults.emplace_back("invalid date");
  }
}
void DateTime(std::string_view text, Faults& faults) {
  Moment moment;
  if (!ParseMoment(text, moment)) faults.emplace_back("invalid datetime");
}

struct Named {
  const char* name;
  void (*check)(std::string_view text, Faults& faults);
  std::uint64_t regex;  // the size of the pattern that it costs as
};
constexpr std::array<Named, 13> kNamed = {{{"dns1123Label", Label, 30},
                                           {"dns1123Subdomain", Subdomain, 60},
                                           {"dns1035Label", Label1035, 30},
                                           {"qualifiedName", QualifiedName, 60},
                                           {"dns1123LabelPrefix", LabelPrefix, 30},
                                           {"dns1123SubdomainPrefix", SubdomainPrefix, 60},
                                           {"dns1035LabelPrefix", Label1035Prefix, 30},
                                           {"labelValue", LabelValue, 40},
                                           {"uri", Uri, 1103},
                                           {"uuid", Uuid, 70},
                                           {"byte", Byte, 84},
                                           {"date", Date, 120},
                                           {"datetime", DateTime, 120}}};

struct FormatNode : Opaque {
  const Named* format = nullptr;
  std::string_view type_name() const override { return "kubernetes.NamedFormat"; }
  bool Equals(const Opaque& other) const override {
    return format == static_cast<const FormatNode&>(other).format;
  }
};

Value Make(const Named& format) {
  auto node = std::make_shared<FormatNode>();
  node->format = &format;
  return Value::Of(std::shared_ptr<const Opaque>(std::move(node)));
}
template <std::size_t Index>
Value Constant(Meter&, Args) {
  return Make(kNamed[Index]);
}
Value ByName(Meter&, Args a) {
  for (const Named& format : kNamed) {
    if (a[0].text() == format.name) return Value::Optional(Make(format));
  }
  return Value::None();
}
Value Validate(Meter& meter, Args a) {
  if (!meter.Allocate(a[1].text().size())) return {};
  Faults faults;
  static_cast<const FormatNode*>(a[0].opaque())->format->check(a[1].text(), faults);
  if (faults.empty()) return Value::None();
  std::vector<Value> texts;
  for (std::string& fault : faults) texts.push_back(Value::String(std::move(fault)));
  return Value::Optional(Value::List(std::move(texts)));
}
std::uint64_t PriceOfValidate(Args a, const Value&) {
  const std::uint64_t regex = static_cast<const FormatNode*>(a[0].opaque())->format->regex;
  return Scaled(1 + SizeOf(a[1]), 0.1) * Scaled(regex, 0.25);
}

constexpr Row kRows[] = {
    {"format.named", "(string) optional<kubernetes.NamedFormat>", ByName},
    {"validate", "kubernetes.NamedFormat.(string) optional<list<string>>", Validate,
     PriceOfValidate},
    {"format.dns1123Label", "() kubernetes.NamedFormat", Constant<0>},
    {"format.dns1123Subdomain", "() kubernetes.NamedFormat", Constant<1>},
    {"format.dns1035Label", "() kubernetes.NamedFormat", Constant<2>},
    {"format.qualifiedName", "() kubernetes.NamedFormat", Constant<3>},
    {"format.dns1123LabelPrefix", "() kubernetes.NamedFormat", Constant<4>},
    {"format.dns1123SubdomainPrefix", "() kubernetes.NamedFormat", Constant<5>},
    {"format.dns1035LabelPrefix", "() kubernetes.NamedFormat", Constant<6>},
    {"format.labelValue", "() kubernetes.NamedFormat", Constant<7>},
    {"format.uri", "() kubernetes.NamedFormat", Constant<8>},
    {"format.uuid", "() kubernetes.NamedFormat", Constant<9>},
    {"format.byte", "() kubernetes.NamedFormat", Constant<10>},
    {"format.date", "() kubernetes.NamedFormat", Constant<11>},
    {"format.datetime", "() kubernetes.NamedFormat", Constant<12>},
};

}  // namespace

std::span<const Row> NamedFormatRows() { return kRows; }

}  // namespace mailroom::cel
