// Field errors of the definition object. Errors of what all versions share are reported at the
// place of the whole definition (`spec.validation`), as kube-apiserver does.
#include <algorithm>
#include <set>

#include "openapi/crd.h"
#include "openapi/crd_internal.h"
#include "openapi/go_json.h"
#include "openapi/rules.h"
#include "openapi/structural.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

std::string Joined(const Complaints& complaints) {
  std::string out;
  for (const std::string& complaint : complaints) out += (out.empty() ? "" : ",") + complaint;
  return out;
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// What is wrong with the warning of a version, which becomes a header of answers.
std::vector<std::string> WarningFaults(const std::string& text) {
  constexpr std::size_t kMost = 256;
  std::vector<std::string> out;
  if (text.size() > kMost) out.emplace_back("must be <= 256 characters long");
  if (text.empty()) out.emplace_back("must not be an empty string");
  for (std::size_t i = 0; i < text.size() && i <= kMost;) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    if (!MatchesPattern(R"(^[\pL\pM\pN\pP\pS ]$)", text.substr(i, end - i))) {
      out.push_back("must only contain printable UTF-8 characters; non-printable character found "
                    "at index " + std::to_string(i));
      break;
    }
    i = end;
  }
  return out;
}

// Whether a default value stands anywhere in the schema.
bool HasDefault(const Json& schema) {
  if (!schema.is_object()) return false;
  if (const Json* value = Find(schema, {"default"}); value != nullptr && !value->is_null()) {
    return true;
  }
  for (const char* child : {"items", "additionalProperties", "not"}) {
    if (const Json* found = Find(schema, {child}); found != nullptr && HasDefault(*found)) return true;
  }
  for (const char* group : {"properties", "allOf", "anyOf", "oneOf"}) {
    const Json* found = Find(schema, {group});
    if (found == nullptr || !found->is_structured()) continue;
    for (const Json& child : *found) {
      if (HasDefault(child)) return true;
    }
  }
  return false;
}

class CrdChecker {
 public:
  CrdChecker(const Json& crd, const Json* old) : crd_(crd), old_(old) {
    static const Json kNone = Json::array();
    const Json* versions = Find(crd, {"spec", "versions"});
    versions_ = versions != nullptr && versions->is_array() ? versions : &kNone;
    shared_ = {.schema = Shared({"schema"}),
               .subresources = Shared({"subresources"}),
               .columns = Shared({"additionalPrinterColumns"}),
               .selectable_fields = Shared({"selectableFields"})};
  }

  Causes Run() {
    Group();
    Enumerated("spec.scope", StringAt(crd_, {"spec", "scope"}), {"Cluster", "Namespaced"});
    Versions();
    for (const char* name : {"plural", "singular", "kind", "listKind"}) {
      if (StringAt(crd_, {"spec", "names", name}).empty()) {
        causes_.push_back(RequiredValue(std::string("spec.names.") + name));
      }
    }
    Names("spec", "names", "spec.names");
    if (!versions_->empty()) SharedParts(versions_->front());
    CheckConversion(crd_, old_, causes_);
    if (old_ != nullptr) Unchanged();
    Names("status", "acceptedNames", "status.acceptedNames");
    StoredVersions();
    Approval();
    if (BoolAt(crd_, {"spec", "preserveUnknownFields"})) {
      causes_.push_back(InvalidValue("spec.preserveUnknownFields", "true",
                                     "cannot set to true, set x-kubernetes-preserve-unknown-fields "
                                     "to true in spec.versions[*].schema instead"));
    }
    return std::move(causes_);
  }

 private:
  void Add(Causes more) { causes_.Add(std::move(more)); }

  void Named(const std::string& field, const std::string& value, const Complaints& complaints,
             const std::string& prefix = "") {
    if (value.empty() || complaints.empty()) return;
    causes_.push_back(InvalidValue(field, Quoted(value), prefix + Joined(complaints)));
  }

  void Enumerated(const std::string& field, const std::string& value,
                  const std::vector<std::string>& allowed) {
    if (value.empty()) {
      causes_.push_back(RequiredValue(field));
    } else if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      causes_.push_back(NotSupported(field, value, allowed));
    }
  }

  void Group() {
    const std::string group = StringAt(crd_, {"spec", "group"});
    if (group.empty()) {
      causes_.push_back(RequiredValue("spec.group"));
    } else if (Complaints complaints = CheckSubdomain(group); !complaints.empty()) {
      causes_.push_back(InvalidValue("spec.group", Quoted(group), Joined(complaints)));
    } else if (group.find('.') == std::string::npos) {
      causes_.push_back(
          InvalidValue("spec.group", Quoted(group), "should be a domain with at least one dot"));
    }
  }

  // Whether every version says the same, and says something.
  bool Shared(Path member) const {
    const Json* first = versions_->empty() ? nullptr : Find(versions_->front(), member);
    if (first == nullptr || first->empty()) return false;
    return std::all_of(versions_->begin(), versions_->end(), [&](const Json& version) {
      const Json* other = Find(version, member);
      return other != nullptr && *other == *first;
    });
  }

  static bool HasStatus(const Json& version) {
    return Find(version, {"subresources", "status"}) != nullptr;
  }

  void RequiredSchemas() {
    for (std::size_t i = 0; i < versions_->size(); ++i) {
      if (Find((*versions_)[i], {"schema", "openAPIV3Schema"}) != nullptr) continue;
      causes_.push_back(
          RequiredValue("spec.versions[" + std::to_string(i) + "].schema.openAPIV3Schema"));
    }
  }

  void Versions() {
    RequiredSchemas();
    if (BoolAt(crd_, {"spec", "preserveUnknownFields"}) && HasDefaults()) {
      causes_.push_back(InvalidValue("spec.preserveUnknownFields", "true",
                                     "must be false in order to use defaults in the schema"));
    }
    std::set<std::string> names;
    bool unique = true;
    int storage = 0;
    for (std::size_t i = 0; i < versions_->size(); ++i) {
      const Json& version = (*versions_)[i];
      const std::string path = "spec.versions[" + std::to_string(i) + "]";
      const std::string name = StringAt(version, {"name"});
      unique &= names.insert(name).second;
      storage += BoolAt(version, {"storage"}) ? 1 : 0;
      if (Complaints complaints = Check1035Label(name); !complaints.empty()) {
        causes_.push_back(InvalidValue(path + ".name", Quoted(name), Joined(complaints)));
      }
      Version(version, path);
    }
    if (!unique) WrongVersions("must contain unique version names");
    if (storage != 1) WrongVersions("must have exactly one version marked as storage version");
  }

  bool HasDefaults() const {
    return std::any_of(versions_->begin(), versions_->end(), [](const Json& version) {
      const Json* schema = Find(version, {"schema", "openAPIV3Schema"});
      return schema != nullptr && HasDefault(*schema);
    });
  }

  void WrongVersions(const char* why) {
    causes_.push_back(InvalidValue(
        "spec.versions", PrintedVersions(Find(crd_, {"spec", "versions"}), shared_), why));
  }

  // What the version says and others do not.
  void Version(const Json& version, const std::string& path) {
    const Json* warning = Find(version, {"deprecationWarning"});
    if (warning != nullptr && warning->is_string()) {
      const std::string& text = warning->get_ref<const std::string&>();
      const auto faults = BoolAt(version, {"deprecated"})
                              ? WarningFaults(text)
                              : std::vector<std::string>{"can only be set for deprecated versions"};
      for (const std::string& fault : faults) {
        causes_.push_back(InvalidValue(path + ".deprecationWarning", GoJsonQuote(text), fault));
      }
    }
    if (!shared_.schema) {
      Schema(version, shared_.subresources ? HasStatus(versions_->front()) : HasStatus(version),
             path + ".schema");
    }
    if (!shared_.subresources) Subresources(version, path + ".subresources");
    if (!shared_.columns) Columns(version, path + ".additionalPrinterColumns");
    if (!shared_.selectable_fields) SelectableFields(version, path + ".selectableFields");
  }

  // What all versions say, by the first of them.
  void SharedParts(const Json& version) {
    if (shared_.schema) {
      Schema(version, std::any_of(versions_->begin(), versions_->end(), HasStatus),
             "spec.validation");
    }
    if (shared_.subresources) Subresources(version, "spec.subresources");
    if (shared_.columns) Columns(version, "spec.additionalPrinterColumns");
    if (shared_.selectable_fields) SelectableFields(version, "spec.selectableFields");
  }

  void Schema(const Json& version, bool status, const std::string& parent) {
    const Json* schema = Find(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr) return;
    const std::string path = parent + ".openAPIV3Schema";
    if (status) RootMembers(*schema, path);
    if (BoolAt(*schema, {"nullable"})) {
      causes_.push_back(ForbiddenValue(path + ".nullable", "nullable cannot be true at the root"));
    }
    const auto keywords = CheckKeywords(*schema, path);
    const bool convertible = IsConvertible(*schema);
    const auto structure = convertible ? CheckStructure(*schema, path) : Causes();
    // A tree that cannot be read is told of once.
    const bool readable = convertible && structure.empty() && (keywords.empty() || Reads(*schema));
    const auto defaults = readable ? CheckDefaults(*schema, path) : Causes();
    const bool sound = structure.empty() && keywords.empty() && defaults.empty();
    Add(structure);
    Add(defaults);
    Add(keywords);
    if (sound) Add(CheckRules(*schema, path));
  }

  static bool Reads(const Json& schema) {
    SchemaSet set;
    return SchemaFromOpenApi(schema, set).ok();
  }

  // With a status of its own, nothing that speaks of the whole object may stand at the root.
  void RootMembers(const Json& schema, const std::string& path) {
    if (const std::string type = StringAt(schema, {"type"}); !type.empty() && type != "object") {
      causes_.push_back(InvalidValue(path + ".type", Quoted(type),
                                     "only \"object\" is allowed as the type at the root of the "
                                     "schema if the status subresource is enabled"));
      return;
    }
    for (const char* member :
         {"id", "$schema", "$ref", "nullable", "default", "enum", "maxProperties", "minProperties",
          "allOf", "oneOf", "anyOf", "not", "additionalProperties", "patternProperties",
          "dependencies", "additionalItems", "definitions", "x-kubernetes-embedded-resource",
          "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
          "x-kubernetes-map-type"}) {
      const Json* value = Find(schema, {member});
      if (value == nullptr || value->is_null() || *value == false || *value == "") continue;
      causes_.push_back(InvalidValue(
          path, PrintedSchema(schema),
          "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum "
          "MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items "
          "Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed "
          "at the root of the schema if the status subresource is enabled"));
      return;
    }
  }

  void SimplePath(const std::string& field, const std::string& path,
                  const std::vector<std::string>& roots, const std::string& why) {
    if (!path.starts_with('.')) {
      causes_.push_back(
          InvalidValue(field, Quoted(path), "must be a simple json path starting with ."));
    } else if (std::none_of(roots.begin(), roots.end(),
                            [&](const std::string& root) { return path.starts_with(root); })) {
      causes_.push_back(InvalidValue(field, Quoted(path), why));
    }
  }

  void Subresources(const Json& version, const std::string& path) {
    const Json* scale = Find(version, {"subresources", "scale"});
    if (scale == nullptr) return;
    for (const auto& [member, root] :
         {std::pair{"specReplicasPath", ".spec"}, std::pair{"statusReplicasPath", ".status"}}) {
      const std::string field = path + ".scale." + member;
      const std::string value = StringAt(*scale, {member});
      if (value.empty()) {
        causes_.push_back(RequiredValue(field));
      } else {
        SimplePath(field, value, {std::string(root) + "."},
                   std::string("should be a json path under ") + root);
      }
    }
    if (const std::string value = StringAt(*scale, {"labelSelectorPath"}); !value.empty()) {
      SimplePath(path + ".scale.labelSelectorPath", value, {".spec.", ".status."},
                 "should be a json path under either .spec or .status");
    }
  }

  void Columns(const Json& version, const std::string& path) {
    const Json* columns = Find(version, {"additionalPrinterColumns"});
    if (columns == nullptr || !columns->is_array()) return;
    const std::vector<std::string> types = {"boolean", "date", "integer", "number", "string"};
    const std::vector<std::string> formats = {"byte",  "date",  "date-time", "double",
                                              "float", "int32", "int64",     "password"};
    for (std::size_t i = 0; i < columns->size(); ++i) {
      const Json& column = (*columns)[i];
      const std::string at = path + "[" + std::to_string(i) + "]";
      const std::string type = StringAt(column, {"type"}), format = StringAt(column, {"format"});
      if (StringAt(column, {"name"}).empty()) causes_.push_back(RequiredValue(at + ".name"));
      const std::string one_of = "must be one of boolean,date,integer,number,string";
      if (type.empty()) {
        causes_.push_back(RequiredValue(at + ".type", one_of));
      } else if (std::find(types.begin(), types.end(), type) == types.end()) {
        causes_.push_back(InvalidValue(at + ".type", Quoted(type), one_of));
      }
      if (!format.empty() && std::find(formats.begin(), formats.end(), format) == formats.end()) {
        causes_.push_back(
            InvalidValue(at + ".format", Quoted(format),
                         "must be one of byte,date,date-time,double,float,int32,int64,password"));
      }
      const std::string json_path = StringAt(column, {"jsonPath"});
      if (json_path.empty()) {
        causes_.push_back(RequiredValue(at + ".JSONPath"));
      } else {
        SimplePath(at + ".JSONPath", json_path, {"."}, "");
      }
    }
  }

  static bool IsSelectable(const openapi::Schema& schema) {
    return schema.type == Type::kString || schema.type == Type::kBoolean ||
           schema.type == Type::kInteger;
  }

  void SelectableFields(const Json& version, const std::string& path) {
    const Json* fields = Find(version, {"selectableFields"});
    if (fields == nullptr || !fields->is_array()) return;
    std::set<std::string> seen;
    const Json* tree = Find(version, {"schema", "openAPIV3Schema"});
    if (tree == nullptr) return;
    SchemaSet set;
    const auto schema = SchemaFromOpenApi(*tree, set);
    if (!schema.ok()) return;  // told with the schema
    for (std::size_t i = 0; i < fields->size(); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "].jsonPath";
      const std::string value = StringAt((*fields)[i], {"jsonPath"});
      if (value.empty()) {
        causes_.push_back(RequiredValue(at));
        continue;
      }
      const RulePath found = ReadFieldPath(value, **schema, PathForm::kDotted);
      if (!found.error.empty()) {
        causes_.push_back(InvalidValue(at, Quoted(value), "is an invalid path: " + found.error));
        continue;
      }
      if (found.text == "metadata" || found.text.starts_with("metadata.")) {
        causes_.push_back(InvalidValue(at, Quoted(value), "must not point to fields in metadata"));
      }
      if (!IsSelectable(*found.schema)) {
        causes_.push_back(
            InvalidValue(at, Quoted(value),
                         "must point to a field of type string, boolean or integer. Enum string "
                         "fields and strings with formats are allowed."));
      }
      if (!seen.insert(found.text).second) causes_.push_back(DuplicateValue(at, Quoted(value)));
    }
    constexpr std::size_t kMost = 8;  // as kube-apiserver
    if (seen.size() > kMost) causes_.push_back(TooMany(path, seen.size(), kMost));
  }

  void Names(std::string_view part, std::string_view member, const std::string& path) {
    const Json* names = Find(crd_, {part, member});
    if (names == nullptr) return;
    for (const char* name : {"plural", "singular"}) {
      const std::string value = StringAt(*names, {name});
      Named(path + "." + name, value, Check1035Label(value));
    }
    for (const char* name : {"kind", "listKind"}) {
      const std::string value = StringAt(*names, {name});
      Named(path + "." + name, value, Check1035Label(LowerCase(value)),
            "may have mixed case, but should otherwise match: ");
    }
    for (const char* list : {"shortNames", "categories"}) {
      const auto values = StringsAt(*names, {list});
      for (std::size_t i = 0; i < values.size(); ++i) {
        Named(path + "." + list + "[" + std::to_string(i) + "]", values[i],
              Check1035Label(values[i]));
      }
    }
    const std::string kind = StringAt(*names, {"kind"});
    if (!kind.empty() && kind == StringAt(*names, {"listKind"})) {
      causes_.push_back(
          InvalidValue(path + ".listKind", Quoted(kind), "kind and listKind may not be the same"));
    }
  }

  void Unchanged() {
    if (IsEstablished(*old_)) {
      CheckImmutable(causes_, "spec.scope", Find(crd_, {"spec", "scope"}),
                     Find(*old_, {"spec", "scope"}));
      CheckImmutable(causes_, "spec.names.kind", Find(crd_, {"spec", "names", "kind"}),
                     Find(*old_, {"spec", "names", "kind"}));
    }
    CheckImmutable(causes_, "spec.group", Find(crd_, {"spec", "group"}),
                   Find(*old_, {"spec", "group"}));
    CheckImmutable(causes_, "spec.names.plural", Find(crd_, {"spec", "names", "plural"}),
                   Find(*old_, {"spec", "names", "plural"}));
  }

  void StoredVersions() {
    if (old_ == nullptr) {  // the list is made of what spec says
      const bool stores = std::any_of(versions_->begin(), versions_->end(), [](const Json& version) {
        return BoolAt(version, {"storage"});
      });
      if (stores) return;
      causes_.push_back(InvalidValue("status.storedVersions", "null",
                                     "must have at least one stored version"));
      return;
    }
    const auto stored = StringsAt(crd_, {"status", "storedVersions"});
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const std::string& name = stored[i];
      const bool known =
          std::any_of(versions_->begin(), versions_->end(),
                      [&](const Json& version) { return StringAt(version, {"name"}) == name; });
      if (known) continue;
      causes_.push_back(InvalidValue(
          "status.storedVersions[" + std::to_string(i) + "]", Quoted(name),
          "missing from spec.versions; " + name +
              " was previously a storage version, and must remain in spec.versions until a "
              "storage migration ensures no data remains persisted in " +
              name + " and removes " + name + " from status.storedVersions"));
    }
  }

  void Approval() {
    if (!IsProtectedGroup(StringAt(crd_, {"spec", "group"}))) return;
    const std::string field = "metadata.annotations[" + std::string(kApprovalAnnotation) + "]";
    const std::string approval = StringAt(crd_, {"metadata", "annotations", kApprovalAnnotation});
    if (old_ != nullptr &&
        approval == StringAt(*old_, {"metadata", "annotations", kApprovalAnnotation})) {
      return;
    }
    const std::string see = ", see https://github.com/kubernetes/enhancements/pull/1111";
    if (approval.empty()) {
      causes_.push_back(RequiredValue(field, "protected groups must have approval annotation " +
                                                 Quoted(kApprovalAnnotation) + see));
    } else if (!approval.starts_with("unapproved") && !approval.starts_with("http://") &&
               !approval.starts_with("https://")) {
      causes_.push_back(InvalidValue(field, Quoted(approval),
                                     "protected groups must have approval annotation " +
                                         Quoted(kApprovalAnnotation) +
                                         " with either a URL or a reason starting with "
                                         "\"unapproved\"" +
                                         see));
    }
  }

  const Json& crd_;
  const Json* old_;
  const Json* versions_;
  SharedMembers shared_;
  Causes causes_;
};

}  // namespace

Causes ValidateCrd(const Json& crd, const Json* old) {
  return CrdChecker(crd, old).Run();
}

}  // namespace mailroom::openapi
