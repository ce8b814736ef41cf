// PodSecurity: namespaces say by labels to which level of the Pod Security Standards their pods are
// held. Pods that break it are refused; of others, and of what makes pods, clients and the audit log
// are told. Nobody is exempt. Costs writes to a namespace without such labels one look at them. Like
// the rest of the chain it is asked only where policies are live: where pods are payload, the cluster
// they go to judges them by its own namespace's labels.
#pragma once

#include "apiserver/admission/attributes.h"
#include "storage/cached_store.h"
#include "storage/object/clock.h"

namespace mailroom::admission {

inline constexpr const char* kPodSecurity = "PodSecurity";  // the plugin's name

// Whether the plugin has anything to say about objects of the type in that namespace.
bool PodSecurityConcerns(const storage::CachedStore& store, const Workspace& workspace,
                         const openapi::ResourceType& type, const std::string& ns);

// Judges a create or update, of a subresource too; says the rest in `attributes`.
Result<void> CheckPodSecurity(const storage::CachedStore& store, const Clock& clock,
                              Attributes& attributes, const Json& object);

}  // namespace mailroom::admission
