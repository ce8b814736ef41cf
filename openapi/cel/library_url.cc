// URLs, read as Go's net/url reads those of requests.
#include <algorithm>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

struct Url : Opaque {
  std::string text, scheme, host, path, query;
  std::string_view type_name() const override { return "kubernetes.URL"; }
  bool Equals(const Opaque& other) const override {
    return text == static_cast<const Url&>(other).text;
  }
};

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
int Hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
  return -1;
}

// The first malformed escape, or "".
std::string BadEscape(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || Hex(text[i + 1]) < 0 || Hex(text[i + 2]) < 0) {
      return std::string(text.substr(i, 3));
    }
    i += 2;
  }
  return "";
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && Hex(text[i + 1]) >= 0 && Hex(text[i + 2]) >= 0) {
      out += static_cast<char>(Hex(text[i + 1]) * 16 + Hex(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// What is wrong with the host, or "".
std::string HostFault(std::string_view host) {
  std::string_view port;
  if (host.starts_with("[")) {
    const std::size_t end = host.rfind(']');
    if (end == std::string_view::npos) return "missing ']' in host";
    port = host.substr(end + 1);
  } else if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
  }
  if (!port.empty() && (port[0] != ':' || !std::all_of(port.begin() + 1, port.end(), [](char c) {
        return c >= '0' && c <= '9';
      }))) {
    return "invalid port \"" + std::string(port) + "\" after host";
  }
  static constexpr std::string_view kAllowed = "-_.~!$&'()*+,;=:[]<>\"%";
  for (char c : host) {
    if (static_cast<unsigned char>(c) < 0x80 && !IsAlnum(c) &&
        kAllowed.find(c) == std::string_view::npos) {
      return "invalid character \"" + std::string(1, c) + "\" in host name";
    }
  }
  return "";
}

// What is wrong with the text as the URL of a request; `out` is filled when nothing is.
std::string Read(std::string_view text, Url& out) {
  out.text = text;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return "net/url: invalid control character in URL";
    }
  }
  if (text.empty()) return "empty url";
  std::string_view rest = text;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (colon == 0) return "missing protocol scheme";
    const std::string_view scheme = text.substr(0, colon);
    const bool letter = (scheme[0] | 32) >= 'a' && (scheme[0] | 32) <= 'z';
    if (letter && std::all_of(scheme.begin(), scheme.end(), [](char c) {
          return IsAlnum(c) || c == '+' || c == '-' || c == '.';
        })) {
      for (char c : scheme) out.scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
      rest = text.substr(colon + 1);
    }
  }
  if (rest == "*" && out.scheme.empty()) {
    out.path = rest;
    return "";
  }
  rest = rest.substr(0, rest.find('#'));
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    out.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with("/")) return out.scheme.empty() ? "invalid URI for request" : "";
  if (!out.scheme.empty() && rest.starts_with("//")) {
    std::string_view authority = rest.substr(2);
    const std::size_t slash = authority.find('/');
    rest = slash == std::string_view::npos ? "" : authority.substr(slash);
    authority = authority.substr(0, slash);
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
      authority.remove_prefix(at + 1);
    }
    if (std::string fault = HostFault(authority); !fault.empty()) return fault;
    out.host = authority;
  }
  if (std::string escape = BadEscape(rest); !escape.empty()) {
    return "invalid URL escape \"" + escape + "\"";
  }
  out.path = rest;
  return "";
}

const Url& Of(const Value& value) { return *static_cast<const Url*>(value.opaque()); }

Value FromText(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size() * 2)) return {};
  auto url = std::make_shared<Url>();
  const std::string fault = Read(a[0].text(), *url);
  if (!fault.empty()) {
    return Value::Error("URL parse error during conversion from string: parse \"" +
                        std::string(a[0].text()) + "\": " + fault);
  }
  return Value::Of(std::shared_ptr<const Opaque>(std::move(url)));
}
Value IsUrl(Meter&, Args a) {
  Url url;
  return Value::Bool(Read(a[0].text(), url).empty());
}
Value Scheme(Meter&, Args a) { return Value::String(Of(a[0]).scheme); }
Value Host(Meter&, Args a) { return Value::String(Of(a[0]).host); }

// Host and port apart; brackets belong to neither.
std::pair<std::string, std::string> Split(const std::string& host) {
  std::string name = host, port;
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
  }
  if (name.starts_with("[") && name.ends_with("]")) name = name.substr(1, name.size() - 2);
  return {name, port};
}
Value Hostname(Meter&, Args a) { return Value::String(Split(Of(a[0]).host).first); }
Value Port(Meter&, Args a) { return Value::String(Split(Of(a[0]).host).second); }

Value EscapedPath(Meter& meter, Args a) {
  if (!meter.Allocate(Of(a[0]).path.size() * 3)) return {};
  static constexpr std::string_view kKept = "-_.~$&+,/:;=@!'()*%[]";
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (char c : Of(a[0]).path) {
    if (IsAlnum(c) || kKept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return Value::String(std::move(out));
}

Value Query(Meter& meter, Args a) {
  std::string_view rest = Of(a[0]).query;
  if (!meter.Allocate(rest.size() * 8)) return {};
  Entries entries;
  while (!rest.empty()) {
    std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.empty() || part.find(';') != std::string_view::npos || !BadEscape(part).empty()) {
      continue;
    }
    const std::size_t equals = part.find('=');
    const std::string key = Unescape(part.substr(0, equals));
    const std::string value =
        equals == std::string_view::npos ? "" : Unescape(part.substr(equals + 1));
    auto [at, fresh] = entries.try_emplace(Value::String(key), Value::List({}));
    at->second.Append(Value::String(value));
  }
  return Value::Map(std::move(entries));
}

constexpr Row kRows[] = {
    {"url", "(string) kubernetes.URL", FromText, TraverseFirst},
    {"isURL", "(string) bool", IsUrl},
    {"getScheme", "kubernetes.URL.() string", Scheme},
    {"getHost", "kubernetes.URL.() string", Host},
    {"getHostname", "kubernetes.URL.() string", Hostname},
    {"getPort", "kubernetes.URL.() string", Port},
    {"getEscapedPath", "kubernetes.URL.() string", EscapedPath},
    {"getQuery", "kubernetes.URL.() map<string,list<string>>", Query},
};

}  // namespace

std::span<const Row> UrlRows() { return kRows; }

}  // namespace mailroom::cel
