// Products and convolutions of 8-bit integers on the CPU device: against oneDNN from and to the same layouts,
// and against ours of f32, both with two threads.
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/kernels/onednn_peer.hpp"

namespace stoker::bench {
namespace {

constexpr double sample_seconds = 0.03;  // long enough that a sample is not one scheduling accident

Buffer byte_buffer(const Device& device, DType dtype, const Shape& shape) {
  Buffer made = device.buffer(dtype, shape);
  const std::vector<float> from = noise(made.elements(), -128, 128);
  std::vector<std::byte> bytes;
  for (const float one : from)
    bytes.push_back(static_cast<std::byte>(static_cast<std::int8_t>(one)));
  made.write_bytes(bytes).get();
  return made;
}

/// One computation: in integers, in floats, and in integers by the peer.
struct Work {
  std::string name;
  double operations;
  std::function<Command()> integers, floats;
  std::function<double(int calls)> peer;
};

void measure(Context& context, const Work& work) {
  const int calls = calls_to_fill(sample_seconds, [&] { work.integers().get(); });
  const auto giga = [&](double seconds) { return work.operations / seconds * 1e-9; };
  const auto ours = [&] { return giga(seconds_per_command(calls, work.integers)); };
  const Duel library = duel(context.repeats(20), ours, [&] { return giga(work.peer(calls)); });
  context.report.add(Row{work.name, library.ours, "GOP/s", Better::higher}
                         .against("oneDNN s8", library.peer)
                         .aim_ratio(0.9));
  const Duel floats = duel(context.repeats(20), ours,
                           [&] { return giga(seconds_per_command(calls, work.floats)); });
  context.report.add(Row{work.name + ", beside f32", floats.ours, "GOP/s", Better::higher}
                         .against("our f32", floats.peer)
                         .aim_ratio(2));
}

}  // namespace

void cpu_integers(Context& context) {
  OnednnPeer peer;  // before our threads start: it forks
  const System system;
  const Device device = system.device("cpu");
  for (const std::int64_t n : {256, 1024}) {
    const Shape shape{n, n};
    const std::vector<Buffer> bytes{byte_buffer(device, DType::u8, shape),
                                    byte_buffer(device, DType::s8, shape)};
    const std::vector<Buffer> floats{noise_buffer(device, shape), noise_buffer(device, shape)};
    const Buffer sums = device.buffer(DType::s32, shape), reals = device.buffer(DType::f32, shape);
    const auto size = static_cast<double>(n);
    measure(context, {.name = "integer_matmul " + std::to_string(n),
                      .operations = 2 * size * size * size,
                      .integers = [&] { return device.submit("integer_matmul", bytes, sums); },
                      .floats = [&] { return device.submit("matmul", floats, reals); },
                      .peer = [&](int calls) { return peer.integer_matmul(n, calls); }});
  }
  const ConvShape shapes[] = {
      {"integer_conv 64→64 3×3, 56, b1", 1, 64, 56, 64, 3, 1, 1},
      {"integer_conv 64→64 3×3, 56, b8", 8, 64, 56, 64, 3, 1, 1},
      {"integer_conv 256→256 3×3, 14, b1", 1, 256, 14, 256, 3, 1, 1},
      {"integer_conv 256→64 1×1, 56, b1", 1, 256, 56, 64, 1, 1, 0},
  };
  for (const ConvShape& shape : shapes) {
    const Shape x{shape.batch, shape.in_channels, shape.size, shape.size};
    const Shape w{shape.out_channels, shape.in_channels, shape.kernel, shape.kernel};
    const Shape y{shape.batch, shape.out_channels, shape.out_size(), shape.out_size()};
    const std::vector<Buffer> bytes{byte_buffer(device, DType::u8, x),
                                    byte_buffer(device, DType::s8, w)};
    const std::vector<Buffer> floats{noise_buffer(device, x), noise_buffer(device, w)};
    const Buffer sums = device.buffer(DType::s32, y), reals = device.buffer(DType::f32, y);
    const std::vector<std::int64_t> pads(2, shape.padding);
    const Params params{{"padding_low", pads}, {"padding_high", pads}};
    measure(context,
            {.name = shape.name,
             .operations = shape.operations(),
             .integers = [&] { return device.submit("integer_conv", bytes, sums, params); },
             .floats = [&] { return device.submit("conv", floats, reals, params); },
             .peer = [&](int calls) { return peer.integer_conv(shape, calls); }});
  }
}

}  // namespace stoker::bench
