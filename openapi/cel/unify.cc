#include <charconv>

#include "openapi/cel/checker.h"
#include "storage/object/limits.h"

namespace mailroom::cel {
namespace {

bool IsWild(const Type& type) { return type.kind == Kind::kDyn || type.kind == Kind::kError; }

bool TakesNull(const Type& type) {
  switch (type.kind) {
    case Kind::kNull:
    case Kind::kObject:
    case Kind::kOpaque:
    case Kind::kOptional:
    case Kind::kTimestamp:
    case Kind::kDuration: return true;
    default: return false;
  }
}

bool LessSpecific(const Type& a, const Type& b) {
  if (a.kind == Kind::kDyn || a.kind == Kind::kParam) return true;
  if (b.kind == Kind::kDyn || b.kind == Kind::kParam || a.kind != b.kind) return false;
  if (a.kind == Kind::kType) return true;
  if (a.params.empty()) return SameType(a, b);
  for (std::size_t i = 0; i < a.params.size() && i < b.params.size(); ++i) {
    if (!LessSpecific(*a.params[i], *b.params[i])) return false;
  }
  return a.name == b.name;
}

// Variables made by Fresh are called by their number.
std::size_t NumberOf(const Type& variable) {
  std::size_t number = 0;
  std::from_chars(variable.name.data() + 4, variable.name.data() + variable.name.size(), number);
  return number;
}

}  // namespace

TypePtr MoreGeneral(const TypePtr& a, const TypePtr& b) { return LessSpecific(*a, *b) ? a : b; }

TypePtr Unifier::Fresh() {
  meanings_.emplace_back();
  return MakeParam("_var" + std::to_string(meanings_.size() - 1));
}

const TypePtr* Unifier::Meaning(const Type& variable) const {
  const TypePtr& meaning = meanings_[NumberOf(variable)];
  return meaning == nullptr ? nullptr : &meaning;
}

void Unifier::Bind(const Type& variable, TypePtr meaning) {
  const std::size_t number = NumberOf(variable);
  undo_.emplace_back(number, std::move(meanings_[number]));
  meanings_[number] = std::move(meaning);
}

TypePtr Unifier::Resolve(const TypePtr& type, bool final) const {
  std::size_t parts = 0;
  return ResolveWithin(type, final, parts);
}

TypePtr Unifier::ResolveWithin(const TypePtr& type, bool final, std::size_t& parts) const {
  if (++parts > limits::kCelTypeParts) return Simple(Kind::kDyn);
  if (type->kind == Kind::kParam) {
    if (const TypePtr* meaning = Meaning(*type)) return ResolveWithin(*meaning, final, parts);
    return final ? Simple(Kind::kDyn) : type;
  }
  if (type->params.empty()) return type;
  bool changed = false;
  std::vector<TypePtr> params;
  for (const TypePtr& param : type->params) {
    params.push_back(ResolveWithin(param, final, parts));
    changed |= params.back() != param;
  }
  if (!changed) return type;
  auto copy = std::make_shared<Type>(*type);
  copy->params = std::move(params);
  return copy;
}

TypePtr Unifier::Instantiate(const TypePtr& type,
                             std::vector<std::pair<std::string, TypePtr>>& renamed) {
  if (type->kind == Kind::kParam) {
    for (const auto& [name, fresh] : renamed) {
      if (name == type->name) return fresh;
    }
    return renamed.emplace_back(type->name, Fresh()).second;
  }
  if (type->params.empty()) return type;
  auto copy = std::make_shared<Type>(*type);
  for (TypePtr& param : copy->params) param = Instantiate(param, renamed);
  return copy;
}

bool Unifier::Occurs(const Type& variable, const TypePtr& within) const {
  if (++steps_ > limits::kCelTypeSteps) return true;
  if (within->kind == Kind::kParam) {
    if (within->name == variable.name) return true;
    const TypePtr* meaning = Meaning(*within);
    return meaning != nullptr && Occurs(variable, *meaning);
  }
  for (const TypePtr& param : within->params) {
    if (Occurs(variable, param)) return true;
  }
  return false;
}

bool Unifier::Substitute(const TypePtr& a, const TypePtr& b, bool& known) {
  if (a->kind == Kind::kParam && a->name == b->name) {
    known = true;
    return true;
  }
  if (const TypePtr* meaning = Meaning(*b)) {
    known = true;
    const TypePtr held = *meaning;
    if (SameType(*a, *held)) return true;
    if (!Try(a, held)) return false;
    const TypePtr general = MoreGeneral(a, held);
    if (!Occurs(*b, general)) Bind(*b, general);
    return true;
  }
  if (Occurs(*b, a)) return false;
  Bind(*b, a);
  return true;
}

bool Unifier::Try(const TypePtr& a, const TypePtr& b) {
  if (++steps_ > limits::kCelTypeSteps) return true;
  if (b->kind == Kind::kParam) {
    bool known = false;
    if (Substitute(a, b, known)) return true;
    if (known) return false;
  }
  if (a->kind == Kind::kParam) {
    bool known = false;
    return Substitute(b, a, known);
  }
  if (IsWild(*a) || IsWild(*b)) return true;
  if (a->kind == Kind::kNull) return TakesNull(*b);
  if (b->kind == Kind::kNull) return TakesNull(*a);
  if (a->kind != b->kind) return false;
  if (a->kind == Kind::kType) return true;
  if (a->kind == Kind::kObject || a->kind == Kind::kOpaque) return a->name == b->name;
  for (std::size_t i = 0; i < a->params.size(); ++i) {
    if (!Try(a->params[i], b->params[i])) return false;
  }
  return true;
}

bool Unifier::AssignAll(const std::vector<TypePtr>& to, const std::vector<TypePtr>& from) {
  undo_.clear();
  steps_ = 0;
  bool fits = to.size() == from.size();
  for (std::size_t i = 0; fits && i < to.size(); ++i) fits = Try(to[i], from[i]);
  if (fits) return true;
  while (!undo_.empty()) {
    meanings_[undo_.back().first] = std::move(undo_.back().second);
    undo_.pop_back();
  }
  return false;
}

bool Unifier::Assign(const TypePtr& to, const TypePtr& from) { return AssignAll({to}, {from}); }

}  // namespace mailroom::cel
