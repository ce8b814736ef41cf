#include "apiserver/field_set.h"

#include <algorithm>
#include <utility>

#include "storage/object/limits.h"
#include "storage/object/problems.h"
#include "storage/object/status.h"

namespace mailroom::apiserver {
namespace {

using Children = std::vector<FieldSet::Child>;

Children::const_iterator Seek(const Children& children, std::string_view element) {
  return std::lower_bound(
      children.begin(), children.end(), element,
      [](const FieldSet::Child& child, std::string_view wanted) { return child.element < wanted; });
}

// Calls fn(a or nullptr, b or nullptr) for every element of either list, in order.
template <typename Fn>
void Zip(const Children& a, const Children& b, Fn fn) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    int order = left == a.end() ? 1 : right == b.end() ? -1 : left->element.compare(right->element);
    if (order < 0) {
      fn(&*left++, nullptr);
    } else if (order > 0) {
      fn(nullptr, &*right++);
    } else {
      fn(&*left++, &*right++);
    }
  }
}

// Cut while it grows: one long name may stand before any number of fields.
std::string Below(const std::string& path, std::string_view element) {
  if (path.size() > limits::kProblemPathBytes) return path;
  return CutText(path + ElementText(element), limits::kProblemPathBytes);
}

void Collect(const FieldSet& set, const std::string& prefix, std::size_t most,
             std::vector<std::string>& out) {
  for (const FieldSet::Child& child : set.children) {
    if (out.size() == most) return;
    if (child.set.member) out.push_back(Below(prefix, child.element));
  }
  for (const FieldSet::Child& child : set.children) {
    if (out.size() == most) return;
    if (!child.set.children.empty()) Collect(child.set, Below(prefix, child.element), most, out);
  }
}

Json Encode(const FieldSet& set) {
  Json out = Json::object();
  auto& object = out.get_ref<Json::object_t&>();
  if (set.member && !set.children.empty()) object.emplace(".", Json::object());
  for (const FieldSet::Child& child : set.children) {
    object.emplace_hint(object.end(), child.element, Encode(child.set));
  }
  return out;
}

// Reads the elements that need no rewriting: escape-free strings, integers, booleans, and
// objects of those with sorted keys and no blanks.
class PlainScan {
 public:
  explicit PlainScan(std::string_view text) : rest_(text) {}

  bool Value() { return Scalar() && rest_.empty(); }
  bool Keys() {
    if (!Skip('{')) return false;
    std::string_view last;
    do {
      std::string_view key = rest_;
      if (!String() || !Skip(':') || !Scalar()) return false;
      key.remove_suffix(rest_.size());
      if (!last.empty() && !(last < key)) return false;
      last = key;
    } while (Skip(','));
    return Skip('}') && rest_.empty();
  }

 private:
  bool Skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool String() {
    if (!Skip('"')) return false;
    const std::size_t end = rest_.find_first_of("\"\\");
    if (end == std::string_view::npos || rest_[end] != '"') return false;
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool Scalar() {
    if (String()) return true;
    for (std::string_view word : {"true", "false"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return true;
    }
    Skip('-');
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    rest_.remove_prefix(end);
    return end > 0;
  }

  std::string_view rest_;
};

// Rewrites the JSON of `k:` and `v:` elements to the one spelling used for comparison.
Result<std::string> Canonical(const std::string& element) {
  if (element.size() < 2 || element[1] != ':') {
    return BadRequest("missing colon: " + element);
  }
  if (element[0] != 'k' && element[0] != 'v') return element;
  std::string_view json = std::string_view(element).substr(2);
  if (element[0] == 'k' ? PlainScan(json).Keys() : PlainScan(json).Value()) return element;
  Json value = TRY(ParseJson(json));
  if (element[0] == 'k' && !value.is_object()) return BadRequest("invalid key: " + element);
  return element.substr(0, 2) + DumpJson(value);
}

Result<FieldSet> Decode(const Json& fields) {
  FieldSet out;
  if (fields.is_null()) {
    out.member = true;
    return out;
  }
  if (!fields.is_object()) return BadRequest("fields must be nested objects");
  for (const auto& [key, value] : fields.items()) {
    if (key == ".") {
      out.member = true;
      continue;
    }
    bool known = key.size() >= 2 && key[1] == ':' &&
                 std::string_view("fkvi").find(key[0]) != std::string_view::npos;
    if (!known && key.size() >= 2 && key[1] == ':') continue;
    std::string element = TRY(Canonical(key));
    out.Attach(std::move(element), TRY(Decode(value)));
  }
  if (out.children.empty()) out.member = true;
  return out;
}

std::string ValueText(const Json& value) {
  return value.is_string() ? Quoted(value.get_ref<const std::string&>()) : DumpJson(value);
}

}  // namespace

bool FieldSet::Empty() const { return !member && children.empty(); }

const FieldSet* FieldSet::Find(std::string_view element) const {
  auto it = Seek(children, element);
  return it != children.end() && it->element == element ? &it->set : nullptr;
}

FieldSet* FieldSet::Find(std::string_view element) {
  return const_cast<FieldSet*>(std::as_const(*this).Find(element));
}

FieldSet& FieldSet::At(std::string_view element) {
  if (!children.empty() && children.back().element < element) {
    return children.emplace_back(Child{std::string(element), {}}).set;
  }
  auto it = children.begin() + (Seek(children, element) - children.cbegin());
  if (it == children.end() || it->element != element) {
    it = children.insert(it, Child{std::string(element), {}});
  }
  return it->set;
}

void FieldSet::Attach(std::string element, FieldSet child) {
  if (child.Empty()) return;
  if (children.empty() || children.back().element < element) {
    children.push_back({std::move(element), std::move(child)});
    return;
  }
  FieldSet& slot = At(element);
  slot = slot.Empty() ? std::move(child) : slot.Union(child);
}

void FieldSet::Erase(std::string_view element) {
  auto it = Seek(children, element);
  if (it != children.end() && it->element == element) children.erase(it);
}

void FieldSet::Append(std::string element, FieldSet child) {
  if (!child.Empty()) children.push_back({std::move(element), std::move(child)});
}

void FieldSet::Sort() {
  auto before = [](const Child& a, const Child& b) { return a.element < b.element; };
  if (std::is_sorted(children.begin(), children.end(), before)) return;
  std::sort(children.begin(), children.end(), before);
}

void FieldSet::Insert(const FieldPath& path) {
  if (path.empty()) return;
  FieldSet* node = this;
  for (const std::string& element : path) node = &node->At(element);
  node->member = true;
}

bool FieldSet::Has(const FieldPath& path) const {
  const FieldSet* node = this;
  for (const std::string& element : path) {
    node = node->Find(element);
    if (!node) return false;
  }
  return node->member && !path.empty();
}

std::size_t FieldSet::Count() const {
  std::size_t count = 0;
  for (const Child& child : children) count += child.set.Count() + (child.set.member ? 1 : 0);
  return count;
}

std::vector<std::string> FieldSet::PathTexts(std::size_t most) const {
  std::vector<std::string> out;
  Collect(*this, "", most, out);
  return out;
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  FieldSet out;
  out.member = member || other.member;
  out.children.reserve(std::max(children.size(), other.children.size()));
  Zip(children, other.children, [&](const Child* a, const Child* b) {
    if (a && b) {
      out.children.push_back({a->element, a->set.Union(b->set)});
    } else {
      out.children.push_back(a ? *a : *b);
    }
  });
  return out;
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  FieldSet out;
  out.member = member && other.member;
  Zip(children, other.children, [&](const Child* a, const Child* b) {
    if (a && b) out.Append(a->element, a->set.Intersection(b->set));
  });
  return out;
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  FieldSet out;
  out.member = member && !other.member;
  Zip(children, other.children, [&](const Child* a, const Child* b) {
    if (a) out.Append(a->element, b ? a->set.Difference(b->set) : a->set);
  });
  return out;
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const {
  FieldSet out;
  if (other.member) return out;
  out.member = member;
  Zip(children, other.children, [&](const Child* a, const Child* b) {
    if (a) out.Append(a->element, b ? a->set.RecursiveDifference(b->set) : a->set);
  });
  return out;
}

bool FieldSet::Intersects(const FieldSet& other) const {
  if (member && other.member) return true;
  auto left = children.begin();
  auto right = other.children.begin();
  while (left != children.end() && right != other.children.end()) {
    const int order = left->element.compare(right->element);
    if (order == 0 && left->set.Intersects(right->set)) return true;
    if (order <= 0) ++left;
    if (order >= 0) ++right;
  }
  return false;
}

Json FieldSet::ToFieldsV1() const { return Encode(*this); }

Result<FieldSet> FieldSet::FromFieldsV1(const Json& fields) {
  if (!fields.is_object()) return BadRequest("fields must be an object");
  FieldSet out = TRY(Decode(fields));
  out.member = false;
  return out;
}

bool operator==(const FieldSet& a, const FieldSet& b) {
  return a.member == b.member &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const FieldSet::Child& x, const FieldSet::Child& y) {
                      return x.element == y.element && x.set == y.set;
                    });
}

std::string NameElement(std::string_view name) {
  std::string out;
  out.reserve(name.size() + 2);
  out += "f:";
  out += name;
  return out;
}

std::string ElementText(std::string_view element) {
  std::string_view rest = element.substr(std::min<std::size_t>(2, element.size()));
  if (element.starts_with("f:")) return "." + std::string(rest);
  if (element.starts_with("i:")) return "[" + std::string(rest) + "]";
  auto value = ParseJson(rest);
  if (!value.ok()) return "[" + std::string(rest) + "]";
  if (element.starts_with("v:")) return "[=" + ValueText(*value) + "]";
  std::string out;
  for (const auto& [key, field] : value->items()) {
    out += (out.empty() ? "[" : ",") + key + "=" + ValueText(field);
  }
  return out + "]";
}

std::string PathText(const FieldPath& path) {
  std::string out;
  for (const std::string& element : path) out += ElementText(element);
  return out;
}

}  // namespace mailroom::apiserver
