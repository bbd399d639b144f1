// The other bodies of the Open Inference Protocol (KServe v2): metadata, health, errors.
//
// Pure functions; any thread. Text that is no UTF-8 gets U+FFFD for each bad byte.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/api/model/core/model.hpp"

namespace stoker::serve::protocol {

/// {"name":…,"version":…,"extensions":[…]}
[[nodiscard]] std::string server_metadata(std::string_view name, std::string_view version,
                                          std::span<const std::string> extensions);
/// {"name":…,"versions":[…],"platform":…,"inputs":[…],"outputs":[…]}. A dimension that is not fixed is -1; a
/// tensor of any rank has the shape [-1]. Inputs and outputs that the protocol cannot express, or whose type the model
/// does not declare, are left out.
[[nodiscard]] std::string model_metadata(std::string_view name,
                                         std::span<const std::string> versions,
                                         std::string_view platform, const AnyModel& model);
/// {"live":…}, for both health/live and health/ready: the protocol gives both the same field.
[[nodiscard]] std::string health_body(bool live);
/// {"name":…,"ready":…}
[[nodiscard]] std::string model_ready_body(std::string_view name, bool ready);
/// {"error":…}
[[nodiscard]] std::string error_body(std::string_view text);

}  // namespace stoker::serve::protocol
