// Converts a picture to an input of a model: resized, scaled and laid out for the model. It is used for models of
// every kind, in C++ (AnyModel::image_input), in Lua (m:predict{input = image.load(…)}) and in `stoker predict`.
//
// A picture is a tensor [rows, columns, colours] with 1, 3 or 4 colours; the fourth, alpha, is dropped. It is
//   - made grey, or given three equal colours, if the input has a different number of colours,
//   - resized bilinearly, with antialiasing on each axis that shrinks (the kernel resize),
//   - scaled: (pixel - mean) / std, in f32, then cast to the input's dtype,
//   - laid out, with a batch of 1 if the layout has one.
// A u8 input without mean and std stays u8 throughout.
//
// Threads: any. Nothing runs: the result is lazy, on the device of the DeviceScope. Errors are thrown by the call, with
// "predict" as their op and the input's name: invalid_argument if options and model together do not define the
// conversion, if they contradict each other, for numbers out of range, and for a tensor that is not a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/data/image_options.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// A model's declaration of an input.
struct ImageTarget {
  std::string name;
  std::string type;            ///< as errors name it
  std::optional<DType> dtype;  ///< none: pixels cannot become this type
  std::optional<std::vector<std::optional<std::int64_t>>> dims;  ///< none: the rank is unknown, too
};

/// Whether a tensor counts as a picture without options for it: u8 [rows, columns, 1, 3 or 4].
[[nodiscard]] bool is_picture(const TensorSpec& spec) noexcept;
/// Whether the input takes a picture without options for it: it has floats of rank 3 or 4 or u8 of rank
/// 4, its colour axis (ImageOptions::layout) is declared as 1 or 3, and a batch axis is 1 or open. [open,
/// n, 1 or 3] does not qualify, because it may be a batch of sequences.
[[nodiscard]] bool takes_picture(const ImageTarget& target);

[[nodiscard]] Tensor image_input(const Tensor& picture, const ImageTarget& target,
                                 const ImageOptions& options = {});

}  // namespace stoker
