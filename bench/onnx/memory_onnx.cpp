// What a million runs of an ONNX model leave behind, and ten thousand loads: resident memory and the device's own
// numbers after a hundred and after all.
#include <functional>

#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/resident.hpp"
#include "stoker/bench/harness/temporary_folder.hpp"
#include "stoker/bench/onnx/made_models.hpp"
#include "stoker/bench/onnx/our_model.hpp"

namespace stoker::bench {
namespace {

constexpr double mebibyte = 1 << 20;

/// What this process and the device's pool hold.
struct Held {
  double resident = resident_bytes_trimmed();
  std::uint64_t on_device = 0;

  explicit Held(const Device& device) {
    const MemoryStats pool = device.stats().memory;
    on_device = pool.in_use + pool.cached;
  }
};

/// Rows for `all` calls of `once`, against the first hundred of them.
void leftovers(Context& context, const Device& device, const std::string& what, int all,
               const std::function<void()>& once) {
  constexpr int early = 100;
  for (int i = 0; i < early; ++i) once();
  const Held before{device};
  for (int i = early; i < all; ++i) once();
  const Held after{device};
  const auto row = [&](const std::string& name, double late, double first) {
    context.report.add(Row{name + " after " + std::to_string(all) + " " + what, late / mebibyte,
                           "MiB", Better::lower}
                           .against("after 100", first / mebibyte));
  };
  row("resident", after.resident, before.resident);
  row("held by the pool", static_cast<double>(after.on_device),
      static_cast<double>(before.on_device));
}

}  // namespace

void memory_onnx(Context& context) {
  const TemporaryFolder folder;
  write_made_models(folder.path());
  const ModelCase from{folder.path() / "cnn", 0};
  const System system;
  const Device device = system.device(context.device.empty() ? "cpu" : context.device);
  {
    const OurModel model{device, from};
    leftovers(context, device, "runs of the CNN", context.quick ? 10'000 : 1'000'000,
              [&] { model.run(); });
  }
  leftovers(context, device, "loads of the CNN, each run once", context.quick ? 1000 : 10'000, [&] {
    OurModel{device, from}.run();
  });
}

}  // namespace stoker::bench
