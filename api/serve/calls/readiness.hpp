// Whether models answer: they are loaded, not drained, their device computes, and it has their weights.
//
// A device that was opened again has no weights. So a model is not ready until a run with made-up numbers has shown
// that they are back; it is tried when somebody asks, at most once a second. Where no numbers can be made up, the
// device's own probe decides.
//
// Threads: any; nothing blocks. Lifetime: executor and pool outlive it. It keeps no serving.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "stoker/api/serve/calls/device_probe.hpp"
#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/runtime/futures/blocking_pool.hpp"

namespace stoker::serve {

class Readiness : public std::enable_shared_from_this<Readiness> {
 public:
  Readiness(Executor& executor, BlockingPool& pool) : executor_{&executor}, pool_{&pool} {}

  /// `version`: of the model of that name; null: none is ready.
  [[nodiscard]] Future<bool> of(const std::string& name, const ServedVersion* version);
  /// Whether all of them do, but for those that nobody has loaded.
  [[nodiscard]] Future<bool> of_all(const ServedModels::Map& models);

 private:
  struct Weights {
    const AnyModel* model = nullptr;  ///< only to notice another one
    /// The device that is known to have them.
    std::weak_ptr<DeviceClient> there = {};
    Clock::time_point tried = {};
    bool runs = false;
  };

  [[nodiscard]] std::shared_ptr<DeviceProbe> probe_of(const Device& device);
  /// If it is not known, finds out.
  [[nodiscard]] bool has_weights(const std::string& name, const AnyModel& model,
                                 DeviceProbe& probe);
  void tried(const std::string& name, const std::shared_ptr<DeviceClient>& device, bool well);

  Executor* const executor_;
  BlockingPool* const pool_;
  std::mutex mutex_;                                                         // of what follows
  std::map<std::string, std::shared_ptr<DeviceProbe>, std::less<>> probes_;  ///< by device
  std::map<std::string, Weights, std::less<>> weights_;  ///< by model and version
};

}  // namespace stoker::serve
