// What a layer is: its options, its parameters, what it computes. One kind of layer or a close family is one noun in
// api/nn/layers. Its header has the options, as a struct (options.hpp), which is how programs write the layer:
//
//     struct Dense {
//       static constexpr const char* kind = "dense";
//       …
//       std::string name = {};  // of the layer in the network; not an option
//     };
//     template <class V> void visit_options(Dense& o, V&& visit) { … }
//
// and its source defines it:
//
//     namespace stoker::nn::layers::dense {
//     void define(LayerTable& table) {
//       table.add<Dense>({.summary = …, .variables = …, .apply = …});
//     }
//     }
//
// CMake finds both files; nothing else is edited.
//
// A layer's functions are pure: they read what LayerCall gives and write the states they declare, never
// a tensor's values, so that a network can be traced once and run as one program. The first axis of every
// input is the batch; a layer must work for any extent of it, as long as it is told nothing else.
//
// Definitions are immutable once the table is made; any thread. Errors are thrown: shape_mismatch,
// dtype_mismatch, invalid_parameter; whoever builds a network adds the layer's name.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/nn/graph/options.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker::nn {

/// What training changes by gradients, and what layers keep from one step to the next themselves.
enum class VariableKind : std::uint8_t { parameter, state };

/// One variable of a layer, under the layer's own name for it: "kernel", "bias".
struct VariableSpec {
  std::string name;
  Shape shape;
  Named initializer = "glorot_uniform";  ///< see initializer.hpp
  VariableKind kind = VariableKind::parameter;
  DType dtype = DType::f32;
};

/// Tensors by a layer's own names for them.
using Variables = std::map<std::string, Tensor, std::less<>>;

/// One application of a layer.
class LayerCall {
 public:
  /// `key` is for layers that draw numbers while training, [2] u32; each call has its own.
  LayerCall(std::span<const Tensor> inputs, const ParamSet& options, const Variables& variables,
            bool training, Tensor key)
      : inputs_{inputs},
        options_{options},
        variables_{variables},
        training_{training},
        key_{std::move(key)} {}

  [[nodiscard]] std::span<const Tensor> inputs() const noexcept { return inputs_; }
  /// Without a value where an optional input was not given; only a layer that says so in `when_missing`
  /// is called then.
  [[nodiscard]] const Tensor& x(std::size_t i = 0) const { return inputs_[i]; }
  [[nodiscard]] const ParamSet& options() const noexcept { return options_; }
  /// A parameter or state; one that was not declared is a defect of the layer and throws internal.
  [[nodiscard]] const Tensor& variable(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return variables_.contains(name); }
  [[nodiscard]] bool training() const noexcept { return training_; }
  [[nodiscard]] const Tensor& key() const noexcept { return key_; }

  /// What a state is from the next call on.
  void set_state(std::string_view name, Tensor value) {
    states_.insert_or_assign(std::string{name}, std::move(value));
  }
  [[nodiscard]] const Variables& new_states() const noexcept { return states_; }

 private:
  std::span<const Tensor> inputs_;
  const ParamSet& options_;
  const Variables& variables_;
  bool training_;
  Tensor key_;
  Variables states_;
};

/// What becomes of a layer where what it reads is missing, since an optional input of the network was not
/// given.
enum class WhenMissing : std::uint8_t {
  missing,  ///< its outputs are missing, too, if one of its inputs is
  any,      ///< the same if all of its inputs are
  computed  ///< it is computed
};

struct LayerDefinition {
  std::string name;     ///< "dense"
  std::string summary;  ///< one line: what it computes
  std::vector<ParamSpec> options = {};
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t outputs = 1;
  /// The variables for inputs of these shapes (first axis: the batch, of any extent). Throws what does
  /// not fit. Empty: it has none.
  std::function<std::vector<VariableSpec>(std::span<const TensorSpec> inputs,
                                          const ParamSet& options)>
      variables = {};
  /// As many tensors as `outputs`. No definition is without it.
  std::function<std::vector<Tensor>(LayerCall&)> apply = {};
  /// How many outputs, where the options say it (split); replaces `outputs`.
  std::function<std::size_t(const ParamSet& options)> count_outputs = {};
  WhenMissing when_missing = WhenMissing::missing;
};
/// Whether it is of letters, digits and _ and begins with no digit, whatever the locale is: text can have it for a kind
/// and for an option.
[[nodiscard]] bool is_word(std::string_view name) noexcept;
/// Throws invalid_argument, saying what is missing or wrong: no name, no `apply`, no output, numbers of inputs that no
/// layer can have, an option that is no word, is called "name" or is there twice, a default of another type.
void check(const LayerDefinition& definition);

/// A definition whose functions take the options as the struct O. Its name is O::kind, its options are those that
/// visit_options() names.
template <class O> struct KindOf {
  std::string summary;
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t outputs = 1;
  std::function<std::vector<VariableSpec>(std::span<const TensorSpec> inputs, const O& options)>
      variables = {};
  std::function<std::vector<Tensor>(LayerCall&, const O& options)> apply = {};
  std::function<std::size_t(const O& options)> count_outputs = {};
  WhenMissing when_missing = WhenMissing::missing;

  [[nodiscard]] LayerDefinition definition() &&;
};

/// Kinds of layers by name.
class LayerTable {
 public:
  /// Throws what check() throws; already_exists if the name is taken.
  void add(LayerDefinition definition);
  template <class O> void add(KindOf<O> kind) { add(std::move(kind).definition()); }
  /// Null if there is none.
  [[nodiscard]] const LayerDefinition* find(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<const LayerDefinition*> list() const;

 private:
  std::map<std::string, LayerDefinition, std::less<>> definitions_;
};

/// All kinds of Stoker's. Made at the first call, immutable afterwards. Those of the program are beside it
/// (layer_kinds.hpp).
[[nodiscard]] const LayerTable& layer_table();

template <class O> LayerDefinition KindOf<O>::definition() && {
  LayerDefinition made{.name = O::kind,
                       .summary = std::move(summary),
                       .options = options::specs<O>(),
                       .least_inputs = least_inputs,
                       .most_inputs = most_inputs,
                       .outputs = outputs,
                       .when_missing = when_missing};
  // What is missing stays missing, so that check() sees it.
  if (apply)
    made.apply = [compute = std::move(apply)](LayerCall& call) {
      return compute(call, options::from<O>(call.options()));
    };
  if (variables)
    made.variables = [declare = std::move(variables)](std::span<const TensorSpec> inputs,
                                                      const ParamSet& given) {
      return declare(inputs, options::from<O>(given));
    };
  if (count_outputs)
    made.count_outputs = [count = std::move(count_outputs)](const ParamSet& given) {
      return count(options::from<O>(given));
    };
  return made;
}

}  // namespace stoker::nn
