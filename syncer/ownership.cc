#include "syncer/ownership.h"

#include "storage/object/json_path.h"
#include "syncer/digest.h"
#include "syncer/keys.h"

namespace mailroom::syncer {

std::string Identity::LabelValue() const { return HexDigest(uid).substr(0, 12); }

std::string Identity::LabelSelector() const {
  return std::string(kSyncedLabel) + "=" + LabelValue();
}

std::string SelfName(const Json& object) {
  return StringAt(object, {"kind"}) + "/" + StringAt(object, {"metadata", "namespace"}) + "/" +
         StringAt(object, {"metadata", "name"});
}

Owner OwnerOf(const Json& object, const GroupResource& resource, const Identity& identity) {
  const auto annotation = [&object](std::string_view key) {
    return StringAt(object, {"metadata", "annotations", key});
  };
  if (annotation(kDownsyncedAnnotation) != SelfName(object)) return Owner::kNobody;
  if (annotation(kResourceAnnotation) != LaneOf(resource)) return Owner::kNobody;
  const std::string uid = annotation(kOwnerAnnotation);
  if (uid == identity.uid) return Owner::kOurs;
  if (uid.empty()) return Owner::kNobody;
  return annotation(kOwnerUrlAnnotation) == identity.url ? Owner::kFormerSelf
                                                         : Owner::kOtherMailbox;
}

}  // namespace mailroom::syncer
