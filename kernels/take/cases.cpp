#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::take {
namespace {

void add(std::vector<KernelCase>& cases, std::string label, DType dtype, DType index, Shape x,
         Shape indices, std::int64_t axis, bool heavy = false) {
  cases.push_back({.label = std::move(label),
                   .inputs = {{dtype, x}, {index, indices}},
                   .params = {{"axis", axis}},
                   .fills = {cases::telling(dtype), {-4, 30}},
                   .heavy = heavy});
}

/// Indices far outside, of every dtype.
void add_outside(std::vector<KernelCase>& cases, const Shape& x, const Shape& indices,
                 std::int64_t axis) {
  for (const DType index : cases::index_dtypes()) {
    const double far = size_of(index) == 8 ? 1e15 : 120;
    cases.push_back({.label = std::string{to_string(index)} + "_indices",
                     .inputs = {{DType::f32, x}, {index, indices}},
                     .params = {{"axis", axis}},
                     .fills = {{}, {-6, 25}}});
    cases.push_back({.label = std::string{to_string(index)} + "_far_outside",
                     .inputs = {{DType::f32, x}, {index, indices}},
                     .params = {{"axis", axis}},
                     .fills = {{}, {is_signed(index) ? -far : 0, far}}});
  }
}

std::vector<KernelCase> take_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(cases, name + "_rows", dtype, DType::s32, Shape{27, 64}, Shape{19}, 0);
    add(cases, name + "_prime_rows", dtype, DType::s64, Shape{27, 5}, Shape{7, 3}, 0);
    add(cases, name + "_middle", dtype, DType::s32, Shape{3, 27, 12}, Shape{2, 5}, 1);
    add(cases, name + "_last", dtype, DType::u8, Shape{13, 27}, Shape{31}, -1);
    add(cases, name + "_elements", dtype, DType::s32, Shape{29}, Shape{1031}, 0);
    add(cases, name + "_of_pairs", dtype, DType::s32, Shape{3, 29, 2}, Shape{101}, 1);
  }
  add_outside(cases, Shape{3, 19, 5}, Shape{41}, 1);
  const auto f32 = [&](std::string label, Shape x, Shape indices, std::int64_t axis,
                       bool heavy = false) {
    add(cases, std::move(label), DType::f32, DType::s32, x, indices, axis, heavy);
  };
  f32("one_index", Shape{4, 27, 3}, Shape{}, 1);
  f32("no_indices", Shape{4, 27}, Shape{0}, 1);
  f32("no_outer", Shape{0, 27, 3}, Shape{5}, 1);
  f32("none_of_none", Shape{4, 0}, Shape{0, 2}, 1);
  f32("one_of_one", Shape{1}, Shape{1}, 0);
  f32("rank_8", Shape{2, 1, 3, 2, 9, 2, 3, 2}, Shape{5}, 4);
  f32("rank_8_of_rank_2", Shape{9, 3}, Shape{2, 1, 2, 3, 1, 2, 2}, 0);
  f32("long_row", Shape{2, 270001}, Shape{3}, 0);
  f32("embedding", Shape{30, 768}, Shape{8, 512}, 0, true);
  f32("past_the_cache", Shape{30, 1000}, Shape{5003}, 0, true);
  return cases;
}

std::vector<KernelCase> along_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(cases, name + "_first", dtype, DType::s32, Shape{27, 13}, Shape{19, 13}, 0);
    add(cases, name + "_last", dtype, DType::s64, Shape{7, 27}, Shape{7, 31}, -1);
    add(cases, name + "_middle", dtype, DType::u8, Shape{3, 27, 12}, Shape{3, 5, 12}, 1);
    add(cases, name + "_line", dtype, DType::s32, Shape{29}, Shape{1031}, 0);
  }
  add_outside(cases, Shape{3, 19, 5}, Shape{3, 41, 5}, 1);
  const auto f32 = [&](std::string label, Shape x, Shape indices, std::int64_t axis,
                       bool heavy = false) {
    add(cases, std::move(label), DType::f32, DType::s32, x, indices, axis, heavy);
  };
  f32("one", Shape{1}, Shape{1}, 0);
  f32("none", Shape{4, 0, 3}, Shape{4, 0, 3}, 1);
  f32("none_of_some", Shape{4, 5, 3}, Shape{4, 0, 3}, 1);
  f32("rank_8", Shape{2, 1, 3, 2, 9, 2, 3, 2}, Shape{2, 1, 3, 2, 4, 2, 3, 2}, 4);
  f32("wide_rows", Shape{30, 4099}, Shape{7, 4099}, 0);
  f32("sorting", Shape{256, 30}, Shape{256, 4099}, 1, true);
  return cases;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite take;
  take.kernel = "take";
  take.cases = take_cases();
  take.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                      const std::vector<std::vector<double>>& inputs) {
    const Shape& x = call.shape(0);
    const Shape& indices = call.shape(1);
    const std::size_t axis = cases::plain_axis(call.params.integer("axis"), x.rank());
    std::vector<double> result(outputs[0].elements());
    cases::Coordinates walk{outputs[0].shape};
    for (double& element : result) {
      const auto& at = walk.at();
      const auto entry = at.begin() + static_cast<std::ptrdiff_t>(axis);
      const auto behind = entry + static_cast<std::ptrdiff_t>(indices.rank());
      std::vector<std::int64_t> place{at.begin(), entry};
      place.push_back(
          cases::clamped_index(inputs[1][cases::position(indices, {entry, behind})], x[axis]));
      place.insert(place.end(), behind, at.end());
      element = inputs[0][cases::position(x, place)];
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  take.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(take));

  KernelSuite along;
  along.kernel = "take_along_axis";
  along.cases = along_cases();
  along.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const Shape& x = call.shape(0);
    const std::size_t axis = cases::plain_axis(call.params.integer("axis"), x.rank());
    std::vector<double> result(outputs[0].elements());
    cases::Coordinates walk{outputs[0].shape};
    for (std::size_t i = 0; i < result.size(); ++i) {
      std::vector<std::int64_t> place = walk.at();
      place[axis] = cases::clamped_index(inputs[1][i], x[axis]);
      result[i] = inputs[0][cases::position(x, place)];
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  along.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(along));
}

}  // namespace stoker::kernels::take
