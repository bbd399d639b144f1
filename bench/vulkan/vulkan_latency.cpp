// Submit to complete on a Vulkan device, against a raw Vulkan program that does the same.
#include <algorithm>
#include <array>

#include "stoker/api/stoker.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/vulkan/raw_vulkan.hpp"

namespace stoker::bench {
namespace {

const TensorSpec tiny{DType::f32, Shape{16}};
constexpr int chain_length = 1000;

/// A Stoker device and the raw program on the same device, with the same tiny kernel.
struct Setting {
  explicit Setting(const std::string& name)
      : device{system.device(name)},
        raw{device.info().uuid},
        add{raw.program(*system.kernel("add"), std::array{tiny, tiny})},
        x{device.buffer(std::vector<float>(16, 1.0F))},
        y{device.buffer(tiny)},
        raw_x{raw.memory(64)},
        raw_y{raw.memory(64)} {}

  void dispatch(VkCommandBuffer commands, const RawVulkan::Memory& from,
                const RawVulkan::Memory& to) const {
    raw.dispatch(commands, add, std::array{from, raw_x}, {&to, 1});
  }

  System system;
  Device device;
  RawVulkan raw;
  RawVulkan::Program add;
  Buffer x, y;
  RawVulkan::Memory raw_x, raw_y;
};

struct Latency {
  Samples ours, waiting, spinning, empty;
};

/// Blocks of submissions in turns, each timed by itself.
Latency submit_to_complete(Context& context, Setting& at) {
  VkCommandBuffer one =
      at.raw.record([&](VkCommandBuffer commands) { at.dispatch(commands, at.raw_x, at.raw_y); });
  VkCommandBuffer none = at.raw.record([](VkCommandBuffer) {});
  Latency result;
  constexpr int block = 60;
  constexpr int warm =
      10;  // of each block, uncounted: threads and clocks of the other side cool down
  const auto measure = [](Samples& samples, auto&& run) {
    for (int i = 0; i < block; ++i)
      if (const double seconds = seconds_of(run); i >= warm) samples.add(seconds * 1e6);
  };
  for (int round = 0; round < context.repeats(60); ++round) {
    measure(result.ours, [&] { at.device.submit("add", {at.x, at.x}, at.y).get(); });
    measure(result.waiting, [&] { at.raw.wait(at.raw.submit(one)); });
    measure(result.spinning, [&] { at.raw.spin(at.raw.submit(one)); });
    measure(result.empty, [&] { at.raw.spin(at.raw.submit(none)); });
  }
  return result;
}

void add_latency(Context& context, const Latency& latency) {
  const auto percentile = [&](const char* name, double share) {
    Row row{name, latency.ours.quantile(share), "µs", Better::lower};
    row.n = latency.ours.size();
    row.spread = latency.ours.spread();
    return row;
  };
  context.report.add(percentile("submit → wait, one tiny kernel, p50", 0.5)
                         .against("raw, waits", latency.waiting));
  context.report.add(percentile("submit → wait, one tiny kernel, p99", 0.99)
                         .against("raw, waits", latency.waiting.quantile(0.99)));
  context.report.add(
      percentile("the same against spinning, p50", 0.5).against("raw, spins", latency.spinning));
  context.report.add(percentile("the same against spinning, p99", 0.99)
                         .against("raw, spins", latency.spinning.quantile(0.99)));
  context.report.add(Row{"what we add to waiting, p50",
                         latency.ours.median() - latency.waiting.median(), "µs", Better::lower}
                         .aim(5));
  context.report.add(Row{"what we add to spinning, p50",
                         latency.ours.median() - latency.spinning.median(), "µs", Better::lower}
                         .aim(5));
  context.report.add(
      Row{"floor: an empty submission, spinning", latency.empty, "µs", Better::lower});
}

/// 1000 kernels, each reading what the one before wrote.
void dependent_chain(Context& context, Setting& at) {
  const auto a = at.raw.memory(64);
  const auto b = at.raw.memory(64);
  VkCommandBuffer commands = at.raw.record([&](VkCommandBuffer buffer) {
    for (int i = 0; i < chain_length; ++i) {
      if (i > 0) at.raw.barrier(buffer);
      at.dispatch(buffer, i % 2 ? a : b, i % 2 ? b : a);
    }
  });
  Pipeline pipeline = at.system.pipeline(at.device);
  pipeline.input("x", tiny);
  std::string last = "x";
  for (int i = 0; i < chain_length; ++i) {
    std::string next = "t" + std::to_string(i);
    pipeline.add("add", {last, "x"}, next);
    last = std::move(next);
  }
  pipeline.output(last);
  const Bindings bindings{{"x", at.x}, {last, at.y}};
  pipeline.run(bindings).get();
  const Duel duel_ = duel(
      context.repeats(100), [&] { return seconds_of([&] { pipeline.run(bindings).get(); }) * 1e6; },
      [&] { return seconds_of([&] { at.raw.spin(at.raw.submit(commands)); }) * 1e6; });
  context.report.add(Row{"replay of 1000 dependent kernels", duel_.ours, "µs", Better::lower}
                         .against("recorded commands", duel_.peer)
                         .aim_ratio(1.1));
}

/// 1000 kernels with an output each: nothing needs a barrier.
void independent_fan(Context& context, Setting& at) {
  const auto block = at.raw.memory(64 * chain_length);
  VkCommandBuffer commands = at.raw.record([&](VkCommandBuffer buffer) {
    for (std::uint64_t i = 0; i < chain_length; ++i)
      at.dispatch(buffer, at.raw_x, {block.buffer, block.address + 64 * i, 64});
  });
  Pipeline pipeline = at.system.pipeline(at.device);
  pipeline.input("x", tiny);
  for (int i = 0; i < chain_length; ++i) pipeline.add("add", {"x", "x"}, at.device.buffer(tiny));
  const Bindings bindings{{"x", at.x}};
  pipeline.run(bindings).get();
  const Duel duel_ = duel(
      context.repeats(100), [&] { return seconds_of([&] { pipeline.run(bindings).get(); }) * 1e6; },
      [&] { return seconds_of([&] { at.raw.spin(at.raw.submit(commands)); }) * 1e6; });
  context.report.add(Row{"replay of 1000 independent kernels", duel_.ours, "µs", Better::lower}
                         .against("recorded commands", duel_.peer)
                         .aim_ratio(1.1));
}

/// Commands that are submitted without waiting for each other.
void stream_of_submits(Context& context, Setting& at) {
  VkCommandBuffer one = at.raw.record([&](VkCommandBuffer commands) {
    at.raw.barrier(commands);
    at.dispatch(commands, at.raw_x, at.raw_y);
  });
  constexpr int count = 1000;
  const Duel duel_ = duel(
      context.repeats(50),
      [&] {
        return seconds_of([&] {
                 Command last;
                 for (int i = 0; i < count; ++i) last = at.device.submit("add", {at.x, at.x}, at.y);
                 last.get();
               }) *
               1e6 / count;
      },
      [&] {
        return seconds_of([&] {
                 std::uint64_t last = 0;
                 for (int i = 0; i < count; ++i) last = at.raw.submit(one);
                 at.raw.spin(last);
               }) *
               1e6 / count;
      });
  context.report.add(Row{"1000 submits, one wait, each", duel_.ours, "µs", Better::lower}
                         .against("one vkQueueSubmit2 each", duel_.peer)
                         .remark("dependent; recorded anew by us, beforehand by the peer"));
}

}  // namespace

void vulkan_latency(Context& context) {
  const std::string name = context.device.empty() ? "vulkan" : context.device;
  {
    const auto devices = System{}.devices();
    const bool there = std::ranges::any_of(
        devices, [](const DeviceInfo& info) { return info.backend == "vulkan"; });
    if (!there) return context.report.skip("everything", "there is no Vulkan device");
  }
  Setting at{name};
  context.report.add(Row{"device", 0, "", Better::higher}.remark(at.device.info().description));
  add_latency(context, submit_to_complete(context, at));
  dependent_chain(context, at);
  independent_fan(context, at);
  stream_of_submits(context, at);
}

}  // namespace stoker::bench
