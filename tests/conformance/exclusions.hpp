// What a backend cannot do, with the reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stoker/kernels/cases.hpp"

namespace stoker {

/// Why this case is not expected to work on this backend, or nothing.
[[nodiscard]] std::optional<std::string> excluded(std::string_view backend, std::string_view kernel,
                                                  const KernelCase& one);

}  // namespace stoker
