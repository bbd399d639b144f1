// A picture as an input of a model: resized, scaled and laid out as the model wants it. Models of every kind do it so,
// in C++ (AnyModel::image_input), in Lua (m:predict{input = image.load(…)}) and in `stoker predict`.
//
// A picture is a tensor [rows, columns, colours] of 1, 3 or 4 colours, of which the fourth, alpha, is left out. It is
//   - made grey or given three equal colours, if the input has another number of them,
//   - resized bilinearly, each axis that shrinks over all pixels that become one (the kernel resize, antialiased),
//   - scaled: (pixel - mean) / std, in f32, then cast to the input's dtype,
//   - laid out, with a batch of 1 if the layout has one.
// A u8 input without mean and std stays u8 throughout.
//
// Threads: any. Nothing runs: the result is lazy, on the device of the DeviceScope. Errors are thrown by the call, with
// "predict" as their op and the input's name: invalid_argument where neither the options nor the model say
// enough, where they contradict one another, for numbers out of range, and for a tensor that is no picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/data/image_options.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// What a model says of an input.
struct ImageTarget {
  std::string name;
  std::string type;            ///< as errors show it
  std::optional<DType> dtype;  ///< none: pixels do not become that
  std::optional<std::vector<std::optional<std::int64_t>>>
      dims;  ///< none: not even the rank is known
};

/// Whether a tensor is taken for a picture without being called one: u8 [rows, columns, 1, 3 or 4].
[[nodiscard]] bool is_picture(const TensorSpec& spec) noexcept;
/// Whether the input takes a picture unasked: floats of rank 3 or 4, or u8 of rank 4, with 1 or 3 colours
/// declared where the layout has them (ImageOptions::layout), and a batch, if there is one, of 1 or open.
/// [open, n, 1 or 3] does not: it may be a batch of sequences.
[[nodiscard]] bool takes_picture(const ImageTarget& target);

[[nodiscard]] Tensor image_input(const Tensor& picture, const ImageTarget& target,
                                 const ImageOptions& options = {});

}  // namespace stoker
