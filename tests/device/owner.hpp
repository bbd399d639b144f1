// A device's last owner that lets go of it inside a report, as tests of every backend want it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>

#include "stoker/device/backend.hpp"

namespace stoker::device {

/// Owns a device, as a scheduler does. The first report lasts until nobody else owns this.
///
/// Threads: reports come on the device's; the rest belongs to the test.
class Owner final : public CompletionSink, public std::enable_shared_from_this<Owner> {
 public:
  struct Signals {
    std::binary_semaphore told{0};
    std::binary_semaphore alone{0};
    std::binary_semaphore gone{0};
    std::thread::id ended_by;  ///< who let go of the device
    int reports = 0;
  };
  explicit Owner(std::shared_ptr<Signals> signals) : signals_{std::move(signals)} {}
  ~Owner() {
    signals_->ended_by = std::this_thread::get_id();
    backend.reset();
    signals_->gone.release();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  void on_completed(Completion) noexcept override { told(); }
  void on_lost(Error) noexcept override { told(); }

  std::shared_ptr<Backend> backend;

 private:
  void told() noexcept {
    const auto self = weak_from_this().lock();
    ASSERT_TRUE(self) << "told after its end";
    ++signals_->reports;
    signals_->told.release();
    EXPECT_TRUE(signals_->alone.try_acquire_for(std::chrono::minutes{1}));
  }

  const std::shared_ptr<Signals> signals_;
};

/// An owner, and its end inside its first report.
struct LettingGo {
  /// Leaves the device to the thread that reports: it ends there, and nothing is reported afterwards.
  void let_go() {
    EXPECT_TRUE(signals->told.try_acquire_for(std::chrono::minutes{1}));
    owner.reset();
    signals->alone.release();
    EXPECT_TRUE(signals->gone.try_acquire_for(std::chrono::minutes{1}));
    EXPECT_NE(signals->ended_by, std::this_thread::get_id());
    EXPECT_EQ(signals->reports, 1);
  }

  std::shared_ptr<Owner::Signals> signals = std::make_shared<Owner::Signals>();
  std::shared_ptr<Owner> owner = std::make_shared<Owner>(signals);
};

}  // namespace stoker::device
