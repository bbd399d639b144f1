// Convolutions on the CPU device against oneDNN from and to the same layouts, both with two threads.
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/kernels/onednn_peer.hpp"

namespace stoker::bench {

void cpu_conv(Context& context) {
  const ConvShape shapes[] = {
      {"conv 3→64 7×7 s2, 224", 8, 3, 224, 64, 7, 2, 3},
      {"conv 64→64 3×3, 56", 8, 64, 56, 64, 3, 1, 1},
      {"conv 128→128 3×3, 28", 8, 128, 28, 128, 3, 1, 1},
      {"conv 256→256 1×1, 14", 8, 256, 14, 256, 1, 1, 0},
  };
  OnednnPeer peer;  // before our threads start: it forks
  const System system;
  const Device device = system.device("cpu");
  for (const ConvShape& shape : shapes) {
    const Buffer x =
        noise_buffer(device, Shape{shape.batch, shape.in_channels, shape.size, shape.size});
    const Buffer w = noise_buffer(
        device, Shape{shape.out_channels, shape.in_channels, shape.kernel, shape.kernel});
    const Buffer y = device.buffer(
        DType::f32, Shape{shape.batch, shape.out_channels, shape.out_size(), shape.out_size()});
    const Params params{{"strides", {shape.stride, shape.stride}},
                        {"padding_low", {shape.padding, shape.padding}},
                        {"padding_high", {shape.padding, shape.padding}}};
    const auto call = [&] { return device.submit("conv", {x, w}, y, params); };
    const int calls = calls_to_fill(0.03, [&] { call().get(); });
    const Duel turns = duel(
        context.repeats(20),
        [&] { return shape.operations() / seconds_per_command(calls, call) * 1e-9; },
        [&] { return shape.operations() / peer.conv(shape, calls) * 1e-9; });
    context.report.add(
        Row{shape.name, turns.ours, "GFLOP/s", Better::higher}
            .against("oneDNN NCHW", turns.peer)
            .aim_ratio(0.9)
            .remark("batch 8, " +
                    std::to_string(shape.operations() / turns.ours.median() * 1e-6).substr(0, 5) +
                    " ms"));
  }
}

}  // namespace stoker::bench
