#include "picture_input.hpp"

#include <algorithm>

#include "stoker/api/image.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/kernels/grayscale/options.hpp"
#include "stoker/kernels/resize/options.hpp"

namespace stoker::command_line {
namespace {

[[noreturn]] void refuse(const onnx::ValueInfo& input, const std::string& reason) {
  throw Error{"predict",
              ErrorCode::invalid_argument,
              "input '" + input.name + "' (" + input.type.to_string() + "): " + reason,
              {{"input", input.name}}};
}

/// The dtype that the input wants of pixels.
DType type_of(const onnx::ValueInfo& input) {
  const onnx::ElementType wanted = input.type.element;
  if (wanted == onnx::ElementType::undefined) return DType::f32;
  const auto carrier = onnx::carrier_of(wanted);
  // Others are carried as bits, as float8 is, or have too few numbers.
  if (!carrier || onnx::element_type_of(*carrier) != wanted)
    refuse(input, "a picture does not become " + std::string{onnx::to_string(wanted)});
  return *carrier;
}

/// How many colours an axis of a model's input may have.
bool is_colours(const onnx::Dimension& one) {
  return one.extent && (*one.extent == 1 || *one.extent == 3);
}

std::string layout_of(const PictureWords& words, const onnx::ValueInfo& input) {
  if (!words.layout.empty()) return words.layout;
  const auto& dims = input.type.dims;
  if (dims && dims->size() == 4)
    return is_colours((*dims)[1]) || !is_colours((*dims)[3]) ? "nchw" : "nhwc";
  if (dims && dims->size() == 3)
    return is_colours((*dims)[0]) && !is_colours((*dims)[2]) ? "chw" : "hwc";
  if (dims && dims->size() == 2) return "hw";
  refuse(input, "say its layout: --image " + input.name + "=layout=nchw");
}

/// The extent that the model declares for an axis of the layout, if it does.
std::optional<std::int64_t> declared(const onnx::ValueInfo& input, const std::string& layout,
                                     char axis) {
  const std::size_t at = layout.find(axis);
  if (at == std::string::npos || !input.type.dims || input.type.dims->size() != layout.size())
    return {};
  return (*input.type.dims)[at].extent;
}

/// [rows, columns, colours], with as many colours as are wanted.
Tensor with_colours(Tensor x, std::int64_t wanted, const Device& device) {
  if (x.shape()[2] == 4) x = slice_along_axis(x, 0, 3, 2);
  if (wanted == 1 && x.shape()[2] == 3)
    return Tensor{device.run(kernels::Grayscale{}, {x.buffer()})};
  if (wanted == 3 && x.shape()[2] == 1) return concatenate({x, x, x}, 2);
  return x;
}

Tensor of_colours(const onnx::ValueInfo& input, const std::vector<float>& given,
                  std::int64_t colours, float usual) {
  if (given.size() > 1 && static_cast<std::int64_t>(given.size()) != colours)
    refuse(input, "there are " + std::to_string(given.size()) + " numbers for " +
                      std::to_string(colours) + " colours");
  return tensor(given.empty() ? std::vector{usual} : given);
}

}  // namespace

onnx::Value picture_input(const std::filesystem::path& path, const PictureWords& words,
                          const onnx::ValueInfo& input, const Device& device) {
  const Image picture = image::load(path);
  const std::string layout = layout_of(words, input);
  const DeviceScope scope{device};
  Tensor x{device.buffer(picture.spec, picture.bytes)};
  std::int64_t colours = layout == "hw" ? 1 : declared(input, layout, 'c').value_or(0);
  const bool becomes_grey = words.colours.empty() ? x.shape()[2] == 1 : words.colours == "grey";
  if (colours == 0) colours = becomes_grey ? 1 : 3;
  if (colours != 1 && colours != 3)
    refuse(input, "a picture has 1 or 3 colours, not " + std::to_string(colours));
  if (!words.colours.empty() && (words.colours == "grey") != (colours == 1))
    refuse(input, "colours=" + words.colours + " does not fit");
  x = with_colours(x, colours, device);
  if (words.colours == "bgr") x = reverse(x, Axes{2});

  const DType type = type_of(input);
  const bool stays = type == DType::u8 && words.mean.empty() && words.std.empty();
  if (!stays) x = as_type(x, DType::f32);
  const std::int64_t rows =
      words.size ? words.size->first : declared(input, layout, 'h').value_or(x.shape()[0]);
  const std::int64_t columns =
      words.size ? words.size->second : declared(input, layout, 'w').value_or(x.shape()[1]);
  if (rows != x.shape()[0] || columns != x.shape()[1])
    x = Tensor{device.run(kernels::Resize{.width = columns, .height = rows, .antialias = true},
                          {x.buffer()})};
  if (!stays)
    x = as_type(
        (x - of_colours(input, words.mean, colours, 0)) / of_colours(input, words.std, colours, 1),
        type);
  if (layout == "hw") x = reshape(x, {rows, columns});
  if (layout.ends_with("chw")) x = transpose(x, Axes{2, 0, 1});
  if (layout.starts_with('n')) x = new_axis(x, 0);
  if (input.type.element == onnx::ElementType::undefined) return x;
  return {x, input.type.element};
}

}  // namespace stoker::command_line
