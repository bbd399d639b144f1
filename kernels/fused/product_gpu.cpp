#include "stoker/kernels/fused/product_gpu.hpp"

#include <algorithm>

#include "stoker/kernels/fused/product_shader.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::fused {
namespace {

/// One shader for each tiling, of which the device's traits choose.
class Matmul final : public ProductOnGpu {
 public:
  Matmul(const ProductParts& parts, const matmul::Problem& problem,
         std::vector<ProductShader> shaders, const ShaderCompiler& compile)
      : name_{parts.name}, problem_{problem}, bytes_{size_of(parts.product.dtype)} {
    for (ProductShader& shader : shaders) {
      compiled_.push_back(std::make_unique<RunTimeShader>(std::move(shader.made.shader), compile));
      ways_.push_back(std::move(shader));
    }
  }

  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> shaders() const override {
    std::vector<std::shared_ptr<const Shader>> all;
    for (const auto& one : compiled_) all.push_back(one->shader());
    return all;
  }

  [[nodiscard]] Result<GpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs,
                                     const GpuTraits& traits) override {
    STOKER_TRY(rules::gpu_indexable(name_, call.inputs));
    STOKER_TRY(rules::gpu_indexable(name_, outputs));
    const std::size_t way = choose(traits);
    STOKER_TRY(compiled_[way]->compiled(name_));
    GpuPass pass;
    pass.shader = compiled_[way]->shader().get();
    pass.variant = compiled_[way]->variant();
    pass.bindings = {input(problem_.swapped ? 1 : 0), input(problem_.swapped ? 0 : 1)};
    pass.push = product_values(ways_[way], problem_);
    bind_program(ways_[way].made, outputs.size(), pass);
    pass.groups = linear_groups(product_groups(ways_[way], problem_));
    const matmul::Tiling* const tiling = ways_[way].tiling;
    pass.rounds = tiling ? tiling->rounds(problem_.k) : matmul::row_rounds(problem_.k);
    return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
  }

 private:
  [[nodiscard]] std::size_t choose(const GpuTraits& traits) const {
    if (!ways_[0].tiling) return 0;
    const matmul::Tiling* const wanted =
        &matmul::tilings[matmul::choose_tiling(matmul::extents_of(problem_, bytes_), traits)];
    return static_cast<std::size_t>(std::ranges::find(ways_, wanted, &ProductShader::tiling) -
                                    ways_.begin());
  }

  const std::string name_;
  const matmul::Problem problem_;
  const std::size_t bytes_;
  std::vector<ProductShader> ways_;  // their shaders are moved out
  std::vector<std::unique_ptr<RunTimeShader>> compiled_;
};

}  // namespace

Result<std::shared_ptr<ProductOnGpu>> matmul_on_gpu(const ProductParts& parts,
                                                    const ShaderCompiler& compile) {
  const matmul::Problem problem =
      matmul::describe({std::span{parts.inputs}.first(2), parts.of_product});
  if (problem.k == 0)
    return Error{parts.name, ErrorCode::invalid_argument, "a product of nothing is zeros"};
  STOKER_ASSIGN(std::vector<ProductShader> shaders, make_product_shaders(parts.program, problem));
  return std::shared_ptr<ProductOnGpu>{
      std::make_shared<Matmul>(parts, problem, std::move(shaders), compile)};
}

void bind_program(const FusedShader& made, std::size_t outputs, GpuPass& pass) {
  // The program's buffer 0 is the product; its others come after the product's two operands.
  for (const std::uint32_t number : made.inputs) pass.bindings.push_back(input(number + 1));
  for (std::uint32_t o = 0; o < outputs; ++o) pass.bindings.push_back(output(o));
  pass.push.u32s(made.words);
}

}  // namespace stoker::kernels::fused
