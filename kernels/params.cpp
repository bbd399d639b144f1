#include "stoker/kernels/params.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>

#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker {
namespace {

constexpr double whole_number_limit = 9007199254740992.0;  // 2^53: doubles beyond it skip integers

/// As in C, whatever locale the program has set: it is read again as Stoker's text.
std::string format_real(double value) {
  char text[32];
  const auto written = [&](int digits) {
    return std::string_view{
        text, std::to_chars(text, std::end(text), value, std::chars_format::general, digits).ptr};
  };
  double same = 0;
  std::string_view shown = written(15);
  std::from_chars(shown.data(), shown.data() + shown.size(), same);
  if (same != value) shown = written(17);  // two values never read the same
  return std::string{shown};
}

ParamType type_of(const ParamValue& value) noexcept {
  return static_cast<ParamType>(value.index());
}
static_assert(std::is_same_v<std::variant_alternative_t<1, ParamValue::variant>, std::int64_t>);
static_assert(
    std::is_same_v<std::variant_alternative_t<4, ParamValue::variant>, std::vector<std::int64_t>>);

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string expectation(const ParamSpec& spec) {
  std::string text{to_string(spec.type)};
  if (!spec.choices.empty()) return "one of " + join(spec.choices);
  if (spec.type == ParamType::integers) text = "list of integers";
  if (spec.min && spec.max)
    return text + " from " + format_real(*spec.min) + " to " + format_real(*spec.max);
  if (spec.min) return text + " of at least " + format_real(*spec.min);
  if (spec.max) return text + " of at most " + format_real(*spec.max);
  return text;
}

Error bad_value(std::string_view op, const ParamSpec& spec, const ParamValue& got) {
  const std::string expected = expectation(spec);
  return {std::string{op},
          ErrorCode::invalid_parameter,
          "parameter '" + spec.name + "' is " + to_string(got) + ", expected " + expected,
          {{"parameter", spec.name}, {"expected", expected}, {"got", to_string(got)}}};
}

/// `value` as the declared type, or nothing where that would lose something.
std::optional<ParamValue> convert(const ParamValue& value, ParamType type) {
  if (type_of(value) == type) return value;
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (type == ParamType::real && integer) return static_cast<double>(*integer);
  if (type == ParamType::integers && integer) return std::vector<std::int64_t>{*integer};
  if (type == ParamType::integer && real && std::trunc(*real) == *real &&
      std::abs(*real) <= whole_number_limit)
    return static_cast<std::int64_t>(*real);
  return {};
}

bool within(const ParamSpec& spec, double value) {
  // Written so that a NaN fails wherever a bound is declared.
  return (!spec.min || value >= *spec.min) && (!spec.max || value <= *spec.max);
}

bool acceptable(const ParamSpec& spec, const ParamValue& value) {
  switch (spec.type) {
    case ParamType::integer:
      return within(spec, static_cast<double>(std::get<std::int64_t>(value)));
    case ParamType::real: return within(spec, std::get<double>(value));
    case ParamType::integers:
      return std::ranges::all_of(std::get<std::vector<std::int64_t>>(value), [&](std::int64_t v) {
        return within(spec, static_cast<double>(v));
      });
    case ParamType::text:
      return spec.choices.empty() ||
             std::ranges::find(spec.choices, std::get<std::string>(value)) != spec.choices.end();
    case ParamType::boolean: break;
  }
  return true;
}

Error unknown_parameter(std::string_view op, std::span<const ParamSpec> schema,
                        std::string_view name) {
  std::vector<std::string_view> known;
  std::vector<std::string> listed;
  for (const ParamSpec& spec : schema) {
    known.emplace_back(spec.name);
    listed.push_back(spec.name);
  }
  std::vector<Detail> details{{"parameter", std::string{name}}, {"known", join(listed)}};
  std::string reason = "unknown parameter '" + std::string{name} + "'";
  if (const auto nearest = nearest_name(name, known)) {
    reason += did_you_mean(name, known);
    details.push_back({"nearest", std::string{*nearest}});
  } else {
    reason += listed.empty() ? "; it takes none" : "; it takes " + join(listed);
  }
  return {std::string{op}, ErrorCode::invalid_parameter, std::move(reason), std::move(details)};
}

/// Every given name is declared, and given once.
Result<void> check_names(std::string_view op, std::span<const ParamSpec> schema,
                         std::span<const Params::Entry> given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].name;
    if (std::ranges::find(schema, name, &ParamSpec::name) == schema.end())
      return unknown_parameter(op, schema, name);
    const auto before = given.first(i);
    if (std::ranges::find(before, name, &Params::Entry::name) != before.end())
      return Error{std::string{op},
                   ErrorCode::invalid_parameter,
                   "parameter '" + name + "' is given twice",
                   {{"parameter", name}}};
  }
  return {};
}

/// Reals by their bits, as same_value().
std::size_t hash_value(const ParamValue& value) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          std::size_t hash = v.size();
          for (const std::int64_t element : v)
            hash = hash * 31 + std::hash<std::int64_t>{}(element);
          return hash;
        } else if constexpr (std::is_same_v<T, double>) {
          return std::hash<std::uint64_t>{}(std::bit_cast<std::uint64_t>(v));
        } else {
          return std::hash<T>{}(v);
        }
      },
      value);
}

}  // namespace

std::string_view to_string(ParamType type) noexcept {
  switch (type) {
    case ParamType::boolean: return "boolean";
    case ParamType::integer: return "integer";
    case ParamType::real: return "real";
    case ParamType::text: return "text";
    case ParamType::integers: break;
  }
  return "integers";
}

std::string to_string(const ParamValue& value) {
  struct Writer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return format_real(v); }
    std::string operator()(const std::string& v) const { return '"' + v + '"'; }
    std::string operator()(const std::vector<std::int64_t>& v) const {
      std::string text;
      for (const std::int64_t element : v)
        text += (text.empty() ? "" : ",") + std::to_string(element);
      return "[" + text + "]";
    }
  };
  return std::visit(Writer{}, value);
}

bool same_value(const ParamValue& a, const ParamValue& b) noexcept {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x && y) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
  return a == b;
}

void Params::set(std::string_view name, ParamValue value) {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end())
    entries_.emplace_back(name, std::move(value));
  else
    found->value = std::move(value);
}

const ParamValue* Params::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &found->value;
}

Result<ParamSet> ParamSet::resolve(std::string_view op, std::span<const ParamSpec> schema,
                                   const Params& given) {
  STOKER_TRY(check_names(op, schema, given.entries()));
  std::vector<ParamValue> values;
  values.reserve(schema.size());
  ParamSet set;
  for (const ParamSpec& spec : schema) {
    const ParamValue* value = given.find(spec.name);
    if (!value && !spec.fallback)
      return Error{std::string{op},
                   ErrorCode::invalid_parameter,
                   "parameter '" + spec.name + "' is missing, expected " + expectation(spec),
                   {{"parameter", spec.name}, {"expected", expectation(spec)}}};
    const ParamValue& chosen = value ? *value : *spec.fallback;
    std::optional<ParamValue> converted = convert(chosen, spec.type);
    // A default may lie outside the range, to mean "not given"; passing it says the same.
    if (!converted || (!(spec.fallback && same_value(*converted, *spec.fallback)) &&
                       !acceptable(spec, *converted)))
      return bad_value(op, spec, chosen);
    set.hash_ = set.hash_ * 1000003 + hash_value(*converted);
    values.push_back(std::move(*converted));
  }
  set.schema_ = schema;
  if (!values.empty())
    set.values_ = std::make_shared<const std::vector<ParamValue>>(std::move(values));
  return set;
}

std::span<const ParamValue> ParamSet::values() const noexcept {
  if (!values_) return {};
  return *values_;
}

namespace {

template <class T> const T& get(const ParamValue& value, std::string_view name) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  throw Error{"params", ErrorCode::internal,
              "parameter '" + std::string{name} + "' is declared as " +
                  std::string{to_string(type_of(value))}};
}

}  // namespace

bool ParamSet::flag(std::string_view name) const { return get<bool>(at(name), name); }

std::int64_t ParamSet::integer(std::string_view name) const {
  return get<std::int64_t>(at(name), name);
}

double ParamSet::real(std::string_view name) const { return get<double>(at(name), name); }

const std::string& ParamSet::text(std::string_view name) const {
  return get<std::string>(at(name), name);
}

const std::vector<std::int64_t>& ParamSet::integers(std::string_view name) const {
  return get<std::vector<std::int64_t>>(at(name), name);
}

bool operator==(const ParamSet& a, const ParamSet& b) noexcept {
  return a.hash_ == b.hash_ && std::ranges::equal(a.values(), b.values(), same_value);
}

const ParamValue& ParamSet::at(std::string_view name) const {
  const auto found = std::ranges::find(schema_, name, &ParamSpec::name);
  if (found == schema_.end())
    throw Error{"params", ErrorCode::internal,
                "no parameter '" + std::string{name} + "' is declared"};
  return (*values_)[static_cast<std::size_t>(found - schema_.begin())];
}

}  // namespace stoker
