// Two rows to try a model with: a program's sample, or made up.
//
//     RowSamples rows = RowSamples::of(model, layout, sample);
//     model.predict(rows.inputs(model, layout, std::array<std::size_t, 3>{0, 1, 0}))  // the other amid the one
//
// Threads: one at a time. Blocks. Errors are thrown.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stoker/api/serve/row_layout.hpp"

namespace stoker::serve {

/// Numbers from 0 to 1 that any model takes, whole ones for integers; rows 1 and 2 have other ones. Precondition: the
/// element type has a carrier.
[[nodiscard]] onnx::Value made_up(onnx::ElementType element, const Shape& shape, std::size_t row);

class RowSamples {
 public:
  /// One value for each input of the model; one that is omitted is not given.
  using Row = std::vector<onnx::Value>;

  /// `sample`: inputs as requests have them, of which these are the first and the last row. Empty: numbers are made up;
  /// precondition: with_free_dimension() is null. Throws what is wrong with the sample.
  [[nodiscard]] static RowSamples of(const AnyModel& model, const RowLayout& layout,
                                     const NamedValues& sample);
  /// The first input that has a free dimension besides its rows; null if there is none.
  [[nodiscard]] static const onnx::ValueInfo* with_free_dimension(const AnyModel& model,
                                                                  const RowLayout& layout);

  /// If both rows are the same, the other one gets the numbers of the first in reverse order, and floats moved towards
  /// 1/2.
  [[nodiscard]] RowSamples made_to_differ() const;
  /// False if both rows are the same: then runs with both show nothing.
  [[nodiscard]] bool differ() const;
  /// The same rows without the inputs that a prediction may omit.
  [[nodiscard]] RowSamples without_optional(const AnyModel& model) const;
  /// Which inputs they give.
  [[nodiscard]] std::vector<bool> given() const;
  /// The inputs of a run with these rows: 0 for the one, 1 for the other.
  [[nodiscard]] NamedValues inputs(const AnyModel& model, const RowLayout& layout,
                                   std::span<const std::size_t> rows) const;

 private:
  std::array<Row, 2> rows_;
};

}  // namespace stoker::serve
