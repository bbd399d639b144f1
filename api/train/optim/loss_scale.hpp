// Loss scaling: losses are multiplied by a large number before differentiation, so that small
// gradients do not underflow in f16. Steps whose gradients overflow are skipped.
//
//     LossScale scaling = loss_scale(loss_scales::Dynamic{});
//     LossScaleState state = scaling.init();
//     // in a step:
//     auto [loss, scaled] = value_and_grad([&](const Parameters& p) {
//       return scaling.scale(loss_of(p), state);
//     })(parameters);
//     auto [gradients, finite, next] = scaling.unscale(scaled, state);
//     Stepped stepped = take_step(update, gradients, slots, parameters);
//     parameters = where_finite(finite, stepped.parameters, parameters);
//     slots = where_finite(finite, stepped.slots, slots);
//     state = next;
//
// NaN counts as non-finite.
//
// Formulas: Micikevicius et al., "Mixed precision training", arXiv:1710.03740.
//
// Pure functions, traced by jit() with the rest of a step; any thread. Errors are thrown: not_found
// for an unknown name, invalid_parameter for options out of range, shape_mismatch where structures
// differ.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "stoker/api/nn/graph/choice.hpp"
#include "stoker/api/nn/graph/parameters.hpp"
#include "stoker/api/tensor/core/structure.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::nn {

/// "scale"; for Dynamic also "steps", the number of steps since the scale changed.
using LossScaleState = std::map<std::string, Tensor>;

struct Unscaled {
  Parameters gradients;  ///< in f32 or wider, so that small values do not underflow now
  Tensor finite;         ///< scalar u8: whether all gradients are finite
  LossScaleState state;  ///< for the next step
};
template <class V> void visit_tensors(Unscaled& unscaled, V&& visitor) {
  visitor(unscaled.gradients);
  visitor(unscaled.finite);
  visitor(unscaled.state);
}

struct LossScale {
  std::string text;  ///< the text it was made from
  std::function<LossScaleState()> init;
  std::function<Tensor(const Tensor& loss, const LossScaleState& state)> scale;
  std::function<Unscaled(const Parameters& gradients, const LossScaleState& state)> unscale;
};

using LossScaleName = Choice<struct LossScaleFamily>;
[[nodiscard]] LossScale loss_scale(const LossScaleName& wanted);
/// All loss scales, in the order of the table.
[[nodiscard]] std::vector<NamedKind> loss_scale_kinds();

namespace loss_scales {

template <class O, class V> void visit_value(O& o, V&& visit) {
  // Below f32's normal numbers the inverse would be infinite.
  visit("value", o.value, at_least(1e-30), "the factor at first");
}

/// No scaling, and no check: everything counts as finite.
struct Identity {
  using Family = LossScaleName;
  static constexpr const char* kind = "identity";
};
template <class V> void visit_options(Identity&, V&&) {}

/// A constant scale.
struct Static {
  using Family = LossScaleName;
  static constexpr const char* kind = "static";
  double value = 32768;
};
template <class V> void visit_options(Static& o, V&& visit) { visit_value(o, visit); }

/// A scale that adapts: divided by `factor` (but not below `min`) when a gradient is not finite,
/// multiplied by it after `period` finite steps.
struct Dynamic {
  using Family = LossScaleName;
  static constexpr const char* kind = "dynamic";
  double value = 32768;
  std::int64_t period = 2000;
  double factor = 2;
  double min = 1;
};
template <class V> void visit_options(Dynamic& o, V&& visit) {
  visit_value(o, visit);
  visit("period", o.period, at_least(1), "finite steps after which the factor grows");
  visit("factor", o.factor, at_least(1), "the factor grows and falls by this factor");
  visit("min", o.min, at_least(1e-30), "smallest factor");
}

}  // namespace loss_scales

/// Scalar u8: whether all elements of all tensors are finite.
[[nodiscard]] Tensor all_finite(const Parameters& tensors);

/// Throws shape_mismatch if the numbers differ.
void check_same_number(std::size_t changed, std::size_t kept);

/// Returns `changed` if `finite` is not 0, else `kept`, tensor by tensor. Both must have the same
/// structure.
template <class S>
[[nodiscard]] S where_finite(const Tensor& finite, const S& changed, const S& kept) {
  std::vector<Tensor> chosen = stoker::detail::tensors_of(changed);
  const std::vector<Tensor> others = stoker::detail::tensors_of(kept);
  check_same_number(chosen.size(), others.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = select(finite, chosen[i], others[i]);
  return stoker::detail::with_tensors(changed, chosen);
}

}  // namespace stoker::nn
