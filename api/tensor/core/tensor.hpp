// A tensor: a dense array of one dtype that may not have been computed yet.
//
//     Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
//     Tensor y = sum(exp(x) / 2, {.axes = {0}});     // nothing has run
//     std::vector<float> values = y.to_vector<float>();  // now it has
//
// Operations are checked at once, but run only when a value is needed. Pending operations then run
// together, fused where that saves memory traffic. Evaluation does not block: eval() returns when
// the work is queued; reading a value blocks.
//
// A tensor lives on the device of its operands. A tensor made from numbers alone lives on the
// device of the DeviceScope that is innermost when it is evaluated, else on the default device.
//
// Threads: a shared handle to an immutable value; use it from any thread. It may be destroyed at
// any time, even while it is computed. Errors: calls with bad input throw at once; an Error while
// running is thrown when the value is read.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "stoker/api/buffer.hpp"
#include "stoker/api/device.hpp"
#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/names.hpp"
#include "stoker/pipeline/tensor/graph/promotion.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"
#include "stoker/runtime/process/context_scope.hpp"

namespace stoker {

class Index;

class Tensor {
 public:
  /// An empty tensor, like a moved-from one: only assignment, destruction and has_value() are
  /// allowed; everything else throws invalid_argument.
  Tensor() = default;
  explicit Tensor(expr::Value value, AxisNames names = {}) noexcept
      : value_{std::move(value)}, names_{std::move(names)} {}
  /// Wraps a buffer without a copy. Do not write to the buffer afterwards: later computations would
  /// see it.
  explicit Tensor(const Buffer& buffer);

  [[nodiscard]] const Shape& shape() const { return value_.shape(); }
  [[nodiscard]] DType dtype() const { return value_.dtype(); }
  [[nodiscard]] const TensorSpec& spec() const { return value_.spec(); }
  [[nodiscard]] std::size_t rank() const { return shape().rank(); }
  [[nodiscard]] std::size_t size() const { return spec().elements(); }
  [[nodiscard]] std::size_t bytes() const { return spec().bytes(); }

  /// This tensor with names for its axes, "" for none. Throws invalid_argument unless there is one
  /// name for each axis and all differ.
  [[nodiscard]] Tensor named(std::vector<std::string> names) const;
  [[nodiscard]] const AxisNames& names() const noexcept { return names_; }
  /// The axis, or axes, of that name. Throws not_found, listing the existing names.
  [[nodiscard]] std::int64_t axis(std::string_view name) const;
  [[nodiscard]] Axes axes(std::initializer_list<std::string_view> names) const;

  /// Starts the computation if needed and returns this tensor. Does not block. Here and below,
  /// `options` apply only to commands that this call starts, not to work started before or to later
  /// reads. A tensor whose computation they end stays failed; build the expression again to compute
  /// it.
  const Tensor& eval(const CommandOptions& options = {}) const;
  /// Whether the computation was started.
  [[nodiscard]] bool evaluated() const { return static_cast<bool>(value_.buffer()); }
  /// Starts the computation if needed. The future is ready when it is done, and holds its Error.
  [[nodiscard]] Future<> computed(const CommandOptions& options = {}) const {
    return buffer(options).written(options);
  }
  /// The tensor's memory. Starts the computation if needed.
  [[nodiscard]] Buffer buffer(const CommandOptions& options = {}) const;
  /// The elements, row-major. Starts the computation if needed. bool and u8 are read as
  /// std::uint8_t. Throws dtype_mismatch unless dtype_of<T> is the dtype.
  template <class T>
  [[nodiscard]] Future<std::vector<T>> read(const CommandOptions& options = {}) const {
    return buffer(options).template read<T>(options);
  }
  /// The elements, converted from any dtype (complex to real keeps the real part). Blocks; do not
  /// call it on a host's event loop.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector(const CommandOptions& options = {}) const;
  /// The only element. Blocks. Throws shape_mismatch unless there is exactly one.
  template <class T> [[nodiscard]] T item(const CommandOptions& options = {}) const;
  /// A copy on that device, or this tensor if it is already there.
  [[nodiscard]] Tensor to(const Device& device) const;

  /// A part: x[0], x[{0, Range{1, 3}}]; see slicing.hpp.
  [[nodiscard]] Tensor operator[](const Index& index) const;
  [[nodiscard]] Tensor operator[](std::initializer_list<Index> indices) const;

  /// The bytes in the device's layout. Blocks.
  [[nodiscard]] std::vector<std::byte> to_bytes(const CommandOptions& options = {}) const;

  /// False for an empty tensor. (There is no conversion to bool: comparing tensors gives a tensor,
  /// and `if (a == b)` must not compile.)
  [[nodiscard]] bool has_value() const noexcept { return static_cast<bool>(value_); }
  [[nodiscard]] const expr::Value& value() const noexcept { return value_; }

 private:
  void check_one_element() const;
  expr::Value value_;
  AxisNames names_;
};

/// Starts several tensors together, so that shared operands are computed once. Does not block.
void eval(std::span<const Tensor> tensors, const CommandOptions& options = {});
void eval(std::initializer_list<Tensor> tensors, const CommandOptions& options = {});

/// While it lives, tensors made from numbers alone are evaluated on this device, in this process or
/// on this plain thread. Scopes nest.
class DeviceScope : private ContextScope {
 public:
  explicit DeviceScope(const Device& device);

 private:
  friend Device current_device();
  Device device_;
};

/// The device of the innermost DeviceScope. Without one: the device of STOKER_DEVICE, else the best
/// one, in a system that is created at first use and stops when the process exits.
[[nodiscard]] Device current_device();

namespace detail {
template <class T> inline constexpr bool is_complex_type = false;
template <class T> inline constexpr bool is_complex_type<std::complex<T>> = true;
}  // namespace detail

/// A C++ arithmetic or complex number.
template <class T>
concept Number = std::is_arithmetic_v<T> || detail::is_complex_type<T>;

/// An operand: a tensor, or a number, whose dtype adapts to the tensors beside it.
class TensorLike {
 public:
  TensorLike(const Tensor& tensor)  // NOLINT(google-explicit-constructor)
      : tensor_{tensor}, is_literal_{false} {}
  template <Number T>
  TensorLike(T number)  // NOLINT(google-explicit-constructor)
      : literal_{literal_of(number)}, is_literal_{true} {}

  [[nodiscard]] bool is_literal() const noexcept { return is_literal_; }
  [[nodiscard]] const Tensor& tensor() const noexcept { return tensor_; }
  [[nodiscard]] const expr::Literal& literal() const noexcept { return literal_; }
  /// Its dtype without other operands.
  [[nodiscard]] DType dtype() const {
    return is_literal_ ? expr::dtype_of_literal(literal_) : tensor_.dtype();
  }
  /// Converts it to an operand of that dtype.
  [[nodiscard]] expr::Value as(DType dtype) const;

 private:
  template <class T> static expr::Literal literal_of(T number) {
    if constexpr (detail::is_complex_type<T>)
      return std::complex<double>{number};
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(number);
    else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
      return static_cast<std::uint64_t>(number);
    else
      return static_cast<std::int64_t>(number);
  }
  Tensor tensor_;
  expr::Literal literal_;
  bool is_literal_;
};

/// "f32[2,3]" and the values, aligned; the middle of long axes is elided. Blocks until the value is
/// computed.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
[[nodiscard]] std::string to_string(const Tensor& tensor);

namespace detail {
[[nodiscard]] double element_as_double(std::span<const std::byte> bytes, DType dtype,
                                       std::size_t index);
template <class T>
[[nodiscard]] std::vector<T> converted(std::span<const std::byte> bytes, const TensorSpec& spec) {
  std::vector<T> values(spec.elements());
  if (is_complex(spec.dtype)) {
    const auto from_parts = [&]<class P>(const P* parts) {
      for (std::size_t i = 0; i < values.size(); ++i)
        if constexpr (is_complex_type<T>)
          values[i] = T(std::complex<P>(parts[2 * i], parts[2 * i + 1]));
        else
          values[i] = static_cast<T>(parts[2 * i]);
    };
    spec.dtype == DType::c128 ? from_parts(reinterpret_cast<const double*>(bytes.data()))
                              : from_parts(reinterpret_cast<const float*>(bytes.data()));
    return values;
  }
  visit_dtype(spec.dtype, [&]<class S>() {
    const auto* from = reinterpret_cast<const S*>(bytes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>)
        values[i] = static_cast<T>(static_cast<float>(from[i]));
      else
        values[i] = static_cast<T>(from[i]);  // NOLINT(bugprone-signed-char-misuse): numbers
    }
  });
  return values;
}
}  // namespace detail

template <class T> std::vector<T> Tensor::to_vector(const CommandOptions& options) const {
  return detail::converted<T>(to_bytes(options), spec());
}

template <class T> T Tensor::item(const CommandOptions& options) const {
  check_one_element();
  return to_vector<T>(options)[0];
}

}  // namespace stoker
