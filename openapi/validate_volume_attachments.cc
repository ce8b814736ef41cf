// VolumeAttachments: which volume is to be on which node, and how that went.
#include "openapi/builtin.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_storage.h"

namespace mailroom::openapi {
namespace {

constexpr std::size_t kMetadataBytes = 256 * 1024;
constexpr std::size_t kMessageBytes = 1024;
constexpr const char* kInline = " in the context of inline volumes";

// A volume that is no object of its own.
void CheckInlineVolume(const BuiltinCheck& check, const Json& spec, const std::string& path) {
  const auto forbid = [&](const char* member, const std::string& why) {
    check.Forbidden(path + "." + member, why + kInline);
  };
  for (const char* member : {"claimRef", "capacity"}) {
    if (Find(spec, {member}) != nullptr) forbid(member, "may not be specified");
  }
  const Json* source = Find(spec, {"csi"});
  if (source == nullptr) check.Required(path + ".csi", std::string("has to be specified") + kInline);
  const Json& modes = ArrayAt(spec, {"accessModes"});
  if (modes.empty()) check.Required(path + ".accessModes");
  CheckDeclared(*BuiltinType("core/v1.PersistentVolumeSpec"), {{"accessModes", modes}}, path,
                check.causes);
  CheckAccessModes(check, spec, path);
  const std::string reclaim = StringAt(spec, {"persistentVolumeReclaimPolicy"});
  if (!reclaim.empty() && reclaim != "Retain") {
    forbid("persistentVolumeReclaimPolicy", "may only be Retain");
  }
  if (Find(spec, {"nodeAffinity"}) != nullptr) forbid("nodeAffinity", "may not be specified");
  if (source == nullptr) {
    check.Required(path, "must specify a volume type");
  } else {
    CheckDeclared(*BuiltinType("core/v1.CSIPersistentVolumeSource"), *source, path + ".csi", check.causes);
    CheckVolumeKind(check, "csi", *source, path + ".csi");
  }
  if (!StringAt(spec, {"storageClassName"}).empty()) forbid("storageClassName", "may not be specified");
  const std::string mode = StringAt(spec, {"volumeMode"});
  if (!mode.empty() && mode != "Filesystem") {
    forbid("volumeMode", "may not specify volumeMode other than Filesystem");
  }
}

void CheckSource(const BuiltinCheck& check, const Json* line, const Json* volume) {
  const std::string field = "spec.source";
  const std::string rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (line == nullptr && volume == nullptr) {
    check.Required(field, rule);
  } else if (line != nullptr && volume != nullptr) {
    check.Forbidden(field, rule);
  } else if (line != nullptr) {
    CheckInlineVolume(check, *line, field + ".inlineVolumeSpec");
  } else if (*volume == "") {
    check.Required(field + ".persistentVolumeName", "must specify non empty persistentVolumeName");
  }
}

void CheckAttachmentStatus(const BuiltinCheck& check) {
  std::size_t bytes = 0;
  if (const Json* metadata = Find(check.object, {"status", "attachmentMetadata"})) {
    for (const auto& [key, value] : metadata->items()) {
      bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
    }
  }
  if (bytes > kMetadataBytes) {
    check.causes.push_back(TooLong("status.attachmentMetadata", kMetadataBytes));
  }
  for (const char* member : {"attachError", "detachError"}) {
    const std::string field = std::string("status.") + member;
    if (StringAt(check.object, {"status", member, "message"}).size() > kMessageBytes) {
      check.causes.push_back(TooLong(field + ".message", kMetadataBytes));  // as the original says
    }
    const std::int64_t code = IntAt(check.object, {"status", member, "errorCode"});
    if (code >= 0) continue;
    check.Invalid(field + ".errorCode", code, "must be between 0 and 2147483647, inclusive");
  }
}

}  // namespace

void CheckVolumeAttachment(const BuiltinCheck& check) {
  const std::string attacher = StringAt(check.object, {"spec", "attacher"});
  if (attacher.empty()) check.Required("spec.attacher");
  CheckDriverName(check, attacher, "spec.attacher");
  const Json* volume = Find(check.object, {"spec", "source", "persistentVolumeName"});
  CheckSource(check, Find(check.object, {"spec", "source", "inlineVolumeSpec"}), volume);
  const std::string node = StringAt(check.object, {"spec", "nodeName"});
  AddInvalid(check.causes, "spec.nodeName", node, CheckSubdomain(node));
  CheckAttachmentStatus(check);
  if (volume != nullptr && volume->is_string()) {
    AddInvalid(check.causes, "spec.source.persistentVolumeName", *volume,
               CheckSubdomain(volume->get_ref<const std::string&>()));
  }
  CheckInternalImmutable(check, {"spec"}, "storage/v1.VolumeAttachmentSpec");
}

}  // namespace mailroom::openapi
