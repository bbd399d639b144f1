// What is done with parts of a product on the CPU while they are in the cache of who computed them.
// Convolutions (kernels/conv) are products here, C their output in the order of its memory.
//
// Compiled once per instruction set. Immutable and shared by the slices of a run.
#pragma once

#include <memory>
#include <optional>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/problem.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

/// Elements of C: `rows` times `columns` neighbours, the first of all at `first`, of the next row
/// `step` further on.
struct Elements {
  std::size_t first;
  std::size_t rows;
  std::size_t columns;
  std::size_t step;
};

/// A Finish in few words: output 0 is relu(c + bias) in f32, or has one of the two only. Who forms C can do that
/// while an element is in a register, and gets the same bits.
struct ShortFinish {
  /// Of element i of C: number i / repeats % count of an input.
  struct Bias {
    std::size_t input;
    std::int64_t count;
    std::int64_t repeats;
  };
  std::optional<Bias> bias = {};
  bool relu = false;
};

class Finish {
 public:
  virtual ~Finish() = default;
  /// The finish as a bias and a relu; nothing if it is more than these.
  [[nodiscard]] virtual std::optional<ShortFinish> in_short() const noexcept {
    return std::nullopt;
  }
  /// The output in whose memory C lies until it is finished; none: C is scratch memory.
  [[nodiscard]] virtual std::optional<std::size_t> home() const noexcept = 0;
  /// Memory that run() needs, aligned to 64 bytes.
  [[nodiscard]] virtual std::size_t scratch_bytes() const noexcept = 0;
  virtual void run(const CpuArgs& args, const std::byte* c, std::byte* scratch,
                   const Elements& elements) const noexcept = 0;
};

/// Where C lies, and what becomes of it: usually output 0, and nothing.
class Target {
 public:
  /// Room for C and for what `finish`, which may be null, needs in each of the slices that call done(),
  /// behind the scratch memory that the plan has so far.
  Target(std::shared_ptr<const Finish> finish, CpuPlan& plan, std::size_t c_bytes,
         std::uint32_t slices)
      : finish_{std::move(finish)} {
    if (!finish_) return;
    const auto line = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
    c_ = line(plan.scratch_bytes);
    slices_ = c_ + (finish_->home() ? 0 : line(c_bytes));
    each_ = line(finish_->scratch_bytes());
    plan.scratch_bytes = slices_ + slices * each_;
  }
  [[nodiscard]] bool finishes() const noexcept { return finish_ != nullptr; }
  [[nodiscard]] std::byte* of(const CpuArgs& args) const noexcept {
    if (!finish_) return args.out<std::byte>();
    const std::optional<std::size_t> home = finish_->home();
    return home ? args.out<std::byte>(*home) : args.scratch + c_;
  }
  void done(const CpuArgs& args, std::uint32_t slice, const Elements& elements) const noexcept {
    if (finish_) finish_->run(args, of(args), args.scratch + slices_ + slice * each_, elements);
  }

 private:
  std::shared_ptr<const Finish> finish_;
  std::size_t c_ = 0;       // where C begins in the scratch memory, if no output is its home
  std::size_t slices_ = 0;  // where the memory of `finish_` begins, of one slice after the other
  std::size_t each_ = 0;
};

/// The plan of a product with at least one element, of which `finish` makes the outputs.
[[nodiscard]] CpuPlan plan_finished(DType dtype, const Problem& problem,
                                    std::shared_ptr<const Finish> finish);

}  // namespace stoker::kernels::matmul::STOKER_ISA
