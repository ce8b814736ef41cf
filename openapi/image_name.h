// Names of container images, as `[domain/]path[:tag][@digest]`. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace mailroom::openapi {

// The tag of an image, `latest` when its name has neither tag nor digest; "" when there is only a
// digest, or when it is no name of an image.
std::string ImageTag(std::string_view image);

}  // namespace mailroom::openapi
