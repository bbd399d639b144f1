// Which of the two ways a convolution's kernel lies: kernel_blocked of kernels/conv/options.hpp.
#pragma once

#include <variant>

#include "stoker/pipeline/tensor/graph/attributes.hpp"

namespace stoker::expr {

/// Whether it is in blocks of channels and outputs. Attributes of `conv` may leave the option out; then it is not.
[[nodiscard]] inline bool has_kernel_blocks(const Attributes& conv) {
  const ParamValue* const given = conv.params().find("kernel_blocked");
  return given != nullptr && std::get<bool>(*given);
}

}  // namespace stoker::expr
