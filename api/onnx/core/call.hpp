// One application of an operator: what its rules see of it.
//
// A rule is called while a model is traced for certain shapes. It reads operands and attributes
// here and returns the node's outputs, as many as the node has or fewer. It must be pure: it
// depends on what it reads here only.
//
// Where it needs the elements of an operand it asks for known(). If they depend on the inputs of
// the run, that is a *cut*: what was traced so far becomes a program and runs, and the rule goes on
// with what came out. So tensors that a rule made before it asks are not valid afterwards: it keeps
// them as values (keep()) and takes the tensors out of these again.
//
// Threads: one walk is on one thread. Errors are thrown; the walk adds the node to them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/api/onnx/core/rounds.hpp"
#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

/// What rules ask of the walk that calls them.
class Walker {
 public:
  /// The elements; makes a cut if they depend on the inputs.
  virtual Known know(const Value& value) = 0;
  /// Whether know() makes a cut.
  [[nodiscard]] virtual bool takes_cut(const Value& value) const = 0;
  /// Traces a subgraph of the node; names of the graphs around are visible in it.
  virtual Values run(const Graph& graph, std::span<const Value> inputs) = 0;
  /// The same for a subgraph whose results may not be wanted: nothing if it takes a cut, or is refused.
  [[nodiscard]] virtual std::optional<Values> run_without_cut(const Graph& graph,
                                                              std::span<const Value> inputs) = 0;
  /// The same constant each time, with one copy on the device.
  virtual Value constant(const TensorData& data) = 0;
  /// Whether rules may put weights into an order that the device likes.
  [[nodiscard]] virtual bool may_choose_layouts() const = 0;
  /// What `make` makes of constant operands of the node that is computed: once, for all plans. `part` tells apart what
  /// one node prepares.
  virtual Tensor prepared(std::size_t part, const std::function<Tensor()>& make) = 0;
  /// A value whose tensor stays valid at cuts.
  virtual Value keep(Value value) = 0;
  /// A key (api/tensor/math/random.hpp) that no other call gets; of each run, or of the seed.
  virtual Tensor random_key(std::optional<std::uint64_t> seed) = 0;
  /// Before the first round of a loop of at most so many.
  virtual std::unique_ptr<Rounds> rounds(std::int64_t most) = 0;

 protected:
  ~Walker() = default;
};

class Call {
 public:
  Call(const Node& node, int version, std::span<const Value> inputs, Walker& walker)
      : node_{node}, version_{version}, inputs_{inputs}, walker_{walker} {}

  [[nodiscard]] const Node& node() const noexcept { return node_; }
  /// The version of the operator: the last of Operator::since that the model's opset has.
  [[nodiscard]] int version() const noexcept { return version_; }
  [[nodiscard]] Walker& walker() const noexcept { return walker_; }

  // Operands --------------------------------------------------------------------------------------
  [[nodiscard]] std::size_t count() const noexcept { return inputs_.size(); }
  [[nodiscard]] bool has(std::size_t i) const noexcept {
    return i < inputs_.size() && inputs_[i].is_given();
  }
  /// Throws arity_mismatch if it is not given.
  [[nodiscard]] const Value& input(std::size_t i) const;
  [[nodiscard]] Tensor x(std::size_t i = 0) const { return input(i).tensor(); }
  [[nodiscard]] const Shape& shape(std::size_t i = 0) const { return input(i).shape(); }
  [[nodiscard]] std::int64_t rank(std::size_t i = 0) const {
    return static_cast<std::int64_t>(shape(i).rank());
  }
  [[nodiscard]] ElementType type(std::size_t i = 0) const { return input(i).type(); }
  /// All operands that are given.
  [[nodiscard]] std::vector<Tensor> tensors() const;

  // Elements of operands ----------------------------------------------------------------------------
  [[nodiscard]] Known known(std::size_t i) const { return walker_.know(input(i)); }
  [[nodiscard]] Axes integers(std::size_t i) const { return known(i).to_integers(); }
  /// The only element. Throws shape_mismatch unless there is one.
  [[nodiscard]] std::int64_t integer(std::size_t i) const;
  [[nodiscard]] double real(std::size_t i) const;
  /// Axes, or other integers, that are an operand since some version and an attribute before:
  /// nothing if neither is given.
  [[nodiscard]] std::optional<Axes> integers(std::size_t i, std::string_view attribute) const;

  // Results ---------------------------------------------------------------------------------------
  /// A tensor with the element type of an operand, converted to it.
  [[nodiscard]] Value like(const Tensor& tensor, std::size_t i = 0) const;
  /// u8 that holds 0 or 1.
  [[nodiscard]] static Value condition(const Tensor& tensor);
  [[nodiscard]] Value keep(Value value) const { return walker_.keep(std::move(value)); }
  /// Throws with the operator as op.
  [[noreturn]] void refuse(ErrorCode code, std::string reason) const;

 private:
  const Node& node_;
  int version_;
  std::span<const Value> inputs_;
  Walker& walker_;
};

/// An axis in [0, rank), from one that may count from the end. Throws invalid_parameter.
[[nodiscard]] std::int64_t axis_in(std::int64_t axis, std::int64_t rank);
[[nodiscard]] Axes axes_in(const Axes& axes, std::int64_t rank);
[[nodiscard]] Shape shape_of(std::span<const std::int64_t> extents);
[[nodiscard]] Axes extents_of(const Shape& shape);

}  // namespace stoker::onnx
