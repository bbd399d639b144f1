#include "stoker/kernels/fused/product_shader.hpp"

#include <algorithm>

#include "stoker/kernels/fused/product_gpu.hpp"
#include "stoker/kernels/matmul/shader_sources.hpp"

namespace stoker::kernels::fused {
namespace {

using matmul::Problem;
using matmul::Tiling;

std::string constant(const char* name, std::int64_t value) {
  return "const uint " + std::string{name} + " = " + std::to_string(value) + "u;\n";
}

/// A single number would not be an array.
std::uint32_t array_of(std::size_t rank) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(rank, 2));
}

std::int64_t fours(std::int64_t extent) { return extent % 4 == 0 ? 1 : 0; }

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Columns of C that one group computes: must match the shaders.
std::int64_t columns_of_row(const Problem& p) { return p.transpose_b ? 8 : 64; }

/// What the shaders of kernels/matmul are given: fields, and of products of single matrices nothing for the
/// batches.
std::vector<PushField> fields_of(const Problem& p, const Tiling* tiling) {
  std::vector<PushField> fields = {{"n"}, {"k"}};
  if (tiling)
    fields.insert(fields.end(), {{"m"}, {"tiles_m"}, {"tiles_n"}});
  else
    fields.push_back({"groups"});
  if (p.batches == 1) return fields;
  const std::uint32_t axes = array_of(p.batch_axes.rank());
  fields.push_back({"batches"});
  for (const char* name : {"extents", "a_steps", "b_steps"})
    fields.push_back({name, PushType::u32, axes});
  return fields;
}

/// What the other fields and the constants of those shaders are.
std::string classes_text(const Problem& p, const Tiling* tiling) {
  std::string text = constant("parts", 1) + "#define part_k k\n";
  if (p.batches == 1)
    text += constant("batches", 1) + "#define AXES 0\n";
  else
    text += "#define AXES " + std::to_string(array_of(p.batch_axes.rank())) + "\n";
  if (!tiling) return text + constant("VECTOR", fours(p.transpose_b ? p.k : p.n));
  return text + constant("TRANSPOSE_A", p.transpose_a ? 1 : 0) +
         constant("TRANSPOSE_B", p.transpose_b ? 1 : 0) +
         constant("VECTOR_A", fours(p.transpose_a ? p.m : p.k)) +
         constant("VECTOR_B", fours(p.transpose_b ? p.k : p.n)) + constant("VECTOR_C", fours(p.n));
}

ProductShader around(const FusedShader& stores, const Problem& p, DType dtype,
                     const Tiling* tiling) {
  ProductShader result{stores, tiling};
  Shader& shader = result.made.shader;
  const std::string type{to_string(dtype)};
  shader.bindings.insert(shader.bindings.begin(), {{.name = "a", .type = type, .writes = false},
                                                   {.name = "b", .type = type, .writes = false}});
  const std::vector<PushField> fields = fields_of(p, tiling);
  shader.push.insert(shader.push.begin(), fields.begin(), fields.end());
  ShaderVariant& variant = shader.variants[0];
  variant.types.emplace_back("T", dtype);
  variant.defines.emplace_back("FUSED", "1");
  std::string body = (p.transpose_b ? "#define DOTS\n" : "") + std::string{matmul::row_text()};
  if (tiling) {
    shader.local_size = matmul::tiled(*tiling, "").local_size;
    for (auto& define : matmul::tiling_defines(*tiling)) variant.defines.push_back(define);
    body = matmul::tiled_text();
  }
  shader.source += classes_text(p, tiling) + body;
  name_by_text(shader);
  if (tiling) shader.name += std::string{"_"} + tiling->name;  // which the text does not say
  return result;
}

}  // namespace

Result<std::vector<ProductShader>> make_product_shaders(const FusedProgram& program,
                                                        const Problem& problem) {
  STOKER_ASSIGN(const FusedShader stores, make_stores(program, 0));
  const DType dtype = program.inputs[0].spec.dtype;
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

PushValues product_values(const ProductShader& shader, const Problem& p) {
  PushValues values;
  values.u32(p.n).u32(p.k);
  if (const Tiling* const tiling = shader.tiling)
    values.u32(p.m).u32(ceil_div(p.m, tiling->rows)).u32(ceil_div(p.n, tiling->columns));
  else
    values.u32(ceil_div(p.n, columns_of_row(p)));
  if (p.batches == 1) return values;
  const std::size_t rank = p.batch_axes.rank();
  const std::uint32_t axes = array_of(rank);
  return values.u32(p.batches)
      .u32s(p.batch_axes.extents(), axes, 1)
      .u32s(std::span{p.a_steps}.first(rank), axes)
      .u32s(std::span{p.b_steps}.first(rank), axes);
}

std::uint64_t product_groups(const ProductShader& shader, const Problem& p) noexcept {
  const std::int64_t each =
      shader.tiling ? ceil_div(p.m, shader.tiling->rows) * ceil_div(p.n, shader.tiling->columns)
                    : ceil_div(p.n, columns_of_row(p));
  return static_cast<std::uint64_t>(each * p.batches);
}

}  // namespace stoker::kernels::fused
