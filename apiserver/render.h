// Objects, lists and errors as response bytes. Plain JSON responses are stored bytes joined
// together; only tables, YAML and pretty output build trees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/call.h"
#include "apiserver/negotiate.h"
#include "apiserver/settle.h"
#include "storage/event.h"
#include "storage/event_run.h"

namespace mailroom::apiserver {

// One object in the form the client accepts, settled and in the version of the request; may wait
// for a conversion webhook.
Result<Response> RenderObject(const Call& call, int code, const ObjectPtr& object);
// A tree that is no stored object (scale, reviews); `type` has its columns.
Result<Response> RenderTree(const Call& call, const openapi::ResourceType& type, int code,
                            const Json& tree);

struct ListPage {
  std::vector<storage::Entry> entries;
  Revision revision;
  std::string continue_token;
  std::size_t remaining = 0;
};
// A long list is a finite stream. REQUIRES: the entries are settled.
Result<Response> RenderList(const Call& call, ListPage page);

// Any error as JSON, or in the media type the request accepts.
Response RenderError(const Status& status);
Response RenderError(const Request& request, const Status& status);
// A Success Status naming what was deleted.
Response RenderDeleted(const Call& call, std::string_view name, std::string_view uid);
// JSON text with a trailing newline.
Response JsonResponse(int code, std::string body);
Response TextResponse(int code, std::string body);

// The object as `type` serves it: apiVersion rewritten when stored in another version and, for
// reads over all workspaces, its workspace added as an annotation.
std::string ServedBytes(const openapi::ResourceType& type, const Object& object,
                        const Workspace* annotate);
bool ServedAsStored(const openapi::ResourceType& type, const Object& object);

// Encodes watch events in the accepted form.
class FrameEncoder {
 public:
  FrameEncoder(const Call& call, Accepted accepted);
  SharedBytes Encode(storage::EventType shown, const storage::EventPtr& event);
  // Those of a run, if the reader is to have them as they are; null otherwise.
  SharedBytes Encode(const storage::EventRun& run) const {
    return run.Text(type_->gvk.ApiVersion(), type_->gvk.kind);
  }
  // Whether that may be so.
  bool joins() const { return type_->builtin && whole_objects() && !all_workspaces_; }
  SharedBytes EncodeInitial(const storage::Entry& entry);
  // Whether the reader is to have whole objects as JSON.
  bool whole_objects() const {
    return accepted_.media == Media::kJson && accepted_.form == Form::kObject;
  }
  // The object that the text would be of, but for the name of its workspace.
  ObjectPtr Whole(ObjectPtr object) const;
  SharedBytes EncodeBookmark(Revision revision, bool end_of_initial);
  SharedBytes EncodeFailure(const Status& status) const {
    return EncodeError(status, accepted_.media);
  }
  static SharedBytes EncodeError(const Status& status, Media media);

 private:
  std::string ObjectText(const Object& object, const Workspace* workspace);
  std::string TableText(const Json& object);
  SharedBytes Frame(storage::EventType shown, const std::string& object) const;
  openapi::ResourceTypePtr type_;
  Settler settle_;
  bool all_workspaces_;
  Accepted accepted_;
  std::string include_object_;
  bool columns_sent_ = false;
};

}  // namespace mailroom::apiserver
