// A model's state at a place of its training, and what callbacks had seen there, where no lost device can
// take it: in the host's memory, or in a file that save_training() writes.
//
// Bits are copied, so what is restored goes on as if nothing had happened.
//
// Threads: one at a time; both calls wait. Errors are thrown: device_lost while the device is away, what
// Model::save() and Model::load() throw for files.
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

  /// Of a run between two epochs; replaces the last one only when all of it is there.
  void take(const FitRun& run);
  /// Takes the run, and its model, back to the last one. Needs one.
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
  std::string seen_;  ///< by the callbacks
  HostState state_;   ///< empty if there is a file
};

}  // namespace stoker::nn
