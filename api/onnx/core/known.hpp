// A tensor whose elements the host knows: an initializer, a shape, or a result that host rules
// compute from these.
//
//     const Known extents = Known::integers({2, 3});           // int64[2]
//     const Tensor weights = known.tensor();                   // on the device of the DeviceScope
//
// Ownership: copies share the elements, which may lie in a mapped file. tensor() copies them to a
// device once and keeps that copy for as long as the Known lives; it copies again if another device
// asks, or if the device was lost. One element becomes a constant of the program and needs no
// memory. Elements of 4 or 2 bits stay packed until bytes() is called. Threads: any. Errors are
// thrown: dtype_mismatch if the elements are not of the requested class.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/pipeline/onnx/graph/tensor_data.hpp"

namespace stoker::onnx {

class Known {
 public:
  /// float[0].
  Known();
  /// Elements of carrier_of(type), row-major. Throws invalid_argument if they do not fill the
  /// shape, and for types without a carrier.
  Known(ElementType type, const Shape& shape, std::vector<std::byte> carried);
  /// The elements of `data`, which are not copied. Throws limit_exceeded for more than 8 axes.
  explicit Known(const TensorData& data);

  /// A vector, or any shape, of integers or booleans. Each is wrapped to the type.
  [[nodiscard]] static Known integers(std::span<const std::int64_t> values, const Shape& shape,
                                      ElementType type = ElementType::s64);
  [[nodiscard]] static Known integers(std::span<const std::int64_t> values);
  [[nodiscard]] static Known integer(std::int64_t value, ElementType type = ElementType::s64);
  /// Floating-point numbers, rounded to the type.
  [[nodiscard]] static Known reals(std::span<const double> values, const Shape& shape,
                                   ElementType type = ElementType::f32);

  [[nodiscard]] ElementType type() const noexcept;
  [[nodiscard]] const TensorSpec& spec() const noexcept;
  [[nodiscard]] const Shape& shape() const noexcept { return spec().shape; }
  [[nodiscard]] std::size_t elements() const noexcept { return spec().elements(); }
  /// The elements, not aligned. Elements of less than a byte take one byte each.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  /// The elements as a file holds them: those of less than a byte are packed.
  [[nodiscard]] SharedBytes packed() const;

  [[nodiscard]] bool holds_integers() const noexcept;
  /// The elements of integers or booleans; u64 wraps.
  [[nodiscard]] std::vector<std::int64_t> to_integers() const;
  /// The elements of any real type.
  [[nodiscard]] std::vector<double> to_reals() const;
  /// The elements at these positions, row-major, in a shape of as many elements. Throws
  /// invalid_argument for a position out of range.
  [[nodiscard]] Known taken(std::span<const std::int64_t> positions, const Shape& shape) const;
  [[nodiscard]] Known reshaped(const Shape& shape) const;

  [[nodiscard]] Tensor tensor() const;
  /// The copy that tensor() made, if it still exists; otherwise empty.
  [[nodiscard]] Tensor copy() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stoker::onnx
