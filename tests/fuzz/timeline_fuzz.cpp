// A timeline against a plain list of who waits for what: each waiter is told once, in the order of the
// points, and with the first failure.
#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz.hpp"
#include "stoker/runtime/futures/timeline.hpp"

namespace stoker::fuzz::timeline {
namespace {

class Listener final : public TimelineWaiter {
 public:
  explicit Listener(std::vector<Listener*>& told) : told_{&told} {}
  void reached(const Error* failure) noexcept override {
    ++times;
    failed = failure != nullptr;
    told_->push_back(this);
  }
  int times = 0;
  bool failed = false;
  bool removed = false;

 private:
  std::vector<Listener*>* told_;
};

struct Wait {
  std::uint64_t point;
  Future<void> future;
};

class Machine {
 public:
  void step(Decisions& decide) {
    told_.clear();
    switch (decide.below(6)) {
      case 0: {
        const std::uint64_t to = decide.below(32);
        timeline_->advance(to);
        if (!failed_) value_ = std::max(value_, to);
        break;
      }
      case 1: {
        auto& made = *listeners_.emplace_back(std::make_unique<Listener>(told_));
        made.value = decide.below(32);
        timeline_->add(made);
        break;
      }
      case 2:
        if (!listeners_.empty()) remove(*listeners_[decide.below(listeners_.size())]);
        break;
      case 3: {
        const std::uint64_t point = decide.below(32);
        futures_.push_back({point, timeline_->reached(point)});
        break;
      }
      case 4:
        if (decide.below(8) == 0) {
          timeline_->fail(Error{"fuzz", ErrorCode::device_lost, "on purpose"});
          failed_ = true;
        }
        break;
      default: {
        const std::uint64_t point = decide.below(32);
        require(timeline_->has_reached(point) == (value_ >= point),
                "the value is the highest given");
      }
    }
    check();
  }

  /// What still waits is told `closed`.
  void end() {
    timeline_.reset();
    for (const auto& one : listeners_)
      require(one->times == (one->removed ? 0 : 1), "each waiter is told once");
    for (const Wait& one : futures_) require(one.future.ready(), "each future is answered");
  }

 private:
  void remove(Listener& one) {
    const bool waits = one.times == 0 && !one.removed;
    require(timeline_->remove(one) == waits, "remove() says whether a waiter still waited");
    if (waits) one.removed = true;
  }

  void check() const {
    require(timeline_->value() == value_, "a timeline rises, and stays where it failed");
    require(timeline_->error().has_value() == failed_, "a failure stays");
    require(std::ranges::is_sorted(told_, {}, [](const Listener* one) { return one->value; }),
            "waiters are told in the order of their points");
    for (const auto& one : listeners_) {
      if (one->removed) continue;
      const bool reached = one->value <= value_;
      require(one->times == (reached || failed_ ? 1 : 0),
              "a waiter is told when its point is reached");
      if (one->times == 1 && !reached) require(one->failed, "a point that is never reached fails");
    }
    for (const Wait& one : futures_) {
      const bool reached = one.point <= value_;
      require(one.future.ready() == (reached || failed_),
              "a future is ready when its point is reached");
      if (reached) require(one.future.wait().has_value(), "a point that was reached stays good");
    }
  }

  std::unique_ptr<Timeline> timeline_ = std::make_unique<Timeline>();
  std::uint64_t value_ = 0;
  bool failed_ = false;
  std::vector<Listener*> told_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<Wait> futures_;
};

}  // namespace

void run(Bytes bytes) {
  Machine machine;
  Decisions decide{bytes};
  for (int steps = 0; !decide.empty() && steps < 200; ++steps) machine.step(decide);
  machine.end();
}

}  // namespace stoker::fuzz::timeline
