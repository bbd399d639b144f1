// What the conformance suites of kernels that pool bins of boxes share. Used by cases.cpp files only.
#pragma once

#include <string>
#include <vector>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::cases {

struct Boxes {
  std::string label;
  Shape images;
  std::int64_t count = 0;
  Params params = {};
  Fill corners = {-2, 14};
};

/// Those that say nothing of how a bin is pooled.
[[nodiscard]] inline std::vector<Boxes> awkward_boxes() {
  return {{"one", Shape{1, 1, 1, 1}, 3, {}, {-1, 2}},
          {"no_boxes", Shape{2, 3, 4, 5}, 0, {{"height", 2}, {"width", 2}}},
          {"no_channels", Shape{2, 0, 4, 5}, 3, {{"height", 2}, {"width", 2}}},
          {"no_image", Shape{0, 3, 4, 5}, 0, {}},
          {"far_larger_than_the_image",
           Shape{1, 2, 6, 5},
           9,
           {{"height", 3}, {"width", 3}},
           {-300, 300}},
          {"many", Shape{4, 17, 23, 31}, 67, {{"height", 7}, {"width", 7}}, {0, 30}}};
}

/// The images of boxes are also one before the first and one behind the last, which are clamped.
[[nodiscard]] inline KernelCase case_of(const Boxes& boxes, DType dtype) {
  return {.label = std::string{to_string(dtype)} + "_" + boxes.label,
          .inputs = {{dtype, boxes.images},
                     {dtype, Shape{boxes.count, 4}},
                     {DType::s32, Shape{boxes.count}}},
          .params = boxes.params,
          .fills = {{}, boxes.corners, {-1, static_cast<double>(boxes.images[0])}}};
}

/// A bin of a channel whose pixels begin at `plane`, and whose box has the corners `box`.
template <class K>
using PooledBin = double (*)(const K& how, const double* plane, const Shape& images,
                             const double* box, std::int64_t row, std::int64_t column);

/// `usual` in every dtype, and awkward_boxes() and `unusual` in f32. The bound is the caller's to set.
template <class K>
[[nodiscard]] KernelSuite suite_of_boxes(const std::vector<Boxes>& usual,
                                         const std::vector<Boxes>& unusual, PooledBin<K> pooled) {
  KernelSuite suite;
  suite.kernel = K::kind;
  for (const DType dtype : rules::float_dtypes())
    for (const Boxes& one : usual) suite.cases.push_back(case_of(one, dtype));
  for (const std::vector<Boxes>& some : {awkward_boxes(), unusual})
    for (const Boxes& one : some) suite.cases.push_back(case_of(one, DType::f32));
  suite.reference = [pooled](const KernelCall& call, std::span<const TensorSpec> outputs,
                             const std::vector<std::vector<double>>& inputs) {
    const auto how = options::from<K>(call.params);
    const Shape& images = call.shape();
    std::vector<double> y(outputs[0].elements());
    Coordinates walk{outputs[0].shape};
    for (double& one : y) {
      const std::vector<std::int64_t>& at = walk.at();
      const auto box = static_cast<std::size_t>(at[0]);
      const std::int64_t plane = clamped_index(inputs[2][box], images[0]) * images[1] + at[1];
      one = pooled(how, inputs[0].data() + plane * images[2] * images[3], images,
                   inputs[1].data() + 4 * box, at[2], at[3]);
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(y)};
  };
  return suite;
}

}  // namespace stoker::cases
