#include "apiserver/managed_fields.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "storage/object/clock.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kAncient = "ancient-changes";

std::string_view OperationText(Operation operation) {
  return operation == Operation::kApply ? "Apply" : "Update";
}

// Moves a string member out of an entry without copying.
const std::string& TextOf(const Json& entry, const char* name) {
  static const std::string kNone;
  auto it = entry.find(name);
  return it != entry.end() && it->is_string() ? it->get_ref<const std::string&>() : kNone;
}

Result<OwnerEntry> DecodeEntry(const Json& entry, std::size_t position) {
  if (!entry.is_object()) return BadRequest("managed fields entry must be an object");
  OwnerEntry out;
  const std::string& operation = TextOf(entry, "operation");
  if (operation != "Apply" && operation != "Update") {
    return BadRequest("operation must be `Apply` or `Update`");
  }
  out.operation = operation == "Apply" ? Operation::kApply : Operation::kUpdate;
  out.api_version = TextOf(entry, "apiVersion");
  if (out.api_version.empty()) return BadRequest("apiVersion must not be empty");
  const std::string& type = TextOf(entry, "fieldsType");
  if (type.empty()) {
    return BadRequest("missing fieldsType in managed fields entry " + std::to_string(position));
  }
  if (type != "FieldsV1") {
    return BadRequest("invalid fieldsType " + Quoted(type) + " in managed fields entry " +
                      std::to_string(position));
  }
  out.manager = TextOf(entry, "manager");
  out.subresource = TextOf(entry, "subresource");
  out.time = TextOf(entry, "time");
  if (const Json* fields = Find(entry, {"fieldsV1"}); fields && !fields->is_null()) {
    out.fields = TRY(FieldSet::FromFieldsV1(*fields));
  }
  out.stored = &entry;
  return out;
}

Json EncodeEntry(OwnerEntry& entry) {
  if (entry.stored) return *entry.stored;
  Json out = Json::object();
  auto& object = out.get_ref<Json::object_t&>();
  object.emplace("apiVersion", std::move(entry.api_version));
  object.emplace("fieldsType", "FieldsV1");
  object.emplace("fieldsV1", entry.fields.ToFieldsV1());
  if (!entry.manager.empty()) object.emplace("manager", std::move(entry.manager));
  object.emplace("operation", OperationText(entry.operation));
  if (!entry.subresource.empty()) object.emplace("subresource", std::move(entry.subresource));
  if (!entry.time.empty()) object.emplace("time", std::move(entry.time));
  return out;
}

std::int64_t Seconds(const OwnerEntry& entry) {
  return entry.time.empty() ? 0 : std::max<std::int64_t>(0, ParseTime(entry.time));
}

bool SortsBefore(const OwnerEntry& a, const OwnerEntry& b) {
  if (a.operation != b.operation) return a.operation == Operation::kApply;
  if (a.time != b.time) {
    const std::int64_t left = Seconds(a);
    const std::int64_t right = Seconds(b);
    if (left != right) return left < right;
  }
  if (a.manager != b.manager) return a.manager < b.manager;
  if (a.api_version != b.api_version) return a.api_version < b.api_version;
  return a.subresource < b.subresource;
}

// Where the entry of an owner stands, by its Identifier, which no two owners share. A list may name
// tens of thousands of them.
using Places = std::unordered_map<std::string, std::size_t>;

}  // namespace

void OwnerEntry::SetFields(FieldSet set) {
  fields = std::move(set);
  stored = nullptr;
}

void OwnerEntry::SetTime(const std::string& now) {
  time = now;
  stored = nullptr;
}

bool OwnerEntry::SameOwner(const OwnerEntry& other) const {
  return operation == other.operation && manager == other.manager &&
         subresource == other.subresource &&
         (operation == Operation::kApply || api_version == other.api_version);
}

std::string OwnerEntry::Identifier() const {
  std::string out;
  auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out += (out.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + JsonQuote(text);
  };
  add("manager", manager);
  add("operation", OperationText(operation));
  if (operation == Operation::kUpdate) add("apiVersion", api_version);
  add("subresource", subresource);
  return out + "}";
}

Result<ManagedFields> ManagedFields::Decode(const Json& list) {
  ManagedFields out;
  if (list.is_null()) return out;
  if (!list.is_array()) return BadRequest("managedFields must be a list");
  out.entries_.reserve(list.size() + 1);
  Places places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    OwnerEntry entry = TRY(DecodeEntry(list[i], i));
    const auto [place, fresh] = places.try_emplace(entry.Identifier(), out.entries_.size());
    if (fresh) {
      out.entries_.push_back(std::move(entry));
    } else {
      out.entries_[place->second] = std::move(entry);
    }
  }
  return out;
}

Result<ManagedFields> ManagedFields::Of(const Json& object) {
  const Json* list = mailroom::Find(object, {"metadata", "managedFields"});
  return list ? Decode(*list) : ManagedFields();
}

OwnerEntry* ManagedFields::Find(const OwnerEntry& like) {
  for (OwnerEntry& entry : entries_) {
    if (entry.SameOwner(like)) return &entry;
  }
  return nullptr;
}

OwnerEntry& ManagedFields::FindOrAdd(const OwnerEntry& like) {
  if (OwnerEntry* known = Find(like)) return *known;
  return entries_.emplace_back(like);
}

void ManagedFields::DropEmpty() {
  std::erase_if(entries_, [](const OwnerEntry& entry) { return entry.fields.Empty(); });
}

void ManagedFields::CapUpdaters() {
  std::vector<OwnerEntry> updaters;
  std::size_t count = 0;
  for (const OwnerEntry& entry : entries_) count += entry.operation == Operation::kUpdate;
  if (count <= limits::kUpdateManagers) return;
  auto middle = std::stable_partition(entries_.begin(), entries_.end(), [](const OwnerEntry& e) {
    return e.operation == Operation::kApply;
  });
  updaters.assign(std::make_move_iterator(middle), std::make_move_iterator(entries_.end()));
  entries_.erase(middle, entries_.end());
  std::sort(updaters.begin(), updaters.end(), [](const OwnerEntry& a, const OwnerEntry& b) {
    const std::int64_t left = Seconds(a);
    const std::int64_t right = Seconds(b);
    return left != right ? left < right : a.Identifier() < b.Identifier();
  });

  // The oldest updater of a version becomes that version's bucket once a second one joins it.
  std::map<std::string, OwnerEntry> buckets;
  std::vector<OwnerEntry> kept;
  for (OwnerEntry& updater : updaters) {
    auto [it, first] = buckets.try_emplace(updater.api_version);
    if (first || count <= limits::kUpdateManagers) {
      if (first) {
        it->second = std::move(updater);
      } else {
        kept.push_back(std::move(updater));
      }
      continue;
    }
    OwnerEntry& bucket = it->second;
    bucket.manager = kAncient;
    bucket.subresource.clear();
    bucket.SetFields(bucket.fields.Union(updater.fields));
    bucket.SetTime(updater.time);
    --count;
  }
  for (auto& [version, bucket] : buckets) kept.push_back(std::move(bucket));
  // A bucket may have met an earlier one that kept its own place.
  Places places;
  for (OwnerEntry& entry : kept) {
    const auto [place, fresh] = places.try_emplace(entry.Identifier(), entries_.size());
    if (fresh) {
      entries_.push_back(std::move(entry));
      continue;
    }
    OwnerEntry& known = entries_[place->second];
    known.SetFields(known.fields.Union(entry.fields));
    known.SetTime(std::max(known.time, entry.time));
  }
}

void ManagedFields::WriteTo(Json& object) && {
  if (entries_.empty()) {
    Erase(object, {"metadata", "managedFields"});
    return;
  }
  std::sort(entries_.begin(), entries_.end(), SortsBefore);
  Json list = Json::array();
  auto& out = list.get_ref<Json::array_t&>();
  out.reserve(entries_.size());
  for (OwnerEntry& entry : entries_) out.push_back(EncodeEntry(entry));
  Set(object, {"metadata", "managedFields"}, std::move(list));
}

bool IsTrackingReset(const Json* list) {
  if (!list || !list->is_array()) return false;
  if (list->empty()) return true;
  const Json& only = (*list)[0];
  return list->size() == 1 && only.is_object() && only.empty();
}

}  // namespace mailroom::apiserver
