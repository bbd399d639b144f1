#include "stoker/device/fault/fault_relay.hpp"

#include <algorithm>

namespace stoker {
namespace {

constexpr auto close_patience = std::chrono::seconds{5};

Error refused_submission(std::string_view device) {
  return Error{"submit",
               ErrorCode::out_of_memory,
               "the device refuses the submission",
               {{"device", std::string{device}}, {"cause", "injected fault"}}};
}

}  // namespace

/// Tells the relay when a submission's time has come.
class FaultRelay::Delay final : private TimerNode {
 public:
  Delay(std::weak_ptr<FaultRelay> relay, QueuePoint point, const FaultRule& rule) noexcept
      : relay_{std::move(relay)}, point_{point}, clock_{*rule.clock} {
    clock_.arm(*this, deadline_after(clock_.now(), rule.delay));
  }
  ~Delay() { clock_.disarm(*this); }
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;

  bool over = false;  ///< under the relay's lock

 private:
  void expired() noexcept override {
    if (const auto relay = relay_.lock()) relay->delay_over(point_);
  }

  const std::weak_ptr<FaultRelay> relay_;
  const QueuePoint point_;
  Clock& clock_;
};

FaultRelay::FaultRelay(std::shared_ptr<FaultPlan> plan, std::string device, CompletionSink& sink)
    : plan_{std::move(plan)}, device_{std::move(device)}, sink_{sink} {}

FaultRelay::~FaultRelay() = default;

std::optional<Error> FaultRelay::loss() const {
  const std::scoped_lock lock{mutex_};
  return loss_;
}

Result<void> FaultRelay::begin(const Submission& submission, std::span<const Step> steps) {
  const auto self = shared_from_this();  // the sink may end the device
  std::unique_lock lock{mutex_};
  if (loss_) return *loss_;
  plan_->count(device_, &FaultCounters::submissions);
  // Each plan counts this submission, also where another one refuses it.
  const auto lose_at = plan_->strike(FaultKind::lose_at, device_);
  const auto lose_during = plan_->strike(FaultKind::lose_during, device_);
  const auto refuse = plan_->strike(FaultKind::submission, device_);
  const auto hang = plan_->strike(FaultKind::hang, device_);
  if (lose_at) {
    const Error why = injected_loss(device_, "the device was lost at a submission");
    loss_ = why;
    deliver(lock);
    return why;
  }
  if (refuse) return refuse->error.value_or(refused_submission(device_));

  Flight flight;
  flight.point = {submission.queue, submission.value};
  for (const QueuePoint& point : submission.waits) {
    std::uint64_t& wait = flight.waits[index_of(point.queue)];
    wait = std::max(wait, point.value);
  }
  flight.hung = hang.has_value();
  flight.held = plan_->standing(FaultKind::hold, device_).has_value();
  flight.failures = plan_->fail_steps(device_, steps);
  if (const auto delay = plan_->standing(FaultKind::delay, device_))
    flight.delay = std::make_unique<Delay>(weak_from_this(), flight.point, *delay);
  flights_[index_of(submission.queue)].push_back(std::move(flight));
  ++running_;
  if (lose_during) loss_ = injected_loss(device_, "the device was lost during a submission");
  return {};
}

void FaultRelay::retract(QueuePoint point) {
  Flight refused;
  std::unique_lock lock{mutex_};
  auto& flights = flights_[index_of(point.queue)];
  if (!flights.empty() && flights.back().point.value == point.value) {
    refused = std::move(flights.back());
    flights.pop_back();
    --running_;
  }
  deliver(lock);
}

bool FaultRelay::runs(QueuePoint point) {
  const std::scoped_lock lock{mutex_};
  if (loss_told_) return false;
  for (Flight& flight : flights_[index_of(point.queue)])
    if (flight.point.value >= point.value) return !flight.done;
  return false;
}

bool FaultRelay::wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock{mutex_};
  const auto reached = [&] { return told_[index_of(point.queue)] >= point.value; };
  changed_.wait_until(lock, deadline, [&] { return reached() || loss_told_ || closed_; });
  return reached();
}

void FaultRelay::lose(const Error& why) {
  std::unique_lock lock{mutex_};
  if (loss_ || closed_) return;
  loss_ = why;
  plan_->count(device_, &FaultCounters::injected);
  deliver(lock);
}

void FaultRelay::release(std::uint64_t count) {
  std::unique_lock lock{mutex_};
  std::vector<Flight*> held;
  for (auto& flights : flights_)
    for (Flight& flight : flights)
      if (flight.held) held.push_back(&flight);
  // Of two queues nobody can say which submission is older; a queue's own order is kept.
  for (std::size_t i = 0; i < std::min<std::uint64_t>(count, held.size()); ++i)
    held[i]->held = false;
  deliver(lock);
}

void FaultRelay::hurry() {
  std::unique_lock lock{mutex_};
  for (auto& flights : flights_)
    for (Flight& flight : flights) {
      flight.held = false;
      if (flight.delay) flight.delay->over = true;
    }
  deliver(lock);
}

std::uint64_t FaultRelay::held() {
  const std::scoped_lock lock{mutex_};
  std::uint64_t count = 0;
  for (auto& flights : flights_)
    for (Flight& flight : flights)
      if (flight.held || flight.hung || (flight.delay && !flight.delay->over)) ++count;
  return count;
}

void FaultRelay::close() {
  Flights dropped;
  std::unique_lock lock{mutex_};
  closed_ = true;
  changed_.notify_all();
  std::swap(dropped, flights_);
  running_ = 0;
  // On the teller's own thread the device ends inside the sink, as a scheduler's does.
  if (teller_ == std::this_thread::get_id()) return;
  changed_.wait_for(lock, close_patience, [&] { return !teller_; });
}

void FaultRelay::delay_over(QueuePoint point) {
  std::unique_lock lock{mutex_};
  Flight* const flight = find(point);
  if (!flight || !flight->delay) return;
  flight->delay->over = true;
  deliver(lock);
}

FaultRelay::Flight* FaultRelay::find(QueuePoint point) {
  for (Flight& flight : flights_[index_of(point.queue)])
    if (flight.point.value == point.value) return &flight;
  return nullptr;
}

void FaultRelay::on_completed(Completion completion) noexcept {
  const auto self = shared_from_this();  // the sink may end the device
  std::unique_lock lock{mutex_};
  Flight* const flight = find(completion.point);
  if (!flight || flight->done) return;
  flight->completion = std::move(completion);
  flight->done = true;
  --running_;
  deliver(lock);
}

void FaultRelay::on_lost(Error reason) noexcept {
  const auto self = shared_from_this();  // the sink may end the device
  std::unique_lock lock{mutex_};
  if (!loss_) loss_ = std::move(reason);
  running_ = 0;
  for (auto& flights : flights_)
    for (Flight& flight : flights) flight.done = true;
  deliver(lock);
}

std::optional<FaultRelay::Flight> FaultRelay::take_next() {
  for (auto& flights : flights_) {
    if (flights.empty()) continue;
    Flight& oldest = flights.front();
    if (!oldest.done || oldest.held || oldest.hung) continue;
    if (oldest.delay && !oldest.delay->over) continue;
    bool waits = false;
    for (std::size_t q = 0; q < queue_kinds; ++q) waits = waits || oldest.waits[q] > told_[q];
    if (waits) continue;
    std::optional<Flight> next{std::move(oldest)};
    flights.pop_front();
    return next;
  }
  return std::nullopt;
}

void FaultRelay::deliver(std::unique_lock<std::mutex>& lock) noexcept {
  if (teller_) return;  // it looks again before it stops
  teller_ = std::this_thread::get_id();
  while (!closed_ && !loss_told_) {
    if (loss_) {
      if (running_ > 0) break;
      Flights lost;
      std::swap(lost, flights_);
      plan_->count(device_, &FaultCounters::losses);
      const Error why = *loss_;
      lock.unlock();
      sink_.on_lost(why);
      lost = {};
      lock.lock();
      loss_told_ = true;
      break;
    }
    auto next = take_next();
    if (!next) break;
    const QueuePoint point = next->point;
    plan_->count(device_, &FaultCounters::completions);
    lock.unlock();
    next->delay.reset();  // who is told may end the clock
    tell(*std::move(next));
    next.reset();
    lock.lock();
    // Only now: whoever waits for the point finds that the sink knows it, too.
    told_[index_of(point.queue)] = point.value;
    changed_.notify_all();
  }
  teller_.reset();
  changed_.notify_all();
}

void FaultRelay::tell(Flight flight) noexcept {
  std::vector<StepFailure>& failures = flight.completion.failures;
  if (failures.empty()) {
    failures = std::move(flight.failures);
  } else {
    try {
      failures.insert(failures.end(), flight.failures.begin(), flight.failures.end());
    } catch (...) {
      // No memory for more causes; the submission has failed all the same.
    }
  }
  sink_.on_completed(std::move(flight.completion));
}

}  // namespace stoker
