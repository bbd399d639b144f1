#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::concatenate {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, const std::vector<Shape>& shapes,
                       std::int64_t axis, bool heavy = false) {
    std::vector<TensorSpec> inputs;
    for (const Shape& shape : shapes) inputs.push_back({dtype, shape});
    cases.push_back({.label = std::move(label),
                     .inputs = std::move(inputs),
                     .params = {{"axis", axis}},
                     .fills = {cases::telling(dtype)},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_rows", dtype, {Shape{3, 16}, Shape{5, 16}, Shape{1, 16}}, 0);
    add(name + "_columns", dtype, {Shape{37, 8}, Shape{37, 12}}, 1);
    add(name + "_prime_columns", dtype, {Shape{37, 3}, Shape{37, 1}, Shape{37, 13}}, -1);
    add(name + "_middle", dtype, {Shape{3, 4, 5}, Shape{3, 7, 5}}, 1);
    add(name + "_stacked", dtype, {Shape{67, 1}, Shape{67, 1}, Shape{67, 1}}, 1);
    add(name + "_lines", dtype, {Shape{13}, Shape{1031}}, 0);
  }
  for (const auto& [label, shape] : cases::awkward_shapes())
    if (shape.rank() > 0) add(label, DType::f32, {shape, shape}, -1);
  add("one_input", DType::f32, {Shape{7, 13}}, 1);
  add("some_empty", DType::f32, {Shape{0, 4}, Shape{3, 4}, Shape{0, 4}, Shape{2, 4}}, 0);
  add("all_empty", DType::f32, {Shape{0, 4}, Shape{0, 4}}, 0);
  add("no_rows", DType::f32, {Shape{0, 4}, Shape{0, 3}}, 1);
  add("sixteen", DType::f32, std::vector<Shape>(16, Shape{9, 3}), 1);
  add("sixteen_lines", DType::u8, std::vector<Shape>(16, Shape{9}), 0);
  add("middle_of_rank_8", DType::f32, std::vector<Shape>(3, Shape{2, 1, 3, 2, 1, 2, 3, 2}), 4);
  add("runs_of_7_and_70_bytes", DType::u8, {Shape{301, 7}, Shape{301, 70}, Shape{301, 9}}, 1);
  add("long_rows", DType::f32, {Shape{5, 4000}, Shape{5, 3}, Shape{5, 2001}}, 1);
  add("long_line", DType::u8, {Shape{5}, Shape{600011}}, 0);
  add("large_short_rows", DType::f32, {Shape{700001, 3}, Shape{700001, 4}}, 1, true);
  add("large_long_rows", DType::f32, {Shape{50, 70001}, Shape{50, 20000}}, 1, true);
  return cases;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "concatenate";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const std::size_t axis = cases::plain_axis(call.params.integer("axis"), call.shape().rank());
    std::vector<double> result(outputs[0].elements());
    cases::Coordinates walk{outputs[0].shape};
    for (double& element : result) {
      std::vector<std::int64_t> at = walk.at();
      std::size_t from = 0;
      while (at[axis] >= call.shape(from)[axis]) at[axis] -= call.shape(from++)[axis];
      element = inputs[from][cases::position(call.shape(from), at)];
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::concatenate
