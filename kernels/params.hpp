// Parameters of kernels: the values a caller passes (Params), the declaration of a kernel
// (ParamSpec), and the checked, completed set a kernel reads (ParamSet).
//
// Value types; thread-safe as values are. Bad input fails with invalid_parameter, naming the
// parameter, the expected and the given value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

enum class ParamType : std::uint8_t { boolean, integer, real, text, integers };
[[nodiscard]] std::string_view to_string(ParamType type) noexcept;

/// A parameter's value. An integer is accepted where a real is declared, never the other way round
/// unless the real is a whole number. Where integers are declared, one integer is a list of one.
///
/// A std::variant whose copy may run out of memory. With that of libstdc++ 12 the process would
/// end, because its copy constructor then destroys an object that was never constructed.
class ParamValue
    : public std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>> {
 public:
  using variant::variant;
  ParamValue(const ParamValue& other) : variant{} {  // NOLINT(bugprone-copy-constructor-init)
    std::visit([this]<class T>(const T& value) { emplace<T>(T(value)); }, other.base());
  }
  ParamValue(ParamValue&&) noexcept = default;
  ParamValue& operator=(const ParamValue& other) { return *this = ParamValue{other}; }
  ParamValue& operator=(ParamValue&&) noexcept = default;
  ~ParamValue() = default;

 private:
  [[nodiscard]] const variant& base() const noexcept { return *this; }
};
[[nodiscard]] std::string to_string(const ParamValue& value);
/// Compares reals by their bits: 0.0 and -0.0 fill a buffer differently, and a NaN equals itself.
[[nodiscard]] bool same_value(const ParamValue& a, const ParamValue& b) noexcept;

/// A caller's parameters: names and values in any order. Params{{"radius", 3}, {"axes", {0, 1}}}
class Params {
 public:
  /// Converts the literals people write (int, double, bool, text, list of int) to a ParamValue.
  struct Entry {
    Entry(std::string_view key, bool v) : name{key}, value{v} {}
    Entry(std::string_view key, int v) : name{key}, value{std::int64_t{v}} {}
    Entry(std::string_view key, std::int64_t v) : name{key}, value{v} {}
    Entry(std::string_view key, double v) : name{key}, value{v} {}
    Entry(std::string_view key, const char* v) : name{key}, value{std::string{v}} {}
    Entry(std::string_view key, std::string v) : name{key}, value{std::move(v)} {}
    Entry(std::string_view key, std::vector<std::int64_t> v) : name{key}, value{std::move(v)} {}
    Entry(std::string_view key, std::initializer_list<std::int64_t> v)
        : name{key}, value{std::vector<std::int64_t>{v}} {}
    Entry(std::string_view key, ParamValue v) : name{key}, value{std::move(v)} {}
    std::string name;
    ParamValue value;
  };

  Params() = default;
  Params(std::initializer_list<Entry> entries) : entries_{entries} {}

  /// Takes memory for `count` entries at once.
  void reserve(std::size_t count) { entries_.reserve(count); }
  /// Adds or replaces.
  void set(std::string_view name, ParamValue value);
  [[nodiscard]] const ParamValue* find(std::string_view name) const noexcept;
  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

 private:
  std::vector<Entry> entries_;
};

/// A kernel's declaration of one parameter.
struct ParamSpec {
  std::string name;
  ParamType type = ParamType::integer;
  std::optional<ParamValue> fallback;  ///< the default; none: the caller must pass it
  std::string doc;                     ///< one line with units
  std::optional<double> min = {};      ///< inclusive; for integers: of every element
  std::optional<double> max = {};
  std::vector<std::string> choices = {};  ///< for text: the accepted values; empty: any
};

/// Every declared parameter with its value, in the order of the declaration. Cheap to copy.
class ParamSet {
 public:
  ParamSet() = default;
  /// Checks `given` against `schema` and fills in defaults. `op` names the kernel in errors.
  /// `schema` must outlive the set (kernels live as long as their registry).
  [[nodiscard]] static Result<ParamSet> resolve(std::string_view op,
                                                std::span<const ParamSpec> schema,
                                                const Params& given);

  // Each names a declared parameter of that type; anything else is a defect of the kernel and
  // throws Error{internal}.
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::string_view name) const;

  [[nodiscard]] std::span<const ParamSpec> schema() const noexcept { return schema_; }
  [[nodiscard]] std::span<const ParamValue> values() const noexcept;
  /// Equal values mean equal kernels; used as part of cache keys.
  [[nodiscard]] std::size_t hash() const noexcept { return hash_; }
  friend bool operator==(const ParamSet& a, const ParamSet& b) noexcept;

 private:
  [[nodiscard]] const ParamValue& at(std::string_view name) const;
  std::span<const ParamSpec> schema_;
  std::shared_ptr<const std::vector<ParamValue>> values_;
  std::size_t hash_ = 0;
};

}  // namespace stoker
