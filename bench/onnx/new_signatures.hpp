// What a signature costs that a model has not seen: the trace and the plan.
#pragma once

#include <filesystem>

#include "stoker/api/device.hpp"
#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

/// Rows for tiny-transformer and ultraface below `folder`. A model that is not there is a remark.
void new_signatures(Context& context, const Device& device, const std::filesystem::path& folder);

}  // namespace stoker::bench
