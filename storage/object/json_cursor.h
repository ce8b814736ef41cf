// A forward cursor over JSON text that our own encoder wrote: skips values and steps through
// members without building anything. No library: simdjson wants padded input, which would cost
// every cached object 64 bytes or a copy. Malformed text makes every call answer false; it never
// reads past the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mailroom {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  // Consumes exactly `literal`.
  bool Expect(std::string_view literal);
  // Consumes a string; `raw` is the text between the quotes, escapes left as they are.
  bool String(std::string_view& raw);
  // Consumes any one value; `raw` is its text.
  bool Value(std::string_view& raw);
  // Steps through an object or array: call Enter once, then Next until it answers false.
  // For objects Next yields the member name and leaves the cursor on the value.
  bool EnterObject();
  bool NextMember(std::string_view& name, bool& first);
  bool EnterArray();
  bool NextElement(bool& first);

 private:
  bool SkipString();
  bool SkipContainer();
  std::string_view text_;
  std::size_t at_;
};

// Undoes JSON escapes of a raw string (without quotes).
std::string Unescape(std::string_view raw);

}  // namespace mailroom
