// Layers of images: convolutions of all kinds, pools, and images of another size.
#include <algorithm>

#include "families.hpp"
#include "layer_case.hpp"

namespace stoker::compare {
namespace {

using List = std::vector<std::int64_t>;

/// An image's shape, with what fits into it.
struct Image {
  explicit Image(Draw& draw, std::int64_t at_most_space, std::int64_t at_most_channels) {
    first = draw.chance(0.3);
    channels = draw.extent(at_most_channels);
    const std::int64_t axes = draw.integer(1, at_most_space);
    for (std::int64_t i = 0; i < axes; ++i)
      space.push_back(draw.integer(1, axes == 1 ? 40 : axes == 2 ? 14 : 6));
    List extents{draw.integer(1, 3)};
    extents.insert(extents.end(), space.begin(), space.end());
    extents.insert(first ? extents.begin() + 1 : extents.end(), channels);
    shape = shape_of(extents);
  }

  bool first;
  std::int64_t channels;
  List space;
  Shape shape;
};

/// As one number for all axes, if it is one, or as a list.
ParamValue listed(Draw& draw, const List& list) {
  const bool same = std::ranges::all_of(list, [&](std::int64_t one) { return one == list[0]; });
  if (same && draw.chance(0.5)) return list[0];
  return list;
}

/// Of each axis of space one number.
List numbers(Draw& draw, const Image& image, std::int64_t most) {
  List list;
  for (std::size_t i = 0; i < image.space.size(); ++i) list.push_back(draw.integer(1, most));
  return list;
}

/// Sizes, dilations and padding so that windows fit and none is in the padding alone; `spread`: how
/// far the input's elements lie apart, `crops`: padding may be negative.
void set_windows(Draw& draw, const Image& image, Params& options, const char* dilation_name,
                 bool crops = false, const List& spread = {}) {
  List size;
  List dilation;
  List pads;
  const double padding = draw.real(0, 1);
  for (std::size_t i = 0; i < image.space.size(); ++i) {
    const std::int64_t extent = (image.space[i] - 1) * (spread.empty() ? 1 : spread[i]) + 1;
    size.push_back(draw.integer(1, std::min<std::int64_t>(extent, 4)));
    const std::int64_t most = size[i] > 1 ? (extent - 1) / (size[i] - 1) : 2;
    dilation.push_back(draw.chance(0.3) ? draw.integer(1, std::min<std::int64_t>(most, 3)) : 1);
    const std::int64_t reach = (size[i] - 1) * dilation[i];
    const std::int64_t lowest = crops && extent > reach + 2 ? -1 : 0;
    for (int edge = 0; edge < 2; ++edge)
      pads.push_back(draw.integer(lowest, std::min<std::int64_t>(reach, 2)));
  }
  options.set("kernel_size", listed(draw, size));
  options.set(dilation_name, listed(draw, dilation));
  if (padding < 0.3) options.set("padding", std::string{"same"});
  if (padding > 0.7) options.set("pads", pads);
  if (image.first) options.set("channels", std::string{"first"});
}

void convolution(Draw& draw, Record& record) {
  static const std::vector<std::string> kinds{"conv",           "depthwise_conv",
                                              "depthwise_conv", "separable_conv2d",
                                              "conv_transpose", "conv_transpose"};
  const std::string& kind = draw.of(kinds);
  Image image{draw, 3, 17};
  while (kind == "separable_conv2d" && image.space.size() != 2) image = Image{draw, 3, 17};
  Params options{{"use_bias", draw.chance(0.6)}, {"activation", activation_name(draw)}};
  const List spread =
      kind != "conv_transpose" && draw.chance(0.2) ? numbers(draw, image, 3) : List{};
  set_windows(draw, image, options, "kernel_dilation", true, spread);
  if (!spread.empty()) options.set("input_dilation", listed(draw, spread));
  if (draw.chance(0.6)) options.set("strides", listed(draw, numbers(draw, image, 3)));
  if (kind == "conv" || kind == "conv_transpose") {
    const std::int64_t groups =
        kind == "conv" && image.channels % 2 == 0 && draw.chance(0.3) ? 2 : 1;
    options.set("units", groups * draw.extent(17));
    if (groups > 1) options.set("feature_group_size", groups);
  } else if (draw.chance(0.5)) {
    options.set("multiplier", draw.integer(1, 3));
  }
  const auto [dtype, variables] = layer_dtypes(draw);
  record_layer(draw, record,
               {kind, options, {draw.tensor({dtype, image.shape}, Range::moderate)}, variables});
}

void pool(Draw& draw, Record& record) {
  static const std::vector<std::string> kinds{"max_pool", "avg_pool", "lp_pool"};
  std::string kind = draw.of(kinds);
  const Image image{draw, 3, 33};
  const DType dtype = draw.floating();
  Params options;
  if (kind == "lp_pool" && draw.chance(0.6))
    options.set("norm", draw.of(std::vector<double>{1, 1.5, 3, 4}));
  // Of halves, also such as have squares beyond the largest.
  Range range = draw.chance(0.8) ? Range::moderate : Range::positive;
  if (kind == "max_pool" && draw.chance(0.3)) range = Range::any;
  const double form = draw.real(0, 1);
  if (form < 0.5) {
    set_windows(draw, image, options, "window_dilations");
    if (draw.chance(0.6)) options.set("strides", listed(draw, numbers(draw, image, 3)));
  } else {
    kind.insert(0, form < 0.75 ? "adaptive_" : "global_");
    if (image.first) options.set("channels", std::string{"first"});
    List wanted;
    for (const std::int64_t extent : image.space) wanted.push_back(draw.integer(1, extent));
    if (form < 0.75) options.set("output_size", listed(draw, wanted));
    if (form > 0.75 && draw.chance(0.5)) options.set("keepdims", true);
  }
  record_layer(draw, record, {kind, options, {draw.tensor({dtype, image.shape}, range)}});
}

void blur(Draw& draw, Record& record) {
  const Image image{draw, 3, 17};
  Params options{{"strides", listed(draw, numbers(draw, image, 3))}};
  if (image.first) options.set("channels", std::string{"first"});
  record_layer(
      draw, record,
      {"blur_pool", options, {draw.tensor({draw.floating(), image.shape}, Range::moderate)}});
}

void resize(Draw& draw, Record& record) {
  static const std::vector<std::string> methods{"nearest", "bilinear", "bicubic", "lanczos3",
                                                "lanczos5"};
  const Image image{draw, 2, 9};
  List wanted;
  for (const std::int64_t extent : image.space)
    wanted.push_back(draw.chance(0.15) ? extent : draw.integer(1, 20));
  Params options{{"shape", listed(draw, wanted)}, {"method", draw.of(methods)}};
  if (draw.chance(0.3)) options.set("antialias", false);
  if (image.first) options.set("channels", std::string{"first"});
  record_layer(draw, record,
               {"resize", options, {draw.tensor({draw.floating(), image.shape}, Range::moderate)}});
}

}  // namespace

void image_layers(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.45) return convolution(draw, record);
  if (kind < 0.85) return pool(draw, record);
  if (kind < 0.95) return resize(draw, record);
  blur(draw, record);
}

}  // namespace stoker::compare
