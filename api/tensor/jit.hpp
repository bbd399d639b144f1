// Functions of tensors that are traced once and then run as one program.
//
//     auto step = jit([](const Tensor& w, const Tensor& g) { return w - 0.1 * g; });
//     w = step(w, g);        // traced, compiled and started
//     w = step(w, g);        // started
//
// The first call with operands of some dtypes and shapes calls the function with placeholders; what it
// returns is compiled for the device of the operands and kept. Later calls with such operands run the
// program: the function is not called, so it must depend on its arguments only (what it captures is
// read at the first call and kept), and it cannot look at values: asking for one throws
// invalid_argument. Arguments and results are structures of tensors (structure.hpp).
//
// Called with variables of grad() or with the placeholders of another traced function it is called as
// it is, so both ways of nesting work.
//
// Threads: any, also at the same time. A copy shares the programs. Errors are thrown: what the function
// throws, wrong_device, and what the device refuses.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "stoker/api/tensor/structure.hpp"

namespace stoker {

namespace detail {

/// What a traced function comes to on one device.
class TracedProgram {
 public:
  /// `results` as they depend on `parameters`.
  TracedProgram(std::span<const Tensor> results, std::span<const Tensor> parameters,
                const Device& device);
  ~TracedProgram();
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;
  [[nodiscard]] std::vector<Tensor> run(std::span<const Tensor> arguments) const;
  [[nodiscard]] const std::string& text() const noexcept;
  [[nodiscard]] std::string plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] bool any_tracked(std::span<const Tensor> tensors);
[[nodiscard]] std::vector<Tensor> placeholders(std::span<const Tensor> tensors);
/// Starts what is missing; the device that they live on, or the current one.
[[nodiscard]] Device started(std::span<const Tensor> tensors);
[[nodiscard]] std::string signature(std::span<const Tensor> tensors, const Device& device);

}  // namespace detail

template <class F> class Jitted {
 public:
  explicit Jitted(F function) : state_{std::make_shared<State>(std::move(function))} {}

  template <class... Args> auto operator()(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    const std::tuple<Args...> given{args...};
    const std::vector<Tensor> tensors = detail::tensors_of(given);
    if (detail::any_tracked(tensors)) return Out{state_->function(args...)};
    const auto traced = trace<Out>(given, tensors);
    return Out{detail::with_tensors(traced->form, traced->program.run(tensors))};
  }

  /// The program that these operands run, for people: before it is optimised.
  template <class... Args> [[nodiscard]] std::string text(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    const std::tuple<Args...> given{args...};
    return trace<Out>(given, detail::tensors_of(given))->program.text();
  }
  /// What it comes to on their device: kernels, memory, what the host drives.
  template <class... Args> [[nodiscard]] std::string plan(const Args&... args) const {
    using Out = std::remove_cvref_t<decltype(state_->function(args...))>;
    const std::tuple<Args...> given{args...};
    return trace<Out>(given, detail::tensors_of(given))->program.plan();
  }

 private:
  template <class Out> struct Traced {
    Traced(std::span<const Tensor> results, std::span<const Tensor> parameters,
           const Device& device, Out made)
        : program{results, parameters, device}, form{std::move(made)} {}
    detail::TracedProgram program;
    Out form;
  };
  struct State {
    explicit State(F made) : function{std::move(made)} {}
    F function;
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<void>> programs;
  };

  template <class Out, class Given>
  std::shared_ptr<Traced<Out>> trace(const Given& given, const std::vector<Tensor>& tensors) const {
    const Device device = detail::started(tensors);
    const std::string key = detail::signature(tensors, device) + typeid(Given).name();
    {
      const std::scoped_lock lock{state_->mutex};
      if (const auto known = state_->programs.find(key); known != state_->programs.end())
        return std::static_pointer_cast<Traced<Out>>(known->second);
    }
    const std::vector<Tensor> parameters = detail::placeholders(tensors);
    Out out = std::apply(state_->function, detail::with_tensors(given, parameters));
    const std::vector<Tensor> results = detail::tensors_of(out);
    auto made = std::make_shared<Traced<Out>>(
        results, parameters, device,
        detail::with_tensors(std::move(out), std::vector<Tensor>(results.size())));
    const std::scoped_lock lock{state_->mutex};
    const auto [kept, fresh] = state_->programs.try_emplace(key, made);
    return std::static_pointer_cast<Traced<Out>>(kept->second);
  }

  std::shared_ptr<State> state_;
};

template <class F> [[nodiscard]] Jitted<F> jit(F function) {
  return Jitted<F>{std::move(function)};
}

/// What computes these tensors, for people: one line for each operation; for Graphviz.
[[nodiscard]] std::string graph_text(std::span<const Tensor> tensors);
[[nodiscard]] std::string graph_dot(std::span<const Tensor> tensors);
/// What eval() would run for them: the kernels of each pipeline, its memory, what the host drives.
[[nodiscard]] std::string plan_text(std::span<const Tensor> tensors);

}  // namespace stoker
