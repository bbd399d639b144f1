// A part of a photo three times as large: the light through a network, the colours by plain bicubic, and beside it
// plain bicubic for all of it.
//
//     example_onnx_super_resolution examples/data/super_resolution.onnx examples/data/china.jpg build/larger.png
#include <iostream>

#include "stoker/api/image.hpp"
#include "stoker/api/model.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"

namespace kernels = stoker::kernels;
using stoker::Tensor;

namespace {

constexpr std::int64_t size = 224;  // what the network takes
constexpr std::int64_t large = 3 * size;

/// [rows, columns, 3] in YCbCr as RGB.
stoker::Buffer rgb(const stoker::Device& device, const Tensor& colours) {
  return device.run(
      kernels::ConvertColor{.from = kernels::ColorSpace::ycbcr, .to = kernels::ColorSpace::rgb},
      {stoker::clip(colours, 0, 1).buffer()});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: example_onnx_super_resolution MODEL PHOTO OUTPUT\n";
    return 2;
  }
  const stoker::System system;
  const stoker::Device device = system.device();
  const stoker::DeviceScope scope{device};
  const stoker::AnyModel model = stoker::load_model(argv[1], {.device = device});
  const stoker::Image photo = stoker::image::load(argv[2]);

  // The middle of the photo, as light and two colours.
  const stoker::Buffer all = device.buffer(photo.spec, photo.bytes);
  const stoker::Buffer part = device.run(kernels::Crop{.x = (all.shape()[1] - size) / 2,
                                                       .y = (all.shape()[0] - size) / 2,
                                                       .width = size,
                                                       .height = size},
                                         {all});
  const Tensor shares = stoker::as_type(Tensor{part}, stoker::DType::f32) / 255;
  const Tensor colours{device.run(
      kernels::ConvertColor{.from = kernels::ColorSpace::rgb, .to = kernels::ColorSpace::ycbcr},
      {shares.buffer()})};
  const Tensor plain{
      device.run(kernels::Resize{.width = large, .height = large, .mode = kernels::Filter::bicubic},
                 {colours.buffer()})};

  const Tensor light =
      stoker::reshape(stoker::slice_along_axis(colours, 0, 1, 2), {1, 1, size, size});
  const stoker::NamedValues out = model.predict({{"input", light}}).get();
  const Tensor sharp = stoker::reshape(out.at("output").tensor(), {large, large, 1});
  const Tensor joined = stoker::concatenate({sharp, stoker::slice_along_axis(plain, 1, 2, 2)}, 2);

  const Tensor beside =
      stoker::concatenate({Tensor{rgb(device, joined)}, Tensor{rgb(device, plain)}}, 1);
  stoker::image::save(system, argv[3], beside.buffer()).get();
  std::cout << beside.shape()[0] << " by " << beside.shape()[1] << " pixels\n";
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
