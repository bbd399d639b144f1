// A graph of layers made ready: ordered, named, with the shapes of everything known.
//
//     Network network{y};
//     Variables variables = network.initialize(random::key(0));
//     Network::Result result = network.forward(variables, {batch}, Mode::inference);
//
// Making one applies every layer to placeholders, twice, with different batches: what differs in the
// results is the batch. So whatever does not fit is said here, with the layer's name, and a layer needs no
// rule of its own for shapes. Nothing is computed.
//
// A network is immutable and holds no numbers: those are Variables, by "layer.variable". forward() is
// pure, so it can be traced, differentiated and mapped.
//
// An optional input may be left out. Pass an empty Tensor in its place. Trailing optional inputs, or all of
// them, may simply be omitted. Whatever is computed from a missing input is missing, too. A missing output
// is an empty Tensor.
//
// Threads: any. Errors are thrown: what layers throw, with details "layer" and "kind"; already_exists for
// two layers of one name; invalid_argument without outputs or with outputs that are inputs only;
// not_found for variables or inputs that are missing, shape_mismatch and dtype_mismatch for wrong ones.
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

/// One row of something that comes in batches. Where the batch does not lead, the whole.
struct RowSpec {
  DType dtype = DType::f32;
  Shape shape;
  bool batched = true;
  /// "[batch, 28, 28]".
  [[nodiscard]] std::string to_string() const;
};

/// What is known about one layer of a network.
struct LayerInfo {
  std::string name;
  std::string kind;
  std::string options = {};  ///< as given, "units=10, activation=relu"
  std::vector<std::string> inputs =
      {};                             ///< names of layers and inputs; "name:1" for a further output
  std::vector<RowSpec> outputs = {};  ///< at its first application
  std::vector<VariableSpec> variables = {};
  std::size_t applications = 1;

  /// Elements of its parameters; states do not count.
  [[nodiscard]] std::size_t parameters() const;
};

class Network {
 public:
  explicit Network(const Node& output);
  explicit Network(std::vector<Node> outputs);
  /// Outputs with names of their own (Axon's container): already_exists for one that is given twice.
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
  /// Of each output: the name that it was given, else that of its layer, "split_0:1" for a further output.
  [[nodiscard]] std::span<const std::string> output_names() const noexcept;

  /// Which of inputs() so many tensors are: all, the first ones if the rest are optional, or those that are
  /// not. Throws arity_mismatch.
  [[nodiscard]] std::vector<std::size_t> places_of(std::size_t given) const;
  /// Inputs by name as forward() takes them: not_found for a name that no input has, and for an input that
  /// is not optional and not there.
  [[nodiscard]] std::vector<Tensor> in_order(const Variables& inputs) const;
  /// And back, without those that have no value: arity_mismatch for their number.
  [[nodiscard]] Variables by_name(std::span<const Tensor> inputs) const;
  /// In the order in which they run.
  [[nodiscard]] std::span<const LayerInfo> layers() const noexcept;
  /// Throws not_found, with the nearest name.
  [[nodiscard]] const LayerInfo& layer(std::string_view name) const;

  /// Every variable, by its initializer. The same key gives the same numbers on every device, and a
  /// layer's do not depend on which other layers there are, but for its place among them.
  [[nodiscard]] Variables initialize(const Tensor& key) const;
  /// Whether `variables` are those of this network, of the right shapes; other dtypes are welcome.
  void check(const Variables& variables) const;
  /// Whether the variable is one that training changes; of "layer.variable".
  [[nodiscard]] bool is_parameter(std::string_view variable) const;

  struct Result {
    std::vector<Tensor> outputs;
    Variables states;  ///< those that changed, "layer.variable"
  };
  /// `inputs` in the order of inputs(), all with the same batch; see above for optional ones. `key` is for layers that draw numbers;
  /// without one, a training network with such layers draws the same ones at each call.
  [[nodiscard]] Result forward(const Variables& variables, std::span<const Tensor> inputs,
                               Mode mode = Mode::inference, const Tensor& key = {}) const;
  /// The same in so many pieces of about as many layers, of which gradients keep only what one
  /// hands to later ones and compute the rest again, one piece after the other. 0: nothing is
  /// computed twice; as many as there are layers, or more: each by itself. Parameters of layers in
  /// `frozen` count as constants.
  [[nodiscard]] Result forward_in_pieces(std::size_t pieces, const std::set<std::string>& frozen,
                                         const Variables& variables, std::span<const Tensor> inputs,
                                         Mode mode, const Tensor& key) const;

  /// The same graph with other layers: `choose` is asked once for each and gives it back or another
  /// one, which gets its name; `change` puts something behind each output. What does not fit is
  /// refused as in any network.
  using ChooseLayer = std::function<Layer(const Layer& layer, const LayerInfo& info)>;
  using ChangeOutput = std::function<Node(const Node& output)>;
  [[nodiscard]] Network with_layers(const ChooseLayer& choose,
                                    const ChangeOutput& change = {}) const;

  /// The graph as JSON, without numbers, and back: unsupported, naming the layer, where a function of
  /// the program's is in it; invalid_argument for text that is none.
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Network from_json(std::string_view text);
  /// For Graphviz.
  [[nodiscard]] std::string to_dot() const;

 private:
  std::shared_ptr<const detail::NetworkData> data_;
};

}  // namespace stoker::nn
