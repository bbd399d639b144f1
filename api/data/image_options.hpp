// How a picture becomes an input of a model: its size, mean and standard deviation, its layout and its colours.
//
//     ImageOptions{.size = {{240, 320}}, .mean = {127}, .std = {128}, .layout = ImageLayout::nchw}
//
// Options that are not given follow the model's declaration of the input. Pixels are 0 to 255; the model gets
// (pixel - mean) / std.
//
// Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

/// The axes of an input: n the batch, which is 1, c the colours, h the rows, w the columns.
enum class ImageLayout : std::uint8_t { as_declared, nchw, nhwc, chw, hwc, hw };
enum class ImageColours : std::uint8_t { as_declared, rgb, bgr, grey };

/// The words by which commands and scripts name the layouts.
inline constexpr std::array<std::pair<std::string_view, ImageLayout>, 5> image_layouts{
    {{"nchw", ImageLayout::nchw},
     {"nhwc", ImageLayout::nhwc},
     {"chw", ImageLayout::chw},
     {"hwc", ImageLayout::hwc},
     {"hw", ImageLayout::hw}}};
inline constexpr std::array<std::pair<std::string_view, ImageColours>, 3> image_colours{
    {{"rgb", ImageColours::rgb}, {"bgr", ImageColours::bgr}, {"grey", ImageColours::grey}}};

struct ImageOptions {
  /// The maximum number of rows and of columns, as for image files.
  static constexpr std::int64_t most_extent = 65'500;

  /// Rows and columns. Not given: those that the model declares, and the picture's own where the
  /// model leaves one open.
  std::optional<std::pair<std::int64_t, std::int64_t>> size = {};
  std::vector<float> mean = {};  ///< one for all colours or one for each; empty: 0
  std::vector<float> std = {};   ///< as `mean`, and not 0; empty: 1
  /// As declared: four axes are nchw, or nhwc if only the last is declared as 1 or 3. Three axes are hwc,
  /// or chw if only the first is declared as 1 or 3. Two axes are hw.
  ImageLayout layout = ImageLayout::as_declared;
  /// As declared: if the model leaves the number of colours open, the picture's own, without alpha.
  ImageColours colours = ImageColours::as_declared;
};

}  // namespace stoker
