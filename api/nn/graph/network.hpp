// A graph of layers, ready to run: ordered, named, with all shapes known.
//
//     Network network{y};
//     Variables variables = network.initialize(random::key(0));
//     Network::Result result = network.forward(variables, {batch}, Mode::inference);
//
// The constructor applies every layer to placeholders, twice, with different batch sizes: the
// extents that differ are batch axes. So all shape errors are thrown here, with the layer's name,
// and a layer needs no separate shape rule. Nothing is computed.
//
// A network is immutable and holds no values: these are in Variables, by "layer.variable".
// forward() is pure, so it can be traced, differentiated and vectorized (vmap).
//
// To omit an optional input, pass an empty Tensor in its place. Trailing optional inputs, or all of
// them, may simply be omitted. Every value computed from a missing input is missing, too. A missing
// output is an empty Tensor.
//
// Threads: any. Errors are thrown: those of layers, with details "layer" and "kind"; already_exists
// for two layers of one name; invalid_argument without outputs or if all outputs are inputs;
// not_found for missing variables or inputs, shape_mismatch and dtype_mismatch for wrong ones.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace detail {
struct NetworkData;
}

enum class Mode : std::uint8_t { inference, training };

/// The spec of one row of a batched tensor; the whole spec if `batched` is false.
struct RowSpec {
  DType dtype = DType::f32;
  Shape shape;
  bool batched = true;
  /// "[batch, 28, 28]".
  [[nodiscard]] std::string to_string() const;
};

/// Describes one layer of a network.
struct LayerInfo {
  std::string name;
  std::string kind;
  std::string options = {};  ///< as given, "units=10, activation=relu"
  std::vector<std::string> inputs =
      {};                             ///< names of layers and inputs; "name:1" for a further output
  std::vector<RowSpec> outputs = {};  ///< of its first application
  std::vector<VariableSpec> variables = {};
  std::size_t applications = 1;

  /// The number of elements of its parameters, without states.
  [[nodiscard]] std::size_t parameters() const;
};

class Network {
 public:
  explicit Network(const Node& output);
  explicit Network(std::vector<Node> outputs);
  /// Outputs with their own names (Axon's container). Throws already_exists for a name that is
  /// given twice.
  struct NamedOutput {
    std::string name;
    Node node;
  };
  explicit Network(std::vector<NamedOutput> outputs);

  struct Input {
    std::string name;
    RowSpec row;
    bool optional = false;
  };
  [[nodiscard]] std::span<const Input> inputs() const noexcept;
  [[nodiscard]] std::span<const RowSpec> outputs() const noexcept;
  /// The name of each output: the given one, else that of its layer; "split_0:1" for a further
  /// output.
  [[nodiscard]] std::span<const std::string> output_names() const noexcept;

  /// The indices in inputs() to which `given` tensors belong: all inputs, the first ones if the
  /// rest are optional, or only the required ones. Throws arity_mismatch.
  [[nodiscard]] std::vector<std::size_t> places_of(std::size_t given) const;
  /// Orders named inputs for forward(). Throws not_found for an unknown name and for a missing
  /// required input.
  [[nodiscard]] std::vector<Tensor> in_order(const Variables& inputs) const;
  /// The reverse, without empty tensors. Throws arity_mismatch for a wrong number of tensors.
  [[nodiscard]] Variables by_name(std::span<const Tensor> inputs) const;
  /// The layers, in the order in which they run.
  [[nodiscard]] std::span<const LayerInfo> layers() const noexcept;
  /// Throws not_found, with the nearest name.
  [[nodiscard]] const LayerInfo& layer(std::string_view name) const;

  /// Initializes every variable. The same key gives the same numbers on every device. A layer's
  /// numbers depend on its position, but not on the other layers.
  [[nodiscard]] Variables initialize(const Tensor& key) const;
  /// Checks that `variables` are those of this network, with the right shapes; other dtypes are
  /// allowed. Throws not_found, shape_mismatch.
  void check(const Variables& variables) const;
  /// Whether training changes the variable "layer.variable".
  [[nodiscard]] bool is_parameter(std::string_view variable) const;

  struct Result {
    std::vector<Tensor> outputs;
    Variables states;  ///< states that changed, by "layer.variable"
  };
  /// Takes `inputs` in the order of inputs(), all with the same batch size; see above for optional
  /// ones. `key` is for layers that draw random numbers; without a key they draw the same numbers
  /// at each call in training.
  [[nodiscard]] Result forward(const Variables& variables, std::span<const Tensor> inputs,
                               Mode mode = Mode::inference, const Tensor& key = {}) const;
  /// The same with gradient checkpointing: the layers are divided into `pieces` of about equal
  /// length. Only values passed between pieces are kept for the gradient; the rest is recomputed,
  /// one piece at a time. 0: nothing is recomputed; at least the number of layers: each layer is a
  /// piece. Parameters of layers in `frozen` count as constants.
  [[nodiscard]] Result forward_in_pieces(std::size_t pieces, const std::set<std::string>& frozen,
                                         const Variables& variables, std::span<const Tensor> inputs,
                                         Mode mode, const Tensor& key) const;

  /// The same graph with other layers. `choose` is called once for each layer and returns it or a
  /// replacement, which gets its name; `change` may append nodes to each output. Throws the errors
  /// of the constructor.
  using ChooseLayer = std::function<Layer(const Layer& layer, const LayerInfo& info)>;
  using ChangeOutput = std::function<Node(const Node& output)>;
  [[nodiscard]] Network with_layers(const ChooseLayer& choose,
                                    const ChangeOutput& change = {}) const;

  /// The graph as JSON, without variables, and the reverse. to_json() throws unsupported, naming
  /// the layer, if the graph contains a user function; from_json() throws invalid_argument for
  /// malformed text.
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Network from_json(std::string_view text);
  /// The graph in Graphviz' DOT language.
  [[nodiscard]] std::string to_dot() const;

 private:
  std::shared_ptr<const detail::NetworkData> data_;
};

}  // namespace stoker::nn
