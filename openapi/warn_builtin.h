// Warnings about built-in objects that are accepted but may not do what their author hopes, in
// kube-apiserver's words. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/json.h"

namespace mailroom::openapi {

using Warnings = std::vector<std::string>;

// `old` is null on create. Not for writes of subresources.
void WarnAboutBuiltin(const ResourceType& type, const Json& object, const Json* old,
                      Warnings& warnings);

// Of a status that is written through its subresource.
void WarnAboutStatus(const ResourceType& type, const Json& object, Warnings& warnings);

// A pod (`path` is "") or a pod template that stands at `path`.
void WarnAboutPod(const Json& pod, const std::string& path, Warnings& warnings);
// A secret for TLS whose certificate and key do not go together.
void WarnAboutKeyPair(const Json& secret, Warnings& warnings);
// Volumes whose files would lie over each other.
void WarnAboutOverlaps(const Json& volumes, Warnings& warnings);

// The requirements of a node selector's term; `values` has them checked as label values, too.
void WarnAboutNodeTerm(const Json& term, bool values, const std::string& path, Warnings& warnings);
// Why a label of nodes is not to be used any more; "" for others.
std::string NodeLabelProblem(const std::string& label);
// Claims ask for whole bytes.
void WarnAboutClaimSpec(const Json& spec, const std::string& path, Warnings& warnings);
void WarnAboutFraction(const Json& amounts, const char* name, const std::string& path,
                       Warnings& warnings);

// Addresses and ranges that are understood but not in the form they should have.
void WarnAboutIp(const std::string& path, const std::string& text, Warnings& warnings);
void WarnAboutCidr(const std::string& path, const std::string& text, Warnings& warnings);

// `a.b`, or `b` below nothing.
std::string Below(const std::string& path, const std::string& member);

}  // namespace mailroom::openapi
