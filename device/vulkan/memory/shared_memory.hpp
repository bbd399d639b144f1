// How much memory the threads of a shader's workgroup share.
#pragma once

#include <cstdint>
#include <span>

namespace stoker::device::vulkan {

/// Bytes of all Workgroup variables of a valid module whose specialisation constants are `constants`, by
/// their ids. Without padding between members, so the driver may take a little more; arrays whose length
/// is computed from constants do not count.
[[nodiscard]] std::uint64_t shared_bytes(std::span<const std::uint32_t> spirv,
                                         std::span<const std::uint32_t> constants);

}  // namespace stoker::device::vulkan
