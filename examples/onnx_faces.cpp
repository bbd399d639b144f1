// Faces found in a photo, and frames around them drawn into it. The model is not here: examples/data/README.md says
// where it is.
//
//     example_onnx_faces version-RFB-320.onnx photo.jpg build/faces.png
#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

#include "stoker/api/image.hpp"
#include "stoker/api/model.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"

namespace kernels = stoker::kernels;
using stoker::Tensor;

namespace {

constexpr std::int64_t most_candidates = 256;
constexpr float least_score = 0.7F;
constexpr float most_overlap = 0.3F;  // of two faces

/// In parts of the picture: left, top, right, bottom.
struct Face {
  float score;
  std::array<float, 4> box;
};

float area(const std::array<float, 4>& box) {
  return std::max(box[2] - box[0], 0.0F) * std::max(box[3] - box[1], 0.0F);
}

/// The part that two boxes share of what they cover together.
float overlap(const std::array<float, 4>& a, const std::array<float, 4>& b) {
  const float both = area(
      {std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])});
  return both / (area(a) + area(b) - both);
}

/// The best candidates, best first, without those that another one covers.
std::vector<Face> faces_among(const std::vector<float>& scores, const std::vector<float>& boxes) {
  std::vector<Face> found;
  for (std::size_t i = 0; i < scores.size() && scores[i] >= least_score; ++i) {
    const Face face{scores[i],
                    {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]}};
    const bool is_new = std::ranges::none_of(
        found, [&](const Face& better) { return overlap(better.box, face.box) > most_overlap; });
    if (is_new) found.push_back(face);
  }
  return found;
}

std::vector<Face> find_faces(const stoker::AnyModel& model, const stoker::Buffer& photo) {
  // The model says the size that it takes, 240 by 320 pixels, and the layout; not how pixels are scaled.
  const stoker::onnx::Value input =
      model.image_input("input", Tensor{photo}, {.mean = {127}, .std = {128}});
  const stoker::NamedValues out = model.predict({{"input", input}}).get();
  const Tensor scores = stoker::slice_along_axis(out.at("scores").tensor(), 1, 1, 2);
  const Tensor all = stoker::reshape(scores, {static_cast<std::int64_t>(scores.size())});
  const stoker::TopK best = stoker::top_k(all, std::min(most_candidates, all.shape()[0]));
  const Tensor boxes = stoker::take(out.at("boxes").tensor(), best.indices, 1);
  return faces_among(best.values.to_vector<float>(), boxes.to_vector<float>());
}

/// A frame of four bars.
stoker::Buffer framed(const stoker::Device& device, stoker::Buffer photo, std::int64_t x,
                      std::int64_t y, std::int64_t width, std::int64_t height) {
  const std::int64_t line = std::max<std::int64_t>(photo.shape()[1] / 200, 1);
  const Tensor orange = stoker::as_type(stoker::tensor({255, 128, 0}), stoker::DType::u8);
  const auto bar = [&](std::int64_t at_x, std::int64_t at_y, std::int64_t wide, std::int64_t high) {
    photo = device.run(kernels::Overlay{.x = at_x, .y = at_y},
                       {photo, stoker::broadcast(orange, {high, wide, 3}).buffer()});
  };
  bar(x, y, width, line);
  bar(x, y + height - line, width, line);
  bar(x, y, line, height);
  bar(x + width - line, y, line, height);
  return photo;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: example_onnx_faces MODEL PHOTO OUTPUT\n";
    return 2;
  }
  const stoker::System system;
  const stoker::Device device = system.device();
  const stoker::DeviceScope scope{device};
  const stoker::AnyModel model = stoker::load_model(argv[1], {.device = device});
  const stoker::Image read = stoker::image::load(argv[2]);
  if (read.spec.shape[2] != 3) {
    std::cerr << "a photo has three colours\n";
    return 1;
  }
  stoker::Buffer photo = device.buffer(read.spec, read.bytes);
  const std::vector<Face> faces = find_faces(model, photo);
  const auto wide = static_cast<float>(photo.shape()[1]);
  const auto high = static_cast<float>(photo.shape()[0]);
  for (const auto& [score, box] : faces) {
    const auto pixels = [](float share, float all) {
      return static_cast<std::int64_t>(std::clamp(share, 0.0F, 1.0F) * all);
    };
    const std::int64_t x = pixels(box[0], wide);
    const std::int64_t y = pixels(box[1], high);
    const std::int64_t width = std::max<std::int64_t>(pixels(box[2], wide) - x, 1);
    const std::int64_t height = std::max<std::int64_t>(pixels(box[3], high) - y, 1);
    photo = framed(device, photo, x, y, width, height);
    std::cout << "a face at " << x << ", " << y << ", " << width << " by " << height << ": "
              << static_cast<int>(100 * score) << " %\n";
  }
  stoker::image::save(system, argv[3], photo).get();
  std::cout << faces.size() << (faces.size() == 1 ? " face\n" : " faces\n");
} catch (const stoker::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
