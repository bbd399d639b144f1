// What ten thousand runs of many sizes leave behind: resident memory and the pool's own numbers
// after a hundred runs and after all.
#include <malloc.h>

#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/harness/resident.hpp"

namespace stoker::bench {
namespace {

double resident_mib() { return resident_bytes() / (1 << 20); }

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// A run: new buffers of a size that varies, three kernels, a read, everything dropped.
void one_run(const Device& device, std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  // 64 elements to half a million, more often small than large.
  const std::int64_t n = std::int64_t{64} << (state >> 8U) % 13U;
  const std::int64_t elements = n + (state >> 16U) % n;
  const Buffer x = device.buffer(std::vector<float>(static_cast<std::size_t>(elements), 1.0F));
  const Buffer y = device.run("add", {x, x});
  const Buffer z = device.run("relu", {y});
  static_cast<void>(z.read<float>(0, 1).get());
}

void leftovers(Context& context, const std::string& name) {
  malloc_trim(0);  // what earlier groups left would hide growth
  const System system;
  const Device device = system.device(name);
  std::uint32_t state = 7;
  int done = 0;
  const auto run_to = [&](int runs) {
    for (; done < runs; ++done) one_run(device, state);
  };
  const int all = context.quick ? 1000 : 10'000;
  run_to(100);
  const double early = resident_mib();
  const MemoryStats early_pool = device.stats().memory;
  run_to(all);
  const double late = resident_mib();
  const MemoryStats late_pool = device.stats().memory;
  context.report.add(
      Row{"resident after " + std::to_string(all) + " runs, " + name, late, "MiB", Better::lower}
          .against("after 100", early)
          .remark("grew by " + std::to_string(late - early).substr(0, 6) + " MiB"));
  context.report.add(
      Row{"held by the pool, " + name, mib(late_pool.in_use + late_pool.cached), "MiB",
          Better::lower}
          .against("after 100", mib(early_pool.in_use + early_pool.cached))
          .remark(std::to_string(late_pool.allocations) + " blocks asked of the device, " +
                  std::to_string(late_pool.reuses) + " leases served from what was there"));
  const std::uint64_t given_back = device.trim();
  context.report.add(Row{"given back by trim(), " + name, mib(given_back), "MiB", Better::higher});
}

}  // namespace

void memory(Context& context) {
  leftovers(context, "null");
  leftovers(context, "cpu");
  const auto devices = System{}.devices();
  for (const DeviceInfo& info : devices)
    if (info.backend == "vulkan" && (context.device.empty() || info.name == context.device))
      return leftovers(context, info.name);
}

}  // namespace stoker::bench
