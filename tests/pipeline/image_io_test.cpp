#include "stoker/pipeline/image/image_io.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

namespace stoker {
namespace {

std::vector<std::byte> gradient(std::int64_t height, std::int64_t width, std::int64_t channels) {
  std::vector<std::byte> bytes;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c)
        bytes.push_back(static_cast<std::byte>((y * 3 + x * 2 + c * 40) & 255));
  return bytes;
}

TensorSpec spec_of(std::int64_t height, std::int64_t width, std::int64_t channels) {
  return {DType::u8, Shape{height, width, channels}};
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-image-XXXXXX").string();
    path_ =
        ::mkdtemp(name.data()) == nullptr ? std::filesystem::path{} : std::filesystem::path{name};
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::directory_iterator all{path_};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::filesystem::path path_;
};

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
}

/// CRC-32 as in the PNG specification, annex D.
std::uint32_t crc(std::span<const std::byte> bytes) {
  std::uint32_t value = 0xffffffffU;
  for (const std::byte byte : bytes) {
    value ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ ((value & 1U) != 0U ? 0xedb88320U : 0U);
  }
  return ~value;
}

void put_number(std::byte* to, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

/// Replaces the width and height in a PNG's header and repairs that chunk's checksum.
void claim_size(std::vector<std::byte>& png, std::uint32_t width, std::uint32_t height) {
  put_number(&png[16], width);
  put_number(&png[20], height);
  put_number(&png[29], crc(std::span{png}.subspan(12, 17)));
}

/// A PNG file written by hand, for the forms that our own encoder never makes.
class HandmadePng {
 public:
  HandmadePng(std::uint32_t width, std::uint32_t height, int depth, int colour,
              bool interlaced = false) {
    for (const int c : {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a})
      file_.push_back(std::byte(c));
    std::vector<std::byte> header(8);
    put_number(&header[0], width);
    put_number(&header[4], height);
    for (const int value : {depth, colour, 0, 0, interlaced ? 1 : 0})
      header.push_back(std::byte(value));
    chunk("IHDR", header);
  }
  HandmadePng& chunk(const char* name, const std::vector<std::byte>& data) {
    const std::size_t start = file_.size();
    file_.resize(start + 8);
    put_number(&file_[start], static_cast<std::uint32_t>(data.size()));
    std::memcpy(&file_[start + 4], name, 4);
    file_.insert(file_.end(), data.begin(), data.end());
    file_.resize(file_.size() + 4);
    put_number(&file_[file_.size() - 4], crc(std::span{file_}.subspan(start + 4, 4 + data.size())));
    return *this;
  }
  HandmadePng& chunk(const char* name, std::initializer_list<int> data) {
    std::vector<std::byte> bytes;
    for (const int value : data) bytes.push_back(std::byte(value));
    return chunk(name, bytes);
  }
  /// The scan lines, each with its filter byte, as one stored block of deflate (RFC 1950, 1951).
  std::vector<std::byte> end(std::initializer_list<int> lines) {
    const auto size = static_cast<int>(lines.size());
    std::vector<std::byte> data;
    for (const int value : {0x78, 0x01, 0x01, size, 0, 255 - size, 255})
      data.push_back(std::byte(value));
    std::uint32_t low = 1;
    std::uint32_t high = 0;
    for (const int value : lines) {
      data.push_back(std::byte(value));
      low = (low + static_cast<std::uint32_t>(value)) % 65521;
      high = (high + low) % 65521;
    }
    data.resize(data.size() + 4);
    put_number(&data[data.size() - 4], (high << 16) | low);
    chunk("IDAT", data);
    chunk("IEND", std::vector<std::byte>{});
    return file_;
  }

 private:
  std::vector<std::byte> file_;
};

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(std::byte(value));
  return bytes;
}

class PngChannels : public testing::TestWithParam<std::int64_t> {};

TEST_P(PngChannels, come_back_bit_by_bit) {
  for (const auto& [height, width] : {std::pair<int, int>{1, 1}, {1, 17}, {13, 7}, {64, 33}}) {
    const TensorSpec spec = spec_of(height, width, GetParam());
    const auto pixels = gradient(height, width, GetParam());
    const auto file = encode_image(ImageFormat::png, spec, pixels);
    ASSERT_TRUE(file.has_value()) << file.error().what();
    const auto image = decode_image(*file);
    ASSERT_TRUE(image.has_value()) << image.error().what();
    EXPECT_EQ(image->spec, spec);
    EXPECT_EQ(image->bytes, pixels);
  }
}
INSTANTIATE_TEST_SUITE_P(ImageIo, PngChannels, testing::Values(1, 3, 4));

TEST(ImageIo, palettes_become_rgb_and_their_transparency_alpha) {
  auto plain = HandmadePng{2, 1, 8, 3}.chunk("PLTE", {10, 20, 30, 40, 50, 60}).end({0, 1, 0});
  const auto rgb = decode_image(plain);
  ASSERT_TRUE(rgb.has_value()) << rgb.error().what();
  EXPECT_EQ(rgb->spec, spec_of(1, 2, 3));
  EXPECT_EQ(rgb->bytes, bytes_of({40, 50, 60, 10, 20, 30}));

  auto clear = HandmadePng{2, 1, 8, 3}
                   .chunk("PLTE", {10, 20, 30, 40, 50, 60})
                   .chunk("tRNS", {7})
                   .end({0, 1, 0});
  const auto rgba = decode_image(clear);
  ASSERT_TRUE(rgba.has_value()) << rgba.error().what();
  EXPECT_EQ(rgba->bytes, bytes_of({40, 50, 60, 255, 10, 20, 30, 7}));
}

TEST(ImageIo, a_palette_index_beyond_the_palette_does_no_harm) {
  const auto image =
      decode_image(HandmadePng{2, 1, 8, 3}.chunk("PLTE", {10, 20, 30}).end({0, 200, 0}));
  if (image.has_value()) {
    EXPECT_EQ(image->spec, spec_of(1, 2, 3));
  }
}

TEST(ImageIo, grey_of_one_bit_spreads_over_the_range) {
  const auto image = decode_image(HandmadePng{4, 1, 1, 0}.end({0, 0b1010'0000}));
  ASSERT_TRUE(image.has_value()) << image.error().what();
  EXPECT_EQ(image->spec, spec_of(1, 4, 1));
  EXPECT_EQ(image->bytes, bytes_of({255, 0, 255, 0}));
}

TEST(ImageIo, grey_with_alpha_becomes_rgb_with_alpha) {
  const auto image = decode_image(HandmadePng{1, 1, 8, 4}.end({0, 77, 99}));
  ASSERT_TRUE(image.has_value()) << image.error().what();
  EXPECT_EQ(image->spec, spec_of(1, 1, 4));
  EXPECT_EQ(image->bytes, bytes_of({77, 77, 77, 99}));
}

TEST(ImageIo, sixteen_bit_samples_are_scaled_not_cut) {
  const auto image = decode_image(HandmadePng{2, 1, 16, 0}.end({0, 0x80, 0xff, 0xff, 0xff}));
  ASSERT_TRUE(image.has_value()) << image.error().what();
  EXPECT_EQ(image->bytes, bytes_of({0x80 /* 33023 / 257 = 128.49 */, 255}));
}

TEST(ImageIo, interlaced_rows_fall_into_place) {
  // Of 3x3 pixels, Adam7 sends 1 in its first pass, then 3, then 7 and 9, then 2 and 8, then row 1.
  const auto image = decode_image(
      HandmadePng{3, 3, 8, 0, true}.end({0, 1, 0, 3, 0, 7, 9, 0, 2, 0, 8, 0, 4, 5, 6}));
  ASSERT_TRUE(image.has_value()) << image.error().what();
  EXPECT_EQ(image->bytes, bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ImageIo, gamma_and_broken_profiles_leave_the_values_alone) {
  const auto image = decode_image(HandmadePng{1, 1, 8, 0}
                                      .chunk("gAMA", {0, 1, 0x86, 0xa0})
                                      .chunk("iCCP", {'b', 'a', 'd', 0, 0, 1, 2, 3})
                                      .end({0, 100}));
  ASSERT_TRUE(image.has_value()) << image.error().what();
  EXPECT_EQ(image->bytes, bytes_of({100}));
}

class JpegChannels : public testing::TestWithParam<std::int64_t> {};

TEST_P(JpegChannels, come_back_nearly_equal) {
  const TensorSpec spec = spec_of(31, 47, GetParam());
  std::vector<std::byte> pixels(spec.bytes(), std::byte{90});
  const auto file = encode_image(ImageFormat::jpeg, spec, pixels);
  ASSERT_TRUE(file.has_value()) << file.error().what();
  const auto image = decode_image(*file);
  ASSERT_TRUE(image.has_value()) << image.error().what();
  EXPECT_EQ(image->spec, spec);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    ASSERT_NEAR(static_cast<int>(image->bytes[i]), 90, 2) << i;
}
INSTANTIATE_TEST_SUITE_P(ImageIo, JpegChannels, testing::Values(1, 3));

TEST(ImageIo, floats_are_clamped_rounded_and_nan_is_black) {
  const float values[] = {-1.0F, 0.0F, 0.5F, 1.0F, 7.0F, std::numeric_limits<float>::quiet_NaN()};
  const TensorSpec spec{DType::f32, Shape{1, 6, 1}};
  const auto file = encode_image(ImageFormat::png, spec, std::as_bytes(std::span{values}));
  ASSERT_TRUE(file.has_value()) << file.error().what();
  const std::vector<std::byte> expected{std::byte{0},   std::byte{0},   std::byte{128},
                                        std::byte{255}, std::byte{255}, std::byte{0}};
  EXPECT_EQ(decode_image(*file)->bytes, expected);
}

TEST(ImageIo, half_floats_encode_like_floats) {
  const Half values[] = {Half{0.0F}, Half{0.25F}, Half{1.0F}};
  const TensorSpec spec{DType::f16, Shape{1, 1, 3}};
  const auto file = encode_image(ImageFormat::png, spec, std::as_bytes(std::span{values}));
  ASSERT_TRUE(file.has_value()) << file.error().what();
  const std::vector<std::byte> expected{std::byte{0}, std::byte{64}, std::byte{255}};
  EXPECT_EQ(decode_image(*file)->bytes, expected);
}

TEST(ImageIo, jpeg_refuses_alpha) {
  const auto file = encode_image(ImageFormat::jpeg, spec_of(2, 2, 4), gradient(2, 2, 4));
  ASSERT_TRUE(file.has_error());
  EXPECT_EQ(file.error().code(), ErrorCode::invalid_argument);
}

TEST(ImageIo, encoding_refuses_what_is_no_image) {
  const std::vector<std::byte> none;
  const auto code = [&](const TensorSpec& spec, std::span<const std::byte> bytes, int quality = 90,
                        int level = 4) {
    const auto file = encode_image(ImageFormat::png, spec, bytes, {quality, level});
    return file.has_error() ? file.error().code() : ErrorCode::internal;
  };
  EXPECT_EQ(code({DType::u8, Shape{2, 2}}, gradient(2, 2, 1)), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({DType::u8, Shape{2, 2, 2}}, gradient(2, 2, 2)), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({DType::u8, Shape{0, 2, 3}}, none), ErrorCode::shape_mismatch);
  EXPECT_EQ(code({DType::s32, Shape{1, 1, 1}}, gradient(1, 4, 1)), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code(spec_of(2, 2, 3), gradient(2, 1, 3)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(spec_of(2, 2, 3), gradient(2, 2, 3), 0), ErrorCode::invalid_argument);
  EXPECT_EQ(code(spec_of(2, 2, 3), gradient(2, 2, 3), 90, 10), ErrorCode::invalid_argument);
  EXPECT_EQ(code(spec_of(2, 2, 3), gradient(2, 2, 3), 90, -1), ErrorCode::invalid_argument);
}

TEST(ImageIo, a_higher_level_makes_a_smaller_png_of_the_same_pixels) {
  const auto pixels = gradient(64, 64, 3);
  std::size_t before = 1 << 20;
  for (const int level : {0, 1, 9}) {
    const auto file = encode_image(ImageFormat::png, spec_of(64, 64, 3), pixels, {.level = level});
    EXPECT_LT(file->size(), before) << level;
    before = file->size();
    EXPECT_EQ(decode_image(*file)->bytes, pixels);
  }
}

class Torn : public testing::TestWithParam<ImageFormat> {};

TEST_P(Torn, every_prefix_is_an_error) {
  const auto file = encode_image(GetParam(), spec_of(23, 29, 3), gradient(23, 29, 3));
  ASSERT_TRUE(file.has_value());
  // JPEG may lack the two bytes of its end marker: the pixels are complete then.
  const std::size_t last = GetParam() == ImageFormat::png ? file->size() : file->size() - 2;
  for (std::size_t size = 0; size < last; ++size) {
    const auto image = decode_image(std::span{*file}.first(size));
    ASSERT_TRUE(image.has_error()) << size << " of " << file->size();
    ASSERT_TRUE(image.error().code() == ErrorCode::io_error ||
                image.error().code() == ErrorCode::unsupported)
        << image.error().what();
  }
}

TEST_P(Torn, flipped_bits_never_crash) {
  const auto file = encode_image(GetParam(), spec_of(23, 29, 3), gradient(23, 29, 3));
  ASSERT_TRUE(file.has_value());
  for (std::size_t at = 0; at < file->size(); ++at)
    for (const int bit : {0, 3, 7}) {
      auto damaged = *file;
      damaged[at] ^= static_cast<std::byte>(1 << bit);
      const auto image = decode_image(damaged, {.bytes = 4 << 20});
      if (image.has_value()) {
        ASSERT_EQ(image->bytes.size(), image->spec.bytes());
      }
    }
}
INSTANTIATE_TEST_SUITE_P(ImageIo, Torn, testing::Values(ImageFormat::png, ImageFormat::jpeg));

TEST(ImageIo, foreign_bytes_are_unsupported) {
  const char text[] = "GIF89a, a picture from another world";
  const auto image = decode_image(std::as_bytes(std::span{text}));
  ASSERT_TRUE(image.has_error());
  EXPECT_EQ(image.error().code(), ErrorCode::unsupported);
  EXPECT_TRUE(decode_image({}).has_error());
}

TEST(ImageIo, a_header_that_claims_too_much_is_refused_before_memory_is_taken) {
  auto file = *encode_image(ImageFormat::png, spec_of(4, 4, 3), gradient(4, 4, 3));
  claim_size(file, 60'000, 4'000);
  const auto short_file = decode_image(file);
  ASSERT_TRUE(short_file.has_error());
  EXPECT_EQ(short_file.error().code(), ErrorCode::io_error) << short_file.error().what();

  claim_size(file, 100'000, 4);
  const auto long_side = decode_image(file);
  ASSERT_TRUE(long_side.has_error());
  EXPECT_EQ(long_side.error().code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(long_side.error().detail("limit"), "65500");
}

TEST(ImageIo, a_header_is_read_without_decoding) {
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg}) {
    auto file = *encode_image(format, spec_of(40, 50, 3), gradient(40, 50, 3));
    EXPECT_EQ(image_spec(file).value(), spec_of(40, 50, 3));
    EXPECT_EQ(image_spec(file, {.bytes = 5999}).error().code(), ErrorCode::limit_exceeded);
    file.resize(file.size() - 20);  // what lies in the middle is not looked at
    EXPECT_EQ(image_spec(file).value(), spec_of(40, 50, 3));
    EXPECT_EQ(image_spec(std::span{file}.first(20)).error().code(), ErrorCode::io_error);
  }
}

TEST(ImageIo, a_cancelled_token_ends_the_work_with_its_cause) {
  const CancelSource source;
  source.cancel(Error{"test", ErrorCode::deadline_exceeded, "too late"});
  const CancelToken stop = source.token();
  const auto path = std::filesystem::temp_directory_path() / "stoker_image_io_cancelled.png";
  std::filesystem::remove(path);
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg}) {
    const auto file = *encode_image(format, spec_of(4, 5, 3), gradient(4, 5, 3));
    EXPECT_EQ(decode_image(file, {}, stop).error().code(), ErrorCode::deadline_exceeded);
    EXPECT_EQ(encode_image(format, spec_of(4, 5, 3), gradient(4, 5, 3), {}, stop).error().code(),
              ErrorCode::deadline_exceeded);
  }
  EXPECT_EQ(save_image(path, spec_of(4, 5, 3), gradient(4, 5, 3), {}, stop).error().code(),
            ErrorCode::deadline_exceeded);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ImageIo, the_callers_limits_hold_for_both_formats) {
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg}) {
    const auto file = *encode_image(format, spec_of(40, 50, 3), gradient(40, 50, 3));
    const auto size = static_cast<std::int64_t>(file.size());
    for (const ImageLimits& limits :
         {ImageLimits{.width = 49}, ImageLimits{.height = 39}, ImageLimits{.bytes = 5999},
          ImageLimits{.file_bytes = size - 1}})
      EXPECT_EQ(decode_image(file, limits).error().code(), ErrorCode::limit_exceeded);
    EXPECT_TRUE(decode_image(file, {.width = 50, .height = 40, .bytes = 6000, .file_bytes = size})
                    .has_value());
  }
}

TEST(ImageIo, the_name_chooses_the_format_and_the_signature_reads_it) {
  const TemporaryFolder folder;
  const auto pixels = gradient(9, 8, 3);
  for (const char* name : {"a.png", "b.PNG", "c.jpg", "d.JPEG"}) {
    const auto path = folder / name;
    const auto saved = save_image(path, spec_of(9, 8, 3), pixels);
    ASSERT_TRUE(saved.has_value()) << saved.error().what();
    EXPECT_EQ(load_image(path)->spec, spec_of(9, 8, 3));
  }
  std::filesystem::rename(folder / "a.png", folder / "lies.jpg");
  EXPECT_EQ(load_image(folder / "lies.jpg")->bytes, pixels);
  EXPECT_EQ(folder.files(), 4U) << "saving leaves no other file behind";

  const auto nameless = save_image(folder / "picture.bmp", spec_of(9, 8, 3), pixels);
  ASSERT_TRUE(nameless.has_error());
  EXPECT_EQ(nameless.error().code(), ErrorCode::invalid_argument);
}

TEST(ImageIo, saving_replaces_and_a_failed_save_leaves_the_old_file) {
  const TemporaryFolder folder;
  const auto path = folder / "picture.png";
  ASSERT_TRUE(save_image(path, spec_of(2, 2, 1), gradient(2, 2, 1)).has_value());
  ASSERT_TRUE(save_image(path, spec_of(3, 3, 1), gradient(3, 3, 1)).has_value());
  EXPECT_EQ(load_image(path)->spec, spec_of(3, 3, 1));
  EXPECT_TRUE(save_image(path, spec_of(4, 4, 1), gradient(1, 1, 1)).has_error());
  EXPECT_EQ(load_image(path)->spec, spec_of(3, 3, 1));

  std::filesystem::create_directory(folder / "folder.png");
  const auto onto_folder = save_image(folder / "folder.png", spec_of(2, 2, 1), gradient(2, 2, 1));
  ASSERT_TRUE(onto_folder.has_error());
  EXPECT_EQ(onto_folder.error().code(), ErrorCode::io_error);
  EXPECT_EQ(folder.files(), 2U);
}

TEST(ImageIo, files_that_cannot_be_read_are_errors_with_their_path) {
  const TemporaryFolder folder;
  const auto missing = load_image(folder / "none.png");
  ASSERT_TRUE(missing.has_error());
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_EQ(missing.error().detail("path"), (folder / "none.png").string());

  const auto pipe = folder / "pipe.png";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(load_image(pipe).error().code(), ErrorCode::io_error);

  write(folder / "empty.png", {});
  EXPECT_EQ(load_image(folder / "empty.png").error().code(), ErrorCode::unsupported);

  write(folder / "large.png", gradient(10, 10, 1));
  EXPECT_EQ(load_image(folder / "large.png", {.file_bytes = 99}).error().code(),
            ErrorCode::limit_exceeded);
}

TEST(ImageIo, saving_into_a_missing_folder_is_not_found) {
  const TemporaryFolder folder;
  const auto saved = save_image(folder / "none" / "a.png", spec_of(1, 1, 1), gradient(1, 1, 1));
  ASSERT_TRUE(saved.has_error());
  EXPECT_EQ(saved.error().code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace stoker
