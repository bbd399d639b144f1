#include "stoker/api/tensor/core/host_calls.hpp"

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/tensor/control/host_call.hpp"

namespace stoker {
namespace {

constexpr char hook_scopes = 0;  // its address

}  // namespace

HookScope::HookScope(const NamedHooks& hooks) : ContextScope{&hook_scopes}, hooks_{hooks} {}

bool HookScope::is_active() noexcept { return innermost(&hook_scopes) != nullptr; }

Tensor hook(const std::string& name, const Tensor& x, std::function<void(const Tensor&)> look) {
  for (const ContextScope* scope = HookScope::innermost(&hook_scopes); scope;) {
    const auto& here = static_cast<const HookScope&>(*scope);
    if (const auto found = here.hooks_.find(name); found != here.hooks_.end())
      return found->second ? hook(x, found->second) : x;
    scope = here.outer();
  }
  return look ? hook(x, std::move(look)) : x;
}

Tensor hook(const Tensor& x, std::function<void(const Tensor&)> look) {
  return Tensor{expr::hook(x.value(), [look = std::move(look)](
                                          const expr::Value& value) { look(Tensor{value}); }),
                x.names()};
}

Tensor host_call(const TensorSpec& spec, std::function<Tensor(const std::vector<Tensor>&)> function,
                 std::span<const Tensor> inputs) {
  const std::vector<expr::Value> values = detail::values_of(inputs);
  const auto called = [function = std::move(function)](std::span<const expr::Value> given) {
    std::vector<Tensor> tensors;
    for (const expr::Value& value : given) tensors.emplace_back(value);
    const Tensor made = function(tensors);
    static_cast<void>(made.spec());  // throws for one without a value
    // Onto the device of what it was given, wherever the function went with it.
    if (tensors.empty()) return std::vector{made.value()};
    return std::vector{made.to(Device{given[0].buffer().device()}).value()};
  };
  return Tensor{expr::host_call({&spec, 1}, called, values)[0]};
}

Tensor host_call(const TensorSpec& spec, std::function<Tensor(const std::vector<Tensor>&)> function,
                 std::initializer_list<Tensor> inputs) {
  return host_call(spec, std::move(function),
                   std::span<const Tensor>{inputs.begin(), inputs.size()});
}

}  // namespace stoker
