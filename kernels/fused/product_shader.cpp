#include "stoker/kernels/fused/product_shader.hpp"

#include "stoker/kernels/fused/product_gpu.hpp"
#include "stoker/kernels/matmul/texts.hpp"

namespace stoker::kernels::fused {
namespace {

using matmul::Problem;
using matmul::Tiling;

std::string constant(const char* name, std::int64_t value) {
  return "const uint " + std::string{name} + " = " + std::to_string(value) + "u;\n";
}

std::string constants(const char* name, std::span<const std::int64_t> values, std::int64_t rest) {
  std::string text = "const uint " + std::string{name} + "[6] = uint[6](";
  for (std::size_t i = 0; i < 6; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(i < values.size() ? values[i] : rest) + "u";
  return text + ");\n";
}

std::int64_t fours(std::int64_t extent) { return extent % 4 == 0 ? 1 : 0; }

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Columns of C that one group computes: must match the shaders.
std::int64_t columns_of_row(const Problem& p) { return p.transpose_b ? 8 : 64; }

/// What push fields and constants are in the shaders of kernels/matmul.
std::string extents_text(const Problem& p, const Tiling* tiling) {
  std::string text = constant("n", p.n) + constant("k", p.k) + constant("batches", p.batches) +
                     constant("parts", 1) + constant("part_k", p.k);
  if (tiling) {
    text += constant("m", p.m) + constant("tiles_m", ceil_div(p.m, tiling->rows)) +
            constant("tiles_n", ceil_div(p.n, tiling->columns)) +
            constant("TRANSPOSE_A", p.transpose_a ? 1 : 0) +
            constant("TRANSPOSE_B", p.transpose_b ? 1 : 0) +
            constant("VECTOR_A", fours(p.transpose_a ? p.m : p.k)) +
            constant("VECTOR_B", fours(p.transpose_b ? p.k : p.n)) +
            constant("VECTOR_C", fours(p.n));
  } else {
    text += constant("groups", ceil_div(p.n, columns_of_row(p))) +
            constant("VECTOR", fours(p.transpose_b ? p.k : p.n));
  }
  const std::size_t rank = p.batch_axes.rank();
  return text + constants("extents", p.batch_axes.extents(), 1) +
         constants("a_steps", std::span{p.a_steps}.first(rank), 0) +
         constants("b_steps", std::span{p.b_steps}.first(rank), 0);
}

ProductShader around(const FusedShader& stores, const Problem& p, DType dtype,
                     const Tiling* tiling) {
  ProductShader result{stores, tiling};
  Shader& shader = result.made.shader;
  const std::string type{to_string(dtype)};
  shader.bindings.insert(shader.bindings.begin(), {{.name = "a", .type = type, .writes = false},
                                                   {.name = "b", .type = type, .writes = false}});
  shader.push = {{product_count}};
  ShaderVariant& variant = shader.variants[0];
  variant.types.emplace_back("T", dtype);
  variant.defines.emplace_back("FUSED", "1");
  std::string body = (p.transpose_b ? "#define DOTS\n" : "") + std::string{matmul::row_text()};
  if (tiling) {
    shader.local_size = matmul::tiled(*tiling, "").local_size;
    for (auto& define : matmul::tiling_defines(*tiling)) variant.defines.push_back(define);
    body = matmul::tiled_text();
  }
  shader.source += extents_text(p, tiling) + body;
  name_by_text(shader);
  if (tiling) shader.name += std::string{"_"} + tiling->name;  // which the text does not say
  return result;
}

}  // namespace

Result<std::vector<ProductShader>> make_product_shaders(const FusedProgram& program,
                                                        const Problem& problem) {
  STOKER_ASSIGN(const FusedShader stores, make_stores(program, 0, product_count));
  const DType dtype = program.inputs[0].spec.dtype;
  STOKER_TRY(check_bindings("fused_matmul", stores.shader.bindings.size()));
  std::vector<ProductShader> shaders;
  if (problem.m == 1) {
    shaders.push_back(around(stores, problem, dtype, nullptr));
    return shaders;
  }
  for (const Tiling& tiling : matmul::tilings)
    if (matmul::suits(tiling, matmul::extents_of(problem, size_of(dtype))))
      shaders.push_back(around(stores, problem, dtype, &tiling));
  return shaders;
}

std::uint64_t product_groups(const ProductShader& shader, const Problem& p) noexcept {
  const std::int64_t each =
      shader.tiling ? ceil_div(p.m, shader.tiling->rows) * ceil_div(p.n, shader.tiling->columns)
                    : ceil_div(p.n, columns_of_row(p));
  return static_cast<std::uint64_t>(each * p.batches);
}

}  // namespace stoker::kernels::fused
