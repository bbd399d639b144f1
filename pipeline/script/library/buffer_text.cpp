#include "stoker/pipeline/script/library/buffer_text.hpp"

#include <algorithm>
#include <vector>

#include "stoker/pipeline/script/library/buffer_values.hpp"

namespace stoker::script {
namespace {

constexpr std::int64_t shown_whole = 1000;  // elements
constexpr std::int64_t edge = 3;            // elements at each end of an axis that is cut

/// Which positions of an axis are shown; -1 stands for the gap.
std::vector<std::int64_t> shown(std::int64_t extent, bool cut) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (cut && extent > 2 * edge && i == edge) {
      positions.push_back(-1);
      i = extent - edge;
    }
    positions.push_back(i);
  }
  return positions;
}

class Layout {
 public:
  Layout(const TensorSpec& spec, std::span<const std::byte> bytes)
      : spec_{spec},
        bytes_{bytes},
        strides_{spec.shape.strides()},
        cut_{spec.shape.elements() > shown_whole} {
    measure(0, 0);
  }

  std::string text() {
    write(0, 0);
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string cell(std::int64_t offset) const {
    return element_text(spec_.dtype,
                        bytes_.data() + static_cast<std::size_t>(offset) * size_of(spec_.dtype));
  }

  void measure(std::size_t axis, std::int64_t offset) {
    if (axis == spec_.shape.rank()) {
      width_ = std::max(width_, cell(offset).size());
      return;
    }
    for (const std::int64_t i : shown(spec_.shape[axis], cut_))
      if (i >= 0) measure(axis + 1, offset + i * strides_[axis]);
  }

  void write(std::size_t axis, std::int64_t offset) {
    if (axis == spec_.shape.rank()) {
      const std::string value = cell(offset);
      text_.append(width_ - value.size(), ' ').append(value);
      return;
    }
    const bool innermost = axis + 1 == spec_.shape.rank();
    text_ += '[';
    bool first = true;
    for (const std::int64_t i : shown(spec_.shape[axis], cut_)) {
      if (!first) text_.append(innermost ? " " : "\n").append(innermost ? 0 : axis + 1, ' ');
      first = false;
      if (i < 0)
        text_ += "...";
      else
        write(axis + 1, offset + i * strides_[axis]);
    }
    text_ += ']';
  }

  const TensorSpec& spec_;
  std::span<const std::byte> bytes_;
  const std::array<std::int64_t, Shape::max_rank> strides_;
  const bool cut_;
  std::size_t width_ = 0;
  std::string text_;
};

}  // namespace

std::size_t elements_in_text(const Shape& shape) {
  if (shape.elements() <= shown_whole) return static_cast<std::size_t>(shape.elements());
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    count *= static_cast<std::size_t>(std::min(shape[axis], 2 * edge));
  return count;
}

std::string buffer_text(const TensorSpec& spec, std::span<const std::byte> bytes) {
  // The rows of a buffer without elements cost nothing, so there may be 2^40 of them.
  if (spec.shape.elements() == 0) return spec.to_string() + "\n[]";
  return spec.to_string() + "\n" + Layout{spec, bytes}.text();
}

std::string buffer_ends_text(const TensorSpec& spec, std::span<const std::byte> first,
                             std::span<const std::byte> last) {
  std::string text = spec.to_string() + "\n[";
  const auto add = [&](std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += size_of(spec.dtype))
      text.append(element_text(spec.dtype, bytes.data() + at)).append(" ");
  };
  add(first);
  text += "... ";
  add(last);
  text.back() = ']';
  return text;
}

}  // namespace stoker::script
