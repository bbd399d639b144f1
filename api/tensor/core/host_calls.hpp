// Calls of the program's own functions while a program of tensors runs.
//
//     y = hook(y, [](const Tensor& value) { std::cout << value << '\n'; });
//     Tensor z = host_call({DType::f32, Shape{3}}, [](const std::vector<Tensor>& in) { … }, {x});
//
// Both take their place among the other operations, also in traced functions, branches and loops; nobody
// waits for them but who uses their results.
//
// Threads: the functions are called on the executor of the system, perhaps by several runs at once. They
// may look at values and ask for new tensors. Errors: what is wrong with the call is thrown; what a
// host_call's function throws fails whoever reads its results; what a hook throws is logged.
//
// Limits of the request (deadline, token, points to wait for) hold until a function is called: then it is
// left out and its results fail. They do not hold for what it does. A lazy tensor that it returns is
// computed to the end, also past the deadline: others may hold that tensor, and one that failed by the
// limits of a request would stay failed for them. Who reads a result with limits is answered in time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/runtime/process/context_scope.hpp"

namespace stoker {

/// `x` itself; `look` is shown it when it is known. The gradient passes. A result that nobody uses is
/// not computed, and then nothing is shown: go on with what this returns.
[[nodiscard]] Tensor hook(const Tensor& x, std::function<void(const Tensor&)> look);

/// The same under a name, by which jit() and HookScope can put another function in its place, or
/// nothing. Without a function and without another one this is `x`.
[[nodiscard]] Tensor hook(const std::string& name, const Tensor& x,
                          std::function<void(const Tensor&)> look = {});

using NamedHooks = std::map<std::string, std::function<void(const Tensor&)>>;

/// While it lives, hooks that this process or plain thread asks for by one of these names call these
/// functions. Scopes nest; of equal names the innermost counts. `hooks` outlives it.
class HookScope : private ContextScope {
 public:
  explicit HookScope(const NamedHooks& hooks);
  /// Whether the calling process or plain thread is in one.
  [[nodiscard]] static bool is_active() noexcept;

 private:
  friend Tensor hook(const std::string& name, const Tensor& x,
                     std::function<void(const Tensor&)> look);
  const NamedHooks& hooks_;
};

/// What `function` makes of the inputs, of the spec promised here. It has no gradient.
[[nodiscard]] Tensor host_call(const TensorSpec& spec,
                               std::function<Tensor(const std::vector<Tensor>&)> function,
                               std::span<const Tensor> inputs);
[[nodiscard]] Tensor host_call(const TensorSpec& spec,
                               std::function<Tensor(const std::vector<Tensor>&)> function,
                               std::initializer_list<Tensor> inputs);

}  // namespace stoker
