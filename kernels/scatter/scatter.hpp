// What indexed_add and its siblings share.
#pragma once

#include <string_view>

#include "stoker/kernels/indexing/lookup.hpp"

namespace stoker::kernels::scatter {

/// Where the rows of input 2, the updates, go in input 0. Precondition: the call has been checked.
[[nodiscard]] Result<indexing::Lookup> rows_of(std::string_view op, const KernelCall& call);

}  // namespace stoker::kernels::scatter
