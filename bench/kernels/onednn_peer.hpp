// oneDNN called directly, in a process of its own: its OpenMP threads spin after each call and
// would take the cores from whoever is measured next.
//
// Asked as bench/harness/asked_program.hpp says.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/bench/harness/asked_program.hpp"

namespace stoker::bench {

/// A convolution without bias, NCHW and OIHW, float.
struct ConvShape {
  std::string name;
  std::int64_t batch, in_channels, size, out_channels, kernel, stride, padding;

  [[nodiscard]] std::int64_t out_size() const noexcept {
    return (size + 2 * padding - kernel) / stride + 1;
  }
  /// Multiplications and additions.
  [[nodiscard]] double operations() const noexcept {
    return 2.0 * static_cast<double>(batch * out_channels * out_size() * out_size() * in_channels *
                                     kernel * kernel);
  }
};

class OnednnPeer {
 public:
  /// Starts this program again as the peer. Throws std::system_error.
  OnednnPeer();

  /// Seconds for one n×n matrix product: `calls` in a row, the faster of dnnl_sgemm and a matmul
  /// primitive.
  [[nodiscard]] double matmul(std::int64_t n, int calls);
  /// Seconds for one convolution from NCHW to NCHW: the faster of a primitive on those layouts and
  /// one on oneDNN's own with reorders before and after.
  [[nodiscard]] double conv(const ConvShape& shape, int calls);
  /// The same of u8 and s8, with results in s32.
  [[nodiscard]] double integer_matmul(std::int64_t n, int calls);
  [[nodiscard]] double integer_conv(const ConvShape& shape, int calls);

 private:
  AskedProgram program_;
};

/// The child's main function: answers until its input ends.
int serve_onednn_peer();

}  // namespace stoker::bench
