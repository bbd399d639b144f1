// DLPack both ways, with tensors of a library that this test plays.
#include <dlpack/dlpack.h>

#include <atomic>

#include "files_fixture.hpp"
#include "stoker/api/tensor/io/dlpack.hpp"

namespace stoker {
namespace {

using Dlpack = Files;

/// A tensor of another library: it counts how often it was given back.
struct Foreign {
  Foreign(DLDataType dtype, std::vector<std::int64_t> extents, std::size_t bytes)
      : shape{std::move(extents)}, memory(bytes + 64) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    first = memory.data() + (64 - at % 64) % 64;
    for (std::size_t i = 0; i < bytes; ++i) first[i] = static_cast<std::byte>(i);
    managed.dl_tensor = {
        first, {kDLCPU, 0}, static_cast<int>(shape.size()), dtype, shape.data(), nullptr, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      static_cast<Foreign*>(self->manager_ctx)->returned.fetch_add(1);
    };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  void use_strides(std::vector<std::int64_t> values) {
    strides = std::move(values);
    managed.dl_tensor.strides = strides.data();
  }

  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::vector<std::byte> memory;
  std::byte* first = nullptr;
  std::atomic<int> returned{0};
  DLManagedTensor managed{};
};

constexpr DLDataType u8_code{kDLUInt, 8, 1};

class DlpackOnCpu : public Tensors {};

TEST_F(DlpackOnCpu, takes_memory_as_it_lies) {
  Foreign foreign{{kDLInt, 32, 1}, {4, 4}, 64};
  {
    const Tensor x = from_dlpack(&foreign.managed);
    const HostView view = x.buffer().host_view();
    EXPECT_EQ(view.bytes.data(), foreign.first);
    EXPECT_EQ((x + 1).to_vector<int>()[0], 0x03020101);
    EXPECT_EQ(foreign.returned, 0);
  }
  system.device("cpu").buffer({1.0F}).read<float>().get();  // a turn of the device
  EXPECT_EQ(foreign.returned, 1);
}

TEST_F(DlpackOnCpu, keeps_what_it_took_until_the_last_command) {
  Foreign foreign{{kDLInt, 32, 1}, {1 << 20}, 4 << 20};
  Future<std::vector<int>> result;
  {
    const Tensor x = from_dlpack(&foreign.managed);
    result = sum(x).read<int>();
  }
  result.wait();
  EXPECT_TRUE(result.get().size() == 1);
  system.stop();
  EXPECT_EQ(foreign.returned, 1);
}

TEST_F(DlpackOnCpu, gives_its_own_memory) {
  const Tensor x = iota({2, 3}, DType::f32) + 1;
  const DlpackTensor out = to_dlpack(x);
  EXPECT_EQ(out->dl_tensor.data, x.buffer().host_view().bytes.data());
}

TEST_F(DlpackOnCpu, gives_memory_that_outlives_the_system) {
  DlpackTensor out;
  {
    const System own;
    const DeviceScope here{own.device("cpu")};
    out = to_dlpack(iota({5}, DType::s32) * 2);
  }
  EXPECT_EQ(static_cast<const std::int32_t*>(out->dl_tensor.data)[4], 8);
}

TEST_F(DlpackOnCpu, goes_round_without_a_copy) {
  const Tensor x = iota({32}, DType::s64) + 0;
  const Tensor y = from_dlpack(to_dlpack(x));
  EXPECT_EQ(x.buffer().host_view().bytes.data(), y.buffer().host_view().bytes.data());
  expect_same(y, x);
}

TEST_F(DlpackOnCpu, adopts_only_what_fits) {
  alignas(64) std::array<std::byte, 128> memory{};
  const Device cpu = system.device("cpu");
  const TensorSpec spec{DType::f32, Shape{8}};
  EXPECT_EQ(cpu.adopt(spec, std::span{memory}.first(32), nullptr).read<float>().get().size(), 8U);
  EXPECT_EQ(error_of([&] { return cpu.adopt(spec, memory, nullptr); }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      error_of([&] { return cpu.adopt(spec, std::span{memory}.subspan(4, 32), nullptr); }).code(),
      ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              return system.device("vulkan").adopt(spec, std::span{memory}.first(32), nullptr);
            }).code(),
            ErrorCode::unsupported);
  EXPECT_EQ(error_of([&] {
              return system.device("vulkan").buffer({1.0F}).host_view().bytes.size();
            }).code(),
            ErrorCode::unsupported);
}

TEST_F(DlpackOnCpu, shows_failed_contents_to_nobody) {
  const Buffer buffer = system.device("cpu").buffer({1.0F, 2.0F});
  buffer.release();
  EXPECT_EQ(error_of([&] { return buffer.host_view().bytes.size(); }).code(), ErrorCode::released);
}

TEST_P(Dlpack, brings_every_dtype_there_and_back) {
  for (std::size_t i = 0; i < dtype_count; ++i)
    for (const Shape& shape : {Shape{}, Shape{3, 5}, Shape{0, 2}}) {
      const Tensor x = sample(static_cast<DType>(i), shape);
      expect_same(from_dlpack(to_dlpack(x)), x);
    }
}

TEST_P(Dlpack, says_what_a_tensor_is) {
  const DlpackTensor out = to_dlpack(sample(DType::bf16, {2, 3}));
  const DLTensor& t = out->dl_tensor;
  EXPECT_EQ(t.device.device_type, kDLCPU);
  EXPECT_EQ(t.dtype.code, kDLBfloat);
  EXPECT_EQ(t.dtype.bits, 16);
  EXPECT_EQ(t.dtype.lanes, 1);
  EXPECT_EQ((std::vector(t.shape, t.shape + t.ndim)), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ((std::vector(t.strides, t.strides + t.ndim)), (std::vector<std::int64_t>{3, 1}));
}

TEST_P(Dlpack, copies_what_is_strided) {
  Foreign foreign{u8_code, {2, 3}, 64};
  foreign.use_strides({1, 10});
  foreign.managed.dl_tensor.byte_offset = 5;
  expect_values<int>(from_dlpack(&foreign.managed), {2, 3}, {5, 15, 25, 6, 16, 26});
  EXPECT_EQ(foreign.returned, 1);  // no longer needed

  Foreign backwards{{kDLUInt, 16, 1}, {2, 1, 3}, 64};
  backwards.use_strides({0, 7, -1});
  backwards.managed.dl_tensor.byte_offset = 8;
  expect_values<int>(from_dlpack(&backwards.managed), {2, 1, 3},
                     {0x0908, 0x0706, 0x0504, 0x0908, 0x0706, 0x0504});
}

TEST_P(Dlpack, copies_what_is_not_aligned) {
  Foreign foreign{u8_code, {3}, 64};
  foreign.managed.dl_tensor.byte_offset = 1;
  expect_values<int>(from_dlpack(&foreign.managed), {3}, {1, 2, 3});
  EXPECT_EQ(foreign.returned, 1);
}

TEST_P(Dlpack, takes_any_byte_but_zero_for_true) {
  Foreign foreign{{6, 8, 1}, {3}, 64};
  EXPECT_EQ(from_dlpack(&foreign.managed).to_bytes(),
            (std::vector{std::byte{0}, std::byte{1}, std::byte{1}}));
}

TEST_P(Dlpack, takes_scalars_and_empty_tensors) {
  Foreign scalar{u8_code, {}, 64};
  expect_values<int>(from_dlpack(&scalar.managed), {}, {0});
  Foreign none{u8_code, {0, 3}, 0};
  none.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(&none.managed).shape(), (Shape{0, 3}));
  EXPECT_EQ(none.returned, 1);
}

TEST_P(Dlpack, refuses_by_name_and_gives_back) {
  const auto refusal = [](auto&& change) {
    Foreign foreign{u8_code, {2}, 64};
    change(foreign.managed.dl_tensor);
    const Error error = error_of([&] { return from_dlpack(&foreign.managed); });
    EXPECT_EQ(foreign.returned, 1) << error.what();
    return error;
  };
  const Error cuda = refusal([](DLTensor& t) { t.device = {kDLCUDA, 0}; });
  EXPECT_EQ(cuda.code(), ErrorCode::unsupported);
  EXPECT_EQ(cuda.detail("device"), "CUDA");
  for (const DLDataType type : {DLDataType{kDLComplex, 32, 1}, DLDataType{kDLFloat, 32, 4},
                                DLDataType{kDLInt, 4, 1}, DLDataType{99, 8, 1}})
    EXPECT_EQ(refusal([&](DLTensor& t) { t.dtype = type; }).code(), ErrorCode::unsupported);
  EXPECT_EQ(refusal([](DLTensor& t) { t.ndim = -1; }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal([](DLTensor& t) { t.shape = nullptr; }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal([](DLTensor& t) { t.shape[0] = -3; }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal([](DLTensor& t) { t.data = nullptr; }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([] { return from_dlpack(DlpackTensor{}); }).code(),
            ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Devices, Dlpack, every_device(), device_name);

}  // namespace
}  // namespace stoker
