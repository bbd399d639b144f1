// How tensors look in text: as NumPy prints arrays, with the spec in front.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {
namespace {

/// An axis longer than this shows its ends only.
constexpr std::int64_t longest = 8;
constexpr std::int64_t shown_ends = 3;

std::string number_text(double value, bool scientific) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::ostringstream text;
  if (scientific)
    text << std::scientific << std::setprecision(4) << value;
  else
    text << std::setprecision(6) << value;
  return text.str();
}

class Printer {
 public:
  Printer(const TensorSpec& spec, std::vector<std::byte> bytes)
      : spec_{spec}, bytes_{std::move(bytes)}, strides_{spec.shape.strides()} {
    measure();
  }

  [[nodiscard]] std::string text(const AxisNames& names) {
    std::string out = names.none() ? spec_.to_string() : named(names);
    if (spec_.elements() == 0) return out + " []";
    out += spec_.shape.rank() < 2 ? " " : "\n";
    append(out, 0, 0);
    return out;
  }

 private:
  /// "f32[rows 2,3]".
  [[nodiscard]] std::string named(const AxisNames& names) const {
    std::string out = std::string{to_string(spec_.dtype)} + "[";
    for (std::size_t axis = 0; axis < spec_.shape.rank(); ++axis) {
      if (axis > 0) out += ",";
      if (!names[axis].empty()) out += names[axis] + " ";
      out += std::to_string(spec_.shape[axis]);
    }
    return out + "]";
  }
  /// Of complex numbers, as an array of their parts.
  [[nodiscard]] double part(std::size_t index) const {
    return detail::element_as_double(bytes_, component_of(spec_.dtype), index);
  }

  [[nodiscard]] std::string element(std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    if (is_complex(spec_.dtype)) {
      const std::string imaginary = number_text(part(2 * at + 1), scientific_);
      return number_text(part(2 * at), scientific_) + (imaginary.front() == '-' ? "" : "+") +
             imaginary + "i";
    }
    return visit_dtype(spec_.dtype, [&]<class T>() -> std::string {
      const auto* from = reinterpret_cast<const T*>(bytes_.data());
      if constexpr (std::is_same_v<T, bool>)
        return from[at] ? "true" : "false";
      else if constexpr (std::is_integral_v<T>)
        return std::to_string(from[at]);
      else if constexpr (std::is_floating_point_v<T>)
        return number_text(static_cast<double>(from[at]), scientific_);
      else
        return number_text(static_cast<double>(static_cast<float>(from[at])), scientific_);
    });
  }

  template <class F> void each_shown(std::size_t axis, F&& each) const {
    const std::int64_t extent = spec_.shape[axis];
    for (std::int64_t i = 0; i < extent; ++i) {
      if (extent > longest && i == shown_ends) {
        each(-1);
        i = extent - shown_ends;
      }
      each(i);
    }
  }

  template <class F> void each_element(std::size_t axis, std::int64_t offset, F&& each) const {
    if (axis == spec_.shape.rank()) return each(offset);
    each_shown(axis, [&](std::int64_t i) {
      if (i >= 0) each_element(axis + 1, offset + i * strides_[axis], each);
    });
  }

  /// How wide a column is.
  void measure() {
    if (spec_.elements() == 0) return;
    if (is_inexact(spec_.dtype)) {
      double largest = 0;
      double smallest = INFINITY;
      const std::size_t parts = is_complex(spec_.dtype) ? 2 : 1;
      each_element(0, 0, [&](std::int64_t index) {
        for (std::size_t i = 0; i < parts; ++i) {
          const double value = std::abs(part(parts * static_cast<std::size_t>(index) + i));
          if (!std::isfinite(value) || value == 0) continue;
          largest = std::max(largest, value);
          smallest = std::min(smallest, value);
        }
      });
      scientific_ = largest >= 1e8 || (largest > 0 && smallest < 1e-4);
    }
    each_element(0, 0,
                 [&](std::int64_t index) { width_ = std::max(width_, element(index).size()); });
  }

  void append(std::string& out, std::size_t axis, std::int64_t offset) const {
    if (axis == spec_.shape.rank()) {
      const std::string text = element(offset);
      out.append(spec_.shape.rank() == 0 ? 0 : width_ - text.size(), ' ');
      out += text;
      return;
    }
    const bool last = axis + 1 == spec_.shape.rank();
    const std::string between =
        last ? ", "
             : "," + std::string(spec_.shape.rank() - axis - 1, '\n') + std::string(axis + 1, ' ');
    out += '[';
    bool first = true;
    each_shown(axis, [&](std::int64_t i) {
      if (!first) out += between;
      first = false;
      if (i < 0)
        out += "...";
      else
        append(out, axis + 1, offset + i * strides_[axis]);
    });
    out += ']';
  }

  const TensorSpec spec_;
  const std::vector<std::byte> bytes_;
  const std::array<std::int64_t, Shape::max_rank> strides_;
  bool scientific_ = false;
  std::size_t width_ = 0;
};

}  // namespace

namespace detail {

double element_as_double(std::span<const std::byte> bytes, DType dtype, std::size_t index) {
  return visit_dtype(dtype, [&]<class T>() -> double {
    const auto& element = reinterpret_cast<const T*>(bytes.data())[index];
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return static_cast<double>(static_cast<float>(element));
    else
      return static_cast<double>(element);
  });
}

}  // namespace detail

std::string to_string(const Tensor& tensor) {
  if (!tensor.has_value()) return "no tensor";
  return Printer{tensor.spec(), tensor.to_bytes()}.text(tensor.names());
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace stoker
