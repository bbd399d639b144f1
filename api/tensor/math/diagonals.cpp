#include "stoker/api/tensor/math/diagonals.hpp"

#include <algorithm>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

/// Where a diagonal starts, and how long it is.
struct Diagonal {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t length = 0;
};

Diagonal checked_diagonal(const char* op, const Tensor& matrix, std::int64_t offset) {
  if (matrix.rank() < 2)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected two axes or more, got " + matrix.spec().to_string(),
                {{"got", matrix.spec().to_string()}}};
  const std::int64_t rows = matrix.shape()[matrix.rank() - 2];
  const std::int64_t columns = matrix.shape()[matrix.rank() - 1];
  // The main diagonal is always there, if only without elements.
  if (offset != 0 && (offset <= -rows || offset >= columns))
    throw Error{
        op,
        ErrorCode::invalid_parameter,
        "there is no diagonal " + std::to_string(offset) + " of " + matrix.spec().to_string(),
        {{"offset", std::to_string(offset)}, {"input", matrix.spec().to_string()}}};
  Diagonal made{std::max<std::int64_t>(-offset, 0), std::max<std::int64_t>(offset, 0), 0};
  made.length = std::min(rows - made.row, columns - made.column);
  return made;
}

/// Element i of the vector at row `row` + i and column `column` + i of zeros [rows, columns].
Tensor spread(const Tensor& vector, const Diagonal& at, std::int64_t rows, std::int64_t columns) {
  const std::int64_t n = vector.shape()[vector.rank() - 1];
  const Shape square = vector.shape().appended(n);
  const Tensor on_main =
      select(equal(iota_along(square, -2), iota_along(square, -1)),
             broadcast(new_axis(vector, -1), square), zeros(square, vector.dtype()));
  std::vector<Padding> padding(vector.rank() + 1);
  padding[vector.rank() - 1] = {at.row, rows - at.row - n, 0};
  padding[vector.rank()] = {at.column, columns - at.column - n, 0};
  return pad(on_main, 0, padding);
}

}  // namespace

Tensor make_diagonal(const Tensor& vector, std::int64_t offset) {
  if (vector.rank() == 0)
    throw Error{"make_diagonal", ErrorCode::shape_mismatch, "expected a vector, got a scalar"};
  if (vector.rank() == Shape::max_rank)
    throw Error{"make_diagonal", ErrorCode::shape_mismatch,
                "the result would have too many axes: " + vector.spec().to_string()};
  const std::int64_t size = vector.shape()[vector.rank() - 1] + std::abs(offset);
  const Diagonal at{std::max<std::int64_t>(-offset, 0), std::max<std::int64_t>(offset, 0), 0};
  return spread(vector, at, size, size);
}

Tensor take_diagonal(const Tensor& matrix, std::int64_t offset) {
  const Diagonal at = checked_diagonal("take_diagonal", matrix, offset);
  const std::size_t rank = matrix.rank();
  // Rows one behind the other, each step a row and a column on: a slice of the flat matrix.
  const std::int64_t columns = matrix.shape()[rank - 1];
  std::vector<std::int64_t> flat(matrix.shape().begin(), matrix.shape().end() - 2);
  std::vector<std::int64_t> starts(flat.size(), 0);
  std::vector<std::int64_t> lengths = flat;
  std::vector<std::int64_t> strides(flat.size(), 1);
  flat.push_back(matrix.shape()[rank - 2] * columns);
  const std::int64_t step = columns + 1;
  starts.push_back(at.length == 0 ? 0 : at.row * columns + at.column);
  lengths.push_back(at.length == 0 ? 0 : (at.length - 1) * step + 1);
  strides.push_back(step);
  return Tensor{expr::slice(reshape(matrix, flat).value(), starts, lengths, strides)};
}

Tensor put_diagonal(const Tensor& matrix, const Tensor& vector, std::int64_t offset) {
  const Diagonal at = checked_diagonal("put_diagonal", matrix, offset);
  const std::size_t rank = matrix.rank();
  Shape wanted = matrix.shape().without(rank - 1).with(rank - 2, at.length);
  if (vector.shape() != wanted)
    throw Error{"put_diagonal",
                ErrorCode::shape_mismatch,
                "the diagonal has the shape " + wanted.to_string() + ", the vector is " +
                    vector.spec().to_string(),
                {{"expected", wanted.to_string()}, {"got", vector.spec().to_string()}}};
  const Shape& shape = matrix.shape();
  const Tensor on_diagonal = equal(iota_along(shape, -2) + offset, iota_along(shape, -1));
  return select(on_diagonal, spread(vector, at, shape[rank - 2], shape[rank - 1]), matrix);
}

}  // namespace stoker
