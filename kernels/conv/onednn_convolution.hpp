// One convolution as oneDNN computes it: how it is cut into jobs, and how a job runs.
//
// Immutable once prepared; any thread runs its jobs. Compiled once per instruction set. oneDNN's own errors
// (dnnl::error) come out as Error{out_of_memory} or internal.
#pragma once

#include <algorithm>
#include <optional>

#include "stoker/kernels/conv/finished.hpp"
#include "stoker/kernels/conv/onednn_operands.hpp"
#include "stoker/kernels/matmul/sgemm.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

/// The three ways of onednn.hpp.
enum class Way { forward, data, weights };

/// The least divisor of n that is at least `least`.
[[nodiscard]] inline std::int64_t divisor_from(std::int64_t n, double least) {
  std::int64_t d = 1;
  while (d < n && (n % d != 0 || static_cast<double>(d) < least)) ++d;
  return d;
}
/// The greatest divisor of n that is at most `most`.
[[nodiscard]] inline std::int64_t divisor_to(std::int64_t n, double most) {
  std::int64_t d = std::clamp<std::int64_t>(static_cast<std::int64_t>(most), 1, n);
  while (n % d != 0) --d;
  return d;
}

struct OnednnConvolution {
  Problem p;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  Way way = Way::forward;
  mm::LibraryThreads threads = mm::LibraryThreads::find();
  Strided weights;         ///< forward, data: the kernel; weights: the output
  std::int64_t chunk = 1;  ///< images of a job (channels of one, where weights are computed)
  std::int64_t chunks = 1;
  std::int64_t parts = 1;    ///< of the outputs
  std::int64_t x_first = 0;  ///< where the input begins that was not cropped
  std::int64_t y_first = 0;  ///< where the output begins: it may be a band of rows
  bool band = false;         ///< then jobs are whole images
  Operand x, k, y;
  std::vector<Piece> k_pieces;  ///< of one part's kernel, where it is read in another order
  dnnl::primitive main;
  std::size_t scratchpad = 0;

  [[nodiscard]] std::int64_t jobs() const noexcept { return chunks * parts; }
  [[nodiscard]] std::size_t dense_bytes() const noexcept {
    return aligned(static_cast<std::size_t>(weights.rows() * weights.row()) * sizeof(float));
  }
  [[nodiscard]] std::size_t job_bytes() const {
    return x.scratch() + y.scratch() + (way == Way::weights ? k.scratch() : 0) +
           aligned(scratchpad);
  }
  /// `kernel`: in this order; null: as the library likes it.
  bool prepare(const Desc* kernel = nullptr);
  /// Whether images are read and written where they lie.
  [[nodiscard]] bool in_place() const noexcept { return way == Way::forward && !x.move && !y.move; }
  /// What a job writes of the output.
  [[nodiscard]] std::optional<mm::Elements> written(std::int64_t job) const noexcept;
  void run(const CpuArgs& args, const float* kernel, std::int64_t job, std::byte* scratch,
           float* partial) const;

 private:
  bool choose_way();
  void choose_jobs();
  [[nodiscard]] std::int64_t kernel_pieces() const noexcept;
  /// The input and the output as they lie, or as the library likes them; and the kernel.
  struct Wanted {
    bool x_as_given, y_as_given, blocks_as_given;
    const Desc* kernel;
  };
  bool make(const Wanted& wanted);
};

}  // namespace stoker::kernels::conv::STOKER_ISA
