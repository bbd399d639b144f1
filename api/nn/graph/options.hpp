// Options as structs: each option is defined once, in a struct, and everything else is derived from
// it.
//
//     struct Dropout {
//       static constexpr const char* kind = "dropout";
//       double rate = 0.5;
//     };
//     template <class V> void visit_options(Dropout& o, V&& visit) {
//       visit("rate", o.rate, within(0, 1), "how much is left out");
//     }
//
// `visit_options`, found by argument-dependent lookup, lists each option in order, with its name,
// its member, the allowed values and a text. From it come the table of ParamSpec, which scripts,
// saved files and error messages use, and both conversions: a program writes Dropout{.rate = 0.2},
// a script rate = 0.2.
//
// Members are bool, std::int64_t, double, std::string, an enum with words, Extents, or a name with
// options of its own (named.hpp); the default is the struct's initial value. Required<T> has no
// default.
//
// Values; any thread. Errors are thrown, with the kind as their op: invalid_parameter for an option
// that is given two different values, and for an enum value that the option does not allow. Ranges
// are checked when a ParamSet is resolved.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker::nn {

/// The types accepted for an integer option: not bool and not char.
template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// A list of integers; a single one is accepted too: 3, {3, 5}.
class Extents {
 public:
  Extents() = default;
  Extents(WholeNumber auto one)  // NOLINT(google-explicit-constructor)
      : list_{static_cast<std::int64_t>(one)} {}
  Extents(std::initializer_list<std::int64_t> list) : list_{list} {}
  Extents(std::vector<std::int64_t> list)  // NOLINT(google-explicit-constructor)
      : list_{std::move(list)} {}
  [[nodiscard]] const std::vector<std::int64_t>& list() const noexcept { return list_; }

 private:
  std::vector<std::int64_t> list_;
};

/// A kind's name as a template argument, for structs that several kinds share: `using Lstm =
/// RecurrentOf<"lstm">`.
template <std::size_t Size> struct KindName {
  consteval KindName(const char (&name)[Size]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(name, Size, text);
  }
  char text[Size] = {};
};

/// An option without a default.
template <class T> class Required {
 public:
  Required() = default;
  /// Refuses to convert a real number to an integer.
  template <class U>
  requires std::constructible_from<T, U> &&
      (!std::same_as<T, std::int64_t> || WholeNumber<U>)&&(!std::same_as<T, bool> ||
                                                           std::same_as<U, bool>)
          Required(U value)  // NOLINT(google-explicit-constructor)
      : value_{static_cast<T>(value)}, given_{true} {}
  operator const T&() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool is_given() const noexcept { return given_; }

 private:
  T value_ = {};
  bool given_ = false;
};

/// The same for a class type, with that class's constructors.
template <class T>
requires std::is_class_v<T>
class Required<T> : public T {
 public:
  using T::T;
  Required() : given_{false} {}
  Required(T value) : T{std::move(value)} {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool is_given() const noexcept { return given_; }

 private:
  bool given_ = true;
};

// What a member may be ---------------------------------------------------------------------------------
struct Anything {};
inline constexpr Anything anything{};

/// The range of a number, or of each integer in a list; both ends are included.
struct NumberRange {
  std::optional<double> min = {};
  std::optional<double> max = {};
};
[[nodiscard]] constexpr NumberRange at_least(double min) { return {.min = min}; }
[[nodiscard]] constexpr NumberRange within(double min, double max) {
  return {.min = min, .max = max};
}

/// The words of an enum, in the order in which they are listed.
template <class E> using Words = std::vector<std::pair<const char*, E>>;
template <class E>
[[nodiscard]] Words<E> one_of(std::initializer_list<std::pair<const char*, E>> words) {
  return words;
}

// What follows -----------------------------------------------------------------------------------------
namespace options {

template <class T> struct Member {
  using Type = T;
  static constexpr bool required = false;
};
template <class T> struct Member<Required<T>> {
  using Type = T;
  static constexpr bool required = true;
};

template <class T> [[nodiscard]] constexpr ParamType type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return ParamType::boolean;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return ParamType::integer;
  else if constexpr (std::is_same_v<T, double>)
    return ParamType::real;
  else if constexpr (std::is_same_v<T, Extents>)
    return ParamType::integers;
  else
    return ParamType::text;
}

/// Converts a member to the value that scripts and files have. Throws invalid_parameter for an enum
/// value that the option does not allow.
template <class T, class Rule>
[[nodiscard]] ParamValue written([[maybe_unused]] std::string_view kind,
                                 [[maybe_unused]] const char* name, const T& value,
                                 [[maybe_unused]] const Rule& rule) {
  if constexpr (std::is_enum_v<T>) {
    std::string words;
    for (const auto& [word, meant] : rule) {
      if (meant == value) return std::string{word};
      words += (words.empty() ? "" : ", ") + std::string{word};
    }
    throw Error{std::string{kind},
                ErrorCode::invalid_parameter,
                "parameter '" + std::string{name} + "' has another value, expected one of " + words,
                {{"parameter", name}, {"expected", words}}};
  } else if constexpr (std::is_base_of_v<Named, T>) {
    return value.text();
  } else if constexpr (std::is_same_v<T, Extents>) {
    return value.list();
  } else {
    return value;
  }
}

/// The reverse, for a value that a ParamSet has checked.
template <class T, class Rule>
void read(T& member, const ParamValue& value, [[maybe_unused]] const Rule& rule) {
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [word, meant] : rule)
      if (std::get<std::string>(value) == word) member = meant;
  } else if constexpr (std::is_base_of_v<Named, T>) {
    member = T{std::get<std::string>(value)};
  } else if constexpr (std::is_same_v<T, Extents>) {
    member = std::get<std::vector<std::int64_t>>(value);
  } else {
    member = std::get<T>(value);
  }
}

/// Compares reals bitwise: 0.0 and -0.0 fill a border differently.
[[nodiscard]] inline bool same(const ParamValue& a, const ParamValue& b) noexcept {
  const auto* const left = std::get_if<double>(&a);
  const auto* const right = std::get_if<double>(&b);
  if (left == nullptr || right == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*left) == std::bit_cast<std::uint64_t>(*right);
}

/// The ParamSpec table of O's options.
template <class O> [[nodiscard]] std::vector<ParamSpec> specs() {
  std::vector<ParamSpec> all;
  O defaults{};
  visit_options(defaults, [&]<class M, class Rule>(const char* name, const M& member,
                                                   const Rule& rule, const char* text) {
    using Kind = Member<M>;
    using T = typename Kind::Type;
    ParamSpec spec{.name = name, .type = type_of<T>(), .fallback = {}, .doc = text};
    if constexpr (!Kind::required) spec.fallback = written<T>(O::kind, name, member, rule);
    if constexpr (std::is_same_v<Rule, NumberRange>) {
      spec.min = rule.min;
      spec.max = rule.max;
    }
    if constexpr (std::is_enum_v<T>)
      for (const auto& [word, meant] : rule) spec.choices.emplace_back(word);
    all.push_back(std::move(spec));
  });
  return all;
}

/// Every option with its value; required options only if given.
template <class O> [[nodiscard]] Params all(O from) {
  Params made;
  visit_options(from,
                [&]<class M>(const char* name, const M& member, const auto& rule, const char*) {
                  if constexpr (Member<M>::required)
                    if (!member.is_given()) return;
                  made.set(name, written<typename Member<M>::Type>(O::kind, name, member, rule));
                });
  return made;
}

/// The options that differ from their defaults.
template <class O> [[nodiscard]] Params given(const O& from) {
  const Params usual = all(O{});
  const Params values = all(from);
  Params made;
  for (const Params::Entry& one : values.entries()) {
    const ParamValue* const usually = usual.find(one.name);
    if (usually == nullptr || !same(*usually, one.value)) made.set(one.name, one.value);
  }
  return made;
}

/// Converts a set that was resolved with specs<O>() to the struct.
template <class O> [[nodiscard]] O from(const ParamSet& set) {
  O made{};
  auto value = set.values().begin();
  visit_options(made, [&]<class M>(const char*, M& member, const auto& rule, const char*) {
    typename Member<M>::Type read_one{};
    read(read_one, *value++, rule);
    member = std::move(read_one);
  });
  return made;
}

}  // namespace options

/// Sets an option from a function argument: give(options, &Dense::units, 10). Throws
/// invalid_parameter, with both values, if the option was already given another value. A default
/// value counts as not given.
template <class O, class M>
void give(O& into, M O::*option, typename options::Member<M>::Type value) {
  const Params before = options::given(into);
  into.*option = std::move(value);
  visit_options(into, [&]<class N>(const char* name, N& member, const auto& rule, const char*) {
    if constexpr (std::is_same_v<N, M>) {
      const ParamValue* const given = before.find(name);
      if (&member != &(into.*option) || given == nullptr) return;
      const ParamValue now =
          options::written<typename options::Member<M>::Type>(O::kind, name, member, rule);
      if (options::same(*given, now)) return;
      throw Error{
          O::kind,
          ErrorCode::invalid_parameter,
          std::string{name} + " is given twice: " + to_string(*given) + " as an option, " +
              to_string(now) + " as an argument of the function",
          {{"parameter", name}, {"option", to_string(*given)}, {"argument", to_string(now)}}};
    }
  });
}

}  // namespace stoker::nn
