#include "stoker/device/cpu/job_queue.hpp"

#include <algorithm>
#include <utility>

#include "stoker/runtime/base/spin_then_lock.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/deferred_wakes.hpp"

namespace stoker::device::cpu {
JobQueue::JobQueue(CompletionSink& sink, std::shared_ptr<ComputePool> pool, bool flush_subnormals)
    : sink_{sink}, flush_subnormals_{flush_subnormals}, pool_{std::move(pool)} {}

std::shared_ptr<Job> JobQueue::make_job(std::span<const Step> steps) {
  return std::make_shared<Job>(steps, weak_from_this(), flush_subnormals_);
}

void JobQueue::submit(std::shared_ptr<Job> job, const Submission& submission) {
  Flight flight;
  flight.value = submission.value;
  flight.job = std::move(job);
  flight.timed = submission.timed;
  flight.progress = submission.progress;
  flight.stop = submission.stop;
  for (const QueuePoint& point : submission.waits)
    flight.waits_for = std::max(flight.waits_for, point.value);
  ready_.clear();
  auto lock = spin_then_lock(mutex_);
  const std::shared_ptr<Job> own = flight.job;
  const bool idle = flights_.empty();
  flights_.push_back(std::move(flight));
  collect_startable(ready_);
  report(lock);  // a submission without steps is done already
  lock.unlock();
  if (ready_.empty()) return;
  // Waking a thread takes longer than this work does.
  if (idle && own->cost_ns() <= at_once_ns)
    run_here(*own);
  else
    pool_->push(ready_);
}

void JobQueue::run_here(Job& job) {
  // By index: what has run adds what may run next.
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    Node& node = *ready_[i];
    const std::uint32_t stage = node.stage;
    const std::uint32_t slices = node.plan->stages.empty() ? 1 : node.slices();
    for (std::uint32_t slice = 0; slice < slices; ++slice)
      job.run_slice(node, stage, slice, ready_);
  }
}

void JobQueue::collect_startable(ReadyNodes& ready) {
  // The prefix up to the oldest unfinished flight is complete, whether reported yet or not.
  std::uint64_t reached = reported_;
  for (const Flight& flight : flights_) {
    if (!flight.done) break;
    reached = flight.value;
  }
  for (Flight& flight : flights_) {
    if (flight.started || flight.waits_for > reached) continue;
    flight.started = true;
    flight.job->reset(flight.timed, flight.progress, flight.stop, ready);
    if (flight.job->size() == 0) flight.done = true;
  }
}

void JobQueue::on_job_done(Job& job) noexcept {
  const DeferredWakes held;  // who waits for this job may submit the next at once
  ReadyNodes ready;
  Rest rest;
  auto lock = spin_then_lock(mutex_);
  const auto own = std::ranges::find_if(flights_, [&](const Flight& flight) {
    return flight.job.get() == &job && flight.started && !flight.done;
  });
  own->done = true;
  if (closed_) {
    rest = take_rest();
    lock.unlock();
    return;
  }
  collect_startable(ready);
  if (!ready.empty()) {
    // Before the report: should that end the device, it waits for them.
    const auto pool = pool_;
    lock.unlock();
    pool->push(ready);
    lock.lock();
  }
  report(lock);
}

void JobQueue::report(std::unique_lock<std::mutex>& lock) {
  // One reporter at a time keeps the order; whoever finishes meanwhile leaves its report to it.
  if (reporter_ != std::thread::id{}) return changed_.notify_all();
  reporter_ = std::this_thread::get_id();
  while (!closed_ && !flights_.empty() && flights_.front().done) {
    Flight flight = std::move(flights_.front());
    flights_.pop_front();
    reported_ = flight.value;
    lock.unlock();
    sink_.on_completed(
        {{QueueKind::compute, flight.value}, flight.job->take_failures(), flight.job->timings()});
    flight.job.reset();
    lock.lock();
    // Only now: whoever waits for the point finds that the sink knows it, too.
    completed_.store(flight.value, std::memory_order_release);
    changed_.notify_all();
  }
  reporter_ = {};
  changed_.notify_all();
}

bool JobQueue::wait(std::uint64_t value, std::chrono::steady_clock::time_point deadline) noexcept {
  const auto reached = [&] { return completed_.load(std::memory_order_acquire) >= value; };
  while (!reached()) {
    if (pool_->help(reached, deadline)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return reached();
    std::unique_lock lock{mutex_};
    if (changed_.wait_until(lock, deadline, reached)) return true;
  }
  return true;
}

void JobQueue::close(std::chrono::nanoseconds patience) noexcept {
  Rest rest;
  std::shared_ptr<ComputePool> pool;
  std::unique_lock lock{mutex_};
  const bool inside_report = reporter_ == std::this_thread::get_id();
  const auto until = deadline_after(std::chrono::steady_clock::now(), patience);
  changed_.wait_until(lock, until, [&] {
    if (inside_report) return std::ranges::all_of(flights_, &Flight::done);
    return flights_.empty() && reporter_ == std::thread::id{};
  });
  closed_ = true;
  for (Flight& flight : flights_) {
    if (!flight.done && flight.started) flight.job->forget_watchers();
    if (!flight.started) flight.done = true;  // and never starts
  }
  self_ = shared_from_this();
  rest = take_rest();
  abandoned_.store(self_ != nullptr, std::memory_order_release);
  // The abandoned do not need it, and a new device gets a pool with all its threads.
  pool = std::move(pool_);
  lock.unlock();
}

JobQueue::Rest JobQueue::take_rest() noexcept {
  Rest rest;
  if (!std::ranges::all_of(flights_, &Flight::done)) return rest;
  rest.flights.swap(flights_);
  rest.memory.swap(kept_);
  rest.self.swap(self_);
  return rest;
}

void JobQueue::forget_threads() noexcept { self_ = shared_from_this(); }

void JobQueue::free(std::unique_ptr<MemoryBlock> block) noexcept {
  if (!abandoned_.load(std::memory_order_acquire) || fork_.forked()) return;
  const std::scoped_lock lock{mutex_};
  if (!self_) return;
  try {
    kept_.reserve(kept_.size() + 1);
    kept_.push_back(std::move(block));
  } catch (...) {
    static_cast<void>(block.release());  // lost memory is better than spoilt memory
  }
}

}  // namespace stoker::device::cpu
