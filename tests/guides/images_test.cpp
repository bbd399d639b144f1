// The examples of docs/images.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "stoker/api/image.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace {

namespace kernels = stoker::kernels;

std::string read_whole(const std::string& name) {
  std::ifstream file{stoker::checkout_folder() / name, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Guides, images) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  std::string file = read_whole("examples/data/china.jpg");
  const std::string body = file;
  const stoker::Buffer photo = stoker::image::decode(system, device, std::move(file)).get();
  const stoker::Buffer edges =
      device.run(stoker::kernels::Sobel{}, {device.run(stoker::kernels::Grayscale{}, {photo})});
  const std::vector<std::byte> png = stoker::image::encode_png(system, edges, {.level = 1}).get();
  const std::vector<std::byte> jpeg =
      stoker::image::encode_jpeg(system, edges, {.quality = 80}).get();
  EXPECT_EQ(stoker::image::spec_of(png), stoker::image::spec_of(jpeg));

  const stoker::CancelSource request;
  const stoker::image::DecodeOptions options{
      .limits = {.width = 4096, .height = 4096, .bytes = 64 << 20, .file_bytes = 8 << 20},
      .cancel = request.token()};
  const stoker::Future<stoker::Buffer> small = stoker::image::decode(system, device, body, options);
  EXPECT_EQ(small.get().spec(), photo.spec());
}

/// The elements that are not 0.
std::size_t count_set(const stoker::Buffer& picture) {
  const std::vector<std::uint8_t> values = picture.read<std::uint8_t>().get();
  return values.size() - static_cast<std::size_t>(std::ranges::count(values, 0));
}

TEST(Guides, image_kernels) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const stoker::Buffer photo =
      stoker::image::decode(system, device, read_whole("examples/data/china.jpg")).get();
  const stoker::Buffer grey = device.run(kernels::Grayscale{}, {photo});
  const stoker::Buffer mask = device.run(kernels::Threshold{.value = 0.6}, {grey});
  const stoker::Buffer calm = device.run(kernels::Median{.radius = 2}, {photo});
  constexpr auto disk = kernels::WindowShape::disk;
  const stoker::Buffer eroded = device.run(kernels::Erode{.radius = 3, .shape = disk}, {mask});
  const stoker::Buffer opened = device.run(kernels::Dilate{.radius = 3, .shape = disk}, {eroded});
  const stoker::Buffer outline =
      device.run(kernels::Subtract{},
                 {device.run(kernels::Dilate{}, {opened}), device.run(kernels::Erode{}, {opened})});
  const stoker::Buffer tilted =
      device.run(kernels::Rotate{.angle = 12.5, .expand = true, .background = 1}, {photo});
  const stoker::Buffer hsv =
      device.run(kernels::ConvertColor{.to = kernels::ColorSpace::hsv}, {photo});
  const stoker::Buffer counts = device.run(kernels::Histogram{.bins = 64}, {photo});
  const stoker::Buffer even = device.run(kernels::Equalize{}, {grey});

  EXPECT_EQ(calm.spec(), photo.spec());
  EXPECT_LT(count_set(opened), count_set(mask));
  EXPECT_GT(count_set(outline), 0U);
  EXPECT_LT(count_set(outline), count_set(opened));
  EXPECT_EQ(tilted.read<std::uint8_t>(0, 1).get(), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(hsv.spec(), photo.spec());
  EXPECT_EQ(even.spec(), grey.spec());
  EXPECT_EQ(counts.spec(), (stoker::TensorSpec{stoker::DType::u32, {3, 64}}));
  const std::vector<std::uint32_t> all = counts.read<std::uint32_t>().get();
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::size_t{0}), photo.elements());
}

}  // namespace
