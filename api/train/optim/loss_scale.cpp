#include "stoker/api/train/optim/loss_scale.hpp"

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/train/optim/update.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

Tensor finite_where(const Tensor& x) { return logical_not(logical_or(is_nan(x), is_infinity(x))); }

Tensor scaled(const Tensor& loss, const LossScaleState& state) {
  return loss * named_tensor(state, "scale", "loss scale");
}

Parameters unscaled(const Parameters& gradients, const LossScaleState& state) {
  // A product with the inverse; of powers of 2 it is exact.
  const Tensor inverse = 1.0 / named_tensor(state, "scale", "loss scale");
  return for_each_gradient(gradients, [&](const std::string&, const Tensor& gradient) {
    return as_type(gradient, update_dtype(gradient.dtype())) * inverse;
  });
}

LossScale by_nothing(const loss_scales::Identity&) {
  return {{},
          [] { return LossScaleState{}; },
          [](const Tensor& loss, const LossScaleState&) { return loss; },
          [](const Parameters& gradients, const LossScaleState& state) {
            return Unscaled{gradients, ones({}, DType::u8), state};
          }};
}

LossScale by_one_number(const loss_scales::Static& options) {
  return {{},
          [value = options.value] {
            return LossScaleState{{"scale", full({}, value, DType::f32)}};
          },
          scaled,
          [](const Parameters& gradients, const LossScaleState& state) {
            return Unscaled{unscaled(gradients, state), all_finite(gradients), state};
          }};
}

LossScale by_what_fits(const loss_scales::Dynamic& options) {
  const std::int64_t period = options.period;
  const double factor = options.factor;
  const double least = options.min;
  return {{},
          [value = options.value] {
            return LossScaleState{{"scale", full({}, value, DType::f32)},
                                  {"steps", zeros({}, DType::s32)}};
          },
          scaled,
          [=](const Parameters& gradients, const LossScaleState& state) {
            const Tensor finite = all_finite(gradients);
            const Tensor& scale = named_tensor(state, "scale", "loss scale");
            const Tensor steps = named_tensor(state, "steps", "loss scale") + 1;
            const Tensor due = steps >= period;
            const Tensor larger = scale * factor;
            const Tensor raised = select(logical_and(due, finite_where(larger)), larger, scale);
            const Tensor lowered = max(scale / factor, least);
            return Unscaled{unscaled(gradients, state),
                            finite,
                            {{"scale", select(finite, raised, lowered)},
                             {"steps", select(logical_and(finite, logical_not(due)), steps, 0)}}};
          }};
}

const NamedTable<LossScale>& table() {
  using Table = NamedTable<LossScale>;
  static constinit NeverDestroyed<Table> made;
  return made.get([] {
    return Table{"loss scale",
                 {Table::entry<loss_scales::Identity>("none", by_nothing),
                  Table::entry<loss_scales::Static>("a factor that stays the same", by_one_number),
                  Table::entry<loss_scales::Dynamic>("a factor that falls when a gradient is not "
                                                     "finite and grows after period finite steps",
                                                     by_what_fits)}};
  });
}

}  // namespace

std::vector<NamedKind> loss_scale_kinds() { return table().kinds(); }

LossScale loss_scale(const LossScaleName& wanted) {
  LossScale made = table().make(wanted);
  made.text = wanted.text();
  return made;
}

Tensor all_finite(const Parameters& tensors) {
  Tensor found = ones({}, DType::u8);
  for (const auto& [name, tensor] : tensors) found = logical_and(found, all(finite_where(tensor)));
  return found;
}

void check_same_number(std::size_t changed, std::size_t kept) {
  if (changed != kept)
    throw Error{"where_finite",
                ErrorCode::shape_mismatch,
                "expected as many tensors as were changed, " + std::to_string(changed) + ", got " +
                    std::to_string(kept),
                {{"expected", std::to_string(changed)}, {"got", std::to_string(kept)}}};
}

}  // namespace stoker::nn
