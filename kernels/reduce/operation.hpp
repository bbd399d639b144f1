// How two values become one: the operations of reductions, of which scans and windows have some.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker::kernels::reduce {

/// The order is that of the spec constant `operation` in the shaders (combining.glsl); mean is a sum that is
/// divided at its end.
enum class Operation : std::uint8_t { sum, max, min, mean, product, all, any };

/// A kernel of a family that differs in its operation.
struct OperationName {
  Operation operation;
  std::string_view kernel;
  std::string_view summary;
};

}  // namespace stoker::kernels::reduce
