// Amounts by resource name (`cpu`, `requests.memory`, `count/pods`), and what a pod asks for.
// Pure functions.
#pragma once

#include <map>
#include <string>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {

using ResourceList = std::map<std::string, std::string>;  // quantities in canonical spelling

ResourceList ListAt(const Json& object, Path path);
Json ListJson(const ResourceList& list);
void Add(ResourceList& into, const ResourceList& more);
// Each amount the larger of the two.
void Raise(ResourceList& into, const ResourceList& other);
// a - b without going below zero; names of either.
ResourceList Less(const ResourceList& a, const ResourceList& b);
bool SameAmounts(const ResourceList& a, const ResourceList& b);
// `cpu=1,memory=2Gi`
std::string Printed(const ResourceList& list);

enum class Overhead { kCounted, kIgnored };
// What all containers of a pod together need at one time; `part` is `requests` or `limits`.
ResourceList PodTotal(const Json& pod, const char* part, Overhead overhead);

}  // namespace mailroom::admission
