// Moving the rows that index vectors choose, for every kernel that does: take, gather, indexed_put.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/kernels/indexing/lookup.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::gather {

/// The shader "gather_rows"; kernels that plan with rows_pass() list it among theirs.
[[nodiscard]] std::shared_ptr<const Shader> shader();

/// The tensor that is looked up in, the vectors, and the dense rows.
struct RowsMove {
  const indexing::Lookup& lookup;
  TensorSpec tensor;
  TensorSpec indices;
  TensorSpec rows;
  bool puts;  ///< rows are written to the tensor, not read from it
};

/// The pass, with bindings left to the caller: source, indices, destination. limit_exceeded beyond
/// 32-bit indices; `op` names the kernel in errors. Precondition: there is at least one row element.
[[nodiscard]] Result<GpuPass> rows_pass(std::string_view op, const Shader& shader,
                                        const RowsMove& move);

}  // namespace stoker::kernels::gather
