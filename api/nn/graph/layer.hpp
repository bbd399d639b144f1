// The definition of a layer: its options, its variables and its computation. Each kind of layer, or
// close family of kinds, has one pair of files in api/nn/layers. The header has the options as a
// struct (options.hpp), by which programs name the layer:
//
//     struct Dense {
//       static constexpr const char* kind = "dense";
//       …
//       std::string name = {};  // of the layer in the network; not an option
//     };
//     template <class V> void visit_options(Dense& o, V&& visit) { … }
//
// and the source file defines it:
//
//     namespace stoker::nn::layers::dense {
//     void define(LayerTable& table) {
//       table.add<Dense>({.summary = …, .variables = …, .apply = …});
//     }
//     }
//
// CMake finds both files; nothing else is edited.
//
// A layer's functions are pure: they read only the LayerCall and set the states that they declare.
// They never read a tensor's values, so that a network can be traced once and run as one program.
// The first axis of every input is the batch; a layer must work for any batch size.
//
// Definitions are immutable once the table is made; any thread. Errors are thrown: shape_mismatch,
// dtype_mismatch, invalid_parameter; Network adds the layer's name.
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

/// Parameters are changed by training through gradients; states are updated by the layer itself.
enum class VariableKind : std::uint8_t { parameter, state };

/// One variable of a layer. Its name is local to the layer: "kernel", "bias".
struct VariableSpec {
  std::string name;
  Shape shape;
  Named initializer = "glorot_uniform";  ///< see initializer.hpp
  VariableKind kind = VariableKind::parameter;
  DType dtype = DType::f32;
};

/// Tensors by variable name.
using Variables = std::map<std::string, Tensor, std::less<>>;

/// One application of a layer.
class LayerCall {
 public:
  /// `key`, [2] u32, is for layers that draw random numbers while training; each call gets its own.
  LayerCall(std::span<const Tensor> inputs, const ParamSet& options, const Variables& variables,
            bool training, Tensor key)
      : inputs_{inputs},
        options_{options},
        variables_{variables},
        training_{training},
        key_{std::move(key)} {}

  [[nodiscard]] std::span<const Tensor> inputs() const noexcept { return inputs_; }
  /// The i-th input. It is an empty Tensor if an optional input was not given; only layers whose
  /// `when_missing` allows it are called then.
  [[nodiscard]] const Tensor& x(std::size_t i = 0) const { return inputs_[i]; }
  [[nodiscard]] const ParamSet& options() const noexcept { return options_; }
  /// A parameter or state. Throws internal for one that the layer did not declare, which is a bug
  /// in the layer.
  [[nodiscard]] const Tensor& variable(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return variables_.contains(name); }
  [[nodiscard]] bool training() const noexcept { return training_; }
  [[nodiscard]] const Tensor& key() const noexcept { return key_; }

  /// Sets a state's value for the next call.
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

/// What happens to a layer whose inputs are missing because an optional network input was not
/// given.
enum class WhenMissing : std::uint8_t {
  missing,  ///< its outputs are missing if any input is
  any,      ///< its outputs are missing if all inputs are
  computed  ///< it is computed anyway
};

struct LayerDefinition {
  std::string name;     ///< "dense"
  std::string summary;  ///< one line: what it computes
  std::vector<ParamSpec> options = {};
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
  std::size_t outputs = 1;
  /// The variables for inputs of these shapes (first axis: the batch, of any extent). Throws if the
  /// shapes do not fit. Empty: the layer has no variables.
  std::function<std::vector<VariableSpec>(std::span<const TensorSpec> inputs,
                                          const ParamSet& options)>
      variables = {};
  /// Computes as many tensors as `outputs`. Required.
  std::function<std::vector<Tensor>(LayerCall&)> apply = {};
  /// The number of outputs if it depends on the options (split); replaces `outputs`.
  std::function<std::size_t(const ParamSet& options)> count_outputs = {};
  WhenMissing when_missing = WhenMissing::missing;
  /// Options that were renamed: the earlier name, which saved models hold, and today's.
  std::map<std::string, std::string> earlier_names = {};
};
/// Whether `name` consists of letters, digits and _, without a leading digit, whatever the locale.
/// Only such names can be used for kinds and options in text.
[[nodiscard]] bool is_word(std::string_view name) noexcept;
/// Throws invalid_argument, saying what is wrong: no name, no `apply`, no output, an impossible
/// number of inputs, an option that is not a word, is called "name" or occurs twice, a default of
/// another type, or an earlier name that is still an option or stands for none.
void check(const LayerDefinition& definition);
/// The options under today's names. The first use of an earlier one is logged as a warning, once for each kind
/// and name. Throws invalid_parameter if an option is given under both.
[[nodiscard]] Params with_current_names(const LayerDefinition& definition, const Params& given);

/// A definition whose functions take the options as struct O. Its name is O::kind; its options are
/// those of visit_options().
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
  std::map<std::string, std::string> earlier_names = {};

  [[nodiscard]] LayerDefinition definition() &&;
};

/// Kinds of layers by name.
class LayerTable {
 public:
  /// Throws the errors of check(); already_exists if the name is taken.
  void add(LayerDefinition definition);
  template <class O> void add(KindOf<O> kind) { add(std::move(kind).definition()); }
  /// Null if there is no such kind.
  [[nodiscard]] const LayerDefinition* find(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<const LayerDefinition*> list() const;

 private:
  std::map<std::string, LayerDefinition, std::less<>> definitions_;
};

/// All of Stoker's own kinds. Made at the first call, immutable afterwards. For kinds that a
/// program adds see layer_kinds.hpp.
[[nodiscard]] const LayerTable& layer_table();

template <class O> LayerDefinition KindOf<O>::definition() && {
  LayerDefinition made{.name = O::kind,
                       .summary = std::move(summary),
                       .options = options::specs<O>(),
                       .least_inputs = least_inputs,
                       .most_inputs = most_inputs,
                       .outputs = outputs,
                       .when_missing = when_missing,
                       .earlier_names = std::move(earlier_names)};
  // Missing functions stay empty, so that check() sees it.
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
