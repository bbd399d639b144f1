// Options as structs: each option is defined once, in a struct, and everything else is derived from
// it. Kernels have them (typed_kernel.hpp), and so do layers, losses and optimizers (api/nn).
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
// a script rate = 0.2. A struct without members needs no `visit_options`.
//
// Members are bool, std::int64_t, double, std::string, Extents, a type with words (one_of()), or a
// type that is constructed from text and returns it (TextOption); the default is the struct's initial
// value. Required<T> has no default: `{}` is one that was not given, Extents{} an empty list.
//
// Values; any thread. Errors are thrown, with the kind as their op: invalid_parameter for a value
// that has no word. Ranges are checked when a ParamSet is resolved. An unsigned number that an
// std::int64_t cannot hold is refused where it is converted, with "options" as the op.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/kernels/params.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker {

/// The types accepted for an integer option: not bool and not char.
template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

namespace options {
/// The same number. Throws invalid_parameter for one that 64 bits with a sign do not hold.
[[nodiscard]] constexpr std::int64_t whole(WholeNumber auto number) {
  if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  throw Error{
      "options",
      ErrorCode::invalid_parameter,
      "an integer is " + std::to_string(number) + ", expected at most " + std::to_string(most),
      {{"expected", "at most " + std::to_string(most)}, {"got", std::to_string(number)}}};
}
}  // namespace options

/// A list of integers; a single one is accepted too: 3, {3, 5}.
class Extents {
 public:
  Extents() = default;
  Extents(WholeNumber auto one)  // NOLINT(google-explicit-constructor)
      : list_{options::whole(one)} {}
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
  /// Takes what a T can be made of, with two exceptions: only whole numbers become an integer (which may throw, as
  /// options::whole() does), and a bool neither becomes a number nor is made of one.
  template <class U>
  requires std::constructible_from<T, U> &&
      (!std::same_as<T, std::int64_t> ||
       WholeNumber<U>)&&(std::same_as<T, bool> == std::same_as<U, bool>)
          Required(U value)  // NOLINT(google-explicit-constructor)
      : given_{true} {
    if constexpr (std::same_as<T, std::int64_t>)
      value_ = options::whole(value);
    else
      value_ = static_cast<T>(value);
  }
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

// The types of a member --------------------------------------------------------------------------------
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

/// The words that stand for values of T, in the order in which they are listed.
template <class T, std::size_t Size>
using OptionWords = std::array<std::pair<const char*, T>, Size>;
template <class T, std::size_t Size>
[[nodiscard]] constexpr OptionWords<T, Size> one_of(
    const std::pair<const char*, T> (&words)[Size]) {
  return std::to_array(words);
}

/// A type that scripts and files write as text.
template <class T>
concept TextOption = std::constructible_from<T, std::string> && requires(const T& value) {
  { value.text() } -> std::same_as<std::string>;
};

// Conversions -------------------------------------------------------------------------------------------
namespace options {

template <class T> struct Member {
  using Type = T;
  static constexpr bool required = false;
};
template <class T> struct Member<Required<T>> {
  using Type = T;
  static constexpr bool required = true;
};

template <class Rule> inline constexpr bool has_words = false;
template <class T, std::size_t Size> inline constexpr bool has_words<OptionWords<T, Size>> = true;

/// The allowed types of a member. Others, such as int and float, would be treated as text.
template <class T, class Rule>
concept OptionType = has_words<Rule> || std::same_as<T, bool> || std::same_as<T, std::int64_t> ||
    std::same_as<T, double> || std::same_as<T, std::string> || std::same_as<T, Extents> ||
    TextOption<T>;

template <class T, class Rule>
requires OptionType<T, Rule>
[[nodiscard]] constexpr ParamType type_of() {
  if constexpr (!has_words<Rule>) {
    if constexpr (std::is_same_v<T, bool>) return ParamType::boolean;
    if constexpr (std::is_same_v<T, std::int64_t>) return ParamType::integer;
    if constexpr (std::is_same_v<T, double>) return ParamType::real;
    if constexpr (std::is_same_v<T, Extents>) return ParamType::integers;
  }
  return ParamType::text;
}

/// visit_options() for structs that have members. Callers here name their own functions by the namespace:
/// a program's namespace may have some of these names, too.
template <class O, class V> void visit([[maybe_unused]] O& of, [[maybe_unused]] V&& visitor) {
  if constexpr (!std::is_empty_v<O>) visit_options(of, visitor);
}

/// Converts a member to the value that scripts and files have. Throws invalid_parameter for a value
/// without a word.
template <class T, class Rule>
[[nodiscard]] ParamValue written([[maybe_unused]] std::string_view kind,
                                 [[maybe_unused]] const char* name, const T& value,
                                 [[maybe_unused]] const Rule& rule) {
  if constexpr (has_words<Rule>) {
    for (const auto& [word, meant] : rule)
      if (meant == value) return std::string{word};
    std::string expected;
    for (const auto& [word, meant] : rule)
      expected += (expected.empty() ? "one of " : ", ") + std::string{word};
    std::string is = "has another value";
    std::vector<Detail> details{{"parameter", name}, {"expected", expected}};
    if constexpr (requires { std::string{to_string(value)}; }) {
      const std::string got = to_string(ParamValue{std::string{to_string(value)}});
      is = "is " + got;
      details.push_back({"got", got});
    }
    throw Error{std::string{kind}, ErrorCode::invalid_parameter,
                "parameter '" + std::string{name} + "' " + is + ", expected " + expected,
                std::move(details)};
  } else if constexpr (TextOption<T>) {
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
  if constexpr (has_words<Rule>) {
    for (const auto& [word, meant] : rule)
      if (std::get<std::string>(value) == word) member = meant;
  } else if constexpr (TextOption<T>) {
    member = T{std::get<std::string>(value)};
  } else if constexpr (std::is_same_v<T, Extents>) {
    member = std::get<std::vector<std::int64_t>>(value);
  } else {
    member = std::get<T>(value);
  }
}

/// The ParamSpec table of O's options.
template <class O> [[nodiscard]] std::vector<ParamSpec> specs() {
  std::vector<ParamSpec> all;
  O defaults{};
  options::visit(defaults, [&]<class M, class Rule>(const char* name, const M& member,
                                                    const Rule& rule, const char* text) {
    using Kind = Member<M>;
    using T = typename Kind::Type;
    ParamSpec spec{.name = name, .type = type_of<T, Rule>(), .fallback = {}, .doc = text};
    if constexpr (!Kind::required) spec.fallback = options::written<T>(O::kind, name, member, rule);
    if constexpr (std::is_same_v<Rule, NumberRange>) {
      spec.min = rule.min;
      spec.max = rule.max;
    }
    if constexpr (has_words<Rule>)
      for (const auto& [word, meant] : rule) spec.choices.emplace_back(word);
    all.push_back(std::move(spec));
  });
  return all;
}

/// Every option with its value; required options only if given.
template <class O> [[nodiscard]] Params all(O from) {
  Params made;
  options::visit(
      from, [&]<class M>(const char* name, const M& member, const auto& rule, const char*) {
        if constexpr (Member<M>::required)
          if (!member.is_given()) return;
        made.set(name, options::written<typename Member<M>::Type>(O::kind, name, member, rule));
      });
  return made;
}

/// Compares reals by their bits, as same_value().
template <class T> [[nodiscard]] bool same_member(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  else if constexpr (std::is_same_v<T, Extents>)
    return a.list() == b.list();
  else if constexpr (TextOption<T>)
    return a.text() == b.text();
  else
    return a == b;
}

/// A default-constructed O, and the places of its members in the order in which they are visited.
template <class O> class Defaults {
 public:
  Defaults() : values_{std::make_unique<O>()} {
    options::visit(*values_, [this](const char*, const auto& member, const auto&, const char*) {
      members_.push_back(&member);
    });
  }
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  /// The default of member `index`, whose type is M.
  template <class M> [[nodiscard]] const M& at(std::size_t index) const noexcept {
    return *static_cast<const M*>(members_[index]);
  }

 private:
  std::unique_ptr<O> values_;
  std::vector<const void*> members_;
};

/// The options that differ from their defaults.
template <class O> [[nodiscard]] Params given([[maybe_unused]] const O& from) {
  Params made;
  if constexpr (!std::is_empty_v<O>) {
    static constinit NeverDestroyed<Defaults<O>> made_once;
    const Defaults<O>& defaults = made_once.get([] { return Defaults<O>{}; });
    std::size_t index = 0;
    // Only read: visit_options() takes no const.
    options::visit(const_cast<O&>(from),
                   [&]<class M>(const char* name, const M& member, const auto& rule, const char*) {
                     using T = typename Member<M>::Type;
                     const std::size_t own = index++;
                     if constexpr (Member<M>::required) {
                       if (!member.is_given()) return;
                     } else {
                       if (options::same_member(member, defaults.template at<M>(own))) return;
                     }
                     if (made.empty()) made.reserve(defaults.size() - own);
                     made.set(name, options::written<T>(O::kind, name, member, rule));
                   });
  }
  return made;
}

/// Converts a set that was resolved with specs<O>() to the struct.
template <class O> [[nodiscard]] O from(const ParamSet& set) {
  O made{};
  auto value = set.values().begin();
  options::visit(made, [&]<class M>(const char*, M& member, const auto& rule, const char*) {
    typename Member<M>::Type read_one{};
    options::read(read_one, *value++, rule);
    member = std::move(read_one);
  });
  return made;
}

}  // namespace options
}  // namespace stoker
