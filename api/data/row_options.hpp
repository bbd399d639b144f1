// What every reader can do with the inputs of its rows: give them another shape, and scale them.
//
//     Dataset digits = idx_dataset(images, labels, {.shape = {28, 28, 1}, .scale = 1 / 255.0});
//     Dataset rows = with_row_options(pixels, {.shape = {8, 8, 1}});
//
// A row's shape has at least one extent: a row of one number is [1]. Only targets can be scalars
// (CsvOptions::scalar_targets).
//
// Values; any thread. Throws invalid_parameter for a shape without extents, shape_mismatch for a shape with
// another number of elements than a row has, arity_mismatch for a shape of several inputs, invalid_parameter
// for a scale that is not finite or an input of complex numbers that it shall scale.
#pragma once

#include <optional>
#include <utility>

#include "stoker/api/data/dataset.hpp"
#include "stoker/kernels/options.hpp"

namespace stoker::nn {

/// The shape of a row. Made of nothing ({}) it is not given; a list that is empty is refused at the call.
class RowShape : public Extents {
 public:
  using Extents::Extents;
  RowShape() : given_{false} {}
  RowShape(Extents extents) : Extents{std::move(extents)} {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool is_given() const noexcept { return given_; }

 private:
  bool given_ = true;
};

struct RowOptions {
  RowShape shape = {};               ///< of a row of the only input; not given: as it is read
  std::optional<double> scale = {};  ///< inputs times this, as f32; none: as they are read
};

/// A view: rows are changed when they are read.
[[nodiscard]] Dataset with_row_options(const Dataset& data, const RowOptions& options);

}  // namespace stoker::nn
