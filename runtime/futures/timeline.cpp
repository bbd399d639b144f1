#include "stoker/runtime/futures/timeline.hpp"

#include <utility>

#include "stoker/runtime/execution/parker.hpp"

namespace stoker {
namespace {

class ParkedPoint final : public TimelineWaiter {
 public:
  void reached(const Error* failure) noexcept override {
    good_ = failure == nullptr;
    parker_.unpark();
  }
  [[nodiscard]] Parker& parker() noexcept { return parker_; }
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  Parker parker_;
  bool good_ = false;
};

/// A future of a point; the timeline's list holds a reference to it.
class PointState final : public FutureState<void>, public TimelineWaiter {
 public:
  void reached(const Error* failure) noexcept override {
    const boost::intrusive_ptr<PointState> self{this, false};
    complete(failure ? Result<void>{*failure} : Result<void>{});
  }
};

}  // namespace

Timeline::~Timeline() {
  if (first_ == nullptr || fork_.forked()) return;
  fail(detail::broken_promise("timeline"));
}

std::optional<Error> Timeline::error() const {
  if (fork_.forked()) return detail::forked_while_waiting();
  const std::lock_guard lock{mutex_};
  return error_;
}

void Timeline::insert(TimelineWaiter& waiter) noexcept {
  TimelineWaiter* before = last_;
  while (before != nullptr && before->value > waiter.value) before = before->previous_;
  waiter.previous_ = before;
  waiter.next_ = before ? before->next_ : first_;
  (waiter.next_ ? waiter.next_->previous_ : last_) = &waiter;
  (before ? before->next_ : first_) = &waiter;
  waiter.listed_ = true;
}

void Timeline::unlink(TimelineWaiter& waiter) noexcept {
  (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
  (waiter.next_ ? waiter.next_->previous_ : last_) = waiter.previous_;
  waiter.listed_ = false;
}

// One thread at a time tells, so that the order of values is the order of calls.
void Timeline::tell(std::unique_lock<std::mutex> lock) noexcept {
  if (telling_) return;
  telling_ = true;
  while (first_ != nullptr) {
    TimelineWaiter& waiter = *first_;
    const bool good = waiter.value <= value_.load(std::memory_order_relaxed);
    if (!good && !error_) break;
    unlink(waiter);
    const Error* failure = good ? nullptr : &*error_;  // set once, so it may be read unlocked
    lock.unlock();
    waiter.reached(failure);
    lock.lock();
  }
  telling_ = false;
}

void Timeline::advance(std::uint64_t value) noexcept {
  if (fork_.forked()) return;
  std::unique_lock lock{mutex_};
  if (error_ || value <= value_.load(std::memory_order_relaxed)) return;
  value_.store(value, std::memory_order_release);
  tell(std::move(lock));
}

void Timeline::fail(Error error) noexcept {
  if (fork_.forked()) return;
  std::unique_lock lock{mutex_};
  if (error_) return;
  error_ = std::move(error);
  tell(std::move(lock));
}

void Timeline::add(TimelineWaiter& waiter) noexcept {
  if (fork_.forked()) {
    const Error error = detail::forked_while_waiting();
    return waiter.reached(has_reached(waiter.value) ? nullptr : &error);
  }
  std::unique_lock lock{mutex_};
  insert(waiter);
  if (error_ || waiter.value <= value_.load(std::memory_order_relaxed)) tell(std::move(lock));
}

bool Timeline::remove(TimelineWaiter& waiter) noexcept {
  if (fork_.forked()) return false;
  const std::lock_guard lock{mutex_};
  if (!waiter.listed_) return false;
  unlink(waiter);
  return true;
}

bool Timeline::wait(std::uint64_t point, time_point deadline) noexcept {
  if (has_reached(point)) return true;
  ParkedPoint waiter;
  waiter.value = point;
  add(waiter);
  if (!waiter.parker().park_until(deadline)) {
    if (remove(waiter)) return has_reached(point);
    waiter.parker().park();
  }
  return waiter.good();
}

Future<void> Timeline::reached(std::uint64_t point) {
  boost::intrusive_ptr<PointState> state{new PointState};  // NOLINT: counted
  state->value = point;
  intrusive_ptr_add_ref(state.get());
  add(*state);
  return Future<void>{std::move(state)};
}

}  // namespace stoker
