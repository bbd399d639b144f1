// Branches and loops that depend on values not computed yet; they are traced like other operations.
//
//     Tensor y = cond(any(x > 10), [&] { return sqrt(x); }, [&] { return x; });
//     Tensor n = while_loop(x, [](const Tensor& v) { return all(v < 100); },
//                              [](const Tensor& v) { return v * 2; });
//     Tensor rows = map([](const Tensor& row) { return row / sum(row); }, matrix);
//
// The functions are called once, at the call, with placeholders; they may capture tensors. Only the
// branch taken is computed. Operations in a loop's body that do not depend on its states are
// computed once, before the loop. The host starts each round when the condition is known; no call
// blocks: like every operation, these return tensors that are not computed yet. A condition is any
// scalar; nonzero is true.
//
// Gradients pass through all of them; through while_loop if `max_iterations` is given. States and results
// are structures of tensors (structure.hpp).
//
// Threads: any. Errors are thrown at the call: those of the functions; shape_mismatch or
// dtype_mismatch if the next states differ from the states, or two branches from each other.
#pragma once

#include <cstdint>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/structure.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"

namespace stoker {

namespace detail {
[[nodiscard]] std::uint64_t trace_mark();
/// Converts a scalar to the u8 that the host reads.
[[nodiscard]] Tensor as_condition(const char* op, const Tensor& condition);
[[nodiscard]] std::vector<Tensor> cond_of(const Tensor& condition, std::vector<Tensor> yes,
                                          std::vector<Tensor> no, std::uint64_t mark);
[[nodiscard]] std::vector<Tensor> while_of(std::span<const Tensor> states,
                                           std::span<const Tensor> parameters,
                                           const Tensor& condition, std::span<const Tensor> next,
                                           std::int64_t most, std::uint64_t mark);
/// The placeholders of a body: the index, then states and elements.
struct ScanParameters {
  Tensor index;
  std::vector<Tensor> carries;
  std::vector<Tensor> elements;
  std::int64_t length = 0;
  std::uint64_t mark = 0;
};
/// A negative `length` takes the sequences' length.
[[nodiscard]] ScanParameters scan_parameters(const char* op, std::span<const Tensor> carries,
                                             std::span<const Tensor> sequences,
                                             std::int64_t length);
/// Throws shape_mismatch for results that already have the maximum rank.
void check_stackable(const char* op, std::span<const Tensor> results);
[[nodiscard]] std::vector<Tensor> scan_of(const char* op, std::span<const Tensor> carries,
                                          std::span<const Tensor> sequences,
                                          const ScanParameters& parameters,
                                          std::span<const Tensor> next,
                                          std::span<const Tensor> results, bool reverse);
/// Throws unless the next states have the specs of the states.
void check_states(const char* op, std::span<const Tensor> states, std::span<const Tensor> next);
/// The number of rounds of `unroll` iterations in a loop of `count` iterations. Remaining
/// iterations follow the loop. 0 means no loop. Throws for invalid numbers.
[[nodiscard]] std::int64_t loop_rounds(std::int64_t count, std::int64_t unroll);
/// elements_at() takes the elements at index `at` of the sequences; stacked() is the reverse.
[[nodiscard]] std::vector<Tensor> elements_at(std::span<const Tensor> sequences, std::int64_t at);
[[nodiscard]] std::vector<Tensor> stacked(std::span<const std::vector<Tensor>> elements);
}  // namespace detail

/// The result of `yes()` if the condition is not 0, else that of `no()`. Both must have the same
/// structure and shapes; dtypes merge.
template <class Yes, class No>
[[nodiscard]] auto cond(const Tensor& condition, const Yes& yes, const No& no) {
  const Tensor chosen = detail::as_condition("cond", condition);
  const std::uint64_t mark = detail::trace_mark();
  auto form = yes();
  const decltype(form) other = no();
  const std::vector<Tensor> made =
      detail::cond_of(chosen, detail::tensors_of(form), detail::tensors_of(other), mark);
  return detail::with_tensors(std::move(form), made);
}

struct WhileOptions {
  /// The maximum number of rounds; 0: no limit. Only a loop with a limit has a gradient.
  std::int64_t max_iterations = 0;
};

/// Repeats state = body(state) while condition(state) is not 0, and returns the last state. The
/// body must keep shapes and dtypes.
template <class State, class Condition, class Body>
[[nodiscard]] State while_loop(const State& state, const Condition& condition, const Body& body,
                               WhileOptions options = {}) {
  const std::vector<Tensor> states = detail::tensors_of(state);
  const std::uint64_t mark = detail::trace_mark();
  const std::vector<Tensor> parameters = detail::placeholders(states);
  const State inside = detail::with_tensors(state, parameters);
  const Tensor goes_on = detail::as_condition("while_loop", condition(inside));
  const State next = body(inside);
  return detail::with_tensors(
      state, detail::while_of(states, parameters, goes_on, detail::tensors_of(next),
                              options.max_iterations, mark));
}

struct ForOptions {
  /// How many iterations are traced into one round. `count` or more: the loop is fully unrolled.
  std::int64_t unroll = 1;
};

/// The state after `body(i, state)` for i = 0 … count - 1; i is a scalar s32 tensor.
template <class State, class Body>
[[nodiscard]] State for_loop(std::int64_t count, const State& state, const Body& body,
                             ForOptions options = {}) {
  const std::int64_t each = options.unroll;
  const std::int64_t rounds = detail::loop_rounds(count, each);
  const std::vector<Tensor> states = detail::tensors_of(state);
  State now = state;
  if (rounds > 0) {
    const auto parameters = detail::scan_parameters("for_loop", states, {}, rounds);
    State next = detail::with_tensors(state, parameters.carries);
    for (std::int64_t i = 0; i < each; ++i)
      next = body(each == 1 ? parameters.index : parameters.index * each + i, next);
    now = detail::with_tensors(state, detail::scan_of("for_loop", states, {}, parameters,
                                                      detail::tensors_of(next), {}, false));
  }
  for (std::int64_t i = rounds * each; i < count; ++i) {
    now = body(full(Shape{}, i, DType::s32), now);
    detail::check_states("for_loop", states, detail::tensors_of(now));
  }
  return now;
}

struct ScanOptions {
  bool reverse = false;  ///< runs from the last element to the first
  /// Unrolls the loop fully: a longer program, in which everything can be fused.
  bool unroll = false;
};

/// {last state, results}: `body(state, element)` gives {next state, result} for each element along the
/// first axis of the sequences `xs`; results are stacked in the order of the elements.
template <class State, class Xs, class Body>
[[nodiscard]] auto scan(const Body& body, const State& state, const Xs& xs,
                        ScanOptions options = {}) {
  const std::vector<Tensor> states = detail::tensors_of(state);
  const std::vector<Tensor> sequences = detail::tensors_of(xs);
  const auto parameters = detail::scan_parameters("scan", states, sequences, -1);
  if (options.unroll && parameters.length > 0) {
    State now = state;
    std::vector<std::vector<Tensor>> made(static_cast<std::size_t>(parameters.length));
    for (std::int64_t round = 0; round < parameters.length; ++round) {
      const std::int64_t at = options.reverse ? parameters.length - 1 - round : round;
      auto [next, result] = body(now, detail::with_tensors(xs, detail::elements_at(sequences, at)));
      detail::check_states("scan", states, detail::tensors_of(next));
      now = std::move(next);
      made[static_cast<std::size_t>(at)] = detail::tensors_of(result);
      detail::check_stackable("scan", made[static_cast<std::size_t>(at)]);
      if (round == parameters.length - 1)
        return std::pair{std::move(now),
                         detail::with_tensors(std::move(result), detail::stacked(made))};
    }
  }
  auto [next, result] = body(detail::with_tensors(state, parameters.carries),
                             detail::with_tensors(xs, parameters.elements));
  const std::vector<Tensor> made =
      detail::scan_of("scan", states, sequences, parameters, detail::tensors_of(next),
                      detail::tensors_of(result), options.reverse);
  const std::span<const Tensor> all{made};
  return std::pair{State{detail::with_tensors(state, all.first(states.size()))},
                   detail::with_tensors(std::move(result), all.subspan(states.size()))};
}

/// `function(element)` for each element along the first axis of `xs`, stacked. Elements are
/// computed in turn; vmap() computes them together.
template <class F, class Xs> [[nodiscard]] auto map(const F& function, const Xs& xs) {
  const std::vector<Tensor> sequences = detail::tensors_of(xs);
  const auto parameters = detail::scan_parameters("map", {}, sequences, -1);
  auto result = function(detail::with_tensors(xs, parameters.elements));
  const std::vector<Tensor> made =
      detail::scan_of("map", {}, sequences, parameters, {}, detail::tensors_of(result), false);
  return detail::with_tensors(std::move(result), made);
}
template <class Xs> [[nodiscard]] auto map(ElementFunction function, const Xs& xs) {
  return map<ElementFunction, Xs>(function, xs);
}

}  // namespace stoker
