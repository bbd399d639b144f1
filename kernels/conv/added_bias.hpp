// The bias of convolutions that someone else computes: added while an output is in the cache.
//
// Compiled once per instruction set.
#pragma once

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/matmul/finish.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Of an output in f32 whose outputs' pixels lie side by side, one output after the other.
class AddedBias final : public mm::Finish {
 public:
  explicit AddedBias(const Problem& p)
      : pixels_{static_cast<std::size_t>(p.pixels())},
        outputs_{static_cast<std::size_t>(p.groups * p.outputs)} {}

  [[nodiscard]] std::optional<std::size_t> home() const noexcept override { return 0; }
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return 0; }
  void run(const CpuArgs& args, const std::byte*, std::byte*,
           const mm::Elements& elements) const noexcept override {
    for (std::size_t row = 0; row < elements.rows; ++row) {
      const std::size_t first = elements.first + row * elements.step;
      for (std::size_t at = first; at < first + elements.columns; at += pixels_) {
        const float bias = args.in<float>(2)[at / pixels_ % outputs_];
        float* const y = args.out<float>() + at;
        for (std::size_t i = 0; i < pixels_; ++i) y[i] += bias;
      }
    }
  }

 private:
  std::size_t pixels_, outputs_;
};

}  // namespace stoker::kernels::conv::STOKER_ISA
