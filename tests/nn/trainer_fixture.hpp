// Trainings that stop where a test wants them to, or fail on purpose.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>

#include "stoker/api/train/loop/trainer.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/train/trained.hpp"

namespace stoker::nn {

/// A place that a training comes to and waits at until the test has done what it wants.
class Stop {
 public:
  /// Of the training's thread; only the first time.
  void here() {
    if (been_.exchange(true)) return;
    reached_.set_value();
    go_.get_future().wait();
  }
  void wait() { reached_.get_future().wait(); }
  void go() { go_.set_value(); }

 private:
  std::atomic<bool> been_{false};
  std::promise<void> reached_;
  std::promise<void> go_;
};

class Trainers : public Trained {
 protected:
  void SetUp() override { set_log_level(LogLevel::critical); }  // crashes are wanted here
  void TearDown() override {
    set_log_level(level_);
    Trained::TearDown();
  }

  /// Stops when the loss of that batch is known.
  [[nodiscard]] static FitOptions stopping_at(std::int64_t epochs, std::int64_t epoch,
                                              std::int64_t batch, Stop& stop) {
    return with_batches(epochs, [&stop, epoch, batch](const TrainingProgress& at, Training&) {
      if (at.epoch == epoch && at.batch == batch) stop.here();
    });
  }
  /// Row 7 of that epoch cannot be read, the first `times` times.
  [[nodiscard]] static Dataset failing_rows(int epoch, int times) {
    struct Count {
      std::atomic<int> reads{0};
      std::atomic<int> failures{0};
    };
    return rows(10, [=, count = std::make_shared<Count>()](std::int64_t row) {
      if (row != 7 || ++count->reads < epoch || count->failures >= times) return;
      ++count->failures;
      throw std::runtime_error{"on purpose"};
    });
  }

  Model model = fresh();

 private:
  const LogLevel level_ = log_level();
};

}  // namespace stoker::nn
