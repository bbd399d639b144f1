// Updates: composable transformations from gradients to parameter changes.
//
//     Update update = compose(updates::clip_by_global_norm(1.0), updates::scale_by_adam(),
//                             updates::scale(-1e-3));
//     Slots slots = update.init(parameters);
//     auto [changes, next] = update.apply(gradients, slots, parameters);
//     parameters = apply_updates(parameters, changes);
//
// An update is a pair of pure functions. Its state (moments, counters) is in slots, named tensors
// that are passed in and returned: "adam.m/dense_0.kernel" for one parameter, "adam.step" for all.
// So jit() can trace a whole training step as one program, slots can be saved like parameters, and
// a step is undone by keeping the old slots.
//
// Only parameters with a gradient change, and their slots: to freeze a layer, omit its gradients.
// (A traced function sees names only at its first call: trace it again when other layers are
// frozen.) Slots and updates are f64 for f64 parameters, else f32; apply_updates() converts after
// adding.
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

/// The result of an update: transformed gradients and new slots.
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
  /// One step. `slots` may hold more than its own slots; all are returned.
  std::function<Updated(const Parameters& gradients, const Slots& slots,
                        const Parameters& parameters)>
      apply;
};

/// An update without slots.
[[nodiscard]] Update stateless(
    std::function<Parameters(const Parameters& gradients, const Parameters& parameters)> function);
/// An update with slots. Slots that `apply` does not return are kept.
[[nodiscard]] Update stateful(decltype(Update::init) init, decltype(Update::apply) apply);
/// Returns gradients unchanged.
[[nodiscard]] Update identity();

/// Applies updates in turn. Each one's slots are prefixed with its index: "0/adam.step".
[[nodiscard]] Update compose(std::vector<Update> parts);
template <class... Parts> [[nodiscard]] Update compose(Update first, Parts... others) {
  return compose(std::vector<Update>{std::move(first), std::move(others)...});
}
/// Applies updates in turn without renaming slots. init() throws already_exists if two have a slot
/// of the same name.
[[nodiscard]] Update chain(std::vector<Update> parts);

/// The parameters plus their updates, in the parameters' dtypes; those without an update are
/// unchanged.
[[nodiscard]] Parameters apply_updates(const Parameters& parameters, const Parameters& updates);
/// The same, then replaces entries by those of the same name in `states`.
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

// For authors of updates --------------------------------------------------------------------------

/// The dtype in which updates of a parameter are computed.
[[nodiscard]] DType update_dtype(DType parameter) noexcept;
/// The tensor of that name. Throws not_found, saying that `what` ("parameter") is missing.
[[nodiscard]] const Tensor& named_tensor(const Parameters& tensors, const std::string& name,
                                         std::string_view what);
/// Applies `change(name, gradient)` to each gradient.
[[nodiscard]] Parameters for_each_gradient(
    const Parameters& gradients,
    const std::function<Tensor(const std::string& name, const Tensor& gradient)>& change);

/// The slots of a named update, "adam". In "adam.m/dense_0.kernel" the kind is "m".
class SlotGroup {
 public:
  explicit SlotGroup(std::string name, Slots slots = {})
      : name_{std::move(name)}, slots_{std::move(slots)} {}

  /// Adds a slot of that kind for each parameter, with its shape, filled with `value`.
  SlotGroup& fill(std::string_view kind, const Parameters& parameters, double value);
  /// Adds one slot of that kind, shared by all parameters.
  SlotGroup& put(std::string_view kind, Tensor value);
  [[nodiscard]] const Tensor& get(std::string_view kind) const;
  /// One parameter's slot of that kind. Throws shape_mismatch unless it has the shape of
  /// `gradient`.
  [[nodiscard]] const Tensor& get(std::string_view kind, const std::string& parameter,
                                  const Tensor& gradient) const;
  /// Sets one parameter's slot and returns the value.
  Tensor put(std::string_view kind, const std::string& parameter, Tensor value);
  /// Increments the counter of that kind and returns it.
  Tensor count(std::string_view kind = "step");

  [[nodiscard]] const Slots& slots() const noexcept { return slots_; }

 private:
  std::string name_;
  Slots slots_;
};

}  // namespace stoker::nn
