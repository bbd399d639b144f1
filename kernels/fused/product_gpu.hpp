// The GPU's versions of products around a fused program.
#pragma once

#include "stoker/kernels/fused/run_time_shader.hpp"
#include "stoker/kernels/fused/shader.hpp"

namespace stoker::kernels::fused {

/// What is decided when the kernel is made. Immutable, shared.
struct ProductParts {
  std::string name;  ///< of the kernel
  FusedProgram program;
  ParamSet of_product;  ///< the parameters of matmul or conv
  std::vector<TensorSpec> inputs;
  TensorSpec product;
  std::vector<TensorSpec> outputs;
};

/// One way for each device. Threads: any; shaders are compiled when a plan first needs them.
class ProductOnGpu {
 public:
  virtual ~ProductOnGpu() = default;
  [[nodiscard]] virtual std::vector<std::shared_ptr<const Shader>> shaders() const = 0;
  [[nodiscard]] virtual Result<GpuPlan> plan(const KernelCall& call,
                                             std::span<const TensorSpec> outputs,
                                             const GpuTraits& traits) = 0;
};

/// Both fail as make_stores() does, and with limit_exceeded where a GPU kernel cannot bind so many
/// buffers.
[[nodiscard]] Result<std::shared_ptr<ProductOnGpu>> matmul_on_gpu(const ProductParts& parts,
                                                                  const ShaderCompiler& compile);
[[nodiscard]] Result<std::shared_ptr<ProductOnGpu>> conv_on_gpu(const ProductParts& parts,
                                                                const ShaderCompiler& compile);

/// The push field by which shaders around a program are told how many elements the product has.
inline constexpr const char* product_count = "fused_count";

/// Binds the program's inputs but for the product, then its outputs, behind what a pass has bound.
void bind_program(const FusedShader& made, std::size_t outputs, GpuPass& pass);
/// Whether a kernel can bind a product's two operands beside these.
[[nodiscard]] Result<void> check_bindings(std::string_view op, std::size_t bound_by_program);

}  // namespace stoker::kernels::fused
