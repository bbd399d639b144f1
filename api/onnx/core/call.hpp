// One application of an operator, as its rules see it.
//
// A rule is called while a model is traced for certain shapes. It reads operands and attributes
// here and returns the node's outputs, as many as the node has or fewer. It must be pure: its
// results depend only on what it reads here.
//
// A rule that needs the elements of an operand calls known(). If they depend on the inputs of the
// run, that makes a *cut*: the nodes that were traced so far become a program and run, and the rule
// continues with the elements that were read. Tensors that a rule made before the cut are not valid
// afterwards. It must keep them as values (keep()) and take the tensors from these again.
//
// Threads: one walk uses one thread. Errors are thrown; the walk adds the node to them.
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

/// The services of the walk that calls the rules.
class Walker {
 public:
  /// The elements; makes a cut if they depend on the inputs.
  virtual Known know(const Value& value) = 0;
  /// Whether know() makes a cut.
  [[nodiscard]] virtual bool takes_cut(const Value& value) const = 0;
  /// Traces a subgraph of the node; names of the graphs around are visible in it.
  virtual Values run(const Graph& graph, std::span<const Value> inputs) = 0;
  /// The same for a subgraph whose results may not be needed. Nothing if it needs a cut or is refused.
  [[nodiscard]] virtual std::optional<Values> run_without_cut(const Graph& graph,
                                                              std::span<const Value> inputs) = 0;
  /// The same constant each time, with one copy on the device.
  virtual Value constant(const TensorData& data) = 0;
  /// Whether rules may reorder weights for the device.
  [[nodiscard]] virtual bool may_choose_layouts() const = 0;
  /// The tensor that `make` computes from constant operands of the current node: made once, for all plans. `part`
  /// distinguishes several such tensors of one node.
  virtual Tensor prepared(std::size_t part, const std::function<Tensor()>& make) = 0;
  /// A value whose tensor stays valid at cuts.
  virtual Value keep(Value value) = 0;
  /// A key (api/tensor/math/random.hpp) that no other call gets: a new one in each run, or with a
  /// seed the same in each run.
  virtual Tensor random_key(std::optional<std::uint64_t> seed) = 0;
  /// Called before the first round of a loop of at most `most` rounds.
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
  /// Axes or other integers that are an operand in newer versions of the operator and an attribute
  /// in older ones. Nothing if neither is given.
  [[nodiscard]] std::optional<Axes> integers(std::size_t i, std::string_view attribute) const;

  // Results ---------------------------------------------------------------------------------------
  /// The tensor, converted to the element type of operand `i`.
  [[nodiscard]] Value like(const Tensor& tensor, std::size_t i = 0) const;
  /// u8 that holds 0 or 1.
  [[nodiscard]] static Value condition(const Tensor& tensor);
  [[nodiscard]] Value keep(Value value) const { return walker_.keep(std::move(value)); }
  /// Throws an error whose op is the operator.
  [[noreturn]] void refuse(ErrorCode code, std::string reason) const;

 private:
  const Node& node_;
  int version_;
  std::span<const Value> inputs_;
  Walker& walker_;
};

/// The axis in [0, rank) for one that may count from the end. Throws invalid_parameter.
[[nodiscard]] std::int64_t axis_in(std::int64_t axis, std::int64_t rank);
[[nodiscard]] Axes axes_in(const Axes& axes, std::int64_t rank);
[[nodiscard]] Shape shape_of(std::span<const std::int64_t> extents);
[[nodiscard]] Axes extents_of(const Shape& shape);

}  // namespace stoker::onnx
