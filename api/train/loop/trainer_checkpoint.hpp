// A model's state at a place of its training, with the callbacks' states. It is kept where a lost device
// does not affect it: in the host's memory, or in a file of save_training().
//
// Bits are copied, so a restored training gives the same result as an uninterrupted one.
//
// Threads: one at a time; both calls wait. Errors are thrown: device_lost while the device is not open;
// for files those of Model::save() and Model::load().
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "stoker/api/train/loop/fit_run.hpp"

namespace stoker::nn {

class TrainerCheckpoint {
 public:
  /// Without a file: in memory.
  explicit TrainerCheckpoint(std::optional<std::filesystem::path> file) : file_{std::move(file)} {}

  /// Copies the state of a run between two epochs. The previous checkpoint is replaced only when
  /// the new one is complete.
  void take(const FitRun& run);
  /// Restores the run and its model to the last checkpoint, which must exist.
  void restore(FitRun& run) const;
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  struct HostTensor {
    TensorSpec spec;
    std::vector<std::byte> bytes;
  };
  using HostTensors = std::map<std::string, HostTensor, std::less<>>;
  struct HostState {
    HostTensors trained, kept, slots;
    HostTensor key;
  };
  template <class Tensors> [[nodiscard]] static HostTensors copied(const Tensors& tensors);
  template <class Tensors> [[nodiscard]] static Tensors made(const HostTensors& tensors);

  std::optional<std::filesystem::path> file_;
  bool taken_ = false;
  FitRun::Place place_;
  std::string seen_;  ///< the callbacks' states
  HostState state_;   ///< empty if there is a file
};

}  // namespace stoker::nn
