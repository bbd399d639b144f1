#include "stoker/kernels/fft/options.hpp"
#include "stoker/kernels/fft/radices.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::fft {
namespace {

// A pass takes as many steps for each element as its radix, and rounds as often.
constexpr std::int64_t largest_gpu_radix = 128;
// Eighths of a turn and products with a radix are 32-bit numbers.
constexpr std::int64_t longest_gpu_row = std::int64_t{1} << 22;

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "fft_pass";
  shader.file = "fft/pass.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"total"}, {"n"}, {"before"}, {"radix"}, {"rest"}, {"last"}};
  shader.constants = {{"inverse"}};
  shader.variants = rules::variants_of("T", {DType::f32, DType::f64});
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> plan(const std::string& name, const Shader& shader, const KernelCall& call,
                     bool inverse) {
  STOKER_TRY(rules::gpu_indexable(name, call.inputs));
  STOKER_ASSIGN(const Rows rows, rows_of(name, call.inputs[0]));
  auto radices = radices_of(rows.n, largest_gpu_radix);
  if (!radices || rows.n > longest_gpu_row)
    return Error{
        name,
        ErrorCode::unsupported,
        "the GPU version takes lengths up to 2^22 without primes above 128; the CPU device "
        "computes this",
        {{"length", std::to_string(rows.n)}}};
  if (radices->empty()) radices->push_back(1);
  GpuPlan plan;
  const std::size_t bytes = call.inputs[0].bytes();
  plan.scratch_bytes.assign(std::min<std::size_t>(radices->size() - 1, 2), bytes);
  std::int64_t before = 1;
  for (std::size_t i = 0; i < radices->size(); ++i) {
    const std::int64_t radix = (*radices)[i];
    const bool last = i + 1 == radices->size();
    GpuPass pass;
    pass.shader = &shader;
    pass.variant = to_string(call.dtype());
    pass.bindings = {i == 0 ? input(0) : scratch(static_cast<std::uint32_t>((i - 1) % 2)),
                     last ? output() : scratch(static_cast<std::uint32_t>(i % 2))};
    for (const std::int64_t value :
         {rows.rows * rows.n, rows.n, before, radix, rows.n / before / radix, std::int64_t{last}})
      pass.push.u32(static_cast<std::uint64_t>(value));
    pass.constants = {inverse};
    pass.groups =
        linear_groups_for(static_cast<std::uint64_t>(rows.rows * rows.n), shader.local_size[0]);
    plan.passes.push_back(std::move(pass));
    before *= radix;
  }
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const auto shader = make_shader();
  for (const bool inverse : {false, true}) {
    auto kernel = inverse ? kernel_of<Ifft>() : kernel_of<Fft>();
    kernel.family = "transforms";
    kernel.summary = inverse ? "x[j] = 1/n Σ X[k]·e^(2πi·jk/n) over rows of n pairs, [..., n, 2]"
                             : "X[k] = Σ x[j]·e^(-2πi·jk/n) over rows of n pairs, [..., n, 2]";
    kernel.source =
        "C. Van Loan, Computational Frameworks for the Fast Fourier Transform, SIAM 1992";
    kernel.dtypes = {DType::f32, DType::f64};
    kernel.infer = [name = kernel.name](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
      STOKER_TRY(rows_of(name, call.inputs[0]));
      return std::vector{call.inputs[0]};
    };
    kernel.shaders = {shader};
    kernel.gpu = [name = kernel.name, shader, inverse](
                     const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
      return plan(name, *shader, call, inverse);
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::fft
