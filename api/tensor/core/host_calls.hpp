// Calls host functions while a tensor program runs.
//
//     y = hook(y, [](const Tensor& value) { std::cout << value << '\n'; });
//     Tensor z = host_call({DType::f32, Shape{3}}, [](const std::vector<Tensor>& in) { … }, {x});
//
// Both are operations like any other, also in traced functions, branches and loops. Only users of
// their results wait for them.
//
// Threads: the functions are called on the system's executor, possibly by several runs at once.
// They may read values and evaluate new tensors. Errors: bad arguments are thrown by the call; an
// exception of a host_call's function fails its results; an exception of a hook is logged.
//
// The request's limits (deadline, token, points to wait for) decide whether a function is called:
// if they are exceeded before, it is skipped and its results fail. They do not apply to the
// function's own work. A lazy tensor that it returns is computed to the end, even past the
// deadline, because others may hold that tensor and a failure would be permanent for them. A read
// with limits still returns in time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/runtime/process/context_scope.hpp"

namespace stoker {

/// Returns `x`, and calls `look` with its value once computed. Gradients pass through. Use the
/// returned tensor: if nobody uses it, it is not computed and `look` is not called.
[[nodiscard]] Tensor hook(const Tensor& x, std::function<void(const Tensor&)> look);

/// The same with a name, by which jit() and HookScope can replace or remove `look`. Without any
/// function this is `x`.
[[nodiscard]] Tensor hook(const std::string& name, const Tensor& x,
                          std::function<void(const Tensor&)> look = {});

using NamedHooks = std::map<std::string, std::function<void(const Tensor&)>>;

/// While it lives, hooks with these names that this process or plain thread creates call these
/// functions. Scopes nest; for equal names the innermost wins. `hooks` must outlive it.
class HookScope : private ContextScope {
 public:
  explicit HookScope(const NamedHooks& hooks);
  /// Whether the calling process or plain thread is inside a HookScope.
  [[nodiscard]] static bool is_active() noexcept;

 private:
  friend Tensor hook(const std::string& name, const Tensor& x,
                     std::function<void(const Tensor&)> look);
  const NamedHooks& hooks_;
};

/// Calls `function` with the inputs; its result must match `spec`. It has no gradient.
[[nodiscard]] Tensor host_call(const TensorSpec& spec,
                               std::function<Tensor(const std::vector<Tensor>&)> function,
                               std::span<const Tensor> inputs);
[[nodiscard]] Tensor host_call(const TensorSpec& spec,
                               std::function<Tensor(const std::vector<Tensor>&)> function,
                               std::initializer_list<Tensor> inputs);

}  // namespace stoker
