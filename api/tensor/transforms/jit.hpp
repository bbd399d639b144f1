// Functions of tensors that are traced once and then run as one program.
//
//     auto step = jit([](const Tensor& w, const Tensor& g) { return w - 0.1 * g; });
//     w = step(w, g);        // traced, compiled and started
//     w = step(w, g);        // started
//
// The first call with operands of certain dtypes and shapes calls the function with placeholders,
// compiles the result for the operands' device and keeps the program. Later calls with such
// operands run the program without calling the function. So the function must depend on its
// arguments only (captured values are read at the first call and kept), and it cannot read values:
// that throws invalid_argument. Arguments and results are structures of tensors (structure.hpp).
//
// A device that was lost and opened again counts as another device: the function is called and
// compiled for it again. Tensors captured from a lost device stay lost (device_lost). Each function
// keeps the 256 most recently used programs; the least recently used one is dropped and traced
// again when needed.
//
// with() returns a handle whose runs have a deadline, a cancellation token, or points to wait for.
// These do not apply to operands that are not computed yet, because others may use them too.
//
// Inside grad() or another traced function, the original function is called, so either nesting
// works; JitOptions::on_conflict can forbid it.
//
//     auto ready = step.compile(current_device(), zeros({4}), zeros({4})); // compiled now
//     w = ready(w, g); // other shapes and dtypes are refused
//
// Threads: any, concurrently. A copy shares the programs. Errors are thrown: those of the function,
// wrong_device, and errors of the device. In a child of fork(), functions made by the parent throw
// forked_process even on the child's own devices, because a thread of the parent may have held
// their lock.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "stoker/api/tensor/core/host_calls.hpp"
#include "stoker/api/tensor/core/structure.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {
class CommandState;
namespace expr {
class Extracted;
struct LoweredProgram;
}  // namespace expr

namespace detail {

/// A traced function, compiled for one device.
class TracedProgram {
 public:
  /// Is shown what was compiled, and into what.
  using Look = std::function<void(const expr::Extracted&, const expr::LoweredProgram&)>;
  /// Compiles `results` as functions of `parameters`. `may_choose_layouts` as for expr::prepare(). `look`: empty, or
  /// called once.
  TracedProgram(std::span<const Tensor> results, std::span<const Tensor> parameters,
                std::shared_ptr<DeviceClient> client, bool may_choose_layouts = true,
                const Look& look = {});
  ~TracedProgram();
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;
  /// `commands`, if it is given, gets those of the program's steps (expr::run()).
  [[nodiscard]] std::vector<Tensor> run(
      std::span<const Tensor> arguments, const CommandOptions& options,
      std::vector<boost::intrusive_ptr<CommandState>>* commands = nullptr) const;
  [[nodiscard]] const std::string& text() const noexcept;
  [[nodiscard]] std::string plan() const;
  /// Bytes that a run needs besides operands and results: arenas, and buffers between pipelines.
  [[nodiscard]] std::uint64_t working_bytes() const;
  /// The buffers that it reads besides its arguments.
  [[nodiscard]] std::vector<DeviceBuffer> captured() const;
  /// Throws wrong_device unless the program is for `device`.
  void check_device(const Device& device) const;
  /// Whether it can never run again: its device was lost, or its system has stopped.
  [[nodiscard]] bool is_over() const;
  /// Removes the program from the device's cache. Its memory is freed with the last object that holds it.
  void leave_device() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A program and the structure of its results.
template <class Out> struct TracedFunction {
  TracedFunction(std::span<const Tensor> results, std::span<const Tensor> parameters,
                 std::shared_ptr<DeviceClient> client, Out made)
      : program{results, parameters, std::move(client)}, form{std::move(made)} {}
  TracedProgram program;
  Out form;
};

/// The cache of one traced function's programs, by signature.
///
/// Threads: any. Programs are destroyed outside its lock. In a child of fork() its functions throw
/// forked_process.
class TracedPrograms {
 public:
  static constexpr std::size_t most = 256;

  /// A type-erased TracedFunction.
  struct Entry {
    std::string key;
    std::shared_ptr<const TracedProgram> program;
    std::shared_ptr<void> function;
  };
  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<void> find(const std::string& key);
  /// Adds a program; drops programs that can never run again and surplus ones. Returns the cached
  /// program: another thread's if that was added first.
  [[nodiscard]] std::shared_ptr<void> keep(Entry entry);
  [[nodiscard]] std::size_t size() const;
  /// Drops all programs and returns their number.
  std::size_t trim();

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock() const;
  const ForkGuard fork_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the latest used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;
};

[[nodiscard]] bool any_tracked(std::span<const Tensor> tensors);
[[nodiscard]] std::vector<Tensor> placeholders(std::span<const Tensor> tensors);
/// Starts the tensors' computations if needed. Returns the device that they live on, or the current
/// one.
[[nodiscard]] Device started(std::span<const Tensor> tensors);
/// The cache key of a program; no signature is a prefix of another. It contains the client's
/// address, so the cache must keep the client alive.
[[nodiscard]] std::string signature(std::span<const Tensor> tensors, const DeviceClient& client);
/// Throws unless the operands have the specs and structure that the function was compiled for.
void check_compiled(std::span<const Tensor> given, std::span<const TensorSpec> expected,
                    bool same_structure);
[[noreturn]] void refuse_nesting(const char* what);

}  // namespace detail

/// The effect of calling a traced function while another function is traced or differentiated.
enum class OnConflict : std::uint8_t {
  reuse,  ///< it becomes part of the other
  raise   ///< it throws invalid_argument
};

struct JitOptions {
  OnConflict on_conflict = OnConflict::reuse;
  /// Replaces the functions of hooks with these names (host_calls.hpp); an empty function removes
  /// one.
  NamedHooks hooks = {};
};

template <class Out, class... Args> class Compiled;

template <class F> class Jitted {
 public:
  explicit Jitted(F function, JitOptions options = {})
      : state_{std::make_shared<State>(std::move(function), std::move(options))} {}

  template <class... Args> auto operator()(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    const std::vector<Tensor> tensors = detail::tensors_of(args...);
    if (detail::any_tracked(tensors)) {
      if (state_->options.on_conflict == OnConflict::raise)
        detail::refuse_nesting("a function that was made with OnConflict::raise");
      const HookScope hooks{state_->options.hooks};
      return Out{state_->function(args...)};
    }
    const auto traced = trace<Out>(tensors, args...);
    return Out{detail::with_tensors(traced->form, traced->program.run(tensors, limits_))};
  }

  /// The same function; calls through the returned handle run with these options. They apply
  /// neither to tracing nor when the function becomes part of another.
  [[nodiscard]] Jitted with(const CommandOptions& limits) const {
    Jitted made{*this};
    made.limits_ = limits;
    return made;
  }

  /// Compiles the program for operands like these before it returns. Only shapes, dtypes, names and
  /// structure count: the operands are not evaluated.
  template <class... Args>
  [[nodiscard]] auto compile(const Device& device, const Args&... like) const {
    using Out = std::remove_cvref_t<decltype(state_->function(like...))>;
    const std::vector<Tensor> tensors = detail::tensors_of(like...);
    std::vector<TensorSpec> specs;
    specs.reserve(tensors.size());
    for (const Tensor& tensor : tensors) specs.push_back(tensor.spec());
    // Compiled again from placeholders, so the operands' contents are not kept alive.
    auto again = [self = *this, device, placeholders = detail::placeholders(tensors),
                  form = detail::with_tensors(std::tuple<Args...>{like...},
                                              std::vector<Tensor>(tensors.size()))] {
      return std::apply(
          [&](const Args&... args) {
            return self.template trace_on<Out>(device, placeholders, args...);
          },
          detail::with_tensors(form, placeholders));
    };
    return Compiled<Out, Args...>{std::move(again), std::move(specs),
                                  detail::description_of(like...)};
  }

  /// The program for these operands as text, before optimization.
  template <class... Args> [[nodiscard]] std::string text(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    return trace<Out>(detail::tensors_of(args...), args...)->program.text();
  }
  /// The compiled program as text: kernels, memory, and steps driven by the host.
  template <class... Args> [[nodiscard]] std::string plan(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    return trace<Out>(detail::tensors_of(args...), args...)->program.plan();
  }
  /// Bytes of device memory that a run needs besides the operands and results.
  template <class... Args> [[nodiscard]] std::uint64_t working_bytes(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    return trace<Out>(detail::tensors_of(args...), args...)->program.working_bytes();
  }

  /// The number of cached programs.
  [[nodiscard]] std::size_t programs() const { return state_->programs.size(); }
  /// Drops the cached programs and returns their number. Results of compile() stay valid.
  std::size_t trim() const { return state_->programs.trim(); }

 private:
  struct State {
    State(F made, JitOptions chosen) : function{std::move(made)}, options{std::move(chosen)} {}
    F function;
    JitOptions options;
    detail::TracedPrograms programs;
  };

  template <class Out, class... Args>
  std::shared_ptr<detail::TracedFunction<Out>> trace(const std::vector<Tensor>& tensors,
                                                     const Args&... args) const {
    return trace_on<Out>(detail::started(tensors), tensors, args...);
  }

  template <class Out, class... Args>
  std::shared_ptr<detail::TracedFunction<Out>> trace_on(const Device& device,
                                                        const std::vector<Tensor>& tensors,
                                                        const Args&... args) const {
    const std::shared_ptr<DeviceClient> client = device.client();  // as it is open now
    const std::string type = typeid(std::tuple<Args...>).name();
    std::string key = detail::signature(tensors, *client) + std::to_string(type.size()) + ':' +
                      type + detail::description_of(args...);
    if (auto known = state_->programs.find(key))
      return std::static_pointer_cast<detail::TracedFunction<Out>>(std::move(known));
    const std::vector<Tensor> parameters = detail::placeholders(tensors);
    const HookScope hooks{state_->options.hooks};
    const DeviceScope scope{Device{client}};
    Out out = std::apply(state_->function,
                         detail::with_tensors(std::tuple<Args...>{args...}, parameters));
    const std::vector<Tensor> results = detail::tensors_of(out);
    auto made = std::make_shared<detail::TracedFunction<Out>>(
        results, parameters, client,
        detail::with_tensors(std::move(out), std::vector<Tensor>(results.size())));
    const std::shared_ptr<const detail::TracedProgram> program{made, &made->program};
    return std::static_pointer_cast<detail::TracedFunction<Out>>(
        state_->programs.keep({std::move(key), program, made}));
  }

  std::shared_ptr<State> state_;
  CommandOptions limits_;
};

/// One program, for operands of given shapes and dtypes on one device. A shared handle. Errors:
/// those of traced functions; also shape_mismatch and dtype_mismatch for other operands,
/// wrong_device for operands on another device, and invalid_argument inside grad() and other traced
/// functions.
///
/// After its device was lost and opened again, the next call compiles it for the new device.
template <class Out, class... Args> class Compiled {
 public:
  using Traced = std::shared_ptr<detail::TracedFunction<Out>>;

  /// `again` compiles the program for the device as currently opened. The constructor calls it
  /// once.
  Compiled(std::function<Traced()> again, std::vector<TensorSpec> specs, std::string structure)
      : state_{std::make_shared<State>(std::move(again))},
        specs_{std::move(specs)},
        structure_{std::move(structure)} {
    state_->traced = state_->again();
  }

  Out operator()(const Args&... args) const {
    const std::vector<Tensor> tensors = detail::tensors_of(args...);
    detail::check_compiled(tensors, specs_, structure_ == detail::description_of(args...));
    const Device device = detail::started(tensors);
    const Traced traced = current();
    traced->program.check_device(device);
    return detail::with_tensors(traced->form, traced->program.run(tensors, limits_));
  }
  /// As the functions of Jitted.
  [[nodiscard]] Compiled with(const CommandOptions& limits) const {
    Compiled made{*this};
    made.limits_ = limits;
    return made;
  }
  /// As the functions of Jitted.
  [[nodiscard]] std::string text() const { return current()->program.text(); }
  [[nodiscard]] std::string plan() const { return current()->program.plan(); }
  [[nodiscard]] std::uint64_t working_bytes() const { return current()->program.working_bytes(); }

 private:
  struct State {
    explicit State(std::function<Traced()> made) : again{std::move(made)} {}
    const std::function<Traced()> again;
    const ForkGuard fork;
    std::mutex mutex;
    Traced traced;  // guarded by mutex
  };

  [[nodiscard]] Traced current() const {
    Traced traced;
    state_->fork.check("jit").value();
    {
      const std::scoped_lock lock{state_->mutex};
      traced = state_->traced;
    }
    if (!traced->program.is_over()) return traced;
    traced = state_->again();  // calls the function: not under a lock
    const std::scoped_lock lock{state_->mutex};
    state_->traced.swap(traced);
    return state_->traced;
  }

  std::shared_ptr<State> state_;
  std::vector<TensorSpec> specs_;
  std::string structure_;
  CommandOptions limits_;
};

template <class F> [[nodiscard]] Jitted<F> jit(F function, JitOptions options = {}) {
  return Jitted<F>{std::move(function), std::move(options)};
}
[[nodiscard]] inline Jitted<ElementFunction> jit(ElementFunction function,
                                                 JitOptions options = {}) {
  return Jitted<ElementFunction>{function, std::move(options)};
}

/// The expression graph of these tensors: as text with one line for each operation, or for
/// Graphviz.
[[nodiscard]] std::string graph_text(std::span<const Tensor> tensors);
[[nodiscard]] std::string graph_dot(std::span<const Tensor> tensors);
/// The program that eval() would run: the kernels of each pipeline, its memory, and steps driven by
/// the host.
[[nodiscard]] std::string plan_text(std::span<const Tensor> tensors);

}  // namespace stoker
