// Which digit is in a picture? An ONNX model of others says so.
//
//     example_onnx_digit examples/data/mnist.onnx examples/data/three.png
#include <iostream>

#include "stoker/api/image.hpp"
#include "stoker/api/model.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: example_onnx_digit MODEL PICTURE\n";
    return 2;
  }
  const stoker::System system;
  const stoker::Device device = system.device();
  const stoker::DeviceScope scope{device};
  const stoker::AnyModel model = stoker::load_model(argv[1], {.device = device});

  // The model wants 28 by 28 pixels from 0 to 255, white on black.
  const stoker::Image picture = stoker::image::load(argv[2]);
  const stoker::Tensor pixels{device.buffer(picture.spec, picture.bytes)};
  const stoker::Tensor x = stoker::as_type(pixels, stoker::DType::f32);
  const std::string input = model.inputs().front().name;
  const stoker::NamedValues out =
      model.predict({{input, stoker::reshape(x, {1, 1, 28, 28})}}).get();

  const stoker::Tensor scores = out.begin()->second.tensor();
  const stoker::TopK best = stoker::top_k(scores, 2);
  const auto digits = best.indices.to_vector<int>();
  std::cout << "a " << digits[0] << ", or else a " << digits[1] << '\n';
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
