// Kernels on a GPU against what its memory and its arithmetic allow.
//
// Times are the device's own (timestamps around each step, while the trace is on); the wall time of
// a run that is waited for is in the remark. Buffers are far larger than the caches.
#include <algorithm>

#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/vulkan/raw_vulkan.hpp"

namespace stoker::bench {
namespace {

constexpr double h200_gemm_tflops =
    51;  // cuBLAS, f32 without tf32, on an H200 (docs/benchmarks.md)

// An idle H200 takes up to half a second of work to raise its clocks.
constexpr int gpu_warm_up_ms = 600;

struct Gpu {
  System system;
  Device device;
  bool large;            ///< a real GPU: sizes that fill it
  double copy_rate = 0;  ///< bytes a second, read and written
};

struct Measured {
  Samples device;  ///< seconds on the device
  Samples wall;    ///< seconds from submit to the return of wait()
};

Measured measure(Context& context, const std::function<Command()>& submit, int full_repeats = 20) {
  Measured result;
  submit().get();
  const auto warm_until = Clock::now() + std::chrono::milliseconds{gpu_warm_up_ms};
  while (Clock::now() < warm_until) submit().get();
  for (int i = 0; i < context.repeats(full_repeats); ++i) {
    const auto start = Clock::now();
    const Command command = submit();
    command.get();
    const double wall = seconds_since(start);
    result.wall.add(wall);
    result.device.add(std::chrono::duration<double>(command.device_time()).count());
  }
  return result;
}

std::string wall_remark(const Measured& measured) {
  const double us = measured.wall.median() * 1e6;
  return "wall " + std::to_string(static_cast<long>(us)) + " µs, device " +
         std::to_string(static_cast<long>(measured.device.median() * 1e6)) + " µs";
}

/// The best of the driver's copy and a copy shader, on a raw device.
void copy_floor(Context& context, Gpu& gpu, std::uint64_t bytes) {
  RawVulkan raw{gpu.device.info().uuid};
  const auto from = raw.memory(bytes);
  const auto to = raw.memory(bytes);
  const auto elements = static_cast<std::int64_t>(bytes / 4);
  const auto program =
      raw.program(*gpu.system.kernel("copy"), std::array{TensorSpec{DType::f32, Shape{elements}}});
  const auto rate = [&](const std::function<void(VkCommandBuffer)>& fill) {
    return sample(context.repeats(20),
                  [&] { return 2e-9 * static_cast<double>(bytes) / raw.device_seconds(fill); });
  };
  const Samples command = rate([&](VkCommandBuffer commands) { raw.copy(commands, from, to); });
  const Samples shader = rate([&](VkCommandBuffer commands) {
    raw.dispatch(commands, program, {&from, 1}, {&to, 1});
  });
  context.report.add(Row{"floor: vkCmdCopyBuffer", command, "GB/s", Better::higher});
  context.report.add(Row{"floor: copy shader, raw", shader, "GB/s", Better::higher});
  // A software device copies with memcpy, which no shader of its can match.
  gpu.copy_rate = 1e9 * (gpu.large ? std::max(command.median(), shader.median()) : shader.median());
}

void memory_kernels(Context& context, Gpu& gpu) {
  const std::int64_t side = gpu.large ? 16384 : 1024;  // 1 GiB of float each on a real GPU
  copy_floor(context, gpu, static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side) * 4);
  const Device& device = gpu.device;
  const auto f32 = [&](Shape shape) { return device.buffer(DType::f32, shape); };
  const Buffer x = noise_buffer(device, Shape{side, side});
  const Buffer y = noise_buffer(device, Shape{side, side}, 0.5F, 1.5F);
  const Buffer out = f32(Shape{side, side});
  const Buffer row = noise_buffer(device, Shape{side});
  const Buffer sums = f32(Shape{side});
  const Buffer half = device.buffer(DType::f16, Shape{side, side});
  struct Case {
    std::string name, kernel;
    std::vector<Buffer> inputs;
    Buffer output;
    Params params;
    double bytes_per_element;
  };
  const Case cases[] = {
      {"copy", "copy", {x}, out, {}, 8},
      {"fill", "fill", {}, out, {{"value", 1.5}, {"shape", {side, side}}}, 4},
      {"cast f32 → f16", "cast", {x}, half, {{"dtype", "f16"}}, 6},
      {"elementwise_add", "add", {x, y}, out, {}, 12},
      {"elementwise_add, one row to all", "add", {x, row}, out, {}, 8},
      {"relu", "relu", {x}, out, {}, 8},
      {"tanh", "tanh", {x}, out, {}, 8},
      {"reduce_sum, axis 0", "reduce_sum", {x}, sums, {{"axes", {0}}}, 4},
      {"reduce_sum, axis 1", "reduce_sum", {x}, sums, {{"axes", {1}}}, 4},
      {"reduce_max, axis 1", "reduce_max", {x}, sums, {{"axes", {1}}}, 4},
      {"softmax, rows", "softmax", {x}, out, {}, 8},
      {"layer_norm, rows", "layer_norm", {x, row, row}, out, {}, 8},
      {"transpose", "transpose", {x}, out, {}, 8},
  };
  for (const Case& one : cases) {
    try {
      const Measured measured = measure(
          context, [&] { return device.submit(one.kernel, one.inputs, one.output, one.params); });
      const double bytes =
          one.bytes_per_element * static_cast<double>(side) * static_cast<double>(side);
      context.report.add(Row{one.name, measured.device.rates(bytes * 1e-9), "GB/s", Better::higher}
                             .against("device copy", gpu.copy_rate * 1e-9)
                             .aim_ratio(gpu.large ? std::optional{0.9} : std::nullopt)
                             .remark(wall_remark(measured)));
    } catch (const Error& error) {
      context.report.skip(one.name, error.what());
    }
  }
  // The same copy through the device's own copy command, as Buffer::copy_to does it.
  const Measured copied = measure(context, [&] { return x.copy_to(out); });
  context.report.add(
      Row{"Buffer::copy_to",
          copied.device.rates(8e-9 * static_cast<double>(side) * static_cast<double>(side)), "GB/s",
          Better::higher}
          .against("device copy", gpu.copy_rate * 1e-9)
          .aim_ratio(gpu.large ? std::optional{0.9} : std::nullopt)
          .remark(wall_remark(copied)));
}

void matrix_products(Context& context, Gpu& gpu) {
  for (std::int64_t n = gpu.large ? 1024 : 256; n <= (gpu.large ? 8192 : 256); n *= 2) {
    const Buffer a = noise_buffer(gpu.device, Shape{n, n});
    const Buffer b = noise_buffer(gpu.device, Shape{n, n});
    const Buffer c = gpu.device.buffer(DType::f32, Shape{n, n});
    const Measured measured = measure(context, [&] {
      return gpu.device.submit("matmul", {a, b}, c);
    });
    const auto size = static_cast<double>(n);
    Row row{"matmul f32, " + std::to_string(n), measured.device.rates(2e-12 * size * size * size),
            "TFLOP/s", Better::higher};
    if (gpu.large) row.against("cuBLAS, other run", h200_gemm_tflops);
    if (n == 4096) row.aim_ratio(0.5);
    context.report.add(row.remark(wall_remark(measured)));
  }
}

void convolutions(Context& context, Gpu& gpu) {
  struct Case {
    std::string name;
    std::int64_t channels, size, filters, kernel, stride, padding;
    double cudnn_us;  // PyTorch 2.11 without tf32 on an H200 at batch 64, docs/benchmarks.md
  };
  const Case cases[] = {{"conv 3→64 7×7 s2, 224", 3, 224, 64, 7, 2, 3, 736},
                        {"conv 64→64 3×3, 56", 64, 56, 64, 3, 1, 1, 358},
                        {"conv 128→128 3×3, 28", 128, 28, 128, 3, 1, 1, 195},
                        {"conv 256→256 1×1, 14", 256, 14, 256, 1, 1, 0, 63}};
  const std::int64_t batch = gpu.large ? 64 : 1;
  for (const Case& one : cases) {
    const std::int64_t out = (one.size + 2 * one.padding - one.kernel) / one.stride + 1;
    const Buffer x = noise_buffer(gpu.device, Shape{batch, one.channels, one.size, one.size});
    const Buffer w =
        noise_buffer(gpu.device, Shape{one.filters, one.channels, one.kernel, one.kernel});
    const Buffer y = gpu.device.buffer(DType::f32, Shape{batch, one.filters, out, out});
    const Params params{{"strides", {one.stride, one.stride}},
                        {"padding_low", {one.padding, one.padding}},
                        {"padding_high", {one.padding, one.padding}}};
    const Measured measured = measure(context, [&] {
      return gpu.device.submit("conv", {x, w}, y, params);
    });
    Row row{one.name, measured.device.scaled(1e6), "µs", Better::lower};
    if (gpu.large) row.against("cuDNN, other run", one.cudnn_us);
    context.report.add(row.remark("batch " + std::to_string(batch) + "; " + wall_remark(measured)));
  }
}

void images(Context& context, Gpu& gpu) {
  const std::int64_t height = gpu.large ? 8192 : 512;
  const std::int64_t width = gpu.large ? 8192 : 512;
  const Buffer photo = gpu.device.buffer(DType::u8, Shape{height, width, 4});
  photo.fill(100).get();
  const Buffer floats = noise_buffer(gpu.device, Shape{height, width, 4}, 0, 1);
  const Buffer photo_out = gpu.device.buffer(photo.spec());
  const Buffer floats_out = gpu.device.buffer(floats.spec());
  const Buffer grey = gpu.device.buffer(DType::f32, Shape{height, width, 1});
  const auto row = [&](const std::string& name, const char* kernel, const Buffer& from,
                       const Buffer& to, const Params& params) {
    const Measured measured =
        measure(context, [&] { return gpu.device.submit(kernel, {from}, to, params); });
    const auto bytes = static_cast<double>(from.size() + to.size());
    context.report.add(Row{name, measured.device.rates(bytes * 1e-9), "GB/s", Better::higher}
                           .against("device copy", gpu.copy_rate * 1e-9)
                           .remark("bytes in and out; " + wall_remark(measured)));
  };
  row("gaussian_blur r2, f32 RGBA", "gaussian_blur", floats, floats_out, {{"radius", 2}});
  row("gaussian_blur r8, f32 RGBA", "gaussian_blur", floats, floats_out, {{"radius", 8}});
  row("gaussian_blur r2, u8 RGBA", "gaussian_blur", photo, photo_out, {{"radius", 2}});
  row("sobel, f32 RGBA", "sobel", floats, floats_out, {});
  row("grayscale, f32 RGBA", "grayscale", floats, grey, {});
}

/// Copies of the host's memory to the device and back, waited for.
void transfers(Context& context, Gpu& gpu) {
  const std::size_t bytes = gpu.large ? std::size_t{256} << 20U : std::size_t{4} << 20U;
  const Buffer buffer = gpu.device.buffer(DType::u8, Shape{static_cast<std::int64_t>(bytes)});
  const std::vector<std::byte> data(bytes, std::byte{42});
  const double gigabytes = static_cast<double>(bytes) * 1e-9;
  context.report.add(
      Row{"Buffer::write, host to device",
          sample(context.repeats(10),
                 [&] { return gigabytes / seconds_of([&] { buffer.write_bytes(data).get(); }); }),
          "GB/s", Better::higher});
  context.report.add(Row{"Buffer::read, device to host",
                         sample(context.repeats(10),
                                [&] {
                                  return gigabytes / seconds_of([&] {
                                           static_cast<void>(buffer.read_bytes().get());
                                         });
                                }),
                         "GB/s", Better::higher});
}

}  // namespace

void gpu_kernels(Context& context) {
  Gpu gpu;
  const auto devices = gpu.system.devices();
  const bool there =
      std::ranges::any_of(devices, [](const DeviceInfo& info) { return info.backend == "vulkan"; });
  if (!there) return context.report.skip("everything", "there is no Vulkan device");
  gpu.device = gpu.system.device(context.device.empty() ? "vulkan" : context.device);
  gpu.large = gpu.device.info().type == DeviceType::discrete_gpu;
  context.report.add(Row{"device", 0, "", Better::higher}.remark(gpu.device.info().description +
                                                                 ", " + gpu.device.info().driver));
  gpu.system.trace().enable();
  memory_kernels(context, gpu);
  gpu.device.trim();
  matrix_products(context, gpu);
  convolutions(context, gpu);
  images(context, gpu);
  transfers(context, gpu);
}

}  // namespace stoker::bench
