#include "stoker/api/tensor/core/tensor.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "stoker/api/system.hpp"
#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/tensor/complex/complex.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/runtime/base/fork_delay.hpp"

namespace stoker {
namespace {

constexpr char device_scopes = 0;  // its address

/// Made when somebody needs a device and has named none.
const System& default_system() {
  static constinit std::atomic<const System*> made{nullptr};
  if (const System* there = made.load(std::memory_order_acquire)) return *there;
  const ForkDelay making;  // a child would wait for ever for a static object that is half made
  static const System system;
  made.store(&system, std::memory_order_release);
  return system;
}

/// Integers hold what is between their ends, and of other numbers the whole part of that.
template <class N> void check_fits(N number, DType dtype) {
  if (!is_integer(dtype)) return;
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>)
      return true;
    else if constexpr (std::is_integral_v<N>)
      return std::in_range<T>(number);
    else {
      const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      const double whole = std::trunc(number);
      return whole < end && whole >= (std::is_signed_v<T> ? -end : 0);
    }
  });
  if (fits) return;
  std::ostringstream text;
  text << number;
  throw Error{"tensor",
              ErrorCode::invalid_argument,
              text.str() + " does not fit " + std::string{to_string(dtype)},
              {{"number", text.str()}, {"dtype", std::string{to_string(dtype)}}}};
}

void start(std::span<const expr::Value> values, const CommandOptions& options) {
  bool missing = false;
  for (const expr::Value& value : values) missing |= !value.is_known();
  if (missing)
    expr::evaluate(
        values, [] { return current_device().client(); }, options);
}

const Buffer& checked(const Buffer& buffer) {
  if (!buffer) throw Error{"tensor", ErrorCode::invalid_argument, "an empty buffer was passed"};
  return buffer;
}

}  // namespace

Tensor::Tensor(const Buffer& buffer) : value_{expr::from_buffer(checked(buffer).handle())} {}

Tensor Tensor::named(std::vector<std::string> names) const {
  if (names.size() != rank())
    throw Error{"named",
                ErrorCode::invalid_argument,
                std::to_string(names.size()) + " names for " + std::to_string(rank()) + " axes",
                {{"names", std::to_string(names.size())}, {"tensor", spec().to_string()}}};
  return Tensor{value_, AxisNames{std::move(names)}};
}

std::int64_t Tensor::axis(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (!name.empty() && names_[i] == name) return static_cast<std::int64_t>(i);
    known += (i == 0 ? "" : ", ") + (names_[i].empty() ? "unnamed" : names_[i]);
  }
  throw Error{"axis",
              ErrorCode::not_found,
              "no axis is called '" + std::string{name} + "'; there are: " + known,
              {{"name", std::string{name}}, {"names", known}}};
}

Axes Tensor::axes(std::initializer_list<std::string_view> names) const {
  Axes found;
  for (const std::string_view name : names) found.push_back(axis(name));
  return found;
}

const Tensor& Tensor::eval(const CommandOptions& options) const {
  start({&value_, 1}, options);
  return *this;
}

Buffer Tensor::buffer(const CommandOptions& options) const {
  eval(options);
  return Buffer{value_.buffer()};
}

std::vector<std::byte> Tensor::to_bytes(const CommandOptions& options) const {
  return buffer(options).read_bytes(options).get();
}

Tensor Tensor::to(const Device& device) const {
  const Buffer here = buffer();
  if (here.device() == device) return *this;
  const Buffer there = device.buffer(spec());
  here.copy_to(there);
  return Tensor{Tensor{there}.value(), names_};
}

void Tensor::check_one_element() const {
  if (size() != 1)
    throw Error{"item",
                ErrorCode::shape_mismatch,
                "expected a tensor of one element, got " + spec().to_string(),
                {{"got", spec().to_string()}}};
}

void eval(std::span<const Tensor> tensors, const CommandOptions& options) {
  start(detail::values_of(tensors), options);
}

void eval(std::initializer_list<Tensor> tensors, const CommandOptions& options) {
  eval(std::span<const Tensor>{tensors.begin(), tensors.size()}, options);
}

DeviceScope::DeviceScope(const Device& device) : ContextScope{&device_scopes}, device_{device} {
  static_cast<void>(device.client());  // throws for an empty handle
}

Device current_device() {
  const ContextScope* const scope = DeviceScope::innermost(&device_scopes);
  return scope ? static_cast<const DeviceScope*>(scope)->device_ : default_system().device();
}

expr::Value TensorLike::as(DType dtype) const {
  if (!is_literal_) return expr::cast(tensor_.value(), dtype);
  return std::visit(
      [&](auto number) {
        if constexpr (!detail::is_complex_type<decltype(number)>) check_fits(number, dtype);
        if constexpr (detail::is_complex_type<decltype(number)>)
          return is_complex(dtype) ? expr::complex_constant(number, dtype)
                                   : expr::constant(number.real(), dtype);
        else if (std::is_floating_point_v<decltype(number)> || is_inexact(dtype))
          return expr::constant(static_cast<double>(number), dtype);
        else
          return expr::integer_constant(static_cast<std::uint64_t>(number), dtype);
      },
      literal_);
}

}  // namespace stoker
