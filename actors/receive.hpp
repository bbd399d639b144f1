// The clauses of a receive, as in Erlang: the messages that a process waits for.
//
//     self.receive([&](Job job) { … },                                  // any Job
//                  when([](const Note& n) { return n.urgent; },         // a Note that the guard picks
//                       [&](Note note) { … }),
//                  [&](Request<Count, int> count) { count.reply(3); },  // a call
//                  [&](Down down) { … },                                // see monitor()
//                  after(1s, [&] { … }));                               // nothing came in time
//
// receive() takes the first message, in order of arrival, that any clause accepts; others stay in
// the mailbox. All clauses must return the same type, which receive() returns.
//
// Threads: values, used by one process.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "stoker/actors/message.hpp"

namespace stoker {
namespace detail {

template <class F> struct Parameter : Parameter<decltype(&F::operator())> {};
template <class R, class C, class A> struct Parameter<R (C::*)(A) const> {
  using type = std::remove_cvref_t<A>;
};
template <class R, class C, class A> struct Parameter<R (C::*)(A)> {
  using type = std::remove_cvref_t<A>;
};
template <class R, class A> struct Parameter<R (*)(A)> { using type = std::remove_cvref_t<A>; };

/// A clause without a guard: a callable of one message.
template <class F> struct Plain {
  using Content = typename Parameter<F>::type;
  using Returned = std::invoke_result_t<F&, Content>;
  [[nodiscard]] bool takes(Message& message) const {
    return message.content(typeid(Content)) != nullptr;
  }
  Returned run(Message& message) {
    return function(std::move(*static_cast<Content*>(message.content(typeid(Content)))));
  }
  F function;
};

}  // namespace detail

/// See when().
template <class Guard, class F> struct Guarded : detail::Plain<F> {
  using typename detail::Plain<F>::Content;
  [[nodiscard]] bool takes(Message& message) const {
    const auto* content = static_cast<const Content*>(message.content(typeid(Content)));
    return content && guard(*content);
  }
  Guard guard;
};

/// A clause that takes only messages for which guard(const Content&) is true.
template <class Guard, class F>
[[nodiscard]] Guarded<std::decay_t<Guard>, std::decay_t<F>> when(Guard&& guard, F&& function) {
  return {{std::forward<F>(function)}, std::forward<Guard>(guard)};
}

/// See after().
template <class F> struct After {
  using Returned = std::invoke_result_t<F&>;
  Clock::duration time;
  F function;
};

/// The last clause: runs if nothing was taken within `time` of the executor's clock. Zero polls
/// once, max() waits forever.
template <class F> [[nodiscard]] After<std::decay_t<F>> after(Clock::duration time, F&& function) {
  return {time, std::forward<F>(function)};
}

namespace detail {
template <class F> inline constexpr bool is_guarded = false;
template <class G, class F> inline constexpr bool is_guarded<Guarded<G, F>> = true;
template <class F> inline constexpr bool is_after = false;
template <class F> inline constexpr bool is_after<After<F>> = true;

/// Converts a caller's argument to a clause.
template <class F> [[nodiscard]] auto clause(F&& written) {
  using Written = std::decay_t<F>;
  if constexpr (is_guarded<Written> || is_after<Written>)
    return std::forward<F>(written);
  else
    return Plain<Written>{std::forward<F>(written)};
}
}  // namespace detail

}  // namespace stoker
