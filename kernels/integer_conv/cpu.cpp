#include "stoker/kernels/integer_conv/onednn.hpp"
#include "stoker/kernels/integer_conv/windows.hpp"
#include "stoker/kernels/integer_matmul/onednn.hpp"

namespace stoker::kernels::integer_conv::STOKER_ISA {
namespace {

/// limit_exceeded where the canvas, counted without wrapping, is far longer than what it is made of.
Result<void> check_canvas(const Problem& problem, const KernelCall& call) {
  double elements = static_cast<double>(problem.conv.images * problem.channels());
  for (std::size_t i = 0; i < 3; ++i) {
    const conv::Axis axis = problem.axis(i);
    elements *= static_cast<double>((axis.out - 1) * axis.stride + axis.reach());
  }
  const double most = std::max(
      0x1p30, 64 * static_cast<double>(call.shape().elements() + problem.conv.y_elements() +
                                       problem.conv.k_elements()));
  if (elements <= most) return {};
  return Error{"integer_conv",
               ErrorCode::limit_exceeded,
               "the input would become too long by padding and dilation: input " +
                   call.inputs[0].to_string() + ", kernel " + call.inputs[1].to_string(),
               {{"expected", "at most " + std::to_string(most) + " elements"},
                {"got", std::to_string(elements)}}};
}

CpuPlan plan_of(const Problem& problem) {
  // Below, making and calling the library's code costs more than it gains.
  constexpr double onednn_work = 1 << 15;
  if (problem.conv.work() >= onednn_work && integer_matmul::STOKER_ISA::is_library_exact())
    if (auto plan = onednn_plan(problem)) return *std::move(plan);
  return windows_plan(problem);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Problem problem = describe(call, outputs[0].shape);
  CpuPlan made;
  if (problem.terms() == 0) {
    made.stages.push_back({1, [bytes = outputs[0].bytes()](const CpuArgs& args, std::uint32_t) {
                             std::fill_n(args.out<std::byte>(), bytes, std::byte{0});
                           }});
    return made;
  }
  STOKER_TRY(check_canvas(problem, call));
  made = plan_of(problem);
  made.cost_ns = problem.conv.work() * 0.02 + static_cast<double>(problem.conv.y_elements()) + 1000;
  return made;
}

}  // namespace

void implement(CpuTable& table) { table.set("integer_conv", &plan); }

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
