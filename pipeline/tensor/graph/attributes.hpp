// The attributes of an operation, besides its inputs: axes, extents, modes.
//
// An immutable shared value, cheap to copy; any thread. Names and types depend on the operation;
// reading a missing attribute is a bug in Stoker and throws internal.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/params.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::expr {

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Params::Entry> entries)
      : params_{std::make_shared<const Params>(entries)} {}
  explicit Attributes(Params params) : params_{std::make_shared<const Params>(std::move(params))} {}

  [[nodiscard]] bool flag(std::string_view name) const { return at<bool>(name); }
  [[nodiscard]] std::int64_t integer(std::string_view name) const { return at<std::int64_t>(name); }
  [[nodiscard]] double real(std::string_view name) const { return at<double>(name); }
  [[nodiscard]] const std::string& text(std::string_view name) const {
    return at<std::string>(name);
  }
  [[nodiscard]] const std::vector<std::int64_t>& integers(std::string_view name) const {
    return at<std::vector<std::int64_t>>(name);
  }
  /// The spec from the attributes "dtype" and "shape" that spec_attributes() writes.
  [[nodiscard]] TensorSpec spec() const;

  /// As a kernel's parameters.
  [[nodiscard]] const Params& params() const noexcept;
  /// "axes=[0,1] keepdims=true".
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  template <class T> [[nodiscard]] const T& at(std::string_view name) const {
    const ParamValue* value = params_ ? params_->find(name) : nullptr;
    const T* typed = value ? std::get_if<T>(value) : nullptr;
    if (!typed) missing(name);
    return *typed;
  }
  [[noreturn]] static void missing(std::string_view name);

  std::shared_ptr<const Params> params_;
};

[[nodiscard]] Attributes spec_attributes(const TensorSpec& spec);

/// A shape or a list of axes as attributes hold it.
[[nodiscard]] inline std::vector<std::int64_t> as_list(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

}  // namespace stoker::expr
