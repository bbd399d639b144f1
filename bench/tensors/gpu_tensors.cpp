// Tensors on a GPU: many calls in a row, the last of which is waited for, beside copies of as much
// memory by the same device, in turns. Arrays are far larger than the caches.
#include <algorithm>

#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"

namespace stoker::bench {
namespace {

struct Gpu {
  Device device;
  bool large = false;  ///< a real GPU: sizes that fill it
  std::int64_t side = 0;
  Buffer from, to;

  [[nodiscard]] double elements() const {
    return static_cast<double>(side) * static_cast<double>(side);
  }
  /// Bytes a second, read and written, of copies in a row.
  [[nodiscard]] double copy_rate(int copies) const {
    return 8 * elements() / seconds_per_command(copies, [&] { return from.copy_to(to); });
  }
};

void row(Context& context, const Gpu& gpu, const std::string& name, double bytes_per_element,
         const std::function<Tensor()>& call) {
  // As many as the pool keeps memory for: each call makes a new result.
  const int calls = std::clamp(calls_to_fill(0.03, [&] { call().computed().get(); }), 4, 8);
  const double bytes = bytes_per_element * gpu.elements();
  const Duel both = duel(
      context.repeats(20),
      [&] {
        Tensor last;
        const double seconds = seconds_of([&] {
          for (int i = 0; i < calls; ++i) last = call().eval();
          last.computed().get();
        });
        return bytes * calls / seconds * 1e-9;
      },
      [&] { return gpu.copy_rate(calls) * 1e-9; });
  context.report.add(Row{name, both.ours, "GB/s", Better::higher}
                         .against("device copy", both.peer)
                         .aim_ratio(gpu.large ? std::optional{0.9} : std::nullopt));
}

}  // namespace

void gpu_tensors(Context& context) {
  const System system;
  const auto devices = system.devices();
  const bool there =
      std::ranges::any_of(devices, [](const DeviceInfo& info) { return info.backend == "vulkan"; });
  if (!there) return context.report.skip("everything", "there is no Vulkan device");
  Gpu gpu;
  gpu.device = system.device(context.device.empty() ? "vulkan" : context.device);
  gpu.large = gpu.device.info().type == DeviceType::discrete_gpu;
  gpu.side = gpu.large ? 16384 : 1024;
  const DeviceScope scope{gpu.device};
  gpu.from = noise_buffer(gpu.device, Shape{gpu.side, gpu.side});
  gpu.to = gpu.device.buffer(DType::f32, Shape{gpu.side, gpu.side});
  // An idle GPU takes up to half a second of work to raise its clocks.
  const auto until = Clock::now() + std::chrono::milliseconds{600};
  while (Clock::now() < until) keep(gpu.copy_rate(4));

  const Tensor x{gpu.from};
  const Tensor y{noise_buffer(gpu.device, Shape{gpu.side, gpu.side}, 0.5F, 1.5F)};
  const Tensor gamma = (ones({gpu.side}) * 1.5).eval();
  const Tensor beta = (ones({gpu.side}) * 0.5).eval();
  const auto chain = jit(
      [](const Tensor& a, const Tensor& b) { return abs(tanh(sigmoid(relu(a + b) * b) - a) * a); });
  row(context, gpu, "chain of 8 elementwise operations", 12, [&] { return chain(x, y); });
  row(context, gpu, "add", 12, [&] { return x + y; });
  row(context, gpu, "sum, axis 0", 4, [&] { return sum(x, {Axes{0}}); });
  row(context, gpu, "sum, axis 1", 4, [&] { return sum(x, {Axes{1}}); });
  row(context, gpu, "sum of x·y, axis 0", 8, [&] { return sum(x * y, {Axes{0}}); });
  row(context, gpu, "sum of x·y, axis 1", 8, [&] { return sum(x * y, {Axes{1}}); });
  row(context, gpu, "softmax", 8, [&] { return softmax(x); });
  row(context, gpu, "layer_norm", 8, [&] { return layer_norm(x, gamma, beta); });
  row(context, gpu, "transpose", 8, [&] { return transpose(x); });
  // The transposition is copied first: reading through it would cost more.
  row(context, gpu, "x + transpose(x), in two passes", 20, [&] { return x + transpose(x); });
}

}  // namespace stoker::bench
