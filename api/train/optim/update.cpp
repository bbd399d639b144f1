#include "stoker/api/train/optim/update.hpp"

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::nn {
namespace {

void check_complete(const char* op, const Update& update) {
  if (!update.init || !update.apply)
    throw Error{op, ErrorCode::invalid_argument, "expected an update, got one without functions"};
}

/// The same with `prefix` before the names of its slots. It does not see the others.
Update prefixed(Update part, const std::string& prefix) {
  const auto with = [prefix](const Slots& slots, Slots into) {
    for (const auto& [name, value] : slots) into.insert_or_assign(prefix + name, value);
    return into;
  };
  return {[part, with](const Parameters& parameters) { return with(part.init(parameters), {}); },
          [part, with, prefix](const Parameters& gradients, const Slots& slots,
                               const Parameters& parameters) {
            Slots own;
            for (const auto& [name, value] : slots)
              if (name.starts_with(prefix)) own.emplace(name.substr(prefix.size()), value);
            Updated made = part.apply(gradients, own, parameters);
            return Updated{std::move(made.updates), with(made.slots, slots)};
          }};
}

std::string joined(const std::string& group, std::string_view kind) {
  return group + '.' + std::string{kind};
}
std::string joined(const std::string& group, std::string_view kind, const std::string& parameter) {
  return joined(group, kind) + '/' + parameter;
}

void check_alike(const char* op, const std::string& name, const Tensor& got, const Tensor& like,
                 const char* what) {
  if (got.shape() == like.shape()) return;
  throw Error{
      op,
      ErrorCode::shape_mismatch,
      "the gradient of '" + name + "' is " + got.spec().to_string() + ", the " + what + " is " +
          like.spec().to_string(),
      {{"name", name}, {"expected", like.shape().to_string()}, {"got", got.shape().to_string()}}};
}

}  // namespace

Update stateless(
    std::function<Parameters(const Parameters& gradients, const Parameters& parameters)> function) {
  if (!function)
    throw Error{"stateless", ErrorCode::invalid_argument, "expected a function, got none"};
  return {[](const Parameters&) { return Slots{}; },
          [function = std::move(function)](const Parameters& gradients, const Slots& slots,
                                           const Parameters& parameters) {
            return Updated{function(gradients, parameters), slots};
          }};
}

Update stateful(decltype(Update::init) init, decltype(Update::apply) apply) {
  Update made{std::move(init), std::move(apply)};
  check_complete("stateful", made);
  made.apply = [inner = std::move(made.apply)](const Parameters& gradients, const Slots& slots,
                                               const Parameters& parameters) {
    Updated updated = inner(gradients, slots, parameters);
    updated.slots.insert(slots.begin(), slots.end());
    return updated;
  };
  return made;
}

Update identity() {
  return stateless([](const Parameters& gradients, const Parameters&) { return gradients; });
}

Update compose(std::vector<Update> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check_complete("compose", parts[i]);
    parts[i] = prefixed(std::move(parts[i]), std::to_string(i) + '/');
  }
  return chain(std::move(parts));
}

Update chain(std::vector<Update> parts) {
  for (const Update& part : parts) check_complete("chain", part);
  return {[parts](const Parameters& parameters) {
            Slots slots;
            for (const Update& part : parts)
              for (auto& [name, value] : part.init(parameters))
                if (!slots.emplace(name, value).second)
                  throw Error{"chain",
                              ErrorCode::already_exists,
                              "two updates have a slot '" + name + "'; use compose()",
                              {{"slot", name}}};
            return slots;
          },
          [parts](const Parameters& gradients, const Slots& slots, const Parameters& parameters) {
            Updated updated{gradients, slots};
            for (const Update& part : parts)
              updated = part.apply(updated.updates, updated.slots, parameters);
            return updated;
          }};
}

Parameters apply_updates(const Parameters& parameters, const Parameters& updates) {
  Parameters changed = parameters;
  for (const auto& [name, update] : updates) {
    const Tensor& parameter = named_tensor(parameters, name, "parameter");
    check_alike("apply_updates", name, update, parameter, "parameter");
    // Added before it is rounded: in bf16 a small update of its own would lose most of its bits.
    changed[name] = as_type(parameter + update, parameter.dtype());
  }
  return changed;
}

Parameters apply_updates(const Parameters& parameters, const Parameters& updates,
                         const Parameters& states) {
  Parameters changed = apply_updates(parameters, updates);
  for (const auto& [name, state] : states) changed[name] = state;
  return changed;
}

Stepped take_step(const Update& update, const Parameters& gradients, const Slots& slots,
                  const Parameters& parameters) {
  check_complete("take_step", update);
  for (const auto& [name, gradient] : gradients)
    check_alike("take_step", name, gradient, named_tensor(parameters, name, "parameter"),
                "parameter");
  Updated updated = update.apply(gradients, slots, parameters);
  return {apply_updates(parameters, updated.updates), std::move(updated.slots)};
}

DType update_dtype(DType parameter) noexcept {
  return parameter == DType::f64 ? DType::f64 : DType::f32;
}

const Tensor& named_tensor(const Parameters& tensors, const std::string& name,
                           std::string_view what) {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error{"update",
                ErrorCode::not_found,
                "there is no " + std::string{what} + " '" + name + "'",
                {{"name", name}}};
  return found->second;
}

Parameters for_each_gradient(
    const Parameters& gradients,
    const std::function<Tensor(const std::string& name, const Tensor& gradient)>& change) {
  Parameters changed;
  for (const auto& [name, gradient] : gradients)
    changed.emplace_hint(changed.end(), name, change(name, gradient));
  return changed;
}

SlotGroup& SlotGroup::fill(std::string_view kind, const Parameters& parameters, double value) {
  for (const auto& [name, parameter] : parameters)
    slots_.insert_or_assign(joined(name_, kind, name),
                            full(parameter.shape(), value, update_dtype(parameter.dtype())));
  return *this;
}

SlotGroup& SlotGroup::put(std::string_view kind, Tensor value) {
  slots_.insert_or_assign(joined(name_, kind), std::move(value));
  return *this;
}

const Tensor& SlotGroup::get(std::string_view kind) const {
  return named_tensor(slots_, joined(name_, kind), "slot");
}

const Tensor& SlotGroup::get(std::string_view kind, const std::string& parameter,
                             const Tensor& gradient) const {
  const Tensor& slot = named_tensor(slots_, joined(name_, kind, parameter), "slot");
  check_alike("update", parameter, gradient, slot, "slot");
  return slot;
}

Tensor SlotGroup::put(std::string_view kind, const std::string& parameter, Tensor value) {
  slots_.insert_or_assign(joined(name_, kind, parameter), value);
  return value;
}

Tensor SlotGroup::count(std::string_view kind) {
  Tensor next = get(kind) + 1;
  put(kind, next);
  return next;
}

}  // namespace stoker::nn
