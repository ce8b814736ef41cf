#include "storage/object/key_faults.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_map>

#include "storage/object/json.h"
#include "storage/object/problems.h"

namespace mailroom {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Counts the keys of a text and notes at which count the wanted ones stand.
class Places final : public nlohmann::json_sax<Json> {
 public:
  struct Place {
    std::size_t first = kNowhere;
    std::size_t again = kNowhere;
  };
  std::unordered_map<std::string, Place> wanted;

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(Json::number_integer_t) override { return Value(); }
  bool number_unsigned(Json::number_unsigned_t) override { return Value(); }
  bool number_float(Json::number_float_t, const std::string&) override { return Value(); }
  bool string(std::string&) override { return Value(); }
  bool binary(Json::binary_t&) override { return Value(); }
  bool start_object(std::size_t) override { return Open(false); }
  bool start_array(std::size_t) override { return Open(true); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool key(std::string& name) override {
    Frame& top = stack_.back();
    top.member = MemberPath(top.path, name);
    ++count_;
    auto it = wanted.find(top.member);
    if (it == wanted.end()) return true;
    std::size_t& place = it->second.first == kNowhere ? it->second.first : it->second.again;
    place = std::min(place, count_);
    return true;
  }

 private:
  struct Frame {
    std::string path;
    std::string member;  // of an object: the path of what comes next
    bool array = false;
    std::size_t elements = 0;
  };

  bool Value() {
    if (!stack_.empty()) ++stack_.back().elements;
    return true;
  }
  bool Open(bool array) {
    Frame frame;
    frame.array = array;
    if (!stack_.empty()) {
      const Frame& top = stack_.back();
      frame.path = top.array ? ElementPath(top.path, top.elements) : top.member;
    }
    stack_.push_back(std::move(frame));
    return true;
  }
  bool Close() {
    stack_.pop_back();
    return Value();
  }

  std::vector<Frame> stack_;
  std::size_t count_ = 0;
};

bool IsInside(const std::string& path, const std::string& outer) {
  return path.size() > outer.size() && path.starts_with(outer) &&
         (path[outer.size()] == '.' || path[outer.size()] == '[');
}

}  // namespace

std::vector<KeyFault> InOrderOfText(std::string_view text, std::vector<KeyFault> faults) {
  std::vector<std::string> unknown;
  Places places;
  for (const KeyFault& fault : faults) {
    places.wanted[fault.path];
    if (!fault.duplicate) unknown.push_back(fault.path);
  }
  std::erase_if(faults, [&](const KeyFault& fault) {
    return std::any_of(unknown.begin(), unknown.end(), [&](const std::string& outer) {
      return IsInside(fault.path, outer) || (fault.duplicate && fault.path == outer);
    });
  });
  Json::sax_parse(text, &places);
  std::stable_sort(faults.begin(), faults.end(), [&](const KeyFault& a, const KeyFault& b) {
    const auto place = [&](const KeyFault& fault) {
      const Places::Place& at = places.wanted[fault.path];
      return fault.duplicate ? at.again : at.first;
    };
    return place(a) < place(b);
  });
  return faults;
}

}  // namespace mailroom
