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

namespace {

std::string read_whole(const std::string& name) {
  std::ifstream file{std::string{STOKER_SOURCE_DIR} + "/" + name, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Guides, images) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  std::string file = read_whole("examples/data/china.jpg");
  const std::string body = file;
  const stoker::Buffer photo = stoker::image::decode(system, device, std::move(file)).get();
  const stoker::Buffer edges = device.run("sobel", {device.run("grayscale", {photo})});
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
  const stoker::Buffer grey = device.run("grayscale", {photo});
  const stoker::Buffer mask = device.run("threshold", {grey}, {{"value", 0.6}});
  const stoker::Buffer calm = device.run("median", {photo}, {{"radius", 2}});
  const stoker::Params disk{{"radius", 3}, {"shape", "disk"}};
  const stoker::Buffer opened = device.run("dilate", {device.run("erode", {mask}, disk)}, disk);
  const stoker::Buffer outline =
      device.run("subtract", {device.run("dilate", {opened}), device.run("erode", {opened})});
  const stoker::Buffer tilted =
      device.run("rotate", {photo}, {{"angle", 12.5}, {"expand", true}, {"background", 1.0}});
  const stoker::Buffer hsv = device.run("convert_color", {photo}, {{"to", "hsv"}});
  const stoker::Buffer counts = device.run("histogram", {photo}, {{"bins", 64}});
  const stoker::Buffer even = device.run("equalize", {grey});

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
