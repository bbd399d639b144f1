// ONNX models, from the call to the result, beside ONNX Runtime through its C interface, in turns, two threads each.
// Those that are made here (bench/onnx/made_models.hpp), and those below STOKER_BENCH_MODELS. On a GPU beside the time
// of a run's kernels by the device's clock.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>

#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/harness/peer_program.hpp"
#include "stoker/bench/harness/temporary_folder.hpp"
#include "stoker/bench/harness/torch_peer.hpp"
#include "stoker/bench/onnx/kernel_times.hpp"
#include "stoker/bench/onnx/made_models.hpp"
#include "stoker/bench/onnx/new_signatures.hpp"
#include "stoker/bench/onnx/onnx_programs.hpp"
#include "stoker/bench/onnx/our_model.hpp"
#include "stoker/bench/onnx/turn.hpp"

namespace stoker::bench {
namespace {

namespace fs = std::filesystem;

/// The unit that keeps a time readable: its name and how many of it are a second.
struct Unit {
  const char* name;
  double per_second;
};
Unit unit_for(double seconds) { return seconds < 2e-3 ? Unit{"µs", 1e6} : Unit{"ms", 1e3}; }

/// Turns of ours and the peer's, whose samples are seconds a run.
struct Turns {
  int calls = 0;
  Duel seconds;
};

class Rows {
 public:
  Rows(Context& context, const System& system, const Device& device, OnnxRuntimePeer* peer)
      : context_{context}, system_{system}, device_{device}, peer_{peer} {}

  /// A row for the time of a run; the ratio to ONNX Runtime, if it is there. `aim`: the ratio's bound.
  std::optional<double> run(const std::string& name, const ModelCase& from, double aim = 1) {
    std::optional<double> ratio;
    guarded(name, [&] {
      const OurModel ours{device_, from};
      const Turns turns = measure(ours, from, 1);
      const Unit unit = unit_for(turns.seconds.ours.median());
      Row row{name, turns.seconds.ours.scaled(unit.per_second), unit.name, Better::lower};
      if (peer_) {
        row.against(peer_->name(), turns.seconds.peer.scaled(unit.per_second)).aim_ratio(aim);
        ratio = row.ratio();
      }
      if (device_.info().backend == "vulkan")
        beside_kernels(row, unit.per_second, [&] { ours.run(); });
      const onnx::PlanCounts plans = ours.model().stats();
      row.remark(std::to_string(plans.segments) + (plans.segments == 1 ? " plan" : " plans"));
      context_.report.add(std::move(row));
    });
    return ratio;
  }

  /// The same beside LibTorch, whose program calls the model `row`. On the CPU only.
  void beside_torch(const std::string& name, const ModelCase& from,
                    const std::string& row_of_torch) {
    if (device_.info().backend != "cpu") return;
    guarded(name + ", beside LibTorch", [&] {
      if (!torch_.why_absent().empty()) throw std::runtime_error{torch_.why_absent()};
      const OurModel ours{device_, from};
      const int calls = calls_to_fill(0.03, [&] { ours.run(); });
      const int repeats = context_.repeats(20);
      const Samples seconds = sample(repeats, [&] { return per_run(ours, calls, 1); });
      const Unit unit = unit_for(seconds.median());
      Row row{name + ", beside LibTorch", seconds.scaled(unit.per_second), unit.name,
              Better::lower};
      row.against(torch_.name(), torch_.run(row_of_torch, repeats).scaled(unit.per_second))
          .aim_ratio(1);
      context_.report.add(std::move(row));
    });
  }

  /// A row for the time of a run in f16, beside the same in f32: their ratio is at most 1 / 1.5. On a GPU only.
  void in_16_bits(const std::string& name, const ModelCase& from) {
    if (device_.info().backend != "vulkan") return;
    guarded(name, [&] {
      const OurModel narrow{device_, from, {.precision = onnx::Precision::f16}};
      const OurModel wide{device_, from};
      raise_clocks([&] { wide.run(); });
      const int calls = calls_to_fill(0.03, [&] { wide.run(); });
      const Duel turns = duel(
          context_.repeats(20), [&] { return per_run(narrow, calls, 1); },
          [&] { return per_run(wide, calls, 1); });
      const Unit unit = unit_for(turns.ours.median());
      Row row{name, turns.ours.scaled(unit.per_second), unit.name, Better::lower};
      row.against("in f32", turns.peer.scaled(unit.per_second)).aim_ratio(1 / 1.5);
      context_.report.add(std::move(row));
    });
  }

  /// Samples a second of two clients at once.
  void clients(const std::string& name, const ModelCase& from) {
    guarded(name, [&] {
      const OurModel ours{device_, from};
      const Turns turns = measure(ours, from, 2);
      Row row{name, turns.seconds.ours.rates(1), "/s", Better::higher};
      if (peer_) row.against(peer_->name(), turns.seconds.peer.rates(1)).aim_ratio(1);
      context_.report.add(std::move(row));
    });
  }

  /// What a cut costs that reads a count: the run of `cut`, less that of `whole`, which ends before it.
  void cut(const std::string& name, const ModelCase& cut, const ModelCase& whole) {
    guarded(name, [&] {
      const OurModel with{device_, cut};
      const OurModel without{device_, whole};
      const int calls = calls_to_fill(0.03, [&] { with.run(); });
      const Duel turns = duel(
          context_.repeats(20), [&] { return per_run(with, calls, 1); },
          [&] { return per_run(without, calls, 1); });
      const double us = (turns.ours.median() - turns.peer.median()) * 1e6;
      Row row{name, us, "µs", Better::lower};
      const auto shown = [](double seconds) { return std::to_string(std::lround(seconds * 1e6)); };
      row.remark("a run " + shown(turns.ours.median()) + " µs, without it " +
                 shown(turns.peer.median()));
      if (device_.info().backend == "vulkan") {
        const double kernels = 1e6 * (kernel_seconds(system_, [&] { with.run(); }) -
                                      kernel_seconds(system_, [&] { without.run(); }));
        const double submit = submit_seconds() * 1e6;
        row.against("its kernels and a submit", kernels + submit).aim(1.2 * submit + kernels);
      } else {
        row.aim(5);
      }
      context_.report.add(std::move(row));
    });
  }

  /// From the start of a process to the first result.
  void first_result(const std::string& name, const ModelCase& from, const std::string& device) {
    guarded(name, [&] {
      const auto ours = [&] { return bench::first_result(from, device).seconds * 1e3; };
      const auto theirs = [&] { return bench::first_result(from, "onnxruntime").seconds * 1e3; };
      if (!peer_)
        return context_.report.add(
            Row{name, sample(context_.repeats(10), ours), "ms", Better::lower}.aim(150));
      const Duel turns = duel(context_.repeats(10), ours, theirs);
      context_.report.add(
          Row{name, turns.ours, "ms", Better::lower}.against(peer_->name(), turns.peer).aim(150));
    });
  }

  /// The same of 256 MiB of weights, as a rate, and how much more is resident meanwhile than they are.
  void large_weights(const ModelCase& from, const std::string& device) {
    guarded("256 MiB of external weights to the first result", [&] {
      constexpr double mebibyte = 1 << 20;
      Samples peak;
      Samples peers_peak;
      const auto rate = [&](const std::string& by, Samples& peaks) {
        const FirstResult result = bench::first_result(from, by);
        peaks.add((result.peak_resident - large_weight_bytes) / mebibyte);
        return large_weight_bytes * 1e-9 / result.seconds;
      };
      Duel turns;
      if (peer_)
        turns = duel(
            context_.repeats(10), [&] { return rate(device, peak); },
            [&] { return rate("onnxruntime", peers_peak); });
      else
        turns.ours = sample(context_.repeats(10), [&] { return rate(device, peak); });
      Row load{"256 MiB of external weights to the first result", turns.ours, "GB/s",
               Better::higher};
      Row held{"peak resident meanwhile, beyond the weights", peak, "MiB", Better::lower};
      if (peer_) load.against(peer_->name(), turns.peer);
      if (peer_) held.against(peer_->name(), peers_peak);
      context_.report.add(std::move(load.aim(1)));
      context_.report.add(std::move(held.aim(80)));
    });
  }

 private:
  /// A model that cannot be run is a remark.
  void guarded(const std::string& name, const std::function<void()>& measure_it) {
    try {
      measure_it();
    } catch (const std::exception& error) {
      context_.report.skip(name, error.what());
    }
  }

  /// A GPU's wall time beside that of the kernels alone and one submit.
  void beside_kernels(Row& row, double per_second, const std::function<void()>& run) {
    const double kernels = kernel_seconds(system_, run) * per_second;
    const double submit = submit_seconds() * per_second;
    row.against("its kernels and a submit", kernels + submit).aim(1.15 * kernels + submit);
  }
  /// A command with one small kernel, waited for.
  double submit_seconds() {
    if (!submit_seconds_) {
      const Buffer from = noise_buffer(device_, Shape{16});
      const Buffer to = device_.buffer(DType::f32, Shape{16});
      const auto submit = [&] { device_.submit("relu", {from}, to).get(); };
      const int calls = calls_to_fill(0.01, submit);
      submit_seconds_ = sample(20, [&] {
                          return seconds_of([&] {
                                   for (int i = 0; i < calls; ++i) submit();
                                 }) /
                                 calls;
                        }).median();
    }
    return *submit_seconds_;
  }

  /// An idle GPU takes up to half a second of work to raise its clocks.
  static void raise_clocks(const std::function<void()>& work) {
    const auto until = Clock::now() + std::chrono::milliseconds{600};
    while (Clock::now() < until) work();
  }

  static double per_run(const OurModel& ours, int calls, int clients) {
    return seconds_per_run(calls, clients, [&] { ours.run(); });
  }

  [[nodiscard]] Turns measure(const OurModel& ours, const ModelCase& from, int clients) {
    Turns turns;
    if (device_.info().backend == "vulkan") raise_clocks([&] { ours.run(); });
    turns.calls = calls_to_fill(0.03, [&] { ours.run(); });
    const auto mine = [&] { return per_run(ours, turns.calls, clients); };
    if (peer_)
      turns.seconds = duel(context_.repeats(20), mine,
                           [&] { return peer_->seconds(from, turns.calls, clients); });
    else
      turns.seconds.ours = sample(context_.repeats(20), mine);
    return turns;
  }

  Context& context_;
  const System& system_;
  const Device& device_;
  OnnxRuntimePeer* peer_;
  const PeerProgram torch_ = find_torch();
  std::optional<double> submit_seconds_ = {};
};

void made_models(Rows& rows, const fs::path& folder, const std::string& device) {
  write_made_models(folder);
  rows.run("MLP 784-256-128-10, 1 row", {folder / "mlp", 0});
  rows.run("MLP 784-256-128-10, 32 rows", {folder / "mlp", 1});
  rows.run("CNN 28×28, 1", {folder / "cnn", 0});
  rows.run("CNN 28×28, 32", {folder / "cnn", 1});
  rows.run("encoder block d256 h4 s128, 1", {folder / "encoder", 0});
  rows.run("encoder block d256 h4 s128, 8", {folder / "encoder", 1});
  rows.run("encoder block d256 h4 s128, 32", {folder / "encoder", 2});
  rows.beside_torch("MLP 784-256-128-10, 1 row", {folder / "mlp", 0}, "predict 1");
  rows.beside_torch("MLP 784-256-128-10, 32 rows", {folder / "mlp", 1}, "predict 32");
  rows.beside_torch("CNN 28×28, 1", {folder / "cnn", 0}, "cnn 1");
  rows.beside_torch("CNN 28×28, 32", {folder / "cnn", 1}, "cnn 32");
  rows.beside_torch("encoder block d256 h4 s128, 1", {folder / "encoder", 0}, "encoder 1");
  rows.beside_torch("encoder block d256 h4 s128, 8", {folder / "encoder", 1}, "encoder 8");
  rows.in_16_bits("encoder block d256 h4 s128, 32, in f16", {folder / "encoder", 2});
  rows.run("4096 × 4096 in 4 bits, 1 row", {folder / "packed", 0});
  rows.run("4096 × 4096 in 4 bits, 32 rows", {folder / "packed", 1});
  rows.run("one node, 16 elements", {folder / "add", 0}, 1.5);
  rows.clients("MLP, 1 row, two clients", {folder / "mlp", 0});
  rows.clients("CNN, 1, two clients", {folder / "cnn", 0});
  rows.cut("a cut that reads a count", {folder / "count", 0}, {folder / "relu", 0});
  rows.first_result("first result of the MLP, a new process", {folder / "mlp", 0}, device);
  write_large_model(folder);
  rows.large_weights({folder / "large", 0}, device);
  fs::remove_all(folder / "large");
}

void found_models(Context& context, Rows& rows, const fs::path& folder, const Device& device,
                  const std::string& device_name) {
  struct Found {
    const char* name;
    const char* folder;
    int set;
  };
  static constexpr Found all[]{
      {"ultraface, 240×320", "ultraface-rfb-320", 0},
      {"super-resolution, 224", "super-resolution", 0},
      {"silero-vad, a window", "silero-vad-16k", 0},
      {"tiny-transformer, [2,16]", "tiny-transformer", 1},
      {"resnet50, 1", "light/light_resnet50", 0},
      {"squeezenet, 1", "light/light_squeezenet", 0},
      {"densenet121, 1", "light/light_densenet121", 0},
  };
  double logarithms = 0;
  int ratios = 0;
  for (const Found& one : all)
    if (const auto ratio = rows.run(one.name, {folder / one.folder, one.set})) {
      logarithms += std::log(*ratio);
      ++ratios;
    }
  if (ratios > 0)
    context.report.add(
        Row{"their ratios' geometric mean", std::exp(logarithms / ratios), "×", Better::lower}
            .aim(0.9)
            .remark("of " + std::to_string(ratios)));
  rows.run("mnist", {folder / "mnist", 0});
  rows.first_result("first result of mnist, a new process", {folder / "mnist", 0}, device_name);
  new_signatures(context, device, folder);
}

}  // namespace

void onnx(Context& context) {
  const std::string device_name = context.device.empty() ? std::string{"cpu"} : context.device;
  std::optional<OnnxRuntimePeer> peer;
  if (device_name == "cpu") {
    try {
      peer.emplace();  // before our threads start: it forks
    } catch (const std::exception& error) {
      context.report.skip("ONNX Runtime", error.what());
    }
  }
  const TemporaryFolder folder;
  const System system;
  const Device device = system.device(device_name);
  Rows rows{context, system, device, peer ? &*peer : nullptr};
  made_models(rows, folder.path(), device_name);
  const char* const models = std::getenv("STOKER_BENCH_MODELS");  // NOLINT(concurrency-mt-unsafe)
  if (models == nullptr || !fs::is_directory(models))
    return context.report.skip("models that were trained elsewhere",
                               "STOKER_BENCH_MODELS does not name a folder of them");
  found_models(context, rows, models, device, device_name);
}

}  // namespace stoker::bench
