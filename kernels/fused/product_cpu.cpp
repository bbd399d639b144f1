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

/// The input that differs along one axis of the program only, and where it stands among the kernel's inputs.
std::optional<product::ShortFinish::Bias> bias_of(const FusedProgram& program, std::size_t input) {
  const FusedProgram::Input& one = program.inputs[input];
  if (one.index || one.offset != 0 || one.spec.dtype != DType::f32) return std::nullopt;
  const Layout layout = layout_of(program, needed_values(program));
  std::optional<product::ShortFinish::Bias> bias;
  std::int64_t inner = 1;
  for (std::size_t axis = layout.rank; axis-- > 0; inner *= layout.extents[axis]) {
    if (layout.strides[input][axis] == 0) continue;
    if (bias || layout.strides[input][axis] != 1) return std::nullopt;
    const auto before = std::count_if(program.inputs.begin(), program.inputs.begin() + input,
                                      [](const auto& other) { return !other.index; });
    bias = {static_cast<std::size_t>(before) + 1, layout.extents[axis], inner};
  }
  return bias;
}

std::optional<product::ShortFinish> short_form(const FusedProgram& program) {
  if (program.code.empty() || program.code.size() > 2 || program.outputs.size() != 1)
    return std::nullopt;
  const std::size_t first = program.first_result();
  if (program.outputs[0] != first + program.code.size() - 1) return std::nullopt;
  const std::vector<DType> dtypes = program.dtypes();
  if (std::ranges::any_of(dtypes, [](DType dtype) { return dtype != DType::f32; }))
    return std::nullopt;
  const auto is_zero = [&](std::size_t value) {
    return value >= program.inputs.size() && value < first &&
           program.constants[value - program.inputs.size()].bits == 0;
  };
  product::ShortFinish made;
  std::size_t held = 0;  // what the product has become
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const auto& [function, result, operands] = program.code[i];
    if (i == 0 && function->name == "add") {
      const bool swapped = operands[1] == held;
      const std::size_t other = operands[swapped ? 0 : 1];
      if (operands[swapped ? 1 : 0] != held || other == held || other >= program.inputs.size())
        return std::nullopt;
      made.bias = bias_of(program, other);
      if (!made.bias) return std::nullopt;
    } else if (operands[0] == held &&
               (function->name == "relu" || (function->name == "max" && is_zero(operands[1])))) {
      made.relu = true;
    } else {
      return std::nullopt;
    }
    held = first + i;
  }
  return made;
}

class Epilogue final : public product::Finish {
 public:
  Epilogue(std::shared_ptr<const Evaluator> whole_rows, std::shared_ptr<const Evaluator> anywhere,
           std::optional<std::size_t> home, std::optional<product::ShortFinish> in_short)
      : whole_rows_{std::move(whole_rows)},
        anywhere_{std::move(anywhere)},
        home_{home},
        in_short_{in_short} {}

  [[nodiscard]] std::optional<std::size_t> home() const noexcept override { return home_; }
  [[nodiscard]] std::optional<product::ShortFinish> in_short() const noexcept override {
    return in_short_;
  }
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
  std::optional<product::ShortFinish> in_short_;
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
                                                       home_of(program), short_form(program)));
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
