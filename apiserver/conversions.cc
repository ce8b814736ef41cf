#include "apiserver/conversions.h"

#include "apiserver/conversion_review.h"
#include "openapi/normalize.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// The uid and revision say which state of which object; a changed definition has another hook.
std::string KeyOf(const openapi::ResourceType& to, const Object& object) {
  return std::string(object.meta().uid) + "/" + object.revision().ToString() + "/" +
         to.gvk.version + "/" + std::to_string(reinterpret_cast<std::uintptr_t>(to.conversion.get()));
}

// The webhook came to be after the request was taken for a short one.
Status AnotherTime() { return TooManyRequests("the object has to be converted by a webhook", 1); }

}  // namespace

Result<std::vector<Json>> Conversions::Ask(const Workspace& workspace,
                                           const openapi::ResourceType& to,
                                           std::vector<Json> objects) {
  if (NoWaiting::Here()) return AnotherTime();
  const openapi::ConversionHook& hook = *to.conversion;
  const ConversionQuestion question =
      AskConversion(hook.review_version, to.gvk.ApiVersion(), std::move(objects));
  const auto answers = TRY(client_.Call(
      workspace, Deadline(), {{&hook.endpoint, limits::kConversionTimeout, ReviewBody(question)}}));
  if (!answers[0].error.empty()) {
    return ConversionProblem(question, "failed: " + answers[0].error);
  }
  return ReadConversion(question, answers[0].code, answers[0].body);
}

Result<std::vector<Json>> Conversions::Convert(const Workspace& workspace,
                                               const openapi::ResourceType& to,
                                               std::vector<Json> objects) {
  std::vector<Json> out, batch;
  std::size_t bytes = 0;
  auto ask = [&]() -> Result<void> {
    for (Json& converted : TRY(Ask(workspace, to, std::move(batch)))) {
      openapi::PruneUnknown(to, converted);
      out.push_back(std::move(converted));
    }
    batch.clear();
    bytes = 0;
    return Ok();
  };
  for (Json& object : objects) {
    bytes += DumpJson(object).size();
    const bool full =
        bytes > limits::kConversionBytes || batch.size() == limits::kConversionObjects;
    if (full && !batch.empty()) {
      TRY(ask());
      bytes = DumpJson(object).size();
    }
    batch.push_back(std::move(object));
  }
  if (!batch.empty()) TRY(ask());
  return out;
}

struct Conversions::Division {
  std::vector<std::string> keys;
  std::vector<ObjectPtr> known;     // null where not
  std::vector<std::size_t> mine, others;
};

Result<std::vector<ObjectPtr>> Conversions::Recall(const Workspace& workspace,
                                                   const openapi::ResourceType& to,
                                                   const std::vector<ObjectPtr>& objects) {
  Division division;
  division.known.resize(objects.size());
  for (const ObjectPtr& object : objects) division.keys.push_back(KeyOf(to, *object));
  {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const std::string& key = division.keys[i];
      division.known[i] = KnownLocked(key);
      if (division.known[i] != nullptr) continue;
      (under_way_.insert(key).second ? division.mine : division.others).push_back(i);
    }
  }
  auto convert = [&](const std::vector<std::size_t>& places) -> Result<void> {
    std::vector<Json> trees;
    for (const std::size_t i : places) trees.push_back(objects[i]->ToJson());
    const std::vector<Json> converted = TRY(Convert(workspace, to, std::move(trees)));
    for (std::size_t n = 0; n < places.size(); ++n) {
      const ObjectPtr made = Object::Make(converted[n], objects[places[n]]->revision());
      if (made == nullptr) return Internal("the converted object cannot be encoded");
      division.known[places[n]] = made;
    }
    return Ok();
  };
  const Result<void> done = division.mine.empty() ? Ok() : convert(division.mine);
  {
    std::unique_lock lock(mutex_);
    for (const std::size_t i : division.mine) {
      under_way_.erase(division.keys[i]);
      if (done.ok()) RememberLocked({division.keys[i], workspace, to.conversion, division.known[i]});
    }
    answered_.notify_all();
    if (!done.ok()) return done.error();
    if (division.others.empty()) return std::move(division.known);
    if (NoWaiting::Here()) return AnotherTime();
    const WaitElsewhere waiting;
    std::vector<std::size_t> failed;
    for (const std::size_t i : division.others) {
      answered_.wait(lock, [&] { return !under_way_.contains(division.keys[i]); });
      division.known[i] = KnownLocked(division.keys[i]);
      if (division.known[i] == nullptr) failed.push_back(i);
    }
    division.others = std::move(failed);
  }
  // Whoever asked for these got no answer, or it was forgotten since: asked once more, alone.
  if (!division.others.empty()) TRY(convert(division.others));
  return std::move(division.known);
}

ObjectPtr Conversions::KnownLocked(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  memories_.splice(memories_.begin(), memories_, found->second);
  return found->second->object;
}

void Conversions::RememberLocked(Memory memory) {
  bytes_ += memory.object->bytes().size();
  ++counts_[memory.workspace];
  memories_.push_front(std::move(memory));
  by_key_[memories_.front().key] = memories_.begin();
  while (bytes_ > limits::kConvertedBytes && memories_.size() > 1) {
    DropLocked(std::prev(memories_.end()));
  }
}

void Conversions::DropLocked(std::list<Memory>::iterator memory) {
  bytes_ -= memory->object->bytes().size();
  by_key_.erase(memory->key);
  const auto count = counts_.find(memory->workspace);
  if (--count->second == 0) counts_.erase(count);
  memories_.erase(memory);
}

void Conversions::Forget(const Workspace& workspace) {
  std::lock_guard lock(mutex_);
  if (!counts_.contains(workspace)) return;
  for (auto it = memories_.begin(); it != memories_.end();) {
    const auto memory = it++;
    if (memory->workspace == workspace) DropLocked(memory);
  }
}

std::size_t Conversions::RememberedBytes() {
  std::lock_guard lock(mutex_);
  return bytes_;
}

bool Conversions::Later(const Workspace& workspace, std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (pool_ == nullptr) {
      pool_ = std::make_unique<WorkerPool>(limits::kConversionThreads, limits::kConversionQueue,
                                           limits::kBlockedWorkers);
    }
  }
  return pool_->Submit(workspace.name(), std::move(task));
}

}  // namespace mailroom::apiserver
