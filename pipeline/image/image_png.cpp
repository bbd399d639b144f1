#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include "stoker/pipeline/image/image_codecs.hpp"

namespace stoker::codecs {
namespace {

/// What libpng's callbacks see. Plain data.
struct Channel {
  const std::byte* source = nullptr;
  std::size_t left = 0;
  std::vector<std::byte>* sink = nullptr;
  char message[160] = {};
};

void on_error(png_structp png, png_const_charp text) {
  auto* channel = static_cast<Channel*>(png_get_error_ptr(png));
  std::snprintf(channel->message, sizeof channel->message, "%s", text);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, std::size_t count) {
  auto* channel = static_cast<Channel*>(png_get_io_ptr(png));
  if (count > channel->left) png_error(png, "the file ends too early");
  std::memcpy(to, channel->source, count);
  channel->source += count;
  channel->left -= count;
}

void on_write(png_structp png, png_bytep from, std::size_t count) {
  auto* channel = static_cast<Channel*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    const auto* bytes = reinterpret_cast<const std::byte*>(from);
    channel->sink->insert(channel->sink->end(), bytes, bytes + count);
  } catch (const std::bad_alloc&) {
    stored = false;  // jump only after the handler has ended
  }
  if (!stored) png_error(png, "out of memory");
}

void on_flush(png_structp) {}

/// Owns libpng's state.
struct Reader {
  Channel channel;
  png_structp png = nullptr;
  png_infop info = nullptr;

  Reader() : png{png_create_read_struct(PNG_LIBPNG_VER_STRING, &channel, on_error, on_warning)} {
    if (png != nullptr) info = png_create_info_struct(png);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Writer {
  Channel channel;
  png_structp png = nullptr;
  png_infop info = nullptr;

  Writer() : png{png_create_write_struct(PNG_LIBPNG_VER_STRING, &channel, on_error, on_warning)} {
    if (png != nullptr) info = png_create_info_struct(png);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

struct Header {
  png_uint_32 width;
  png_uint_32 height;
  png_uint_32 channels;
  std::size_t packed_row;  // bytes of a row as compressed
  int passes;
};

// The functions below may be left by longjmp: plain data only.

bool read_header(png_structp png, png_infop info, Channel* channel, Header* header) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_read_fn(png, channel, on_read);
  // Damage in the pixels must not pass as a warning. Chunks that say nothing about the stored values
  // are skipped, so what many programs get wrong in them does no harm.
  png_set_benign_errors(png, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);  // ours are checked by the caller
  png_read_info(png, info);
  header->packed_row = png_get_rowbytes(png, info);

  png_set_scale_16(png);
  png_set_expand(png);
  const int colour = png_get_color_type(png, info);
  const bool grey = (colour & PNG_COLOR_MASK_COLOR) == 0;
  const bool alpha =
      (colour & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  if (grey && alpha) png_set_gray_to_rgb(png);
  header->passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  header->width = png_get_image_width(png, info);
  header->height = png_get_image_height(png, info);
  header->channels = png_get_channels(png, info);
  return true;
}

bool read_pixels(png_structp png, png_infop info, const Header* header, png_bytep pixels,
                 const CancelToken* stop) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  const std::size_t row = png_get_rowbytes(png, info);
  for (int pass = 0; pass < header->passes; ++pass) {
    for (png_uint_32 y = 0; y < header->height; ++y) {
      if (stop->cancelled()) return false;
      png_read_row(png, pixels + y * row, nullptr);
    }
  }
  png_read_end(png, nullptr);
  return true;
}

bool write_file(png_structp png, png_infop info, Channel* channel, const Pixels* pixels, int level,
                const CancelToken* stop) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, channel, on_write, on_flush);
  const int colour = pixels->channels == 1   ? PNG_COLOR_TYPE_GRAY
                     : pixels->channels == 3 ? PNG_COLOR_TYPE_RGB
                                             : PNG_COLOR_TYPE_RGB_ALPHA;
  png_set_IHDR(png, info, static_cast<png_uint_32>(pixels->width),
               static_cast<png_uint_32>(pixels->height), 8, colour, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, level);
  png_write_info(png, info);
  const std::size_t row = static_cast<std::size_t>(pixels->width * pixels->channels);
  for (std::int64_t y = 0; y < pixels->height; ++y) {
    if (stop->cancelled()) return false;
    png_write_row(png, pixels->data + static_cast<std::size_t>(y) * row);
  }
  png_write_end(png, info);
  return true;
}

Error no_memory() { return {"image", ErrorCode::out_of_memory, "no memory for libpng's state"}; }

}  // namespace

namespace {

/// Reads up to the pixels.
Result<Header> begin(Reader& reader, std::span<const std::byte> file, const ImageLimits& limits) {
  if (reader.info == nullptr) return no_memory();
  reader.channel.source = file.data();
  reader.channel.left = file.size();
  Header header{};
  if (!read_header(reader.png, reader.info, &reader.channel, &header))
    return damaged("PNG", reader.channel.message);
  STOKER_TRY(check_limits(header.height, header.width, header.channels, limits));

  // Deflate shrinks at most 1032-fold, so a tiny file cannot make us allocate a huge picture.
  constexpr std::size_t best_ratio = 1032;
  if (header.packed_row * header.height / best_ratio > file.size())
    return damaged("PNG", "the file is too short for the size that its header claims");
  return header;
}

TensorSpec spec_of(const Header& header) {
  return {DType::u8, Shape{header.height, header.width, header.channels}};
}

}  // namespace

Result<TensorSpec> spec_of_png(std::span<const std::byte> file, const ImageLimits& limits) {
  Reader reader;
  STOKER_ASSIGN(const Header header, begin(reader, file, limits));
  return spec_of(header);
}

Result<Image> decode_png(std::span<const std::byte> file, const ImageLimits& limits,
                         const CancelToken& stop) {
  Reader reader;
  STOKER_ASSIGN(const Header header, begin(reader, file, limits));
  STOKER_ASSIGN(Image image, allocate(spec_of(header)));
  if (read_pixels(reader.png, reader.info, &header, reinterpret_cast<png_bytep>(image.bytes.data()),
                  &stop))
    return image;
  STOKER_TRY(stop.try_check());
  return damaged("PNG", reader.channel.message);
}

Result<std::vector<std::byte>> encode_png(const Pixels& pixels, int level,
                                          const CancelToken& stop) {
  std::vector<std::byte> file;
  Writer writer;
  if (writer.info == nullptr) return no_memory();
  writer.channel.sink = &file;
  if (write_file(writer.png, writer.info, &writer.channel, &pixels, level, &stop)) return file;
  STOKER_TRY(stop.try_check());
  return Error{"image", ErrorCode::io_error, std::string{"PNG: "} + writer.channel.message};
}

}  // namespace stoker::codecs
