// A name from one family, such as optimizers; the compiler rejects names of other families.
//
//     using OptimizerName = Choice<struct OptimizerFamily>;
//
// A program passes an options struct of the family, optimizers::Adam{.b1 = 0.8}, or a function that
// returns a name, nn::relu. Text is accepted too, "adam(b1=0.8)", because scripts and files contain
// it; the name is looked up when it is used.
//
// A value; thread-safe as values are. Errors are thrown: invalid_argument for malformed text
// (named.hpp).
#pragma once

#include <concepts>

#include "stoker/api/nn/graph/options.hpp"

namespace stoker::nn {

/// `Tag` only identifies the family.
template <class Tag> struct Choice : Named {
  using Word = Choice (*)();
  using Named::Named;
  Choice() = default;
  /// Accepts a plain Named, but not a Choice of another family, though it derives from Named.
  template <std::same_as<Named> N>
  Choice(N named) : Named{std::move(named)} {}  // NOLINT(google-explicit-constructor)
  Choice(Word word) : Choice{word()} {}         // NOLINT(google-explicit-constructor)
  /// From an options struct with `using Family = …`; keeps only the options that differ from their
  /// defaults.
  template <class O>
  requires std::same_as<typename O::Family, Choice> Choice(
      const O& chosen)  // NOLINT(google-explicit-constructor)
      : Named{O::kind, options::given(chosen)} {}
};

}  // namespace stoker::nn
