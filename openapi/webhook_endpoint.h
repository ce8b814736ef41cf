// Where a webhook is, as clientConfig of a webhook configuration or of a definition's conversion
// says it.
#pragma once

#include <string>

#include "storage/object/json_fwd.h"

namespace mailroom::openapi {

struct WebhookEndpoint {
  std::string url;  // "" when it is a service:
  std::string service_namespace, service_name, service_path;
  int service_port = 443;
  std::string ca_pem;  // "" means the system's
};

WebhookEndpoint ParseWebhookEndpoint(const Json& client_config);

}  // namespace mailroom::openapi
