#include "openapi/validate_builtin.h"
#include "openapi/warn_builtin.h"

namespace mailroom::openapi {
namespace {

// A file of a volume and which part of the volume brings it.
struct File {
  std::string path, source;

  std::string Text() const { return Quoted(path) + (source.empty() ? "" : " (" + source + ")"); }
};

// Whether one is the other, or a directory that the other lies in.
bool Overlap(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  return (a + "/").starts_with(b + "/") || (b + "/").starts_with(a + "/");
}

void Warn(const std::string& volume, const std::string& what, const std::vector<File>& files,
          Warnings& warnings) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!Overlap(files[i].path, files[k].path)) continue;
      warnings.push_back("volume " + Quoted(volume) + " (" + what + "): overlapping paths: " +
                         files[i].Text() + " with " + files[k].Text());
    }
  }
}

void Add(std::string path, const std::string& source, std::vector<File>& files) {
  while (path.ends_with('/')) path.pop_back();
  files.push_back({std::move(path), source});
}

void AddItems(const Json& owner, const std::string& source, std::vector<File>& files) {
  for (const Json& item : ArrayAt(owner, {"items"})) Add(StringAt(item, {"path"}), source, files);
}

std::string Called(const char* kind, const std::string& name) {
  return std::string(kind) + " " + Quoted(name);
}

void AddProjected(const Json& source, std::vector<File>& files) {
  if (const Json* map = Find(source, {"configMap"})) {
    AddItems(*map, Called("ConfigMap", StringAt(*map, {"name"})), files);
  } else if (const Json* secret = Find(source, {"secret"})) {
    AddItems(*secret, Called("Secret", StringAt(*secret, {"name"})), files);
  } else if (const Json* downward = Find(source, {"downwardAPI"})) {
    AddItems(*downward, "DownwardAPI", files);
  } else if (const Json* token = Find(source, {"serviceAccountToken"})) {
    Add(StringAt(*token, {"path"}), "ServiceAccountToken", files);
  } else if (const Json* bundle = Find(source, {"clusterTrustBundle"})) {
    const Json* name = Find(*bundle, {"name"});
    Add(StringAt(*bundle, {"path"}),
        Called("ClusterTrustBundle", StringAt(*bundle, {name != nullptr ? "name" : "signerName"})),
        files);
  } else if (const Json* certificate = Find(source, {"podCertificate"})) {
    Add(StringAt(*certificate, {"certificateChainPath"}), "PodCertificate chain", files);
    Add(StringAt(*certificate, {"keyPath"}), "PodCertificate key", files);
    Add(StringAt(*certificate, {"credentialBundlePath"}), "PodCertificate credential bundle", files);
  }
}

}  // namespace

void WarnAboutOverlaps(const Json& volumes, Warnings& warnings) {
  for (const Json& volume : volumes) {
    const std::string name = StringAt(volume, {"name"});
    std::vector<File> files;
    if (const Json* map = Find(volume, {"configMap"})) {
      AddItems(*map, "", files);
      Warn(name, Called("ConfigMap", StringAt(*map, {"name"})), files, warnings);
    } else if (const Json* secret = Find(volume, {"secret"})) {
      AddItems(*secret, "", files);
      Warn(name, Called("Secret", StringAt(*secret, {"secretName"})), files, warnings);
    } else if (const Json* downward = Find(volume, {"downwardAPI"})) {
      AddItems(*downward, "", files);
      Warn(name, "DownwardAPI", files, warnings);
    }
    for (const Json& source : ArrayAt(volume, {"projected", "sources"})) {
      if (source.empty()) {
        warnings.push_back("volume " + Quoted(name) + " (Projected) has no sources provided");
      }
      AddProjected(source, files);
    }
    if (volume.contains("projected")) Warn(name, "Projected", files, warnings);
  }
}

}  // namespace mailroom::openapi
