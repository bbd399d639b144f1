#include "stoker/api/data/image_input.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "stoker/api/tensor.hpp"
#include "stoker/api/tensor/transforms/builtin_kernel.hpp"
#include "stoker/kernels/grayscale/options.hpp"
#include "stoker/kernels/resize/options.hpp"

namespace stoker {
namespace {

[[noreturn]] void refuse(const ImageTarget& target, const std::string& reason) {
  throw Error{"predict",
              ErrorCode::invalid_argument,
              "input '" + target.name + "' (" + target.type + "): " + reason,
              {{"input", target.name}}};
}

bool has_colours(const TensorSpec& spec) noexcept {
  return spec.shape.rank() == 3 && (spec.shape[2] == 1 || spec.shape[2] == 3 || spec.shape[2] == 4);
}

/// How many colours an axis of a model's input may have.
bool is_colours(const std::optional<std::int64_t>& extent) { return extent == 1 || extent == 3; }

/// The letters of the axes; "" where nothing says them.
std::string_view layout_of(const ImageTarget& target, ImageLayout wanted) {
  for (const auto& [word, layout] : image_layouts)
    if (layout == wanted) return word;
  const auto& dims = target.dims;
  if (dims && dims->size() == 4)
    return is_colours((*dims)[1]) || !is_colours((*dims)[3]) ? "nchw" : "nhwc";
  if (dims && dims->size() == 3)
    return is_colours((*dims)[0]) && !is_colours((*dims)[2]) ? "chw" : "hwc";
  return dims && dims->size() == 2 ? "hw" : "";
}

/// The extent that the model declares for an axis of the layout, if it does.
std::optional<std::int64_t> declared(const ImageTarget& target, std::string_view layout,
                                     char axis) {
  const std::size_t at = layout.find(axis);
  if (at == std::string_view::npos || !target.dims || target.dims->size() != layout.size())
    return {};
  return (*target.dims)[at];
}

/// [rows, columns, colours], with as many colours as are wanted.
Tensor with_colours(Tensor x, std::int64_t wanted) {
  if (x.shape()[2] == 4) x = slice_along_axis(x, 0, 3, 2);
  if (wanted == 1 && x.shape()[2] == 3) return detail::run_kernel(kernels::Grayscale{}, {x});
  if (wanted == 3 && x.shape()[2] == 1) return concatenate({x, x, x}, 2);
  return x;
}

void check_numbers(const ImageTarget& target, const char* name, const std::vector<float>& given,
                   std::int64_t colours) {
  if (given.size() > 1 && static_cast<std::int64_t>(given.size()) != colours)
    refuse(target, std::string{name} + ": there are " + std::to_string(given.size()) +
                       " numbers for " + std::to_string(colours) +
                       (colours == 1 ? " colour" : " colours"));
  for (const float one : given)
    if (!std::isfinite(one)) refuse(target, std::string{name} + " is finite");
}

void check(const Tensor& picture, const ImageTarget& target, const ImageOptions& options) {
  if (!has_colours(picture.spec()))
    refuse(target,
           "a picture is [rows, columns, 1, 3 or 4 colours], came " + picture.spec().to_string());
  if (!target.dtype) refuse(target, "a picture does not become " + target.type);
  if (std::ranges::find(options.std, 0.0F) != options.std.end()) refuse(target, "std is not 0");
}

/// Rows and columns of the result.
std::pair<std::int64_t, std::int64_t> size_of(const Tensor& picture, const ImageTarget& target,
                                              const ImageOptions& options,
                                              std::string_view layout) {
  const std::pair own{picture.shape()[0], picture.shape()[1]};
  const std::pair wanted =
      options.size.value_or(std::pair{declared(target, layout, 'h').value_or(own.first),
                                      declared(target, layout, 'w').value_or(own.second)});
  if (wanted == own) return own;
  for (const std::int64_t extent : {wanted.first, wanted.second})
    if (extent < 1 || extent > ImageOptions::most_extent)
      refuse(target, "the size of a picture is 1 to " + std::to_string(ImageOptions::most_extent) +
                         " rows and columns, not " + std::to_string(extent));
  if (picture.shape().empty())
    refuse(target, "a picture without pixels is not resized, came " + picture.spec().to_string());
  return wanted;
}

std::int64_t colours_of(const Tensor& picture, const ImageTarget& target,
                        const ImageOptions& options, std::string_view layout) {
  const bool says = options.colours != ImageColours::as_declared;
  const bool becomes_grey = says ? options.colours == ImageColours::grey : picture.shape()[2] == 1;
  const std::int64_t colours =
      layout == "hw" ? 1 : declared(target, layout, 'c').value_or(becomes_grey ? 1 : 3);
  if (colours != 1 && colours != 3)
    refuse(target, "a picture has 1 or 3 colours, not " + std::to_string(colours));
  if (says && becomes_grey != (colours == 1))
    for (const auto& [word, meant] : image_colours)
      if (meant == options.colours)
        refuse(target, "colours=" + std::string{word} + " does not fit");
  return colours;
}

}  // namespace

bool is_picture(const TensorSpec& spec) noexcept {
  return spec.dtype == DType::u8 && has_colours(spec);
}

bool takes_picture(const ImageTarget& target) {
  const std::size_t rank = target.dims ? target.dims->size() : 0;
  const bool fits = target.dtype && ((is_float(*target.dtype) && (rank == 3 || rank == 4)) ||
                                     (*target.dtype == DType::u8 && rank == 4));
  if (!fits) return false;
  const std::string_view layout = layout_of(target, ImageLayout::as_declared);
  // Rows of so many vectors each, any number of rows: rather a batch of sequences.
  if (layout == "hwc" && !(*target.dims)[0] && (*target.dims)[1]) return false;
  return is_colours(declared(target, layout, 'c')) &&
         declared(target, layout, 'n').value_or(1) == 1;
}

Tensor image_input(const Tensor& picture, const ImageTarget& target, const ImageOptions& options) {
  check(picture, target, options);
  const std::string_view layout = layout_of(target, options.layout);
  if (layout.empty()) refuse(target, "the model does not say its layout: give one, such as nchw");
  const std::int64_t colours = colours_of(picture, target, options, layout);
  check_numbers(target, "mean", options.mean, colours);
  check_numbers(target, "std", options.std, colours);
  const auto [rows, columns] = size_of(picture, target, options, layout);

  Tensor x = with_colours(picture, colours);
  if (options.colours == ImageColours::bgr) x = reverse(x, Axes{2});
  const bool stays = target.dtype == DType::u8 && x.dtype() == DType::u8 && options.mean.empty() &&
                     options.std.empty();
  if (!stays) x = as_type(x, DType::f32);
  if (rows != x.shape()[0] || columns != x.shape()[1])
    x = detail::run_kernel(kernels::Resize{.width = columns, .height = rows, .antialias = true},
                           {x});
  if (!options.mean.empty()) x = x - tensor(options.mean);
  if (!options.std.empty()) x = x / tensor(options.std);
  x = as_type(x, *target.dtype);
  if (layout == "hw") x = reshape(x, {rows, columns});
  if (layout.ends_with("chw")) x = transpose(x, Axes{2, 0, 1});
  return layout.starts_with('n') ? new_axis(x, 0) : x;
}

}  // namespace stoker
