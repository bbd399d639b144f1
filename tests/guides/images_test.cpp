// The examples of docs/images.md.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
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

}  // namespace
