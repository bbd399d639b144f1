#include "stoker/device/vulkan/submission/completer.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "stoker/device/vulkan/instance/device_fault.hpp"
#include "stoker/device/vulkan/instance/result.hpp"
#include "stoker/runtime/base/exit_watch.hpp"
#include "stoker/runtime/base/relax.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds slice{100};      // longest time inside the driver
constexpr std::chrono::microseconds wake_time{200};  // for a sleeping thread to run again
constexpr std::chrono::milliseconds error_pause{1};  // after a failed wait
constexpr std::chrono::milliseconds loss_patience{
    250};  // for a lost device to say that it has stopped
constexpr std::chrono::milliseconds exit_patience{1000};  // for threads to come out of the driver
constexpr std::chrono::microseconds exit_poll{100};

std::uint64_t ns(Clock::duration time) noexcept {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::nanoseconds{time}.count()));
}

}  // namespace

Completer::Completer(std::shared_ptr<DeviceHandle> device, Queues queues, CompletionSink& sink,
                     Options options)
    : device_{std::move(device)},
      queues_{std::move(queues)},
      sink_{sink},
      options_{options},
      clock_{*device_} {}

Result<void> Completer::start() {
  try {
    ended_.store(false);
    thread_ = std::thread{[self = shared_from_this()]() mutable { live(std::move(self)); }};
  } catch (...) {
    ended_.store(true);
    return error_from_current_exception("open");
  }
  return {};
}

void Completer::live(std::shared_ptr<Completer> self) noexcept {
  self->own_thread_.store(std::this_thread::get_id());
  self->run();
  self->ended_.store(true);
  // Perhaps the backend has ended inside a report. Then the device ends here, where nobody can wait
  // for it but the exit.
  const ExitDelay delay;
  if (delay.too_late()) self->device_->abandon();
  self.reset();
}

void Completer::stop() noexcept {
  if (!thread_.joinable()) return;
  if (on_own_thread()) {
    stop_.store(true);
    return thread_.detach();
  }
  ask_to_end();
  // Only a process that exits leaves before it stops; a thread that is stuck then stays behind.
  if (left_.load() && !ended_.load()) return thread_.detach();
  thread_.join();
}

bool Completer::drain(Clock::time_point deadline) noexcept {
  const bool alone = on_own_thread();  // then nobody is left to report, nor to be told
  return std::ranges::all_of(queues_, [&](const auto& queue) {
    const std::uint64_t last = queue->last_submitted();
    if (!alone) return wait(*queue, last, deadline);
    return !lost() && queue->wait(last, ns(deadline - Clock::now())) == VK_SUCCESS;
  });
}

void Completer::ask_to_end() noexcept {
  stop_.store(true);
  {
    const std::scoped_lock lock{mutex_};
    wake_.notify_all();
  }
  // A thread that watches idle queues waits for a submission: it gets an empty one. While work is
  // in flight the thread comes back by itself, after a slice at most.
  Queue& queue = *queues_[0];
  std::uint64_t value = 0;
  if (!lost() && queue.read(value) == VK_SUCCESS && value == queue.last_submitted())
    queue.ring_out();
}

void Completer::leave() noexcept {
  const Clock::time_point patience = Clock::now() + exit_patience;
  const auto wait_for = [&](auto done) {
    while (!done() && Clock::now() < patience) std::this_thread::sleep_for(exit_poll);
  };
  try {
    const std::scoped_lock lock{mutex_};
    loss_ = process_exits("submit");
  } catch (...) {
    // No memory to describe it; loss() then says device_lost.
  }
  left_.store(true);
  losing_.store(true);
  wait_for([&] {
    const std::unique_lock last_submission{gate_, std::try_to_lock};
    return last_submission.owns_lock();
  });
  ask_to_end();
  // Not thread_: another thread may be in stop(), joining it.
  if (!on_own_thread()) wait_for([&] { return ended_.load(); });
  if (options_.software)
    for (const auto& queue : queues_)
      static_cast<void>(queue->wait(queue->last_submitted(), ns(patience - Clock::now())));
  lost_.store(true);
  tell_waiters();
}

std::unique_lock<std::mutex> Completer::open_gate() noexcept {
  std::unique_lock lock{gate_};
  if (losing_.load()) lock = {};
  return lock;
}

void Completer::notify() noexcept {
  in_flight_.fetch_add(1);
  if (!sleeping_.load()) return;
  const std::scoped_lock lock{mutex_};
  wake_.notify_one();
}

void Completer::run() noexcept {
  while (!stop_.load()) {
    if (lost()) {
      sleep();
      continue;
    }
    bool advanced = false;
    for (const auto& queue : queues_) advanced = retire(*queue) || advanced;
    if (stop_.load() || advanced || lost() || spin()) continue;
    block();
  }
}

bool Completer::spin() noexcept {
  if (options_.spin.count() == 0 || in_flight_.load() == 0) return false;
  const Clock::time_point end = Clock::now() + options_.spin;
  do {
    for (const auto& queue : queues_) {
      std::uint64_t value = 0;
      if (queue->read(value) < 0) return false;
      if (value > queue->seen.load(std::memory_order_relaxed)) return true;
    }
    relax();
  } while (Clock::now() < end && !stop_.load(std::memory_order_relaxed));
  return false;
}

void Completer::block() noexcept {
  std::array<VkSemaphore, queue_kinds> semaphores{};
  std::array<std::uint64_t, queue_kinds> values{};
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const SemaphoreValue event = queues_[i]->next_event();
    semaphores[i] = event.semaphore;
    values[i] = event.value;
  }
  VkSemaphoreWaitInfo info = vk_struct<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.flags = queues_.size() > 1 ? VK_SEMAPHORE_WAIT_ANY_BIT : 0;
  info.semaphoreCount = static_cast<std::uint32_t>(queues_.size());
  info.pSemaphores = semaphores.data();
  info.pValues = values.data();
  const VkResult result = device_->api().vkWaitSemaphores(device_->handle(), &info, ns(slice));
  if (result == VK_TIMEOUT && in_flight_.load() == 0) sleep();
  if (result >= 0) return;
  on_failure("vkWaitSemaphores", result);
  // Out of host memory, say: the next try may do better, but not at once.
  std::unique_lock lock{mutex_};
  wake_.wait_for(lock, error_pause, [&] { return stop_.load(); });
}

void Completer::sleep() noexcept {
  std::unique_lock lock{mutex_};
  sleeping_.store(true);
  wake_.wait(lock, [&] { return stop_.load() || (!lost() && in_flight_.load() != 0); });
  sleeping_.store(false);
}

bool Completer::retire(Queue& queue) noexcept {
  std::unique_lock reporting{queue.report_mutex};
  if (lost() || stop_.load()) return false;
  std::uint64_t value = 0;
  VkResult result = queue.read(value);
  // Some drivers let a lost device's counters jump to the largest value instead of failing.
  if (result == VK_SUCCESS && value == ~std::uint64_t{0}) result = VK_ERROR_DEVICE_LOST;
  if (result < 0) {
    reporting.unlock();
    on_failure("vkGetSemaphoreCounterValue", result);
    return false;
  }
  const bool advanced = value > queue.seen.load(std::memory_order_relaxed);
  queue.seen.store(value, std::memory_order_relaxed);
  while (Flight* const flight = queue.pop_complete(value)) {
    report(queue, *flight);
    if (stop_.load()) return false;  // the report has ended the backend, and with it the sink
  }
  return queue.note_progress() || advanced;
}

void Completer::report(Queue& queue, Flight& flight) noexcept {
  Completion completion;
  completion.point = {queue.kind(), flight.value};
  if (flight.has_timestamps) {
    try {
      completion.timings = read_timings(queue, flight);
    } catch (...) {
      completion.timings.clear();  // no memory for them; the work itself is done
    }
  }
  if (flight.progress) flight.progress->store(flight.steps, std::memory_order_relaxed);
  if (flight.typical_ns) {
    const std::uint64_t took = steady_now_ns() - flight.launched_ns;
    const std::uint64_t before = flight.typical_ns->load(std::memory_order_relaxed);
    flight.typical_ns->store(before ? before - before / 4 + took / 4 : took,
                             std::memory_order_relaxed);
  }
  queue.recycle(flight);
  in_flight_.fetch_sub(1);
  const std::uint64_t value = completion.point.value;
  sink_.on_completed(std::move(completion));
  queue.reported.store(value);
  tell_waiters();
}

std::vector<StepTiming> Completer::read_timings(const Queue& queue, const Flight& flight) {
  const std::uint32_t count = 2 * flight.steps;
  std::vector<std::uint64_t> ticks(count);
  const VkResult result = device_->api().vkGetQueryPoolResults(
      device_->handle(), flight.list->timestamp_pool(), 0, count, count * sizeof(std::uint64_t),
      ticks.data(), sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS) return {};
  const std::uint32_t bits = queue.timestamp_bits();
  for (std::size_t i = 0; i < flight.executables.size(); ++i)
    if (flight.executables[i])
      flight.executables[i]->measured(clock_.elapsed_ns(ticks[2 * i], ticks[2 * i + 1], bits),
                                      ns(options_.submit_target));
  if (!flight.wants_timings) return {};
  clock_.observe(ticks.back(), bits);
  std::vector<StepTiming> timings(flight.steps);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    timings[i].begin_ns = clock_.to_host_ns(ticks[2 * i], bits);
    timings[i].end_ns = std::max(timings[i].begin_ns, clock_.to_host_ns(ticks[2 * i + 1], bits));
  }
  return timings;
}

bool Completer::wait(Queue& queue, std::uint64_t value, Clock::time_point deadline) noexcept {
  const auto settled = [&] { return queue.reported.load() >= value || lost(); };
  // Most work is over within microseconds: look for a while, and report it from here.
  look(queue, value, std::min(deadline, Clock::now() + options_.wait_spin));
  if (settled()) return queue.reported.load() >= value;
  const std::uint64_t expected_ns = options_.wait_spin.count() ? queue.expected_end_ns(value) : 0;
  // Then leave it to the thread. Two threads that block in the driver for one device get in each
  // other's way: NVIDIA's (580) wakes one of them and lets the other sleep out its 10 ms.
  std::unique_lock lock{mutex_};
  waiters_.fetch_add(1);
  if (expected_ns) {
    // Being woken takes a good part of what is left to wait: be awake when the end is near.
    const Clock::time_point expected{std::chrono::nanoseconds{expected_ns}};
    if (!settled_.wait_until(lock, std::min(deadline, expected - wake_time), settled)) {
      lock.unlock();
      look(queue, value, std::min(deadline, expected + wake_time));
      lock.lock();
    }
  }
  settled_.wait_until(lock, deadline, settled);
  waiters_.fetch_sub(1);
  return queue.reported.load() >= value;
}

void Completer::look(Queue& queue, std::uint64_t value, Clock::time_point end) noexcept {
  const DriverUse use{*device_};
  if (!use) return;
  while (queue.reported.load() < value && !lost() && Clock::now() < end) {
    std::uint64_t reached = 0;
    if (queue.read(reached) < 0) return;
    if (reached < value) {
      relax();
      continue;
    }
    // What it waited for on the other queue has to be reported, too, before anybody hears of it.
    for (const auto& each : queues_) static_cast<void>(retire(*each));
  }
}

void Completer::tell_waiters() noexcept {
  if (waiters_.load() == 0) return;
  const std::scoped_lock lock{mutex_};
  settled_.notify_all();
}

void Completer::on_failure(std::string_view function, VkResult result) noexcept {
  if (result != VK_ERROR_DEVICE_LOST) return;
  try {
    lose(vk_error("wait", function, result));
  } catch (...) {
    lose(Error{});
  }
}

void Completer::lose(const Error& cause) noexcept {
  if (losing_.exchange(true)) return;
  { const std::scoped_lock last_submission{gate_}; }
  settle_memory();
  Error reason = cause;
  try {
    std::vector<Detail> details = loss_details(*device_);
    details.insert(details.end(), cause.details().begin(), cause.details().end());
    for (const auto& queue : queues_)
      if (std::string labels = queue->labels(); !labels.empty())
        details.push_back({"last_dispatches", std::move(labels)});
    reason = Error{std::string{cause.op()}, ErrorCode::device_lost, "the device was lost",
                   std::move(details)};
  } catch (...) {
    // No memory to describe it; the cause alone must do.
  }
  // No report may follow the loss, so the queues' reporters are held off while it is told.
  std::unique_lock first{queues_[0]->report_mutex};
  std::unique_lock<std::mutex> second;
  if (queues_.size() > 1) second = std::unique_lock{queues_[1]->report_mutex};
  {
    const std::scoped_lock lock{mutex_};
    loss_ = reason;
  }
  lost_.store(true);
  sink_.on_lost(std::move(reason));
  tell_waiters();
}

void Completer::settle_memory() noexcept {
  // A driver that knows of the loss answers at once; a device that neither finishes nor fails may
  // be hung, and whatever it was given stays allocated.
  for (const auto& queue : queues_) {
    const VkResult result = queue->wait(queue->last_submitted(), ns(loss_patience));
    if (result != VK_TIMEOUT) continue;
    device_->abandon();
    try {
      log_warn("a device hangs; memory that it may still touch stays allocated",
               {{"device", device_->info().name},
                {"bytes", std::to_string(device_->bytes_in_use.load(std::memory_order_relaxed))}});
    } catch (...) {
      // Nothing to add: the message was the only purpose.
    }
    return;
  }
}

Error Completer::loss() const {
  const std::scoped_lock lock{mutex_};
  return loss_ ? *loss_ : Error{"submit", ErrorCode::device_lost, "the device was lost"};
}

}  // namespace stoker::device::vulkan
