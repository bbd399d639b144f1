// Matrix products on the CPU device against oneDNN called directly, both with two threads.
#include <cmath>

#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/kernels/onednn_peer.hpp"

namespace stoker::bench {
namespace {

constexpr double sample_seconds = 0.03;  // long enough that a sample is not one scheduling accident

double gflops(std::int64_t n, double seconds) {
  const auto size = static_cast<double>(n);
  return 2 * size * size * size / seconds * 1e-9;
}

void submitted(Context& context, const Device& device, OnednnPeer& peer, std::int64_t n) {
  const Buffer a = noise_buffer(device, Shape{n, n});
  const Buffer b = noise_buffer(device, Shape{n, n});
  const Buffer c = device.buffer(DType::f32, Shape{n, n});
  const auto call = [&] { return device.submit("matmul", {a, b}, c); };
  const int calls = calls_to_fill(sample_seconds, [&] { call().get(); });
  const Duel turns = duel(
      context.repeats(20), [&] { return gflops(n, seconds_per_command(calls, call)); },
      [&] { return gflops(n, peer.matmul(n, calls)); });
  Row row{"matmul " + std::to_string(n), turns.ours, "GFLOP/s", Better::higher};
  row.against("oneDNN", turns.peer).remark("submit × " + std::to_string(calls) + ", one wait");
  // Below, a submission costs as much as the product: that is what pipelines are for.
  if (n >= 256) row.aim_ratio(0.95);
  context.report.add(row);
}

/// A chain of products, so that each step needs the one before, as the peer's calls follow each
/// other.
void in_pipeline(Context& context, const System& system, const Device& device, OnednnPeer& peer,
                 std::int64_t n) {
  constexpr int length = 200;
  const TensorSpec spec{DType::f32, Shape{n, n}};
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("a", spec).input("b", spec);
  std::string last = "a";
  for (int i = 0; i < length; ++i) {
    std::string next = "c" + std::to_string(i);
    pipeline.add("matmul", {last, "b"}, next);
    last = std::move(next);
  }
  pipeline.output(last);
  // Small enough that two hundred products of it neither grow to infinity nor vanish to denormals.
  const float scale = 1.7F / std::sqrt(static_cast<float>(n));
  const Bindings bindings{{"a", noise_buffer(device, spec.shape)},
                          {"b", noise_buffer(device, spec.shape, -scale, scale)},
                          {last, device.buffer(spec)}};
  const auto run = [&] { pipeline.run(bindings).get(); };
  const int runs = calls_to_fill(sample_seconds, run);
  const Duel turns = duel(
      context.repeats(20),
      [&] {
        return gflops(n, seconds_of([&] {
                           for (int i = 0; i < runs; ++i) run();
                         }) / (runs * length));
      },
      [&] { return gflops(n, peer.matmul(n, runs * length)); });
  context.report.add(Row{"matmul " + std::to_string(n) + " in a replayed pipeline", turns.ours,
                         "GFLOP/s", Better::higher}
                         .against("oneDNN", turns.peer)
                         .aim_ratio(0.8)
                         .remark("200 dependent steps"));
}

}  // namespace

void cpu_matmul(Context& context) {
  OnednnPeer peer;  // before our threads start: it forks
  const System system;
  const Device device = system.device("cpu");
  for (const std::int64_t n : {64, 128}) in_pipeline(context, system, device, peer, n);
  for (const std::int64_t n : {64, 128, 256, 512, 1024, 2048}) {
    if (context.quick && n > 1024) continue;
    submitted(context, device, peer, n);
  }
}

}  // namespace stoker::bench
