#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/transpose/permutation.hpp"

namespace stoker::kernels::transpose {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, std::vector<std::int64_t> axes,
                       bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, shape}},
                     .params = {{"axes", std::move(axes)}},
                     .fills = {{-100, 100}},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_matrix", dtype, Shape{68, 132}, {});
    add(name + "_tiles", dtype, Shape{2, 140, 196}, {0, 2, 1});
    add(name + "_primes", dtype, Shape{67, 131}, {1, 0});
    add(name + "_images_to_planes", dtype, Shape{37, 41, 3}, {2, 0, 1});
    add(name + "_rows", dtype, Shape{5, 6, 7, 8}, {0, 2, 1, 3});
  }
  for (const auto& [label, shape] : cases::awkward_shapes()) add(label, DType::f32, shape, {});
  add("same", DType::f32, Shape{5, 7, 3}, {0, 1, 2});
  add("ones_move", DType::f32, Shape{1, 7, 1, 3}, {1, 0, -1, 2});
  add("wide_in_only", DType::f32, Shape{65, 128}, {});
  add("wide_out_only", DType::f32, Shape{128, 65}, {});
  add("planes_to_images", DType::f32, Shape{3, 37, 41}, {1, 2, 0});
  add("planes_to_images_by_four", DType::f32, Shape{4, 37, 41}, {1, 2, 0});
  add("batched", DType::f32, Shape{3, 17, 33}, {0, 2, 1});
  add("batched_wide", DType::f32, Shape{5, 32, 96}, {0, 2, 1});
  add("heads", DType::f32, Shape{2, 19, 4, 32}, {0, 2, 3, 1});
  add("outer_batch_moves", DType::f32, Shape{6, 20, 5, 24}, {2, 3, 0, 1});
  add("prime_rows", DType::f32, Shape{5, 6, 7, 13}, {2, 1, 0, 3});
  add("rank_8_reversed", DType::f32, Shape{2, 3, 2, 3, 2, 3, 2, 3}, {});
  add("rank_8_tiles", DType::f32, Shape{2, 20, 2, 2, 3, 2, 2, 20}, {0, 7, 4, 3, 5, 2, 6, 1});
  add("rank_8_swaps", DType::u8, Shape{2, 3, 2, 3, 2, 3, 2, 3}, {1, 0, 3, 2, 5, 4, 7, 6});
  add("long_and_narrow", DType::f32, Shape{4099, 2}, {});
  add("many_tiles", DType::u8, Shape{65537, 16, 16}, {0, 2, 1}, true);
  return cases;
}

std::vector<double> reference(const KernelCall& call, const Shape& shape,
                              const std::vector<double>& input) {
  const std::vector<std::size_t> axes = permutation(call).value();
  const Strides in = call.shape().strides();
  const Strides out = shape.strides();
  std::vector<double> result(input.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      at += rest / out[axis] * in[axes[axis]];
      rest %= out[axis];
    }
    result[i] = input[static_cast<std::size_t>(at)];
  }
  return result;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "transpose";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    return std::vector<std::vector<double>>{reference(call, outputs[0].shape, inputs[0])};
  };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::transpose
