#include <gtest/gtest.h>

#include <cmath>

#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

class Buffers : public testing::TestWithParam<const char*> {
 protected:
  System system;
  Device device = system.device(GetParam());
};

ErrorCode code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no Error was thrown";
  return ErrorCode::internal;
}

TEST_P(Buffers, hold_what_they_were_made_from) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const Buffer buffer = device.buffer(values, Shape{2, 3});
  EXPECT_EQ(buffer.shape(), (Shape{2, 3}));
  EXPECT_EQ(buffer.dtype(), DType::f32);
  EXPECT_EQ(buffer.size(), 24U);
  EXPECT_EQ(buffer.device(), device);
  EXPECT_EQ(buffer.read<float>().get(), values);
}

TEST_P(Buffers, may_be_empty) {
  const Buffer buffer = device.buffer(std::vector<float>{});
  EXPECT_EQ(buffer.shape(), (Shape{0}));
  EXPECT_TRUE(buffer.read<float>().get().empty());
}

TEST_P(Buffers, refuse_data_that_does_not_fill_the_shape) {
  EXPECT_EQ(code_of([&] { static_cast<void>(device.buffer(std::vector<float>{1}, Shape{2})); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(device.buffer(std::vector<float>{}, Shape{})); }),
            ErrorCode::invalid_argument);
}

TEST_P(Buffers, are_read_and_written_in_part) {
  const Buffer buffer = device.buffer(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  buffer.write(std::vector<std::int32_t>{-3, -4}, 3);
  EXPECT_EQ(buffer.read<std::int32_t>(2, 4).get(), (std::vector<std::int32_t>{2, -3, -4, 5}));
}

TEST_P(Buffers, are_read_into_memory_of_the_callers) {
  const Buffer buffer = device.buffer(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const auto target = std::make_shared<std::vector<std::int32_t>>(5, -1);
  buffer.read_into(std::span{*target}.subspan(1, 3), target, 2).get();
  EXPECT_EQ(*target, (std::vector<std::int32_t>{-1, 2, 3, 4, -1}));
  EXPECT_EQ(code_of([&] { buffer.read_into(std::span{*target}, target, 4); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { buffer.read_into(std::span<float>{}, nullptr); }),
            ErrorCode::dtype_mismatch);
}

TEST_P(Buffers, keep_the_owner_of_memory_they_are_read_into_until_they_are_done_with_it) {
  const Buffer buffer = device.buffer(std::vector<float>(1000, 1.0F));
  auto gate = std::make_shared<Timeline>();
  CommandOptions later;
  later.waits = {TimelinePoint{gate, 1}};
  device.submit("neg", {buffer}, buffer, {}, later);
  auto target = std::make_shared<std::vector<float>>(1000);
  const std::weak_ptr<std::vector<float>> watch = target;
  const std::span<float> memory{*target};
  const Command read = buffer.read_into(memory, std::move(target));
  EXPECT_FALSE(watch.expired());
  gate->advance(1);
  read.get();
}

TEST_P(Buffers, refuse_ranges_beyond_their_end) {
  const Buffer buffer = device.buffer(std::vector<float>{1, 2, 3});
  EXPECT_EQ(code_of([&] { static_cast<void>(buffer.read<float>(2, 2)); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              buffer.write(std::vector<float>{1, 2}, 2);
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(buffer.read<float>(~std::size_t{0}, 2)); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(buffer.read<float>().get(), (std::vector<float>{1, 2, 3}));
}

TEST_P(Buffers, refuse_another_element_type) {
  const Buffer buffer = device.buffer(std::vector<float>{1});
  EXPECT_EQ(code_of([&] { static_cast<void>(buffer.read<std::int32_t>()); }),
            ErrorCode::dtype_mismatch);
}

TEST_P(Buffers, are_filled_with_a_value_of_any_dtype) {
  for (std::size_t i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Buffer buffer = device.buffer(dtype, Shape{37});
    buffer.fill(1);
    const auto bytes = buffer.read_bytes().get();
    visit_dtype(dtype, [&]<class T>() {
      const auto* elements = reinterpret_cast<const T*>(bytes.data());
      for (std::size_t k = 0; k < 37; ++k) {
        if constexpr (std::is_arithmetic_v<T>)
          EXPECT_EQ(elements[k], T{1}) << to_string(dtype);
        else
          EXPECT_EQ(static_cast<float>(elements[k]), 1.0F) << to_string(dtype);
      }
    });
  }
}

TEST_P(Buffers, are_not_filled_with_what_their_dtype_cannot_hold) {
  const Buffer buffer = device.buffer(std::vector<std::uint8_t>{1, 2, 3});
  for (const double value : {256.0, -1.0, 0.5, std::nan("")})
    EXPECT_EQ(code_of([&] { buffer.fill(value); }), ErrorCode::invalid_parameter) << value;
  EXPECT_EQ(buffer.read<std::uint8_t>().get(), (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST_P(Buffers, copy_within_their_device) {
  const Buffer from = device.buffer(std::vector<float>{1, 2, 3, 4});
  const Buffer to = device.buffer(DType::f32, Shape{4});
  from.copy_to(to);
  EXPECT_EQ(to.read<float>().get(), (std::vector<float>{1, 2, 3, 4}));
  from.copy_to(to, 0, 8, 8);
  EXPECT_EQ(to.read<float>().get(), (std::vector<float>{1, 2, 1, 2}));
}

TEST_P(Buffers, refuse_a_copy_to_an_empty_handle) {
  EXPECT_EQ(code_of([&] { device.buffer({1.0F}).copy_to(Buffer{}); }), ErrorCode::invalid_argument);
}

TEST_P(Buffers, refuse_a_copy_onto_themselves_that_overlaps) {
  const Buffer buffer = device.buffer(std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(code_of([&] { buffer.copy_to(buffer, 0, 4, 8); }), ErrorCode::invalid_argument);
  buffer.copy_to(buffer, 0, 8, 8).get();
  EXPECT_EQ(buffer.read<float>().get(), (std::vector<float>{1, 2, 1, 2}));
}

TEST_P(Buffers, copy_to_another_device_and_back) {
  const Device other = system.device(std::string_view{GetParam()} == "cpu" ? "null" : "cpu");
  const Buffer here = device.buffer(std::vector<float>{1, 2, 3, 4});
  const Buffer there = other.buffer(DType::f32, Shape{4});
  const Buffer back = device.buffer(DType::f32, Shape{4});
  here.copy_to(there);
  if (other.name() != "null") {
    there.copy_to(back);
    EXPECT_EQ(back.read<float>().get(), (std::vector<float>{1, 2, 3, 4}));
  } else {
    EXPECT_EQ(there.copy_to(back).wait().has_value(), true);  // null copies nothing, and completes
  }
}

TEST_P(Buffers, answer_released_after_release_with_every_handle) {
  const Buffer buffer = device.buffer(std::vector<float>{1, 2});
  const Buffer copy = buffer;
  const auto before = buffer.read<float>();
  buffer.release();
  EXPECT_TRUE(copy.released());
  EXPECT_EQ(code_of([&] { static_cast<void>(copy.read<float>()); }), ErrorCode::released);
  EXPECT_EQ(code_of([&] { static_cast<void>(device.run("relu", {copy})); }), ErrorCode::released);
  EXPECT_EQ(before.get(), (std::vector<float>{1, 2}));
  buffer.release();  // again changes nothing
}

TEST_P(Buffers, return_their_memory_when_the_last_handle_goes) {
  device.trim();
  const auto before = device.stats().memory.in_use;
  {
    const Buffer buffer = device.buffer(DType::f32, Shape{1024, 1024});
    EXPECT_GE(device.stats().memory.in_use, before + (4U << 20));
  }
  EXPECT_EQ(device.stats().memory.in_use, before);
  device.trim();
  EXPECT_EQ(device.stats().memory.cached, 0U);
}

INSTANTIATE_TEST_SUITE_P(Devices, Buffers, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST(Budget, is_kept_and_the_error_names_the_numbers) {
  SystemOptions options;
  options.device.memory.budget = 8U << 20;
  const System system{options};
  const Device device = system.device("cpu");
  const Buffer first = device.buffer(DType::u8, Shape{6 << 20});
  try {
    static_cast<void>(device.buffer(DType::u8, Shape{4 << 20}));
    FAIL() << "the budget was ignored";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_EQ(error.detail("requested"), std::to_string(4U << 20));
    EXPECT_EQ(error.detail("limit"), std::to_string(8U << 20));
    EXPECT_EQ(error.detail("in_use"), std::to_string(6U << 20));
    EXPECT_TRUE(error.retryable());
  }
  first.fill(7).get();  // everything goes on
}

}  // namespace
}  // namespace stoker
