// A tensor whose elements the host knows: an initializer, a shape, and what host rules make of them.
//
//     const Known extents = Known::integers({2, 3});           // int64[2]
//     const Tensor weights = known.tensor();                   // on the device of the DeviceScope
//
// Ownership: copies share the elements, which may lie in a mapped file. tensor() copies them to a
// device once and keeps that copy for as long as the Known lives; it copies again if another device
// asks, or if the device was lost. One element becomes a constant of the program and needs no
// memory. Elements of 4 or 2 bits stay packed until somebody asks for bytes().
// Threads: any. Errors are thrown: dtype_mismatch if the elements are not of the class asked for.
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
  /// Elements of carrier_of(type), row-major. Throws invalid_argument unless they fill the shape,
  /// and for types without a carrier.
  Known(ElementType type, const Shape& shape, std::vector<std::byte> carried);
  /// The same elements; they stay where they are. Throws limit_exceeded for more than 8 axes.
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
  /// Not aligned. Elements of less than a byte have one each.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  /// The same as a file holds them: elements of less than a byte are packed.
  [[nodiscard]] SharedBytes packed() const;

  [[nodiscard]] bool holds_integers() const noexcept;
  /// Of integers and booleans; u64 wraps.
  [[nodiscard]] std::vector<std::int64_t> to_integers() const;
  /// Of any real numbers.
  [[nodiscard]] std::vector<double> to_reals() const;
  /// Its elements at these positions, row-major, in another shape of as many. Throws
  /// invalid_argument for a position that is not there.
  [[nodiscard]] Known taken(std::span<const std::int64_t> positions, const Shape& shape) const;
  [[nodiscard]] Known reshaped(const Shape& shape) const;

  [[nodiscard]] Tensor tensor() const;
  /// The copy that tensor() made and that is still there; empty if there is none.
  [[nodiscard]] Tensor copy() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stoker::onnx
