// What becomes of gradients on their way to the parameters, in pieces that compose.
//
//     Update update = compose(updates::clip_by_global_norm(1.0), updates::scale_by_adam(),
//                             updates::scale(-1e-3));
//     Slots slots = update.init(parameters);
//     auto [changes, next] = update.apply(gradients, slots, parameters);
//     parameters = apply_updates(parameters, changes);
//
// An update is two functions without memory: what it keeps from one step to the next, moments and
// counters, is in tensors with names that it is given and gives back, its slots:
// "adam.m/dense_0.kernel" for one parameter, "adam.step" for all of them. So a whole training step
// can be traced by jit() and runs as one program, slots can be saved as parameters can, and a step
// that must not count is undone by keeping the old slots.
//
// Only parameters that have a gradient change, and their slots; whoever freezes a layer leaves out
// its gradients. (A traced function sees names at its first call only: trace another one when other
// parameters are frozen.) Slots and updates are f32 also for f16 and bf16, and f64 for f64;
// apply_updates() converts when it has added.
//
// Values and pure functions; any thread. Errors are thrown: not_found for a gradient without a
// parameter or slot, shape_mismatch where they differ, invalid_argument for an update without
// functions, already_exists for two slots of one name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/nn/graph/parameters.hpp"

namespace stoker::nn {

using Slots = std::map<std::string, Tensor>;

/// What comes out of an update: gradients on their way to be what is added, and slots.
struct Updated {
  Parameters updates;
  Slots slots;
};
template <class V> void visit_tensors(Updated& updated, V&& visitor) {
  visitor(updated.updates);
  visitor(updated.slots);
}

struct Update {
  /// The slots before the first step.
  std::function<Slots(const Parameters& parameters)> init;
  /// One step. It may be given more slots than its own, and gives them all back.
  std::function<Updated(const Parameters& gradients, const Slots& slots,
                        const Parameters& parameters)>
      apply;
};

/// One without slots.
[[nodiscard]] Update stateless(
    std::function<Parameters(const Parameters& gradients, const Parameters& parameters)> function);
/// One with slots. The slots that `apply` leaves out stay as they are.
[[nodiscard]] Update stateful(decltype(Update::init) init, decltype(Update::apply) apply);
/// Gradients as they are.
[[nodiscard]] Update identity();

/// One after the other. The slots of each have its number in front: "0/adam.step".
[[nodiscard]] Update compose(std::vector<Update> parts);
template <class... Parts> [[nodiscard]] Update compose(Update first, Parts... others) {
  return compose(std::vector<Update>{std::move(first), std::move(others)...});
}
/// One after the other, of which each has other slots, which keep their names. init() throws
/// already_exists where two have one.
[[nodiscard]] Update chain(std::vector<Update> parts);

/// The parameters with the updates added, in the parameters' dtypes; those without an update as
/// they are.
[[nodiscard]] Parameters apply_updates(const Parameters& parameters, const Parameters& updates);
/// The same, with `states` in the place of what has their names: what layers keep themselves.
[[nodiscard]] Parameters apply_updates(const Parameters& parameters, const Parameters& updates,
                                       const Parameters& states);

/// A whole step.
struct Stepped {
  Parameters parameters;
  Slots slots;
};
template <class V> void visit_tensors(Stepped& stepped, V&& visitor) {
  visitor(stepped.parameters);
  visitor(stepped.slots);
}
[[nodiscard]] Stepped take_step(const Update& update, const Parameters& gradients,
                                const Slots& slots, const Parameters& parameters);

// For those who write one ------------------------------------------------------------------------

/// The dtype in which updates of a parameter are computed.
[[nodiscard]] DType update_dtype(DType parameter) noexcept;
/// The tensor of that name; not_found, which says that `what` is missing ("parameter").
[[nodiscard]] const Tensor& named_tensor(const Parameters& tensors, const std::string& name,
                                         std::string_view what);
/// `change(name, gradient)` for each.
[[nodiscard]] Parameters for_each_gradient(
    const Parameters& gradients,
    const std::function<Tensor(const std::string& name, const Tensor& gradient)>& change);

/// The slots of an update with a name, "adam": of "adam.m/dense_0.kernel" the kind is "m".
class SlotGroup {
 public:
  explicit SlotGroup(std::string name, Slots slots = {})
      : name_{std::move(name)}, slots_{std::move(slots)} {}

  /// One slot of that kind for each parameter, like it, full of a number.
  SlotGroup& fill(std::string_view kind, const Parameters& parameters, double value);
  /// A slot for all parameters.
  SlotGroup& put(std::string_view kind, Tensor value);
  [[nodiscard]] const Tensor& get(std::string_view kind) const;
  /// Those of one parameter. Throws shape_mismatch unless it is like `gradient`.
  [[nodiscard]] const Tensor& get(std::string_view kind, const std::string& parameter,
                                  const Tensor& gradient) const;
  /// Gives the value back.
  Tensor put(std::string_view kind, const std::string& parameter, Tensor value);
  /// The counter of that kind, one higher.
  Tensor count(std::string_view kind = "step");

  [[nodiscard]] const Slots& slots() const noexcept { return slots_; }

 private:
  std::string name_;
  Slots slots_;
};

}  // namespace stoker::nn
