// A device's place in a system: the same name whatever becomes of the device. It opens the device, and
// opens it again when its supervisor says so.
//
// Each opening makes a new DeviceClient, with memory and compiled kernels of its own. What belonged to
// a lost one stays lost: its buffers, its recordings; handles to the device itself find the new one.
//
// Threads: any. Lifetime: shared by the system and by the supervisor's specification.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/device/backend.hpp"
#include "stoker/device/scheduler_options.hpp"

namespace stoker {

class SupervisedDevice final : public std::enable_shared_from_this<SupervisedDevice> {
 public:
  /// How the device is opened.
  struct Source {
    std::shared_ptr<Driver> driver;
    std::size_t index = 0;
    OpenOptions open = {};
    SchedulerOptions scheduler = {};
    /// Drivers are asked by one thread at a time.
    std::shared_ptr<std::mutex> drivers = std::make_shared<std::mutex>();
  };

  SupervisedDevice(std::string name, Source source, ClientContext context);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Opens it for the first time, on the calling thread.
  Result<std::shared_ptr<DeviceClient>> open();
  /// As it was opened last; null before open().
  [[nodiscard]] std::shared_ptr<DeviceClient> current() const;
  /// How often it was opened again.
  [[nodiscard]] std::uint64_t reopened() const;
  /// Ready when the device is open and not lost. Errors: closed, or why it stays lost.
  [[nodiscard]] Future<void> when_open();
  /// Nothing is opened any more: who waits is told why.
  void close(const Error& why);

  /// The device's actor as a supervisor's child. The first start is open()'s; later ones open the
  /// device on a thread of their own, because drivers block.
  [[nodiscard]] ChildSpec child();

 private:
  [[nodiscard]] Result<ActorAddress> start();
  Result<std::shared_ptr<DeviceClient>> adopt(Result<std::shared_ptr<CommandScheduler>> scheduler);

  const std::string name_;
  const Source source_;
  const ClientContext context_;
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<DeviceClient> current_;
  std::uint64_t opened_ = 0;
  bool handed_over_ = false;
  std::optional<Error> closed_;
  std::vector<Promise<void>> waiting_;
  std::jthread opener_;
};

}  // namespace stoker
