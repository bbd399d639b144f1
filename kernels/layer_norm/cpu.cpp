#include <cmath>

#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/layer_norm/rows.hpp"

namespace stoker::kernels::layer_norm::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

// Elements of a row handled at a time. A row that fits is converted from a 16-bit float once.
constexpr std::size_t row_block = 4096;
// Rows that a slice may take at once, so that short rows do not pay for every call.
constexpr std::size_t unit_elements = 8192;

/// An input as blocks of the compute type; a 16-bit one is converted to `buffer`, once if it fits.
template <class T> class Blocks {
 public:
  using C = cpu::Compute<T>;
  Blocks(const T* from, C* buffer) : from_{from}, buffer_{buffer} {}
  [[nodiscard]] bool given() const noexcept { return from_ != nullptr; }
  const C* at(std::size_t first, std::size_t n) noexcept {
    if (first == held_ && n == count_) return buffer_;
    if constexpr (!std::is_same_v<T, C>) {
      held_ = first;
      count_ = n;
    }
    return cpu::loaded(from_ + first, buffer_, n);
  }

 private:
  const T* from_;
  C* buffer_;
  std::size_t held_ = 0;
  std::size_t count_ = 0;  // 0: nothing is held
};

/// Σ (x - mean)² of a block.
template <class C> C squared_differences(const C* x, C mean, std::size_t n) noexcept {
  constexpr std::size_t width = cpu::lane_count<C>;
  cpu::Lanes<C> sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width)
    for (std::size_t k = 0; k < 4; ++k) {
      cpu::Lanes<C> lanes;
      std::memcpy(&lanes, x + i + k * width, sizeof lanes);
      lanes -= mean;
      sums[k] += lanes * lanes;
    }
  C flat[4 * width];
  std::memcpy(flat, sums, sizeof flat);
  C total = cpu::accumulate_block<cpu::Sum>(flat, 4 * width);
  for (; i < n; ++i) total += (x[i] - mean) * (x[i] - mean);
  return total;
}

/// y = (x - mean) · scale · gamma + beta; null: no such factor.
template <class C>
void apply(const C* x, C mean, C scale, const C* gamma, const C* beta, C* y,
           std::size_t n) noexcept {
  const auto each = [&](auto&& value) {
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) y[j] = value(j, (x[j] - mean) * scale);
  };
  if (gamma && beta)
    each([=](std::size_t j, C v) { return v * gamma[j] + beta[j]; });
  else if (gamma)
    each([=](std::size_t j, C v) { return v * gamma[j]; });
  else
    each([](std::size_t, C v) { return v; });
}

struct Work {
  std::size_t rows;
  std::size_t length;
  std::size_t together;  // rows of one unit
  std::size_t units;
  std::uint32_t slices;
  bool has_gamma;
  bool has_beta;
  bool streams;
  double epsilon;

  /// Four blocks: the row, gamma, beta, the result.
  template <class T> [[nodiscard]] static constexpr std::size_t slice_bytes() noexcept {
    return 4 * row_block * sizeof(cpu::Compute<T>);
  }

  template <class T> void run(const CpuArgs& args, std::uint32_t index) const {
    using C = cpu::Compute<T>;
    auto* memory = reinterpret_cast<C*>(args.scratch + index * slice_bytes<T>());
    Blocks<T> gamma{has_gamma ? args.in<T>(1) : nullptr, memory + row_block};
    Blocks<T> beta{has_beta ? args.in<T>(2) : nullptr, memory + 2 * row_block};
    const SliceRange range = slice_range(units, slices, index, 1);
    const std::size_t last = std::min(range.end * together, rows);
    for (std::size_t row = range.begin * together; row < last; ++row) {
      Blocks<T> x{args.in<T>(0) + row * length, memory};
      run_row(x, gamma, beta, args.out<T>() + row * length, memory + 3 * row_block);
    }
    if (streams) cpu::stream_fence();
  }

 private:
  template <class T, class C = cpu::Compute<T>>
  void run_row(Blocks<T>& x, Blocks<T>& gamma, Blocks<T>& beta, T* y, C* result) const {
    const auto blocks = [&](auto&& use) {
      for (std::size_t i = 0; i < length; i += row_block) use(i, std::min(row_block, length - i));
    };
    double sum = 0;
    blocks([&](std::size_t i, std::size_t n) {
      sum += static_cast<double>(cpu::accumulate<cpu::Sum, C>(x.at(i, n), n));
    });
    const C mean = static_cast<C>(sum / static_cast<double>(length));
    double squares = 0;
    blocks([&](std::size_t i, std::size_t n) {
      squares += static_cast<double>(squared_differences(x.at(i, n), mean, n));
    });
    const auto scale =
        static_cast<C>(1 / std::sqrt(squares / static_cast<double>(length) + epsilon));
    blocks([&](std::size_t i, std::size_t n) {
      constexpr bool stored_as_computed = std::is_same_v<T, C>;
      C* target = result;
      if constexpr (stored_as_computed)
        if (!streams) target = y + i;
      apply(x.at(i, n), mean, scale, gamma.given() ? gamma.at(i, n) : nullptr,
            beta.given() ? beta.at(i, n) : nullptr, target, n);
      if constexpr (!stored_as_computed)
        cpu::store_block(result, y + i, n);
      else if (streams)
        cpu::stream_copy(y + i, result, n * sizeof(T));
    });
  }
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const auto given = options::from<LayerNorm>(call.params);
  STOKER_ASSIGN(const Rows rows, rows_of(call, given));
  const std::size_t n = outputs[0].elements();
  Work work{};
  work.rows = static_cast<std::size_t>(rows.count);
  work.length = static_cast<std::size_t>(rows.length);
  work.together = std::max<std::size_t>(unit_elements / work.length, 1);
  work.units = (work.rows + work.together - 1) / work.together;
  work.slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(slice_count(n, std::size_t{16} << 10), work.units));
  work.has_gamma = call.inputs.size() > 1;
  work.has_beta = call.inputs.size() > 2;
  work.streams = outputs[0].bytes() >= cpu::stream_from_bytes;
  work.epsilon = given.epsilon;
  CpuPlan plan;
  plan.cost_ns = 100 + static_cast<double>(n) * 0.4;
  visit_dtype(call.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<cpu::Compute<T>>) {
      plan.scratch_bytes = work.slices * Work::slice_bytes<T>();
      plan.stages.push_back({work.slices, [work](const CpuArgs& args, std::uint32_t index) {
                               work.run<T>(args, index);
                             }});
    }
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("layer_norm", &plan); }

}  // namespace stoker::kernels::layer_norm::STOKER_ISA
