// Graphs of layers, written as functions of nodes.
//
//     Node x = input("x", {784});
//     Node y = dense(dropout(dense(x, 128, {.activation = relu}), 0.2), 10);
//     Network network{y};                           // network.hpp
//
// A node is one output of a layer at one place. It describes: nothing is computed, and shapes are looked
// at when a network is made. A Layer that is applied twice has one set of parameters:
//
//     Layer shared{layers::Dense{.units = 16}};
//     Node both = concatenate({shared(a), shared(b)});
//
// Values that share what they describe; any thread. Errors are thrown at the call: not_found and
// invalid_parameter for kinds and options that do not exist, arity_mismatch for the number of inputs.
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

/// The options of a kind, as a struct: layers::Dense.
template <class O>
concept LayerOptions = requires(O options) {
  { O::kind } -> std::convertible_to<std::string_view>;
  { options.name } -> std::convertible_to<std::string>;
};

/// A kind of layer with its options, and the identity of its parameters.
class Layer {
 public:
  /// Without a name it gets one from its kind in the network: "dense_0".
  template <LayerOptions O>
  explicit Layer(const O& kind)
      : Layer{Named{O::kind, nn::options::given(kind)}, std::string{kind.name}} {}
  /// As scripts and files have it: "dense(units=16)".
  explicit Layer(const Named& kind, std::string name = {});
  /// Of a kind of the program's own for this one layer, with the options' defaults. A network with it cannot be saved:
  /// files name kinds that add_layer_kind() has added (layer_kinds.hpp). Throws what check() throws.
  explicit Layer(LayerDefinition own, std::string name = {});

  /// The layer at these inputs: its first output, or all.
  [[nodiscard]] Node operator()(const Node& x) const;
  [[nodiscard]] Node operator()(std::vector<Node> inputs) const;
  [[nodiscard]] std::vector<Node> outputs(std::vector<Node> inputs) const;

  [[nodiscard]] const std::string& kind() const noexcept;
  /// As given: empty if the network is to choose.
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const LayerDefinition& definition() const noexcept;
  [[nodiscard]] const ParamSet& options() const noexcept;
  /// The options as they were given, without defaults.
  [[nodiscard]] const Params& given() const noexcept;
  /// Another layer like this one: with that name; defined like that, which has the same options.
  [[nodiscard]] Layer renamed(std::string name) const;
  [[nodiscard]] Layer redefined(LayerDefinition definition) const;
  /// Whether it is of a kind that has a name: Stoker's, or one that the program has added.
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

  /// Whether it is an input of the network.
  [[nodiscard]] bool is_input() const noexcept;
  /// Of an input: its name, one row of it, and whether a network may be run without it.
  [[nodiscard]] const std::string& input_name() const;
  [[nodiscard]] bool is_optional() const noexcept;
  [[nodiscard]] const TensorSpec& row() const;
  /// Of others: the layer, where its inputs come from, and which of its outputs this is.
  [[nodiscard]] const Layer& layer() const;
  [[nodiscard]] std::span<const Node> inputs() const;
  [[nodiscard]] std::size_t output() const noexcept { return output_; }
  /// The same for all outputs of one application.
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

/// What a network is given: rows of this shape, a batch of them at a time.
[[nodiscard]] Node input(std::string name, const Shape& row, DType dtype = DType::f32);
/// The one input of a network, "input".
[[nodiscard]] Node input(const Shape& row, DType dtype = DType::f32);

/// One that a network may be run without. What is computed of it is missing then, too, up to or_else()
/// and layers whose definition says otherwise (WhenMissing).
[[nodiscard]] Node optional_input(std::string name, const Shape& row, DType dtype = DType::f32);

/// A function of tensors as a layer without parameters (Axon's nx).
[[nodiscard]] Node function(std::vector<Node> inputs,
                            std::function<Tensor(std::span<const Tensor>)> compute,
                            std::string name = {});
/// A tensor that is the same for every batch, and neither a parameter nor saved.
[[nodiscard]] Node constant(const Tensor& value, std::string name = {});

}  // namespace stoker::nn
