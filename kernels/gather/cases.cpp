#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::gather {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, DType index, Shape x, Shape indices,
                       std::vector<std::int64_t> axes = {}, bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, x}, {index, indices}},
                     .params = {{"axes", std::move(axes)}},
                     .fills = {cases::telling(dtype), {-5, 40}},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_elements", dtype, DType::s32, Shape{31, 29}, Shape{67, 2});
    add(name + "_rows", dtype, DType::s64, Shape{31, 12}, Shape{5, 7, 1});
    add(name + "_prime_rows", dtype, DType::u8, Shape{7, 31, 13}, Shape{11, 2});
    add(name + "_last_axis", dtype, DType::s32, Shape{5, 7, 37}, Shape{13, 1}, {-1});
    add(name + "_middle_axis", dtype, DType::s32, Shape{5, 37, 8}, Shape{13, 1}, {1});
    add(name + "_pairs", dtype, DType::s32, Shape{31, 2}, Shape{67, 1});
  }
  for (const DType index : cases::index_dtypes()) {
    const std::string name{to_string(index)};
    add(name + "_indices", DType::f32, index, Shape{20, 30, 3}, Shape{33, 2});
    cases.push_back({.label = name + "_far_outside",
                     .inputs = {{DType::f32, Shape{9, 8}}, {index, Shape{40, 1}}},
                     .fills = {{}, {is_signed(index) ? -120.0 : 0.0, 120}}});
  }
  cases.push_back({.label = "beyond_32_bits",
                   .inputs = {{DType::f32, Shape{9, 8}}, {DType::s64, Shape{40, 1}}},
                   .fills = {{}, {-1e15, 1e15}}});
  cases.push_back({.label = "unsigned_beyond_32_bits",
                   .inputs = {{DType::f32, Shape{9, 8}}, {DType::u64, Shape{40, 1}}},
                   .fills = {{}, {0, 1e15}}});
  add("axes_turned", DType::f32, DType::s32, Shape{9, 8, 7, 6}, Shape{17, 2}, {3, 1});
  add("outer_axes_stay", DType::f32, DType::s32, Shape{9, 8, 7, 6}, Shape{2, 17, 2}, {1, 2});
  add("every_axis", DType::f32, DType::s32, Shape{3, 4, 5}, Shape{4100, 3});
  add("no_coordinates", DType::f32, DType::s32, Shape{3, 4}, Shape{0});
  add("no_coordinates_twice", DType::f32, DType::s32, Shape{3, 4}, Shape{2, 0});
  add("scalar", DType::f32, DType::s32, Shape{}, Shape{5, 0});
  add("one_vector", DType::f32, DType::s32, Shape{30, 5}, Shape{2});
  add("no_vectors", DType::f32, DType::s32, Shape{30, 5}, Shape{0, 2});
  add("nothing_in_rows", DType::f32, DType::s32, Shape{30, 0}, Shape{4, 1});
  add("rank_8", DType::f32, DType::s32, Shape{2, 3, 2, 3, 2, 3, 2, 3}, Shape{3, 2, 4},
      {6, 1, 3, 4});
  add("rank_8_rest", DType::f64, DType::s32, Shape{2, 3, 2, 3, 2, 3, 2, 3}, Shape{5, 3}, {7, 3, 5});
  add("long_row", DType::f32, DType::s32, Shape{3, 300007}, Shape{2, 1});
  add("many_rows", DType::f32, DType::s32, Shape{40, 3}, Shape{100003, 1}, {}, true);
  add("large", DType::f32, DType::s32, Shape{40, 1024}, Shape{5000, 1}, {}, true);
  return cases;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "gather";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    std::vector<double> result(outputs[0].elements());
    cases::Coordinates walk{outputs[0].shape};
    for (double& element : result) {
      element = inputs[0][cases::place_of_row_element(call, inputs[1], walk.at())];
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::gather
