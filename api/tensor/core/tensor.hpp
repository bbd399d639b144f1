// A tensor: a dense array of one dtype that may not have been computed yet.
//
//     Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
//     Tensor y = sum(exp(x) / 2, {.axes = {0}});     // nothing has run
//     std::vector<float> values = y.to_vector<float>();  // now it has
//
// Operations are checked at once and run when somebody needs a value; what was asked for meanwhile then
// runs together, fused where that saves memory traffic. Running does not wait: eval() returns when the
// work is queued, reading waits.
//
// A tensor lives where its operands do. What stands on numbers alone lives on the device of the
// innermost DeviceScope while it is evaluated, else on the default device.
//
// Threads: a shared handle to something immutable; use it from any thread. It may be dropped at any
// time, also while it is computed. Errors: calls throw the Error for bad input at once; what fails while
// running is thrown by whoever reads the value.
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
  /// Without a value, as one that was moved from: may be assigned, destroyed and asked whether it has
  /// one; everything else throws invalid_argument.
  Tensor() = default;
  explicit Tensor(expr::Value value, AxisNames names = {}) noexcept
      : value_{std::move(value)}, names_{std::move(names)} {}
  /// What a buffer holds. Later writes to the buffer are seen by what is computed after them: better
  /// leave it alone.
  explicit Tensor(const Buffer& buffer);

  [[nodiscard]] const Shape& shape() const { return value_.shape(); }
  [[nodiscard]] DType dtype() const { return value_.dtype(); }
  [[nodiscard]] const TensorSpec& spec() const { return value_.spec(); }
  [[nodiscard]] std::size_t rank() const { return shape().rank(); }
  [[nodiscard]] std::size_t size() const { return spec().elements(); }
  [[nodiscard]] std::size_t bytes() const { return spec().bytes(); }

  /// The same with names for its axes, "" for none. Throws invalid_argument unless there is one for
  /// each axis, and all differ.
  [[nodiscard]] Tensor named(std::vector<std::string> names) const;
  [[nodiscard]] const AxisNames& names() const noexcept { return names_; }
  /// The axis of that name, or axes. Throws not_found, which says what there is.
  [[nodiscard]] std::int64_t axis(std::string_view name) const;
  [[nodiscard]] Axes axes(std::initializer_list<std::string_view> names) const;

  /// Starts what is missing and returns this tensor. Does not wait. `options` here and below are those of
  /// the commands that this call starts: they limit neither what was started before nor who reads later.
  /// A tensor whose computation they end stays failed; the same expression made again is computed anew.
  const Tensor& eval(const CommandOptions& options = {}) const;
  /// Whether it was started.
  [[nodiscard]] bool evaluated() const { return static_cast<bool>(value_.buffer()); }
  /// Starts it if need be. Ready when it is computed; fails with what failed on the way.
  [[nodiscard]] Future<> computed(const CommandOptions& options = {}) const {
    return buffer(options).written(options);
  }
  /// Its memory; starts it if need be.
  [[nodiscard]] Buffer buffer(const CommandOptions& options = {}) const;
  /// The elements, row-major; starts it if need be. bool and u8 are read as std::uint8_t. Throws
  /// dtype_mismatch unless dtype_of<T> is the dtype.
  template <class T>
  [[nodiscard]] Future<std::vector<T>> read(const CommandOptions& options = {}) const {
    return buffer(options).template read<T>(options);
  }
  /// The same, converted from whatever the dtype is (of complex numbers to real ones the real part), and
  /// waited for. Not on a host's event loop.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector(const CommandOptions& options = {}) const;
  /// The only element. Throws shape_mismatch if there are more or none.
  template <class T> [[nodiscard]] T item(const CommandOptions& options = {}) const;
  /// A copy on another device; this one if it is there.
  [[nodiscard]] Tensor to(const Device& device) const;

  /// A part: x[0], x[{0, Range{1, 3}}]; see slicing.hpp.
  [[nodiscard]] Tensor operator[](const Index& index) const;
  [[nodiscard]] Tensor operator[](std::initializer_list<Index> indices) const;

  /// The bytes as the device stores them, waited for.
  [[nodiscard]] std::vector<std::byte> to_bytes(const CommandOptions& options = {}) const;

  /// False for one that was made without a value. (There is no conversion to bool: comparing tensors
  /// gives a tensor, and `if (a == b)` shall not compile.)
  [[nodiscard]] bool has_value() const noexcept { return static_cast<bool>(value_); }
  [[nodiscard]] const expr::Value& value() const noexcept { return value_; }

 private:
  void check_one_element() const;
  expr::Value value_;
  AxisNames names_;
};

/// Starts several at once, which computes what they share once.
void eval(std::span<const Tensor> tensors, const CommandOptions& options = {});
void eval(std::initializer_list<Tensor> tensors, const CommandOptions& options = {});

/// While it lives, what has no device of its own runs there, in this process or on this plain thread.
/// Scopes nest.
class DeviceScope : private ContextScope {
 public:
  explicit DeviceScope(const Device& device);

 private:
  friend Device current_device();
  Device device_;
};

/// The innermost scope's; else that of STOKER_DEVICE or the best one, in a system that is made at the
/// first use and stops when the process exits.
[[nodiscard]] Device current_device();

namespace detail {
template <class T> inline constexpr bool is_complex_type = false;
template <class T> inline constexpr bool is_complex_type<std::complex<T>> = true;
}  // namespace detail

/// A number of the program's.
template <class T>
concept Number = std::is_arithmetic_v<T> || detail::is_complex_type<T>;

/// What an operation takes: a tensor, or a number that bends to the tensors beside it.
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
  /// The dtype it has alone.
  [[nodiscard]] DType dtype() const {
    return is_literal_ ? expr::dtype_of_literal(literal_) : tensor_.dtype();
  }
  /// As an operand of that dtype.
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

/// "f32[2,3]" and the values, aligned; the middle of long axes is left out. Waits for the value.
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
        values[i] = static_cast<T>(from[i]);
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
