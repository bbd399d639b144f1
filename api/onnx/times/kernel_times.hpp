// The times of a model's kernels, summed over the runs that the device timed: those while the system's trace is
// enabled.
//
//     run ──▶ add(commands, kernels) ──▶ list(): what has ended by then is summed up
//
// Kernels that compute the same nodes by the same name share one entry, whatever plan they belong to, so that loops and
// new shapes add few. Beyond a fixed number of entries, all others share one.
//
// Threads: any. Lifetime: the nodes must outlive it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/onnx/times/kernel_time.hpp"
#include "stoker/api/onnx/times/planned_kernels.hpp"
#include "stoker/device/commands/command_state.hpp"

namespace stoker::onnx {

class KernelTimes {
 public:
  static constexpr std::size_t default_most = 4096;
  /// `most`: the number of entries that have a name.
  explicit KernelTimes(std::size_t most = default_most) : most_{most} {}

  /// `commands`: of the program's steps; null where the host drives one. `kernels` is not null.
  void add(std::vector<CommandPtr> commands, std::shared_ptr<const PlannedKernels> kernels);
  /// The longest in total first.
  [[nodiscard]] std::vector<KernelTime> list();

 private:
  struct Pending {
    CommandPtr command;
    std::shared_ptr<const PlannedKernels> kernels;
    std::size_t step;
  };
  struct Sum {
    std::uint64_t runs = 0;
    std::uint64_t total_ns = 0;
  };
  /// Sums up the commands that have ended.
  void settle();
  void sum(const Pending& ended);

  const std::size_t most_;
  std::mutex mutex_;
  std::vector<Pending> pending_;  // guarded by mutex_, as is what follows
  std::map<std::pair<std::string, std::vector<const Node*>>, Sum> sums_;
  Sum others_;
};

}  // namespace stoker::onnx
