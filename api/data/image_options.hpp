// How a picture becomes an input of a model: its size, what is subtracted and divided by, its layout and its colours.
//
//     ImageOptions{.size = {{240, 320}}, .mean = {127}, .std = {128}, .layout = ImageLayout::nchw}
//
// What is left out is as the model declares its input. Pixels are 0 to 255; the model gets (pixel - mean) / std.
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

/// The words for them, which commands and scripts take.
inline constexpr std::array<std::pair<std::string_view, ImageLayout>, 5> image_layouts{
    {{"nchw", ImageLayout::nchw},
     {"nhwc", ImageLayout::nhwc},
     {"chw", ImageLayout::chw},
     {"hwc", ImageLayout::hwc},
     {"hw", ImageLayout::hw}}};
inline constexpr std::array<std::pair<std::string_view, ImageColours>, 3> image_colours{
    {{"rgb", ImageColours::rgb}, {"bgr", ImageColours::bgr}, {"grey", ImageColours::grey}}};

struct ImageOptions {
  /// The most rows and columns, as in files.
  static constexpr std::int64_t most_extent = 65'500;

  /// Rows and columns. Where the model leaves one open, too, it is the picture's own.
  std::optional<std::pair<std::int64_t, std::int64_t>> size = {};
  std::vector<float> mean = {};  ///< one for all colours or one for each; empty: 0
  std::vector<float> std = {};   ///< as `mean`, and not 0; empty: 1
  /// Four axes are nchw, or nhwc if only the last is declared as 1 or 3; three are hwc, or chw if only the
  /// first is; two are hw.
  ImageLayout layout = ImageLayout::as_declared;
  /// Where the model leaves it open: as the picture is, without its alpha.
  ImageColours colours = ImageColours::as_declared;
};

}  // namespace stoker
