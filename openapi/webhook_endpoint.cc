#include "openapi/webhook_endpoint.h"

#include "openapi/base64.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {

WebhookEndpoint ParseWebhookEndpoint(const Json& client_config) {
  WebhookEndpoint out;
  out.url = StringAt(client_config, {"url"});
  out.service_namespace = StringAt(client_config, {"service", "namespace"});
  out.service_name = StringAt(client_config, {"service", "name"});
  out.service_path = StringAt(client_config, {"service", "path"});
  out.service_port = static_cast<int>(IntAt(client_config, {"service", "port"}, 443));
  out.ca_pem = DecodeBase64(StringAt(client_config, {"caBundle"})).value_or(std::string());
  return out;
}

}  // namespace mailroom::openapi
