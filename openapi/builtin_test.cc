#include "openapi/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "storage/object/json.h"

namespace mailroom::openapi {
namespace {

const Schema& TypeNamed(std::string_view name) {
  const Schema* type = BuiltinType(name);
  EXPECT_NE(type, nullptr) << name;
  static const Schema none;
  return type == nullptr ? none : *type;
}

const Property& Field(std::string_view type, std::string_view member) {
  const Property* property = TypeNamed(type).Find(member);
  EXPECT_NE(property, nullptr) << type << "." << member;
  static const Property none;
  return property == nullptr ? none : *property;
}

const ResourceType& Resource(std::string_view group, std::string_view version,
                             std::string_view plural) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    if (type->gvk.group == group && type->gvk.version == version && type->plural == plural) {
      return *type;
    }
  }
  ADD_FAILURE() << group << "/" << version << "/" << plural;
  static const ResourceType none;
  return none;
}

TEST(BuiltinTypes, EveryFactFileIsLoaded) {
  EXPECT_EQ(BuiltinPackages().size(), 25U);
  EXPECT_EQ(BuiltinTypeTable().size(), 554U);
  EXPECT_EQ(BuiltinType("core/v1.Nothing"), nullptr);
  EXPECT_EQ(BuiltinKind({"apps", "v1", "Deployment"}), BuiltinType("apps/v1.Deployment"));
  EXPECT_EQ(BuiltinKind({"apps", "v2", "Deployment"}), nullptr);
}

TEST(BuiltinTypes, ListKeysDifferFromTheMergeKey) {
  const Property& ports = Field("core/v1.ServiceSpec", "ports");
  EXPECT_EQ(ports.schema->type, Type::kArray);
  EXPECT_EQ(ports.schema->list_type, ListType::kMap);
  EXPECT_EQ(ports.schema->list_map_keys, (std::vector<std::string>{"port", "protocol"}));
  EXPECT_TRUE(ports.patch_merge);
  EXPECT_EQ(ports.patch_merge_key, "port");
  EXPECT_EQ(*Field("core/v1.ServicePort", "protocol").schema->default_value, Json("TCP"));
  EXPECT_EQ(Field("core/v1.ServicePort", "protocol").schema->enum_values.size(), 3U);
  // The default belongs to this field, not to every use of the enum.
  EXPECT_FALSE(Field("core/v1.LoadBalancerIngress", "ports").schema->default_value.has_value());
}

TEST(BuiltinTypes, PatchStrategies) {
  const Property& strategy = Field("apps/v1.DeploymentSpec", "strategy");
  EXPECT_TRUE(strategy.patch_retain_keys);
  EXPECT_FALSE(strategy.patch_merge);
  const Property& volumes = Field("core/v1.PodSpec", "volumes");
  EXPECT_TRUE(volumes.patch_retain_keys);
  EXPECT_TRUE(volumes.patch_merge);
  EXPECT_EQ(volumes.patch_merge_key, "name");
  const Property& finalizers = Field("meta/v1.ObjectMeta", "finalizers");
  EXPECT_TRUE(finalizers.patch_merge);
  EXPECT_EQ(finalizers.patch_merge_key, "");
  EXPECT_EQ(finalizers.schema->list_type, ListType::kSet);
  EXPECT_FALSE(Field("core/v1.PodSpec", "tolerations").patch_merge);
}

TEST(BuiltinTypes, MapSemantics) {
  EXPECT_EQ(Field("core/v1.ServiceSpec", "selector").schema->map_type, MapType::kAtomic);
  EXPECT_EQ(Field("core/v1.ConfigMap", "data").schema->map_type, MapType::kGranular);
  EXPECT_EQ(TypeNamed("core/v1.ObjectReference").map_type, MapType::kAtomic);
  // The field overrules its type, and has the type's fields all the same.
  const Schema& claim = *Field("core/v1.PersistentVolumeSpec", "claimRef").schema;
  EXPECT_EQ(claim.map_type, MapType::kGranular);
  EXPECT_NE(claim.Find("uid"), nullptr);
}

TEST(BuiltinTypes, EmbeddedFieldsAreInlineInJson) {
  const Property& secret = Field("core/v1.Volume", "secret");
  EXPECT_TRUE(secret.embedded);
  EXPECT_EQ(secret.schema->name, "core/v1.SecretVolumeSource");
  const Schema& volume = TypeNamed("core/v1.Volume");
  EXPECT_EQ(volume.Find("VolumeSource"), nullptr);
  ASSERT_EQ(volume.embeds.size(), 1U);
  EXPECT_EQ(volume.embeds[0].number, 2);
  EXPECT_EQ(volume.embeds[0].schema->name, "core/v1.VolumeSource");
  // Two levels: NamedRuleWithOperations > RuleWithOperations > Rule.
  const Schema& named = TypeNamed("admissionregistration/v1.NamedRuleWithOperations");
  for (const char* name : {"resourceNames", "operations", "apiGroups", "scope"}) {
    EXPECT_NE(named.Find(name), nullptr) << name;
  }
}

TEST(BuiltinTypes, KindsHaveTypeMetaAndMetadata) {
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    ASSERT_NE(type->schema, nullptr) << type->plural;
    EXPECT_NE(type->schema->Find("apiVersion"), nullptr) << type->plural;
    EXPECT_NE(type->schema->Find("kind"), nullptr) << type->plural;
    const Property* metadata = type->schema->Find("metadata");
    ASSERT_NE(metadata, nullptr) << type->plural;
    EXPECT_TRUE(metadata->schema->is_object_meta) << type->plural;
  }
}

TEST(BuiltinTypes, SchemaPropsRecurse) {
  const Schema& props = TypeNamed("apiextensions/v1.JSONSchemaProps");
  EXPECT_EQ(props.Find("properties")->schema->additional, &props);
  EXPECT_EQ(props.Find("not")->schema, &props);
  EXPECT_EQ(props.Find("allOf")->schema->items, &props);
  EXPECT_EQ(props.Find("items")->schema->wire, Wire::kSchemaOrArray);
  EXPECT_EQ(props.Find("$ref")->number, 3);
  EXPECT_NE(props.Find("x-kubernetes-validations"), nullptr);
}

TEST(BuiltinTypes, WireForms) {
  struct Case {
    const char* type;
    const char* member;
    Type json;
    Wire wire;
    int number;
    bool pointer, always, required;
  };
  const Case cases[] = {
      {"apps/v1.DeploymentSpec", "replicas", Type::kInteger, Wire::kInt32, 1, true, false, false},
      {"apps/v1.DeploymentSpec", "paused", Type::kBoolean, Wire::kBool, 7, false, false, false},
      {"core/v1.ServicePort", "port", Type::kInteger, Wire::kInt32, 3, false, true, true},
      {"core/v1.ServicePort", "targetPort", Type::kAny, Wire::kIntOrString, 4, false, false, false},
      {"core/v1.Secret", "data", Type::kObject, Wire::kMap, 2, false, false, false},
      {"meta/v1.ObjectMeta", "creationTimestamp", Type::kString, Wire::kTime, 8, false, false,
       false},
      {"meta/v1.ObjectMeta", "deletionTimestamp", Type::kString, Wire::kTime, 9, true, false,
       false},
      {"coordination/v1.LeaseSpec", "renewTime", Type::kString, Wire::kMicroTime, 4, true, false,
       false},
      {"meta/v1.APIResource", "verbs", Type::kArray, Wire::kItems, 4, false, true, true},
      {"apps/v1.ControllerRevision", "data", Type::kObject, Wire::kRaw, 2, false, false, false},
  };
  for (const Case& c : cases) {
    const Property& field = Field(c.type, c.member);
    SCOPED_TRACE(std::string(c.type) + "." + c.member);
    EXPECT_EQ(field.schema->type, c.json);
    EXPECT_EQ(field.schema->wire, c.wire);
    EXPECT_EQ(field.number, c.number);
    EXPECT_EQ(field.pointer, c.pointer);
    EXPECT_EQ(field.always, c.always);
    EXPECT_EQ(field.required, c.required);
  }
  EXPECT_TRUE(Field("core/v1.ServicePort", "targetPort").schema->int_or_string);
  EXPECT_TRUE(Field("apps/v1.ControllerRevision", "data").schema->preserve_unknown);
}

TEST(BuiltinTypes, NumbersAreUniqueInEachMessage) {
  for (const auto& [name, type] : BuiltinTypeTable()) {
    std::set<int> numbers;
    for (const Property& property : type->properties) {
      if (property.embedded || property.number == 0) continue;
      EXPECT_TRUE(numbers.insert(property.number).second) << name << "." << property.name;
    }
    for (const Property& embed : type->embeds) {
      EXPECT_TRUE(numbers.insert(embed.number).second) << name << "." << embed.name;
    }
  }
}

TEST(BuiltinTypes, ModelNames) {
  EXPECT_EQ(BuiltinModelName("core/v1.PodSpec"), "io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(BuiltinModelName("meta/v1.ObjectMeta"),
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_EQ(BuiltinModelName("apiregistration/v1.APIService"),
            "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService");
}

TEST(BuiltinResources, ServesTheWholeGaSurface) {
  EXPECT_EQ(BuiltinTypes().size(), 68U);
  const std::vector<std::string> all = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};
  const std::set<std::string> create_only = {"bindings",
                                             "selfsubjectreviews",
                                             "tokenreviews",
                                             "localsubjectaccessreviews",
                                             "selfsubjectaccessreviews",
                                             "selfsubjectrulesreviews",
                                             "subjectaccessreviews"};
  for (const ResourceTypePtr& type : BuiltinTypes()) {
    SCOPED_TRACE(type->plural);
    EXPECT_TRUE(type->builtin);
    EXPECT_EQ(type->list_kind, type->gvk.kind + "List");
    EXPECT_EQ(type->columns.empty(), !type->HasVerb("get"));
    EXPECT_TRUE(std::is_sorted(type->verbs.begin(), type->verbs.end()));
    if (create_only.contains(type->plural)) {
      EXPECT_EQ(type->verbs, (std::vector<std::string>{"create"}));
      EXPECT_FALSE(type->stored);
    } else if (type->plural == "componentstatuses") {
      EXPECT_EQ(type->verbs, (std::vector<std::string>{"get", "list"}));
      EXPECT_FALSE(type->stored);
    } else if (type->plural == "namespaces") {
      EXPECT_FALSE(type->HasVerb("deletecollection"));
      EXPECT_EQ(type->verbs.size(), 7U);
    } else {
      EXPECT_EQ(type->verbs, all);
      EXPECT_TRUE(type->stored);
    }
  }
}

TEST(BuiltinResources, NamesAndSubresources) {
  const ResourceType& deployments = Resource("apps", "v1", "deployments");
  EXPECT_EQ(deployments.gvk.kind, "Deployment");
  EXPECT_EQ(deployments.singular, "deployment");
  EXPECT_EQ(deployments.short_names, (std::vector<std::string>{"deploy"}));
  EXPECT_EQ(deployments.categories, (std::vector<std::string>{"all"}));
  EXPECT_TRUE(deployments.namespaced);
  EXPECT_TRUE(deployments.has_status);
  const Subresource* scale = deployments.FindSubresource("scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->kind, (GroupVersionKind{"autoscaling", "v1", "Scale"}));
  EXPECT_EQ(scale->verbs, (std::vector<std::string>{"get", "patch", "update"}));
  const Subresource* status = deployments.FindSubresource("status");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->kind, deployments.gvk);
  EXPECT_EQ(deployments.FindSubresource("token"), nullptr);

  const Subresource* eviction = Resource("", "v1", "pods").FindSubresource("eviction");
  ASSERT_NE(eviction, nullptr);
  EXPECT_EQ(eviction->kind, (GroupVersionKind{"policy", "v1", "Eviction"}));
  EXPECT_EQ(eviction->verbs, (std::vector<std::string>{"create"}));
  const Subresource* finalize = Resource("", "v1", "namespaces").FindSubresource("finalize");
  ASSERT_NE(finalize, nullptr);
  EXPECT_EQ(finalize->verbs, (std::vector<std::string>{"update"}));
  EXPECT_FALSE(Resource("", "v1", "namespaces").namespaced);
}

TEST(BuiltinResources, SharedStorage) {
  EXPECT_EQ(Resource("", "v1", "events").stored_as, (GroupResource{"", "events"}));
  EXPECT_EQ(Resource("events.k8s.io", "v1", "events").stored_as, (GroupResource{"", "events"}));
  EXPECT_EQ(Resource("autoscaling", "v1", "horizontalpodautoscalers").storage_version, "v2");
  EXPECT_EQ(Resource("autoscaling", "v2", "horizontalpodautoscalers").storage_version, "v2");
  EXPECT_EQ(Resource("apps", "v1", "deployments").stored_as,
            (GroupResource{"apps", "deployments"}));
}

TEST(BuiltinResources, Behaviour) {
  EXPECT_TRUE(Resource("apps", "v1", "deployments").tracks_generation);
  EXPECT_FALSE(Resource("", "v1", "configmaps").tracks_generation);
  EXPECT_FALSE(Resource("coordination.k8s.io", "v1", "leases").unconditional_update);
  EXPECT_TRUE(Resource("coordination.k8s.io", "v1", "leases").create_on_update);
  EXPECT_TRUE(Resource("node.k8s.io", "v1", "runtimeclasses").create_on_update);
  EXPECT_FALSE(Resource("storage.k8s.io", "v1", "csistoragecapacities").returns_deleted);
  EXPECT_TRUE(Resource("", "v1", "configmaps").unconditional_update);
  EXPECT_TRUE(Resource("", "v1", "pods").returns_deleted);
  EXPECT_FALSE(Resource("", "v1", "configmaps").returns_deleted);
  EXPECT_TRUE(Resource("batch", "v1", "jobs").orphan_by_default);
  const auto selectable = [](const char* group, const char* plural, const char* field) {
    const SelectableField* found = Resource(group, "v1", plural).FindSelectable(field);
    std::string out = found == nullptr ? "none" : found->name;
    if (found == nullptr) return out;
    for (const std::string& path : found->paths) out += " " + path;
    return out + "?" + found->absent;
  };
  EXPECT_EQ(selectable("", "secrets", "type"), "type type?");
  EXPECT_EQ(selectable("", "secrets", "data"), "none");
  EXPECT_EQ(selectable("", "nodes", "spec.unschedulable"),
            "spec.unschedulable spec.unschedulable?false");
  EXPECT_EQ(selectable("batch", "jobs", "status.successful"),
            "status.successful status.succeeded?0");
  EXPECT_EQ(selectable("", "events", "source"), "source source.component reportingComponent?");
  EXPECT_FALSE(Resource("", "v1", "endpoints").deprecation_warning.empty());
}

}  // namespace
}  // namespace mailroom::openapi
