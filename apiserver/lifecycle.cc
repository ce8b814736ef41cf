#include "apiserver/lifecycle.h"

#include "apiserver/collector.h"
#include "apiserver/definition_apis.h"
#include "apiserver/expiry.h"
#include "apiserver/furnisher.h"
#include "apiserver/garbage_collector.h"

namespace mailroom::apiserver {
namespace {

class Running final : public Lifecycle {
 public:
  Result<void> Begin(const Hub& hub, const std::string& root_ca, FrontProxy& front_proxy) {
    collector_ = TRY(Collector::Start(hub));
    garbage_ = TRY(GarbageCollector::Start(hub));
    if (!root_ca.empty()) {
      furnisher_ = TRY(Furnisher::Start(hub, root_ca, front_proxy));
      definition_apis_ = TRY(DefinitionApis::Start(hub));
    }
    expiry_ = TRY(Expiry::Start(hub));
    return Ok();
  }

 private:
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<GarbageCollector> garbage_;
  std::unique_ptr<Furnisher> furnisher_;
  std::unique_ptr<DefinitionApis> definition_apis_;
  std::unique_ptr<Expiry> expiry_;
};

}  // namespace

Result<std::unique_ptr<Lifecycle>> Lifecycle::Start(const Hub& hub, const std::string& root_ca,
                                                    FrontProxy& front_proxy) {
  auto running = std::make_unique<Running>();
  TRY(running->Begin(hub, root_ca, front_proxy));
  return std::unique_ptr<Lifecycle>(std::move(running));
}

}  // namespace mailroom::apiserver
