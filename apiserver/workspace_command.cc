#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "apiserver/pki.h"
#include "apiserver/workspace_archive.h"
#include "storage/embedded_store.h"
#include "storage/etcd_store.h"
#include "storage/sealed_store.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kUsage =
    "usage: mailroom workspace export|import NAME --file FILE\n"
    "         (--data-dir DIR | --etcd-servers URL,URL... [--etcd-cafile F] [--etcd-certfile F]\n"
    "         [--etcd-keyfile F]) [--encryption-keys-file F]";

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

Result<std::unique_ptr<storage::Store>> OpenEngine(std::map<std::string, std::string>& flags) {
  if (flags["--etcd-servers"].empty()) return storage::OpenEmbedded(flags["--data-dir"] + "/store");
  return storage::OpenEtcd({.endpoints = SplitCommas(flags["--etcd-servers"]),
                            .ca_file = flags["--etcd-cafile"],
                            .cert_file = flags["--etcd-certfile"],
                            .key_file = flags["--etcd-keyfile"]});
}

Result<std::unique_ptr<storage::Store>> OpenStore(std::map<std::string, std::string>& flags) {
  const std::string& keys = flags["--encryption-keys-file"];
  if (keys.empty()) return OpenEngine(flags);
  storage::Seal seal = TRY(storage::Seal::Parse(TRY(ReadTextFile(keys))));
  return storage::OpenSealed(TRY(OpenEngine(flags)), std::move(seal));
}

// Made anew, for its owner only.
Result<void> MakeSecretFile(const std::string& path) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return BadRequest("cannot write " + path);
  ::close(fd);
  return Ok();
}

// To a file that is not there yet; whole or not at all.
Result<std::size_t> ExportTo(storage::Store& store, const Workspace& workspace,
                             const std::string& file) {
  if (std::ifstream(file).good()) return BadRequest(file + " exists already");
  const std::string draft = file + ".part";
  TRY(MakeSecretFile(draft));
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  if (!out) return BadRequest("cannot write " + draft);
  auto count = ExportWorkspace(store, workspace, out);
  out.close();
  if (!count.ok() || std::rename(draft.c_str(), file.c_str()) != 0) {
    std::remove(draft.c_str());
    if (count.ok()) return Internal("cannot write " + file);
  }
  return count;
}

}  // namespace

Result<void> RunWorkspaceCommand(const std::vector<std::string>& args) {
  if (args.size() < 2 || (args[0] != "export" && args[0] != "import")) return BadRequest(kUsage);
  std::map<std::string, std::string> flags;
  for (std::size_t i = 2; i + 1 < args.size(); i += 2) flags[args[i]] = args[i + 1];
  if (flags["--file"].empty() ||
      flags["--data-dir"].empty() == flags["--etcd-servers"].empty()) {
    return BadRequest(kUsage);
  }
  auto store = TRY(OpenStore(flags));
  const Workspace workspace(args[1]);
  std::ifstream in;
  if (args[0] == "import") in.open(flags["--file"], std::ios::binary);
  if (args[0] == "import" && !in) return BadRequest("cannot read " + flags["--file"]);
  auto count = args[0] == "export" ? ExportTo(*store, workspace, flags["--file"])
                                   : ImportWorkspace(*store, workspace, in);
  store->Close();
  if (!count.ok()) return std::move(count).error();
  std::cout << args[0] << "ed workspace " << workspace.name() << ", " << *count << " objects"
            << std::endl;
  return Ok();
}

}  // namespace mailroom::apiserver
