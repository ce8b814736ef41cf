// Kubernetes' protobuf form of the built-in kinds and of the option objects, to and from JSON
// trees, driven by the fact files. A body is the magic `k8s\0` and an envelope naming apiVersion
// and kind around the message. Pure functions, any thread; input is not trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "openapi/schema.h"
#include "storage/object/ids.h"
#include "storage/object/result.h"

namespace mailroom::openapi {

inline constexpr std::string_view kProtobufMediaType = "application/vnd.kubernetes.protobuf";

// Whether `body` starts with the magic bytes.
bool IsProtobuf(std::string_view body);

// What the envelope says, without reading the object.
struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;  // into the body
};
Result<ProtobufEnvelope> ReadProtobufEnvelope(std::string_view body);

// The object of a body as a JSON client would have sent it: apiVersion and kind in place, and
// values that Go writes although they are empty (`paused: false`, `status: {}`) left out. Fails
// with BadRequest on malformed bytes and on kinds that have no protobuf form.
Result<Json> DecodeProtobuf(std::string_view body);
// The same for a body that is known to be of `gvk` when the envelope leaves it out.
Result<Json> DecodeProtobufAs(std::string_view body, const GroupVersionKind& gvk);

// A body for an object or list of a built-in kind, a Status, a PartialObjectMetadata or an
// options object, by its own apiVersion and kind. NotAcceptable when the kind has no such form.
Result<std::string> EncodeProtobuf(const Json& object);
bool HasProtobuf(const GroupVersionKind& gvk);

// A list as EncodeProtobuf writes it, in parts: Head, every Item, Tail.
class ProtobufList {
 public:
  // `frame`: the list without its items. NotAcceptable as above.
  static Result<ProtobufList> Of(const Json& frame);
  // `item_bytes`: how much Item appends for all items together.
  std::string Head(std::uint64_t item_bytes) const;
  void Item(const Json& item, std::string& out) const;
  std::string Tail() const;

 private:
  ProtobufList(const Schema& item, std::string type_meta, std::string metadata);
  const Schema* item_;  // built in, so it lives on
  std::string type_meta_, metadata_;
};

// One frame of a watch: length, then the event around `object`, a body made by EncodeProtobuf.
std::string ProtobufWatchFrame(std::string_view event_type, std::string_view object);

// The bare message of a type.
Result<Json> DecodeMessage(const Schema& type, std::string_view bytes);
std::string EncodeMessage(const Schema& type, const Json& value);

}  // namespace mailroom::openapi
