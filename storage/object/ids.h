// Strong types for the identities that must never be mistaken for each other.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mailroom {

// The store's revision: one counter for the whole hub; rendered as resourceVersion.
class Revision {
 public:
  constexpr Revision() = default;
  constexpr explicit Revision(std::uint64_t value) : value_(value) {}
  constexpr std::uint64_t value() const { return value_; }
  constexpr Revision Next() const { return Revision(value_ + 1); }
  std::string ToString() const { return std::to_string(value_); }
  friend constexpr auto operator<=>(Revision, Revision) = default;

 private:
  std::uint64_t value_ = 0;
};

// Name of a workspace. Only resource_key.cc and request_info.cc validate one from text.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  bool empty() const { return name_.empty(); }
  friend auto operator<=>(const Workspace&, const Workspace&) = default;

 private:
  std::string name_;
};

struct GroupResource {
  std::string group;  // "" is the core group
  std::string resource;
  friend auto operator<=>(const GroupResource&, const GroupResource&) = default;
};

struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;
  // `v1` or `apps/v1`.
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  friend auto operator<=>(const GroupVersionKind&, const GroupVersionKind&) = default;
};

}  // namespace mailroom

template <>
struct std::hash<mailroom::GroupResource> {
  std::size_t operator()(const mailroom::GroupResource& gr) const noexcept {
    return std::hash<std::string>()(gr.group) * 31 + std::hash<std::string>()(gr.resource);
  }
};
template <>
struct std::hash<mailroom::Workspace> {
  std::size_t operator()(const mailroom::Workspace& w) const noexcept {
    return std::hash<std::string>()(w.name());
  }
};
