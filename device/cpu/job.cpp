#include "stoker/device/cpu/job.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "stoker/device/commands/step_reads.hpp"
#include "stoker/device/cpu/float_mode.hpp"
#include "stoker/device/cpu/memory_steps.hpp"
#include "stoker/runtime/base/spin_then_lock.hpp"

namespace stoker::device::cpu {
namespace {

std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds{1});
}

std::shared_ptr<const CpuExecutable> executable_of(const Step& step) {
  switch (step.kind) {
    case StepKind::copy: return copy_executable(step.outputs[0].bytes);
    case StepKind::fill:
      return fill_executable(step.outputs[0].bytes, step.pattern, step.pattern_bytes);
    case StepKind::dispatch: break;
  }
  return std::static_pointer_cast<const CpuExecutable>(step.executable);
}

}  // namespace

Job::Job(std::span<const Step> steps, std::weak_ptr<JobOwner> owner, bool flush_subnormals)
    : owner_{std::move(owner)},
      count_{steps.size()},
      flush_subnormals_{flush_subnormals},
      nodes_{std::make_unique<Node[]>(steps.size())} {
  keep_.reserve(count_);
  std::vector<std::vector<Successor>> after(count_);
  std::size_t pointer_count = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    pointer_count += steps[i].inputs.size() + steps[i].outputs.size();
    for (const std::uint32_t earlier : steps[i].after)
      after[earlier].push_back({i, reads_output_of(steps[i], steps[earlier])});
    nodes_[i].predecessors = static_cast<std::uint32_t>(steps[i].after.size());
  }
  pointers_.reserve(pointer_count);
  for (std::uint32_t i = 0; i < count_; ++i) {
    Node& node = nodes_[i];
    const Step& step = steps[i];
    keep_.push_back(executable_of(step));
    node.plan = &keep_.back()->plan;
    const bool unknown = !node.plan->stages.empty() && node.plan->cost_ns <= 0;
    cost_ns_ += unknown ? std::numeric_limits<double>::infinity() : node.plan->cost_ns;
    node.job = this;
    node.index = i;
    node.stop = step.stop;
    has_own_signs_ = has_own_signs_ || step.stop;
    node.args.inputs = pointers_.data() + pointers_.size();
    for (const MemoryView& view : step.inputs) pointers_.push_back(view.host());
    node.args.outputs = pointers_.data() + pointers_.size();
    for (const MemoryView& view : step.outputs) pointers_.push_back(view.host());
    node.args.scratch = step.scratch.empty() ? nullptr : step.scratch[0].host();
    successors_.insert(successors_.end(), after[i].begin(), after[i].end());
  }
  const Successor* position = successors_.data();
  for (std::uint32_t i = 0; i < count_; ++i) {
    nodes_[i].successors = {position, after[i].size()};
    position += after[i].size();
  }
}

void Job::rebind(std::span<const Step> steps) noexcept {
  void** to = pointers_.data();
  for (std::size_t i = 0; i < count_; ++i) {
    for (const MemoryView& view : steps[i].inputs) *to++ = view.host();
    for (const MemoryView& view : steps[i].outputs) *to++ = view.host();
    nodes_[i].args.scratch = steps[i].scratch.empty() ? nullptr : steps[i].scratch[0].host();
  }
}

void Job::reset(bool timed, std::atomic<std::uint32_t>* progress, StopSign* stop,
                ReadyNodes& ready) {
  timed_ = timed;
  counts_ = progress != nullptr;
  progress_ = progress;
  asks_ = stop || has_own_signs_;
  stop_ = stop;
  failures_.clear();
  failures_.reserve(count_);  // a step may fail for want of memory
  left_.store(static_cast<std::uint32_t>(count_), std::memory_order_relaxed);
  for (std::size_t i = 0; i < count_; ++i) {
    Node& node = nodes_[i];
    node.claimed = 0;
    node.claimed_last = 0;
    node.stage = 0;
    node.waiting.store(node.predecessors, std::memory_order_relaxed);
    node.left.store(node.plan->stages.empty() ? 0 : node.slices(), std::memory_order_relaxed);
    node.failed.store(false, std::memory_order_relaxed);
    node.asked.store(false, std::memory_order_relaxed);
    node.left_out.store(false, std::memory_order_relaxed);
    node.begin_ns.store(0, std::memory_order_relaxed);
    if (node.predecessors == 0) ready.push_back(&node);
  }
}

void Job::run_slice(Node& node, std::uint32_t stage, std::uint32_t slice,
                    ReadyNodes& ready) noexcept {
  if (timed_ && node.begin_ns.load(std::memory_order_relaxed) == 0) {
    std::uint64_t unset = 0;
    node.begin_ns.compare_exchange_strong(unset, now_ns(), std::memory_order_relaxed);
  }
  const bool nothing_to_do = node.plan->stages.empty();
  if (asks_ && stage == 0 && !node.asked.exchange(true, std::memory_order_relaxed)) begin(node);
  if (!nothing_to_do && !node.failed.load(std::memory_order_relaxed) &&
      !node.left_out.load(std::memory_order_relaxed)) {
    try {
      const FlushSubnormals mode{flush_subnormals_};
      node.plan->stages[stage].run(node.args, slice);
    } catch (...) {
      fail(node, error_from_current_exception(keep_[node.index]->kernel));
    }
  }
  if (!nothing_to_do && node.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!nothing_to_do && stage + 1 < node.plan->stages.size()) {
    node.stage = stage + 1;
    node.claimed = 0;
    node.claimed_last = 0;
    node.left.store(node.slices(), std::memory_order_relaxed);
    ready.push_back(&node);
    return;
  }
  finish(node, ready);
}

void Job::begin(Node& node) noexcept {
  const auto lock = spin_then_lock(mutex_);
  StopSign* const sign = stop_ ? stop_ : node.stop;
  // Steps behind it run on: what they may read of it is for whoever gave the sign to say.
  if (sign && sign->must_end()) node.left_out.store(true, std::memory_order_relaxed);
}

void Job::finish(Node& node, ReadyNodes& ready) noexcept {
  if (timed_) node.end_ns = now_ns();
  const bool failed = node.failed.load(std::memory_order_relaxed);
  for (const auto& [index, reads] : node.successors) {
    Node& next = nodes_[index];
    if (failed && reads && !next.failed.load(std::memory_order_relaxed)) {
      // What it would compute from is not there: it fails with the first cause and never runs.
      Error cause;
      {
        const std::scoped_lock lock{mutex_};
        const auto own = std::ranges::find(failures_, node.index, &StepFailure::step);
        if (own != failures_.end()) cause = own->error;
      }
      fail(next, std::move(cause));
    }
    if (next.waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) ready.push_back(&next);
  }
  if (counts_ && !node.left_out.load(std::memory_order_relaxed)) {
    const auto lock = spin_then_lock(mutex_);
    if (progress_) progress_->fetch_add(1, std::memory_order_relaxed);
  }
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (const auto owner = owner_.lock()) owner->on_job_done(*this);
}

void Job::forget_watchers() noexcept {
  const std::scoped_lock lock{mutex_};
  progress_ = nullptr;
  stop_ = nullptr;
  for (std::size_t i = 0; i < count_; ++i) nodes_[i].stop = nullptr;
}

void Job::fail(Node& node, Error error) noexcept {
  if (node.failed.exchange(true, std::memory_order_relaxed)) return;
  const std::scoped_lock lock{mutex_};
  failures_.push_back({node.index, std::move(error)});
}

std::vector<StepFailure> Job::take_failures() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(failures_, {});
}

std::vector<StepTiming> Job::timings() const {
  if (!timed_) return {};
  std::vector<StepTiming> result(count_);
  for (std::size_t i = 0; i < count_; ++i)
    result[i] = {nodes_[i].begin_ns.load(std::memory_order_relaxed), nodes_[i].end_ns};
  return result;
}

}  // namespace stoker::device::cpu
