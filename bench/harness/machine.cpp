// What the rest is measured on. Every run begins with it.
#include <algorithm>
#include <ctime>
#include <fstream>

#include "stoker/api/stoker.hpp"
#include "stoker/bench/harness/floors.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::bench {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &utc);
  return text.data();
}

double load_average() {
  double load = 0;
  std::ifstream{"/proc/loadavg"} >> load;
  return load;
}

}  // namespace

void machine(Context& context) {
  Report& report = context.report;
  const unsigned cores = usable_cores();
  report.add(Row{"cores", static_cast<double>(cores), "", Better::higher}.remark(
      processor() + ", " + std::string{cpu_isa()} + ", " + today()));
  report.add(Row{"load before", load_average(), "", Better::lower}.remark(
      "other work on this machine disturbs what follows"));
  std::string devices;
  for (const DeviceInfo& info : System{}.devices())
    devices += (devices.empty() ? "" : "; ") + info.name + ": " + info.description + " (" +
               info.driver + ")";
  report.add(Row{"devices", 0, "", Better::higher}.remark(devices));

  const int repeats = context.repeats(10);
  report.add(
      Row{"a cache line to the other core", sample(repeats, core_distance_ns), "ns", Better::lower}
          .remark("near 45, far 205"));
  const unsigned threads = std::min(cores, 2U);
  report.add(Row{"FMA peak, " + std::to_string(threads) + " threads",
                 sample(repeats, [&] { return fma_peak(threads) * 1e-9; }), "GFLOP/s",
                 Better::higher});
  MemoryFloor floor{std::size_t{1} << 24, threads};
  const auto rate = [&](const char* name, double (MemoryFloor::*measure)()) {
    report.add(Row{name, sample(repeats, [&] { return (floor.*measure)() * 1e-9; }), "GB/s",
                   Better::higher});
  };
  rate("triad", &MemoryFloor::triad);
  rate("triad, stores past the caches", &MemoryFloor::triad_streaming);
  rate("memcpy", &MemoryFloor::copy);
  rate("read", &MemoryFloor::read);
}

}  // namespace stoker::bench
