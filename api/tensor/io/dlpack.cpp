#include "stoker/api/tensor/io/dlpack.hpp"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/device/memory/host_memory.hpp"

namespace stoker {
namespace {

constexpr std::uint8_t bool_code = 6;  // kDLBool, since 0.8

DLDataType code_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(size_of(dtype) * 8);
  if (dtype == DType::boolean) return {bool_code, bits, 1};
  if (dtype == DType::bf16) return {kDLBfloat, bits, 1};
  if (is_complex(dtype)) return {kDLComplex, bits, 1};
  if (is_float(dtype)) return {kDLFloat, bits, 1};
  const auto code = static_cast<std::uint8_t>(is_signed(dtype) ? kDLInt : kDLUInt);
  return {code, bits, 1};
}

DType dtype_of_code(const DLDataType& type) {
  for (std::size_t i = 0; i < stored_dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const DLDataType code = code_of(dtype);
    if (code.code == type.code && code.bits == type.bits && type.lanes == 1) return dtype;
  }
  constexpr std::array names{"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  throw Error{"from_dlpack",
              ErrorCode::unsupported,
              "there is no such dtype here",
              {{"dtype", type.code < names.size() ? names[type.code] : std::to_string(type.code)},
               {"bits", std::to_string(type.bits)},
               {"lanes", std::to_string(type.lanes)}}};
}

void check_device(const DLDevice& device) {
  if (device.device_type == kDLCPU) return;
  std::string name = std::to_string(device.device_type);
  switch (device.device_type) {
    case kDLCUDA: name = "CUDA"; break;
    case kDLCUDAHost: name = "CUDA host"; break;
    case kDLOpenCL: name = "OpenCL"; break;
    case kDLVulkan: name = "Vulkan"; break;
    case kDLMetal: name = "Metal"; break;
    case kDLROCM: name = "ROCm"; break;
    default: break;
  }
  throw Error{"from_dlpack",
              ErrorCode::unsupported,
              "memory of the CPU only: copy it there first",
              {{"device", name}}};
}

/// The contents in row-major order, one row along the last axis at a time.
std::vector<std::byte> gathered(const std::byte* first, const TensorSpec& spec,
                                const std::int64_t* strides) {
  const std::size_t rank = spec.shape.rank();
  const std::size_t size = size_of(spec.dtype);
  std::vector<std::byte> bytes(spec.bytes());
  if (bytes.empty()) return bytes;
  const std::int64_t row = rank ? spec.shape[rank - 1] : 1;
  const std::ptrdiff_t step =
      rank ? static_cast<std::ptrdiff_t>(strides[rank - 1]) * static_cast<std::ptrdiff_t>(size) : 0;
  std::array<std::int64_t, Shape::max_rank> at{};
  for (std::byte* to = bytes.data(); to != bytes.data() + bytes.size();) {
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) offset += at[axis] * strides[axis];
    const std::byte* from = first + offset * static_cast<std::ptrdiff_t>(size);
    for (std::int64_t i = 0; i < row; ++i, to += size) std::memcpy(to, from + i * step, size);
    for (std::size_t axis = rank ? rank - 1 : 0; axis-- > 0;) {
      if (++at[axis] < spec.shape[axis]) break;
      at[axis] = 0;
    }
  }
  return bytes;
}

bool row_major(const TensorSpec& spec, const std::int64_t* strides) {
  if (!strides || spec.elements() == 0) return true;
  const auto dense = spec.shape.strides();
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis)
    if (spec.shape[axis] != 1 && strides[axis] != dense[axis]) return false;
  return true;
}

/// What a tensor that goes out holds.
struct Exported {
  DLManagedTensor managed{};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::shared_ptr<const void> owner;

  static void end(DLManagedTensor* managed) {
    delete static_cast<Exported*>(managed->manager_ctx);  // NOLINT: to_dlpack gave it away
  }
};

/// Row-major memory of the host with the tensor's elements.
HostView host_memory_of(const Buffer& buffer) {
  if (buffer.device().info().host_addressable) return buffer.host_view();
  const std::shared_ptr<MemoryBlock> block =
      allocate_host_block(std::max<std::size_t>(buffer.size(), 1), MemoryKind::readback).value();
  const std::span<std::byte> bytes{block->host, buffer.size()};
  buffer.read_bytes_into(bytes, block).get();
  return {bytes, block};
}

}  // namespace

void DlpackDeleter::operator()(DLManagedTensor* managed) const noexcept {
  if (managed->deleter) managed->deleter(managed);
}

DlpackTensor to_dlpack(const Tensor& tensor) {
  const HostView memory = host_memory_of(tensor.buffer());
  auto exported = std::make_unique<Exported>();
  const Shape& shape = tensor.shape();
  const auto dense = shape.strides();
  exported->shape.assign(shape.begin(), shape.end());
  exported->strides.assign(dense.begin(),
                           dense.begin() + static_cast<std::ptrdiff_t>(shape.rank()));
  exported->owner = memory.owner;
  DLTensor& out = exported->managed.dl_tensor;
  out.data = const_cast<std::byte*>(memory.bytes.data());  // the struct knows no const
  out.device = {kDLCPU, 0};
  out.ndim = static_cast<int>(shape.rank());
  out.dtype = code_of(tensor.dtype());
  out.shape = exported->shape.data();
  out.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = &Exported::end;
  return DlpackTensor{&exported.release()->managed};
}

Tensor from_dlpack(DlpackTensor managed) {
  if (!managed) throw Error{"from_dlpack", ErrorCode::invalid_argument, "null was passed"};
  const DLTensor& in = managed->dl_tensor;
  check_device(in.device);
  const DType dtype = dtype_of_code(in.dtype);
  if (in.ndim < 0 || (in.ndim > 0 && !in.shape))
    throw Error{"from_dlpack", ErrorCode::invalid_argument, "the tensor has no shape"};
  const std::span<const std::int64_t> extents{in.shape, static_cast<std::size_t>(in.ndim)};
  const TensorSpec spec{dtype, Shape::make(extents, "from_dlpack")};
  if (spec.elements() > std::numeric_limits<std::ptrdiff_t>::max() / size_of(dtype))
    throw Error{"from_dlpack", ErrorCode::invalid_argument, "more bytes than any memory has"};
  if (!in.data && spec.elements() > 0)
    throw Error{"from_dlpack", ErrorCode::invalid_argument, "the tensor has no memory"};
  std::byte* const data = static_cast<std::byte*>(in.data) + (in.data ? in.byte_offset : 0);
  const bool dense = row_major(spec, in.strides);
  const Device device = current_device();
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % host_alignment == 0;
  // A foreign bool may be any byte but 0; ours is 1, and what is not ours is not changed.
  if (dense && aligned && spec.elements() > 0 && dtype != DType::boolean &&
      device.info().host_addressable) {
    const std::span<std::byte> bytes{data, spec.bytes()};
    const std::shared_ptr<DLManagedTensor> owner{std::move(managed)};
    return Tensor{device.adopt(spec, bytes, owner)};
  }
  if (dense && dtype != DType::boolean) return tensor({data, spec.bytes()}, spec);
  const auto strides = spec.shape.strides();
  std::vector<std::byte> bytes = gathered(data, spec, dense ? strides.data() : in.strides);
  if (dtype == DType::boolean)
    for (std::byte& one : bytes) one = one == std::byte{} ? one : std::byte{1};
  return tensor(bytes, spec);
}

Tensor from_dlpack(DLManagedTensor* managed) { return from_dlpack(DlpackTensor{managed}); }

}  // namespace stoker
