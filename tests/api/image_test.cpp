// Pictures in memory, on the calling thread and on the system's pool.
#include "stoker/api/image.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <latch>

#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

namespace asio = boost::asio;

Image picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Image made{{DType::u8, Shape{height, width, channels}}, {}};
  for (std::size_t i = 0; i < made.spec.bytes(); ++i)
    made.bytes.push_back(static_cast<std::byte>(i * 7 % 251));
  return made;
}

template <class F> ErrorCode thrown_by(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(ImageInMemory, is_neither_made_on_nor_of_empty_handles) {
  const System system;
  const auto refused = [](auto call) { return thrown_by(call) == ErrorCode::invalid_argument; };
  const std::vector<std::byte> file = image::encode_png(picture(2, 2, 3));
  EXPECT_TRUE(refused([&] { static_cast<void>(image::decode(system, Device{}, file)); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(image::load(system, Device{}, "none.png")); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(image::encode_png(system, Buffer{})); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(image::encode_jpeg(system, Buffer{})); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(image::save(system, "none.png", Buffer{})); }));
  EXPECT_TRUE(refused([] { static_cast<void>(Device{}.buffer({1.0F})); }));
}

TEST(ImageInMemory, is_what_it_was_after_png) {
  const Image before = picture(5, 7, 3);
  const std::vector<std::byte> file = image::encode_png(before, {.level = 9});
  EXPECT_EQ(image::spec_of(file), before.spec);
  const Image after = image::decode(file);
  EXPECT_EQ(after.spec, before.spec);
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_LT(image::encode_jpeg(before, {.quality = 10}).size(),
            image::encode_jpeg(before, {.quality = 100}).size());
  const std::vector<float> halves(4, 0.5F);
  const image::Pixels pixels{{DType::f32, Shape{2, 2, 1}}, std::as_bytes(std::span{halves})};
  EXPECT_EQ(image::decode(image::encode_png(pixels)).bytes,
            std::vector<std::byte>(4, std::byte{128}));
}

TEST(ImageInMemory, refuses_by_the_header_and_throws) {
  const std::vector<std::byte> file = image::encode_png(picture(40, 50, 3));
  const auto refusal = [&](const ImageLimits& limits) {
    return thrown_by([&] { static_cast<void>(image::decode(file, {.limits = limits})); });
  };
  EXPECT_EQ(refusal({.width = 49}), ErrorCode::limit_exceeded);
  EXPECT_EQ(refusal({.height = 39}), ErrorCode::limit_exceeded);
  EXPECT_EQ(refusal({.bytes = 5999}), ErrorCode::limit_exceeded);
  EXPECT_EQ(refusal({.file_bytes = 20}), ErrorCode::limit_exceeded);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(image::decode(std::span{file}.first(60))); }),
            ErrorCode::io_error);
  EXPECT_EQ(
      thrown_by([&] { static_cast<void>(image::encode_png(picture(2, 2, 3), {.level = 10})); }),
      ErrorCode::invalid_argument);
  EXPECT_EQ(
      thrown_by([&] { static_cast<void>(image::encode_jpeg(picture(2, 2, 3), {.quality = 0})); }),
      ErrorCode::invalid_argument);
}

TEST(ImagesOfASystem, go_from_a_file_through_a_kernel_to_a_file) {
  const System system;
  const Device device = system.device("cpu");
  const std::vector<std::byte> sent = image::encode_png(picture(6, 9, 3));
  const Buffer photo = image::decode(system, device, sent).get();
  EXPECT_EQ(photo.spec(), (TensorSpec{DType::u8, Shape{6, 9, 3}}));
  const Buffer grey = device.run("grayscale", {photo});
  const auto png = image::encode_png(system, grey, {.level = 1}).get();
  EXPECT_EQ(image::decode(png).bytes, grey.read_bytes().get());
  const auto jpeg = image::encode_jpeg(system, photo, {.quality = 80}).get();
  EXPECT_EQ(image::decode(system, image::File{jpeg}).get().spec, photo.spec());
  EXPECT_EQ(image::decode(system, image::encode_png(system, picture(6, 9, 3)).get()).get().bytes,
            picture(6, 9, 3).bytes);
  // The body of a request is text, for most libraries.
  const std::string body{reinterpret_cast<const char*>(sent.data()), sent.size()};
  EXPECT_EQ(image::decode(system, body).get().bytes, picture(6, 9, 3).bytes);
}

TEST(ImagesOfASystem, keep_their_failures_in_the_future) {
  const System system;
  const Device device = system.device("cpu");
  const auto sent = image::encode_png(picture(40, 50, 3));
  const auto code = [](const auto& future) { return future.wait().error().code(); };
  EXPECT_EQ(code(image::decode(system, device, sent, {.limits = {.width = 49}})),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(code(image::decode(system, device, std::string{"no picture"})), ErrorCode::unsupported);
  EXPECT_EQ(code(image::encode_png(system, device.buffer({1.0F}))), ErrorCode::shape_mismatch);
  const CancelSource request;
  request.cancel(cancelled_error("request"));
  EXPECT_EQ(code(image::decode(system, device, sent, {.cancel = request.token()})),
            ErrorCode::cancelled);
  EXPECT_EQ(code(image::encode_png(system, device.buffer(TensorSpec{DType::u8, Shape{2, 2, 1}}),
                                   {.cancel = request.token()})),
            ErrorCode::cancelled);
}

TEST(ImagesOfASystem, share_the_bounded_pool) {
  SystemOptions options;
  options.blocking = {.threads = 1, .queue = 1};
  const System system{options};
  const Device device = system.device("cpu");
  const auto sent = image::encode_png(picture(4, 4, 3));
  std::latch go{1};
  const Future<void> running = system.run_blocking([&] { go.wait(); });
  const Future<Buffer> waiting = image::decode(system, device, sent);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(image::decode(system, device, sent)); }),
            ErrorCode::overloaded);
  const Buffer grey = device.buffer(TensorSpec{DType::u8, Shape{2, 2, 1}});
  EXPECT_EQ(thrown_by([&] { static_cast<void>(image::encode_png(system, grey)); }),
            ErrorCode::overloaded);
  go.count_down();
  EXPECT_EQ(waiting.get().shape(), (Shape{4, 4, 3}));
}

TEST(ImagesOfASystem, are_read_and_written_as_files) {
  const System system;
  const Device device = system.device("cpu");
  const auto path = std::filesystem::temp_directory_path() /
                    ("stoker_image_test_" + std::to_string(::getpid()) + ".png");
  const Image before = picture(3, 4, 3);
  image::save(system, path, device.buffer(before.spec, before.bytes), {.level = 9}).get();
  EXPECT_EQ(image::load(path).bytes, before.bytes);
  EXPECT_EQ(image::load(system, device, path).get().read_bytes().get(), before.bytes);
  std::filesystem::remove(path);
  EXPECT_EQ(image::load(system, device, path).wait().error().code(), ErrorCode::not_found);
  EXPECT_EQ(thrown_by([&] { image::save("a.bmp", before); }), ErrorCode::invalid_argument);
}

TEST(ImagesOfASystem, never_block_an_event_loop) {
  asio::io_context loop{1};
  SystemOptions options;
  use_event_loop(options, loop.get_executor());
  const System system{options};
  const Device device = system.device("cpu");
  const auto sent = image::encode_png(picture(64, 64, 3));
  std::size_t answered = 0;
  asio::co_spawn(
      loop,
      [&]() -> asio::awaitable<void> {
        const Buffer photo =
            co_await async_get(image::decode(system, device, sent), asio::use_awaitable);
        const Buffer soft = device.run("gaussian_blur", {photo}, {{"radius", 2}});
        const auto file = co_await async_get(image::encode_jpeg(system, soft), asio::use_awaitable);
        answered = file.size();
      },
      asio::detached);
  loop.run();
  EXPECT_GT(answered, 100U);
}

}  // namespace
}  // namespace stoker
