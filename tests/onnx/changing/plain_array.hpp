// Arrays of integers on the host, as slow and plain as can be: what ONNX's words say, to compare Stoker with.
//
// Nothing here uses Stoker's tensors or kernels. Numbers are small integers in every type, so that results are exact.
// Values; any thread. Errors: std::out_of_range and std::invalid_argument for what no valid graph asks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stoker/pipeline/onnx/graph/element_type.hpp"

namespace stoker::onnx {

using PlainExtents = std::vector<std::int64_t>;

struct PlainArray {
  ElementType type = ElementType::undefined;  ///< s64, f32 or boolean; undefined: it is not given
  PlainExtents shape = {};
  std::vector<std::int64_t> data = {};    ///< row-major
  std::vector<PlainArray> elements = {};  ///< of a sequence, which has nothing else

  [[nodiscard]] bool is_given() const { return type != ElementType::undefined; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
  /// The element there. Aligned at the last axis; an axis of extent 1 repeats.
  [[nodiscard]] std::int64_t at(const PlainExtents& index) const;
  /// `int64[2,3] = 1 2 3 4 5 6`.
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PlainArray&, const PlainArray&) = default;
};
using PlainArrays = std::vector<PlainArray>;

[[nodiscard]] std::int64_t product_of(const PlainExtents& extents);
/// From the end if it is negative. `rank`: of what has the axis.
[[nodiscard]] std::int64_t plain_axis(std::int64_t axis, std::int64_t rank);
[[nodiscard]] PlainArray plain_vector(std::vector<std::int64_t> data);
[[nodiscard]] PlainArray plain_scalar(std::int64_t number, ElementType type = ElementType::s64);
/// What all of them are broadcast to: https://onnx.ai/onnx/repo-docs/Broadcasting.html
[[nodiscard]] PlainExtents broadcast_of(const PlainArrays& arrays);

/// The array whose element at each index, a PlainExtents, is of(index).
template <class F> PlainArray made_of(ElementType type, PlainExtents shape, F&& of) {
  PlainArray made{type, std::move(shape), {}};
  PlainExtents index(made.shape.size());
  for (std::int64_t left = product_of(made.shape); left > 0; --left) {
    made.data.push_back(of(std::as_const(index)));
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < made.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return made;
}

}  // namespace stoker::onnx
