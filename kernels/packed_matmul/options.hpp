// packed_matmul as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct PackedMatmul {
  static constexpr KernelName kind{"packed_matmul"};
  std::int64_t bits = 4;
  std::int64_t block_size = 32;
  std::int64_t zero_point = 8;
};
template <class V> void visit_options(PackedMatmul& o, V&& visit) {
  visit("bits", o.bits, within(2, 8), "of each number of b: 2, 4 or 8");
  visit("block_size", o.block_size, within(16, 1LL << 31),
        "numbers of a column that share a scale; a multiple of 16");
  visit("zero_point", o.zero_point, within(0, 255),
        "of all blocks, where no zero points are given");
}

using PackedMatmulKernels = KernelTypes<PackedMatmul>;

}  // namespace stoker::kernels
