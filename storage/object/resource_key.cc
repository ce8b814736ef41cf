#include "storage/object/resource_key.h"

#include <array>

#include "storage/object/limits.h"

namespace mailroom {
namespace {

constexpr std::string_view kRoot = "/mailroom/";
constexpr std::string_view kCoreSegment = "core";

std::string_view GroupSegment(const std::string& group) {
  return group.empty() ? kCoreSegment : std::string_view(group);
}

bool IsSegment(std::string_view text) {
  if (text.empty() || text == "." || text == ".." || text.size() > limits::kSegmentBytes) return false;
  for (char c : text) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) return false;
  }
  return true;
}

void AppendSegment(std::string& key, std::string_view segment) {
  key += segment;
  key += '/';
}

}  // namespace

Result<void> ResourceKey::Check() const {
  if (!IsWorkspaceName(workspace.name())) {
    return BadRequest("invalid workspace name " + Quoted(workspace.name()));
  }
  if (!IsSegment(GroupSegment(resource.group)) || resource.group == kCoreSegment ||
      !IsSegment(resource.resource)) {
    return BadRequest("invalid resource " + Quoted(Qualified(resource.resource, resource.group)));
  }
  if (!ns.empty() && !IsSegment(ns)) return BadRequest("invalid namespace " + Quoted(ns));
  if (!IsSegment(name)) return BadRequest("invalid name " + Quoted(name));
  return Ok();
}

std::string ResourceKey::ToStoreKey() const {
  std::string key = ns.empty() ? ResourcePrefix(workspace, resource)
                               : NamespacePrefix(workspace, resource, ns);
  key += name;
  return key;
}

Result<ResourceKey> ResourceKey::Parse(std::string_view store_key) {
  auto bad = [&] { return Internal("malformed store key " + Quoted(store_key)); };
  if (!store_key.starts_with(kRoot)) return bad();
  std::string_view rest = store_key.substr(kRoot.size());
  std::array<std::string_view, 5> parts;
  std::size_t count = 0;
  while (true) {
    std::size_t slash = rest.find('/');
    if (count == parts.size()) return bad();
    parts[count++] = rest.substr(0, slash);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (count < 4 || parts[1].empty()) return bad();
  ResourceKey key;
  key.workspace = Workspace(std::string(parts[0]));
  key.resource.group = parts[1] == kCoreSegment ? std::string() : std::string(parts[1]);
  key.resource.resource = parts[2];
  if (count == 5) key.ns = parts[3];
  if (count == 5 && key.ns.empty()) return bad();
  key.name = parts[count - 1];
  if (!key.Check().ok()) return bad();
  return key;
}

std::string HubPrefix() { return std::string(kRoot); }

std::string CompactionMark() { return std::string(kRoot) + "compacted"; }

std::string WorkspacePrefix(const Workspace& workspace) {
  std::string prefix(kRoot);
  AppendSegment(prefix, workspace.name());
  return prefix;
}

std::string ResourcePrefix(const Workspace& workspace, const GroupResource& resource) {
  std::string prefix = WorkspacePrefix(workspace);
  AppendSegment(prefix, GroupSegment(resource.group));
  AppendSegment(prefix, resource.resource);
  return prefix;
}

std::string NamespacePrefix(const Workspace& workspace, const GroupResource& resource,
                            std::string_view ns) {
  std::string prefix = ResourcePrefix(workspace, resource);
  AppendSegment(prefix, ns);
  return prefix;
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty()) {
    if (static_cast<unsigned char>(end.back()) != 0xff) {
      end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
      return end;
    }
    end.pop_back();
  }
  return end;
}

bool IsWorkspaceName(std::string_view name) {
  if (name.empty() || name.size() > limits::kNameBytes) return false;
  auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (!alnum(name.front()) || !alnum(name.back())) return false;
  char before = 0;
  for (char c : name) {
    if (!alnum(c) && c != '-' && c != '.') return false;
    if (c == '.' && !alnum(before)) return false;
    before = c;
  }
  return true;
}

}  // namespace mailroom
