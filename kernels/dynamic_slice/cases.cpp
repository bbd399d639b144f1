#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::dynamic_slice {
namespace {

using List = std::vector<std::int64_t>;

/// A tensor, the box's lengths and, for dynamic_slice, its strides.
struct NamedBox {
  std::string label;
  Shape shape;
  List lengths;
  List strides = {};
  bool heavy = false;
};

std::vector<NamedBox> boxes() {
  return {{"row", Shape{37, 12}, {1, 12}},
          {"rows", Shape{37, 12}, {5, 12}},
          {"columns", Shape{37, 13}, {37, 5}},
          {"middle", Shape{7, 31, 13}, {2, 9, 3}},
          {"all", Shape{7, 13}, {7, 13}},
          {"element", Shape{31}, {1}},
          {"line", Shape{4099}, {4001}},
          {"line_by_fours", Shape{4096}, {1024}},
          {"scalar", Shape{}, {}},
          {"ones", Shape{1, 5, 1}, {1, 2, 1}},
          {"cache_entry", Shape{2, 4, 30, 16}, {2, 4, 1, 16}},
          {"rank_8", Shape{2, 3, 2, 3, 2, 3, 2, 3}, {1, 2, 2, 1, 2, 2, 1, 2}},
          {"long_row", Shape{3, 300007}, {2, 299000}},
          {"past_the_cache", Shape{2100, 2101}, {2099, 2100}, {}, true}};
}

void add(std::vector<KernelCase>& cases, const NamedBox& box, DType dtype, DType index, bool puts) {
  KernelCase one{.label = std::string{to_string(dtype)} + "_" + std::string{to_string(index)} +
                          "_" + box.label,
                 .inputs = {{dtype, box.shape}},
                 .heavy = box.heavy};
  // Up to far outside; half of the small ones stay inside.
  const Fill starts{-3, 12};
  if (puts) {
    one.inputs.push_back({dtype, Shape::make(box.lengths)});
    one.fills = {cases::telling(dtype), cases::telling(dtype), starts};
  } else {
    one.params = {{"lengths", box.lengths}, {"strides", box.strides}};
    one.fills = {cases::telling(dtype), starts};
  }
  one.inputs.push_back({index, Shape{static_cast<std::int64_t>(box.shape.rank())}});
  cases.push_back(std::move(one));
}

std::vector<KernelCase> all_cases(bool puts) {
  std::vector<KernelCase> cases;
  for (const DType dtype : rules::all_dtypes())
    for (const NamedBox& box : boxes())
      if (dtype == DType::f32 || box.label == "rows" || box.label == "columns" ||
          box.label == "middle")
        add(cases, box, dtype, DType::s32, puts);
  for (const DType index : cases::index_dtypes()) {
    if (index != DType::s32) add(cases, boxes()[3], DType::f32, index, puts);
    // Beyond 32 bits where the dtype can.
    const double far = size_of(index) == 8 ? 1e15 : 120;
    add(cases, {"far_outside", Shape{7, 31, 13}, {2, 9, 3}}, DType::f32, index, puts);
    cases.back().fills.back() = {is_signed(index) ? -far : 0, far};
  }
  if (puts) {
    add(cases, {"nothing", Shape{5, 7}, {0, 3}}, DType::f32, DType::s32, puts);
    add(cases, {"nothing_into_nothing", Shape{0, 7}, {0, 3}}, DType::f32, DType::s32, puts);
    return cases;
  }
  const NamedBox strided[] = {{"columns_by_2", Shape{37, 13}, {37, 9}, {1, 2}},
                              {"rows_by_3", Shape{37, 12}, {20, 12}, {3, 1}},
                              {"both", Shape{37, 13}, {20, 9}, {4, 3}},
                              {"step_past_the_length", Shape{37, 13}, {5, 3}, {9, 1}},
                              {"line_by_2", Shape{4099}, {4001}, {2}},
                              {"rank_8_by_2",
                               Shape{2, 3, 2, 3, 2, 3, 2, 3},
                               {2, 3, 2, 3, 2, 3, 2, 3},
                               {1, 2, 2, 1, 1, 2, 1, 2}}};
  for (const NamedBox& box : strided)
    for (const DType dtype : {DType::f32, DType::u8, DType::f64})
      add(cases, box, dtype, DType::s32, puts);
  return cases;
}

/// Where the box begins along each axis.
List starts_of(const Shape& tensor, const List& lengths, const std::vector<double>& given) {
  List starts;
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis)
    starts.push_back(cases::clamped_index(given[axis], tensor[axis] - lengths[axis] + 1));
  return starts;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite slice;
  slice.kernel = "dynamic_slice";
  slice.cases = all_cases(false);
  slice.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const Shape& x = call.shape();
    const List& strides = call.params.integers("strides");
    const List starts = starts_of(x, call.params.integers("lengths"), inputs[1]);
    std::vector<double> result(outputs[0].elements());
    cases::Coordinates walk{outputs[0].shape};
    for (double& element : result) {
      List at = walk.at();
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        at[axis] = starts[axis] + at[axis] * (strides.empty() ? 1 : strides[axis]);
      element = inputs[0][cases::position(x, at)];
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  slice.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(slice));

  KernelSuite put;
  put.kernel = "put_slice";
  put.cases = all_cases(true);
  put.reference = [](const KernelCall& call, std::span<const TensorSpec>,
                     const std::vector<std::vector<double>>& inputs) {
    const Shape& x = call.shape();
    const Shape& part = call.shape(1);
    std::vector<double> result = inputs[0];
    if (part.empty()) return std::vector<std::vector<double>>{std::move(result)};
    const List starts = starts_of(x, {part.begin(), part.end()}, inputs[2]);
    cases::Coordinates walk{part};
    for (const double element : inputs[1]) {
      List at = walk.at();
      for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] += starts[axis];
      result[cases::position(x, at)] = element;
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  put.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(put));
}

}  // namespace stoker::kernels::dynamic_slice
