// Converts between tensors and Eigen matrices. This is the only header of Stoker that includes
// Eigen: a program that uses it needs Eigen 3.4 on its include path.
//
//     Tensor t = tensor_from(matrix);                          // any expression, any storage order
//     Eigen::MatrixXd m = to_eigen<Eigen::MatrixXd>(t);        // converted, if need be
//     const EigenView<float> view{t};                          // no copy; on the CPU device
//     float top = view.map().maxCoeff();
//
// Vectors have one axis, matrices two.
//
// Threads: any. to_eigen() and EigenView block until the value is computed: do not use them on a
// host's event loop. Errors are thrown: shape_mismatch; for a view also dtype_mismatch and
// unsupported (a device other than the CPU).
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "stoker/api/tensor/core/creation.hpp"

namespace stoker {

namespace detail {
/// Stoker's element type for an Eigen scalar.
template <class Scalar>
using ElementOf = std::conditional_t<
    std::is_same_v<Scalar, Eigen::half>, Half,
    std::conditional_t<std::is_same_v<Scalar, Eigen::bfloat16>, BFloat16, Scalar>>;

template <class Scalar>
using RowMajorMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[noreturn]] inline void refuse_for_eigen(const TensorSpec& spec, Eigen::Index rows,
                                          Eigen::Index columns) {
  const auto wanted = [](Eigen::Index extent) {
    return extent == Eigen::Dynamic ? std::string{"any"} : std::to_string(extent);
  };
  throw Error{"to_eigen",
              ErrorCode::shape_mismatch,
              "the tensor does not fit the matrix type",
              {{"expected", wanted(rows) + " rows, " + wanted(columns) + " columns"},
               {"got", spec.to_string()}}};
}
}  // namespace detail

/// A copy in the scalar's dtype. Types that are vectors at compile time give one axis, others two.
template <class Derived> [[nodiscard]] Tensor tensor_from(const Eigen::DenseBase<Derived>& matrix) {
  using Element = detail::ElementOf<typename Derived::Scalar>;
  const auto rows = static_cast<std::int64_t>(matrix.rows());
  const auto columns = static_cast<std::int64_t>(matrix.cols());
  const detail::RowMajorMatrix<typename Derived::Scalar> dense = matrix.derived();
  const TensorSpec spec{dtype_of<Element>, Derived::IsVectorAtCompileTime ? Shape{rows * columns}
                                                                          : Shape{rows, columns}};
  const auto* const first = reinterpret_cast<const std::byte*>(dense.data());
  return tensor({first, spec.bytes()}, spec);
}

/// A copy, converted to the matrix' scalar. A scalar becomes 1×1; one axis becomes a column, or a
/// row if Matrix is a row vector. Throws shape_mismatch for more than two axes and for sizes that
/// Matrix cannot have.
template <class Matrix> [[nodiscard]] Matrix to_eigen(const Tensor& tensor) {
  using Scalar = typename Matrix::Scalar;
  using Element = detail::ElementOf<Scalar>;
  constexpr Eigen::Index fixed_rows = Matrix::RowsAtCompileTime;
  constexpr Eigen::Index fixed_columns = Matrix::ColsAtCompileTime;
  constexpr Eigen::Index most_rows = Matrix::MaxRowsAtCompileTime;
  constexpr Eigen::Index most_columns = Matrix::MaxColsAtCompileTime;
  const Shape& shape = tensor.shape();
  const bool row = tensor.rank() == 1 && fixed_rows == 1;
  const Eigen::Index rows = tensor.rank() > 0 && !row ? shape[0] : 1;
  const Eigen::Index columns = tensor.rank() == 2 ? shape[1] : row ? shape[0] : 1;
  const auto fits = [](Eigen::Index extent, Eigen::Index fixed, Eigen::Index most) {
    return (fixed == Eigen::Dynamic || extent == fixed) &&
           (most == Eigen::Dynamic || extent <= most);
  };
  if (tensor.rank() > 2 || !fits(rows, fixed_rows, most_rows) ||
      !fits(columns, fixed_columns, most_columns))
    detail::refuse_for_eigen(tensor.spec(), fixed_rows, fixed_columns);
  const auto copied = [&](const void* elements) -> Matrix {
    return Eigen::Map<const detail::RowMajorMatrix<Scalar>>(static_cast<const Scalar*>(elements),
                                                            rows, columns);
  };
  if (tensor.dtype() == dtype_of<Element>) return copied(tensor.to_bytes().data());
  if constexpr (std::is_same_v<Element, Scalar> && !std::is_same_v<Scalar, bool>) {
    return copied(tensor.to_vector<Scalar>().data());
  } else {
    const detail::RowMajorMatrix<float> wide = Eigen::Map<const detail::RowMajorMatrix<float>>(
        tensor.to_vector<float>().data(), rows, columns);
    return wide.template cast<Scalar>();
  }
}

/// A view of a tensor's own memory as a matrix, valid while this object or a copy of it lives.
/// Throws shape_mismatch for more than two axes, dtype_mismatch unless T is the dtype's type,
/// unsupported on a device other than the CPU.
template <class T> class EigenView {
 public:
  using Map = Eigen::Map<const detail::RowMajorMatrix<T>>;

  explicit EigenView(const Tensor& tensor) : spec_{tensor.spec()} {
    if (tensor.rank() > 2) detail::refuse_for_eigen(spec_, Eigen::Dynamic, Eigen::Dynamic);
    if (tensor.dtype() != dtype_of<detail::ElementOf<T>>)
      throw Error{"eigen_view",
                  ErrorCode::dtype_mismatch,
                  "the tensor holds another dtype",
                  {{"expected", std::string{to_string(dtype_of<detail::ElementOf<T>>)}},
                   {"got", spec_.to_string()}}};
    memory_ = tensor.buffer().host_view();
  }

  /// One axis is a column.
  [[nodiscard]] Map map() const noexcept {
    return Map(reinterpret_cast<const T*>(memory_.bytes.data()),
               spec_.shape.rank() > 0 ? spec_.shape[0] : 1,
               spec_.shape.rank() == 2 ? spec_.shape[1] : 1);
  }

 private:
  TensorSpec spec_;
  HostView memory_;
};

}  // namespace stoker
