// Graphs of layers, written as functions of nodes.
//
//     Node x = input("x", {784});
//     Node y = dense(dropout(dense(x, 128, {.activation = relu}), 0.2), 10);
//     Network network{y};                           // network.hpp
//
// A node is one output of one application of a layer. It only describes: nothing is computed, and
// shapes are checked when a network is made. A Layer that is applied twice has one set of
// parameters:
//
//     Layer shared{layers::Dense{.units = 16}};
//     Node both = concatenate({shared(a), shared(b)});
//
// Immutable shared values; any thread. Errors are thrown at the call: not_found for an unknown
// kind, invalid_parameter for its options, arity_mismatch for the number of inputs.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn {

class Node;

/// An options struct of a kind of layer: layers::Dense.
template <class O>
concept LayerOptions = requires(O options) {
  { O::kind } -> std::convertible_to<std::string_view>;
  { options.name } -> std::convertible_to<std::string>;
};

/// A kind of layer with its options, and the identity of its parameters.
class Layer {
 public:
  /// If the name is empty, the network makes one from the kind: "dense_0".
  template <LayerOptions O>
  explicit Layer(const O& kind)
      : Layer{Named{O::kind, stoker::options::given(kind)}, std::string{kind.name}} {}
  /// From text, as in scripts and files: "dense(units=16)".
  explicit Layer(const Named& kind, std::string name = {});
  /// A layer with a definition of its own and default options. A network with it cannot be saved:
  /// files refer only to kinds that have a name (layer_kinds.hpp). Throws the errors of check().
  explicit Layer(LayerDefinition own, std::string name = {});

  /// Applies the layer: operator() returns its first output, outputs() all.
  [[nodiscard]] Node operator()(const Node& x) const;
  [[nodiscard]] Node operator()(std::vector<Node> inputs) const;
  [[nodiscard]] std::vector<Node> outputs(std::vector<Node> inputs) const;

  [[nodiscard]] const std::string& kind() const noexcept;
  /// The given name; empty if the network is to choose one.
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const LayerDefinition& definition() const noexcept;
  [[nodiscard]] const ParamSet& options() const noexcept;
  /// The given options, without defaults.
  [[nodiscard]] const Params& given() const noexcept;
  /// A copy of this layer with another name, or with another definition, which must have the same
  /// options. The copy has its own parameters.
  [[nodiscard]] Layer renamed(std::string name) const;
  [[nodiscard]] Layer redefined(LayerDefinition definition) const;
  /// Whether its kind is registered by name: Stoker's own, or added by add_layer_kind().
  [[nodiscard]] bool in_table() const noexcept;
  friend bool operator==(const Layer& a, const Layer& b) noexcept { return a.data_ == b.data_; }

 private:
  friend class Node;
  struct Data;
  explicit Layer(std::shared_ptr<const Data> data) : data_{std::move(data)} {}
  static Layer of_own(LayerDefinition own, const Params& options, std::string name);
  std::shared_ptr<const Data> data_;
};

class Node {
 public:
  /// An empty node: only assignment, destruction and operator bool are allowed.
  Node() = default;
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(place_); }

  /// Whether this node is an input of the network.
  [[nodiscard]] bool is_input() const noexcept;
  /// For inputs only: the name, whether a network may run without it, and the spec of one row.
  [[nodiscard]] const std::string& input_name() const;
  [[nodiscard]] bool is_optional() const noexcept;
  [[nodiscard]] const TensorSpec& row() const;
  /// For other nodes: the layer, its inputs, and the index of this output.
  [[nodiscard]] const Layer& layer() const;
  [[nodiscard]] std::span<const Node> inputs() const;
  [[nodiscard]] std::size_t output() const noexcept { return output_; }
  /// Identifies the application: equal for all its outputs.
  [[nodiscard]] const void* place() const noexcept { return place_.get(); }

 private:
  friend class Layer;
  friend Node input(std::string name, const Shape& row, DType dtype);
  friend Node optional_input(std::string name, const Shape& row, DType dtype);
  struct Place;
  Node(std::shared_ptr<const Place> place, std::size_t output)
      : place_{std::move(place)}, output_{output} {}
  std::shared_ptr<const Place> place_;
  std::size_t output_ = 0;
};

/// An input of a network: a batch of rows of this shape.
[[nodiscard]] Node input(std::string name, const Shape& row, DType dtype = DType::f32);
/// The only input of a network, called "input".
[[nodiscard]] Node input(const Shape& row, DType dtype = DType::f32);

/// An input that may be omitted. Everything computed from it is then missing too, until or_else()
/// or a layer whose definition allows missing inputs (WhenMissing) supplies a value.
[[nodiscard]] Node optional_input(std::string name, const Shape& row, DType dtype = DType::f32);

/// Wraps a function of tensors as a layer without parameters (Axon's nx).
[[nodiscard]] Node function(std::vector<Node> inputs,
                            std::function<Tensor(std::span<const Tensor>)> compute,
                            std::string name = {});
/// A tensor that is the same for every batch. It is not a parameter and is not saved.
[[nodiscard]] Node constant(const Tensor& value, std::string name = {});

}  // namespace stoker::nn
