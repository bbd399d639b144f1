#include <algorithm>

#include "stoker/kernels/conv/finished.hpp"
#include "stoker/kernels/fused/evaluator.hpp"
#include "stoker/kernels/fused/product.hpp"
#include "stoker/kernels/matmul/finish.hpp"

namespace stoker::kernels::fused::STOKER_ISA {
namespace {

namespace product = stoker::kernels::matmul::STOKER_ISA;
namespace convolution = stoker::kernels::conv::STOKER_ISA;

/// Input buffers of a program that are bound on the stack of a slice; nothing fuses more.
constexpr std::size_t most_buffers = 64;

/// The output in whose memory the product may lie: each of its elements is written when nobody reads
/// that of the product any more.
std::optional<std::size_t> home_of(const FusedProgram& program) {
  const std::vector<DType> dtypes = program.dtypes();
  const std::vector<bool> needed = needed_values(program);
  std::size_t last_read = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const auto& one = program.code[i];
    const auto* const end = one.operands.begin() + one.function->arity;
    if (needed[program.first_result() + i] && std::find(one.operands.begin(), end, 0) != end)
      last_read = i;
  }
  for (std::size_t o = 0; o < program.outputs.size(); ++o) {
    const std::size_t value = program.outputs[o];
    if (value == 0) return o;
    if (value >= program.first_result() + last_read && dtypes[value] == dtypes[0]) {
      // Another output may be the product itself.
      if (std::ranges::find(program.outputs, 0) == program.outputs.end()) return o;
    }
  }
  return std::nullopt;
}

class Epilogue final : public product::Finish {
 public:
  Epilogue(std::shared_ptr<const Evaluator> whole_rows, std::shared_ptr<const Evaluator> anywhere,
           std::optional<std::size_t> home)
      : whole_rows_{std::move(whole_rows)}, anywhere_{std::move(anywhere)}, home_{home} {}

  [[nodiscard]] std::optional<std::size_t> home() const noexcept override { return home_; }
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override {
    return std::max(whole_rows_->plan().register_bytes, anywhere_->plan().register_bytes);
  }

  void run(const CpuArgs& args, const std::byte* c, std::byte* scratch,
           const product::Elements& elements) const noexcept override {
    const bool whole = elements.columns == elements.step;
    const Evaluator& evaluator = whole ? *whole_rows_ : *anywhere_;
    const Schedule& schedule = evaluator.plan();
    // The product, and the buffers that the kernel takes after a and b.
    const void* inputs[most_buffers];
    inputs[0] = c;
    std::copy_n(args.inputs + 2, schedule.buffers - 1, inputs + 1);
    const CpuArgs bound{inputs, args.outputs, nullptr};
    evaluator.begin(bound, scratch);
    const auto pieces = [&](std::size_t first, std::size_t n, std::size_t each) {
      for (std::size_t at = 0; at < n; at += each)
        evaluator.evaluate(bound, scratch, first + at, std::min(each, n - at), Evaluator::nothing);
    };
    if (whole && elements.columns <= schedule.block) {
      pieces(elements.first, elements.rows * elements.columns,
             schedule.block / elements.columns * elements.columns);
      return;
    }
    for (std::size_t row = 0; row < elements.rows; ++row)
      pieces(elements.first + row * elements.step, elements.columns, schedule.block);
  }

 private:
  std::shared_ptr<const Evaluator> whole_rows_;
  std::shared_ptr<const Evaluator> anywhere_;
  std::optional<std::size_t> home_;
};

/// The plan that `make` gives for an epilogue; rows of the product have `row` elements.
template <class Make>
Result<CpuPlan> plan_with(const FusedProductCall& call, std::size_t row, Make&& make) {
  if (const std::size_t buffers = call.program.buffers().size(); buffers > most_buffers)
    return Error{"fused_product",
                 ErrorCode::limit_exceeded,
                 "more buffers than the CPU binds",
                 {{"requested", std::to_string(buffers)}, {"limit", std::to_string(most_buffers)}}};
  const FusedProgram program = in_chains(call.program);
  Schedule rows = make_part_schedule(program, row);
  const double work = rows.ns_per_element * static_cast<double>(rows.elements);
  STOKER_ASSIGN(std::shared_ptr<const Evaluator> whole_rows, make_evaluator(std::move(rows)));
  STOKER_ASSIGN(std::shared_ptr<const Evaluator> anywhere,
                make_evaluator(make_part_schedule(program, 1)));
  CpuPlan plan = make(std::make_shared<const Epilogue>(std::move(whole_rows), std::move(anywhere),
                                                       home_of(program)));
  plan.cost_ns += work;
  return plan;
}

Result<CpuPlan> plan_matmul(const KernelCall& given, std::span<const TensorSpec>) {
  const auto& call = static_cast<const FusedProductCall&>(given);
  const matmul::Problem problem = matmul::describe({call.inputs.first(2), call.of_product});
  return plan_with(call, static_cast<std::size_t>(problem.n),
                   [&](std::shared_ptr<const product::Finish> finish) {
                     return product::plan_finished(call.dtype(), problem, std::move(finish));
                   });
}

Result<CpuPlan> plan_conv(const KernelCall& given, std::span<const TensorSpec>) {
  const auto& call = static_cast<const FusedProductCall&>(given);
  const TensorSpec& result = call.program.inputs[0].spec;
  const conv::Problem problem =
      conv::describe({call.inputs.first(2), call.of_product}, result.shape);
  return plan_with(call, static_cast<std::size_t>(convolution::row_of(problem)),
                   [&](std::shared_ptr<const product::Finish> finish) {
                     return convolution::plan_finished(call.dtype(), problem, std::move(finish));
                   });
}

}  // namespace

void implement_products(CpuTable& table) {
  table.set(matmul_planner_name, &plan_matmul);
  table.set(conv_planner_name, &plan_conv);
}

}  // namespace stoker::kernels::fused::STOKER_ISA
