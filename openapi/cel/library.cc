#include "openapi/cel/library.h"

#include <array>
#include <cmath>

namespace mailroom::cel {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 13> kTypeNames = {{
    {"dyn", Kind::kDyn},
    {"null_type", Kind::kNull},
    {"bool", Kind::kBool},
    {"int", Kind::kInt},
    {"uint", Kind::kUint},
    {"double", Kind::kDouble},
    {"string", Kind::kString},
    {"bytes", Kind::kBytes},
    {"timestamp", Kind::kTimestamp},
    {"duration", Kind::kDuration},
    {"google.protobuf.Timestamp", Kind::kTimestamp},
    {"google.protobuf.Duration", Kind::kDuration},
    {"type", Kind::kType},
}};
constexpr std::array<std::string_view, 13> kOpaqueNames = {
    "kubernetes.Quantity",
    "kubernetes.URL",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
    "net.IP",
    "net.CIDR",
    "kubernetes.authorization.Authorizer",
    "kubernetes.authorization.PathCheck",
    "kubernetes.authorization.GroupCheck",
    "kubernetes.authorization.ResourceCheck",
    "kubernetes.authorization.Decision",
    "function",
    "opaque",
};

// Reads the forms of the tables.
class FormReader {
 public:
  explicit FormReader(std::string_view form) : rest_(form) {}

  void Read(Overload& out) {
    if (rest_[0] != '(') {
      out.member = true;
      out.params.push_back(One());
      Skip('.');
    }
    Skip('(');
    while (rest_[0] != ')') {
      out.params.push_back(One());
      if (rest_[0] == ',') Skip(',');
    }
    Skip(')');
    out.result = One();
  }

 private:
  void Skip(char expected) {
    if (rest_[0] != expected) std::abort();  // a table of ours is wrong
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }

  TypePtr One() {
    std::size_t length = 0;
    auto in_name = [this](std::size_t i) {
      const char c = rest_[i];
      // A dot belongs to the name unless it stands before the arguments.
      if (c == '.') return i + 1 < rest_.size() && rest_[i + 1] != '(';
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    while (length < rest_.size() && in_name(length)) ++length;
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    std::vector<TypePtr> params;
    if (!rest_.empty() && rest_[0] == '<') {
      do {
        Skip(rest_[0]);
        params.push_back(One());
      } while (rest_[0] == ',');
      Skip('>');
    }
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    return Named(name, std::move(params));
  }

  static TypePtr Named(const std::string& name, std::vector<TypePtr> params) {
    if (name == "list") return MakeList(params[0]);
    if (name == "map") return MakeMap(params[0], params[1]);
    if (name == "optional") return MakeOptional(params[0]);
    if (name == "type") return MakeTypeOf(params[0]);
    if (name.size() == 1) return MakeParam(name);
    for (const auto& [known, kind] : kTypeNames) {
      if (known == name) return Simple(kind);
    }
    return MakeOpaque(name);
  }

  std::string_view rest_;
};

}  // namespace

const Library& Library::Get() {
  static const Library* kLibrary = [] {
    auto* library = new Library;
    for (std::span<const Row> rows :
         {OperatorRows(), ConversionRows(), TimeRows(), StringRows(), RegexRows(), FormatRows(),
          ListRows(), OptionalRows(), QuantityRows(), UrlRows(), AddressRows(), SemverRows(),
          NamedFormatRows(), AuthorizerRows()}) {
      library->Add(rows);
    }
    return library;
  }();
  return *kLibrary;
}

void Library::Add(std::span<const Row> rows) {
  for (const Row& row : rows) {
    auto overload = std::make_unique<Overload>();
    overload->name = row.name;
    overload->run = row.run;
    overload->price = row.price;
    FormReader(row.form).Read(*overload);
    by_name_[overload->name].push_back(overload.get());
    overloads_.push_back(std::move(overload));
  }
}

std::span<const Overload* const> Library::Find(std::string_view name) const {
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return {};
  return at->second;
}

TypePtr Library::FindType(std::string_view name) const {
  for (const auto& [known, kind] : kTypeNames) {
    if (known == name) return known == "timestamp" || known == "duration" ? nullptr : Simple(kind);
  }
  if (name == "list") return MakeList(Simple(Kind::kDyn));
  if (name == "map") return MakeMap(Simple(Kind::kDyn), Simple(Kind::kDyn));
  if (name == "optional_type") return MakeOptional(Simple(Kind::kDyn));
  for (std::string_view known : kOpaqueNames) {
    if (known == name && known.find('.') != std::string_view::npos) {
      return MakeOpaque(std::string(name));
    }
  }
  return nullptr;
}

std::uint64_t SizeOf(const Value& value) {
  if (value.has_value()) return SizeOf(value.unwrap());
  const std::int64_t size = value.size();
  return size < 0 ? 1 : static_cast<std::uint64_t>(size);
}

std::uint64_t Scaled(std::uint64_t size, double factor) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(size) * factor));
}

std::uint64_t TraverseFirst(Args args, const Value&) { return Scaled(SizeOf(args[0]), 0.1); }
std::uint64_t TraverseTwice(Args args, const Value&) { return Scaled(SizeOf(args[0]), 0.2); }
std::uint64_t PriceOfRegex(Args args, const Value&) {
  return Scaled(1 + SizeOf(args[0]), 0.1) * Scaled(SizeOf(args[1]), 0.25);
}

Value NoOverload() { return Value::Error("no such overload"); }

}  // namespace mailroom::cel
