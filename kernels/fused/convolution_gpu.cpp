// Convolutions around a fused program: the passes of kernels/conv, of which the one that stores is put
// together anew, around the program's text. It is given what that one is, and then the program's words.
#include <optional>

#include "stoker/kernels/conv/gpu.hpp"
#include "stoker/kernels/conv/shader_sources.hpp"
#include "stoker/kernels/fused/product_gpu.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::fused {
namespace {

/// A pass that stores nothing itself.
struct Storing {
  FusedShader made;  // its shader is moved out
  std::unique_ptr<RunTimeShader> compiled;

  Storing(const FusedShader& stores, const GpuPass& pass, std::string_view body,
          const ShaderCompiler& compile)
      : made{stores} {
    const Shader& plain = *pass.shader;
    Shader& shader = made.shader;
    shader.bindings.insert(shader.bindings.begin(), plain.bindings.begin(),
                           plain.bindings.end() - 1);
    shader.push.insert(shader.push.begin(), plain.push.begin(), plain.push.end());
    shader.constants = plain.constants;
    shader.local_size = plain.local_size;
    ShaderVariant& variant = shader.variants[0];
    for (const auto& type : plain.variant(pass.variant)->types)
      if (type.first == "T") variant.types.push_back(type);
    variant.defines.emplace_back("FUSED", "1");
    shader.source += body;
    name_by_text(shader);
    compiled = std::make_unique<RunTimeShader>(std::move(shader), compile);
  }
};

class Convolution final : public ProductOnGpu {
 public:
  explicit Convolution(const ProductParts& parts)
      : name_{parts.name}, of_product_{parts.of_product}, product_{parts.product} {}

  Result<void> make(const ProductParts& parts, const ShaderCompiler& compile) {
    STOKER_ASSIGN(const FusedShader stores, make_stores(parts.program, 0));
    // In one pass, and in parts that are added up, which devices with many units prefer.
    const std::span<const TensorSpec> operands = std::span{parts.inputs}.first(2);
    STOKER_ASSIGN(const GpuPlan whole, plain_plan(operands, {.compute_units = 0}));
    STOKER_ASSIGN(const GpuPlan cut, plain_plan(operands, {.compute_units = 1 << 20}));
    const bool tiled = whole.passes[0].shader == plain_.tiled.get();
    whole_.emplace(stores, whole.passes[0], tiled ? conv::tiled_text() : conv::direct_text(),
                   compile);
    if (cut.passes.size() == 2) sums_.emplace(stores, cut.passes[1], conv::sums_text(), compile);
    return {};
  }

  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> shaders() const override {
    std::vector<std::shared_ptr<const Shader>> all{whole_->compiled->shader()};
    if (sums_) {
      all.push_back(sums_->compiled->shader());
      all.push_back(plain_.tiled);
    }
    return all;
  }

  [[nodiscard]] Result<GpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs,
                                     const GpuTraits& traits) override {
    STOKER_TRY(rules::gpu_indexable(name_, outputs));
    STOKER_ASSIGN(GpuPlan plan, plain_plan(call.inputs.first(2), traits));
    GpuPass& last = plan.passes.back();
    const bool cut = plan.passes.size() == 2;
    const Storing& storing = cut ? *sums_ : *whole_;
    STOKER_TRY(storing.compiled->compiled(name_));
    last.shader = storing.compiled->shader().get();
    last.variant = storing.compiled->variant();
    last.bindings.pop_back();
    bind_program(storing.made, outputs.size(), last);
    return plan;
  }

 private:
  [[nodiscard]] Result<GpuPlan> plain_plan(std::span<const TensorSpec> operands,
                                           const GpuTraits& traits) const {
    return conv::gpu_plan(plain_, {operands, of_product_}, product_, traits);
  }

  const conv::GpuShaders plain_ = conv::GpuShaders::shared().fusable();
  const std::string name_;
  const ParamSet of_product_;
  const TensorSpec product_;
  std::optional<Storing> whole_;
  std::optional<Storing> sums_;
};

}  // namespace

Result<std::shared_ptr<ProductOnGpu>> conv_on_gpu(const ProductParts& parts,
                                                  const ShaderCompiler& compile) {
  const auto made = std::make_shared<Convolution>(parts);
  STOKER_TRY(made->make(parts, compile));
  return std::shared_ptr<ProductOnGpu>{made};
}

}  // namespace stoker::kernels::fused
