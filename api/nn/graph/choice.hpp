// One of a family of names, which the compiler tells from those of other families.
//
//     using OptimizerName = Choice<struct OptimizerFamily>;
//
// A program writes a struct of options that belongs to the family, optimizers::Adam{.b1 = 0.8}, or a word of it,
// which is a function that gives one: nn::relu. Text is taken as well, "adam(b1=0.8)": that is what scripts and
// files have, and it is looked up when it is used (named_table.hpp).
//
// A value; thread-safe as values are. Errors are thrown: invalid_argument for text of another form (named.hpp).
#pragma once

#include <concepts>

#include "stoker/api/nn/graph/options.hpp"

namespace stoker::nn {

/// `Tag` only marks the family.
template <class Tag> struct Choice : Named {
  using Word = Choice (*)();
  using Named::Named;
  Choice() = default;
  /// Not of another family, though each is a Named.
  template <std::same_as<Named> N>
  Choice(N named) : Named{std::move(named)} {}  // NOLINT(google-explicit-constructor)
  Choice(Word word) : Choice{word()} {}         // NOLINT(google-explicit-constructor)
  /// Of options that say `using Family = …`, as what differs from their defaults.
  template <class O>
  requires std::same_as<typename O::Family, Choice> Choice(
      const O& chosen)  // NOLINT(google-explicit-constructor)
      : Named{O::kind, options::given(chosen)} {}
};

}  // namespace stoker::nn
