#include "stoker/device/cpu/cpu_backend.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "stoker/device/cpu/memory_steps.hpp"
#include "stoker/device/host_memory.hpp"

namespace stoker::device::cpu {
namespace {

constexpr auto drain_patience = std::chrono::seconds{5};

std::string processor_name() {
  std::ifstream cpuinfo{"/proc/cpuinfo"};
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

}  // namespace

DeviceInfo CpuBackend::describe(unsigned threads) {
  DeviceInfo info;
  info.name = "cpu";
  info.backend = "cpu";
  info.description = processor_name();
  info.type = DeviceType::cpu;
  info.driver = "stoker " + std::string{cpu_isa()};
  info.uuid = "cpu";
  info.memory_bytes = host_memory_bytes();
  info.compute_units = threads;
  info.features = {std::string{cpu_isa()}};
  info.unified_memory = true;
  info.host_addressable = true;
  for (std::size_t i = 0; i < dtype_count; ++i) info.dtypes.push_back(static_cast<DType>(i));
  return info;
}

CpuBackend::CpuBackend(CompletionSink& sink, std::shared_ptr<ComputePool> pool)
    : sink_{sink}, pool_{std::move(pool)}, info_{describe(pool_->threads())} {}

CpuBackend::~CpuBackend() {
  if (fork_.forked()) {
    // The jobs are the parent's, as are the threads that run them.
    for (Flight& flight : flights_) static_cast<void>(flight.own.release());
    return;
  }
  std::unique_lock lock{mutex_};
  const bool drained = completed_changed_.wait_for(lock, drain_patience,
                                                   [&] { return flights_.empty() && !reporting_; });
  // Jobs that still run are left alive on purpose: a thread of the pool may be inside a kernel.
  if (!drained)
    for (Flight& flight : flights_) static_cast<void>(flight.own.release());
}

Result<std::unique_ptr<MemoryBlock>> CpuBackend::allocate(std::uint64_t bytes, MemoryKind kind) {
  return allocate_host_block(bytes, kind);
}

Result<std::shared_ptr<const Executable>> CpuBackend::prepare(std::shared_ptr<const Kernel> kernel,
                                                              const KernelCall& call,
                                                              std::span<const TensorSpec> outputs) {
  auto executable = std::make_shared<CpuExecutable>();
  executable->kernel = kernel->name;
  const bool empty =
      std::ranges::all_of(outputs, [](const TensorSpec& spec) { return spec.elements() == 0; });
  if (!empty) {
    const CpuPlanner planner = kernel->cpu ? nullptr : cpu_table().find(kernel->name);
    if (!kernel->cpu && !planner)
      return Error{kernel->name,
                   ErrorCode::unsupported,
                   "this kernel has no CPU version",
                   {{"device", "cpu"}}};
    STOKER_ASSIGN(executable->plan,
                  kernel->cpu ? kernel->cpu(call, outputs) : planner(call, outputs));
    if (executable->plan.scratch_bytes)
      executable->scratch_bytes = {executable->plan.scratch_bytes};
  }
  return std::shared_ptr<const Executable>{std::move(executable)};
}

Result<std::unique_ptr<Recording>> CpuBackend::record(std::span<const Step> steps) {
  recordings_.fetch_add(1, std::memory_order_relaxed);
  return std::unique_ptr<Recording>{std::make_unique<Job>(steps, *this)};
}

Result<void> CpuBackend::submit(const Submission& submission) {
  submissions_.fetch_add(1, std::memory_order_relaxed);
  Flight flight;
  flight.value = submission.value;
  flight.timed = submission.timed;
  flight.progress = submission.progress;
  for (const QueuePoint& point : submission.waits)
    flight.waits_for = std::max(flight.waits_for, point.value);
  if (submission.recording) {
    flight.job = static_cast<Job*>(submission.recording);
  } else {
    flight.own = std::make_unique<Job>(submission.steps, *this);
    flight.job = flight.own.get();
  }
  ready_.clear();
  std::unique_lock lock{mutex_};
  flights_.push_back(std::move(flight));
  collect_startable(ready_);
  report(lock);  // a submission without steps is done already
  lock.unlock();
  if (!ready_.empty()) pool_->push(ready_);
  return {};
}

void CpuBackend::collect_startable(ReadyNodes& ready) {
  // The prefix up to the oldest unfinished flight is complete, whether reported yet or not.
  std::uint64_t reached = reported_;
  for (const Flight& flight : flights_) {
    if (!flight.done) break;
    reached = flight.value;
  }
  for (Flight& flight : flights_) {
    if (flight.started || flight.waits_for > reached) continue;
    flight.started = true;
    flight.job->reset(flight.timed, flight.progress, ready);
    if (flight.job->size() == 0) flight.done = true;
  }
}

void CpuBackend::on_job_done(Job& job) noexcept {
  // The report may end whoever owns this device. Null if its destructor waits for the job.
  const auto self = weak_from_this().lock();
  ReadyNodes ready;
  std::unique_lock lock{mutex_};
  const auto own = std::ranges::find_if(flights_, [&](const Flight& flight) {
    return flight.job == &job && flight.started && !flight.done;
  });
  own->done = true;
  collect_startable(ready);
  report(lock);
  lock.unlock();
  if (!ready.empty()) pool_->push(ready);
}

void CpuBackend::report(std::unique_lock<std::mutex>& lock) {
  // One reporter at a time keeps the order; whoever finishes meanwhile leaves its report to it.
  if (reporting_) return;
  reporting_ = true;
  while (!flights_.empty() && flights_.front().done) {
    Flight flight = std::move(flights_.front());
    flights_.pop_front();
    reported_ = flight.value;
    lock.unlock();
    sink_.on_completed(
        {{QueueKind::compute, flight.value}, flight.job->take_failures(), flight.job->timings()});
    flight.own.reset();
    lock.lock();
    // Only now: whoever waits for the point finds that the sink knows it, too.
    completed_.store(flight.value, std::memory_order_release);
    completed_changed_.notify_all();
  }
  reporting_ = false;
  completed_changed_.notify_all();
}

bool CpuBackend::wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept {
  const auto reached = [&] { return completed_.load(std::memory_order_acquire) >= point.value; };
  while (!reached()) {
    if (pool_->help(reached)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return reached();
    std::unique_lock lock{mutex_};
    if (completed_changed_.wait_until(lock, deadline, reached)) return true;
  }
  return true;
}

BackendCounters CpuBackend::counters() const noexcept {
  BackendCounters counters;
  counters.submissions = submissions_.load(std::memory_order_relaxed);
  counters.recordings = recordings_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace stoker::device::cpu
