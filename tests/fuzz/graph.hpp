// Tensor programs that bytes describe, for graph_fuzz.cpp.
//
// An exact program has small integers for values, whatever their dtype, so that no order of additions
// matters. One that is not has any values, and operations on single elements only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::fuzz {

class Graph {
 public:
  explicit Graph(Bytes bytes);

  [[nodiscard]] bool exact() const noexcept { return exact_; }
  /// What the program begins with; new tensors at each call. Those of another `variant` differ in values.
  [[nodiscard]] std::vector<Tensor> leaves(std::size_t variant = 0) const;
  /// Applies the program: one tensor for each operation, which `each` sees as soon as it is made. An
  /// operation that is refused gives its operand.
  using Each = std::function<void(const Tensor& made)>;
  [[nodiscard]] std::vector<Tensor> apply(
      std::vector<Tensor> leaves, const Each& each = [](const Tensor&) {}) const;
  /// The operations, one a line.
  [[nodiscard]] std::string text() const;

 private:
  struct Leaf {
    DType dtype;
    Shape shape;
    std::uint8_t seed;
  };
  bool exact_;
  std::vector<Leaf> leaves_;
  Bytes operations_;
};

}  // namespace stoker::fuzz
