// One submission as the compute pool sees it: a graph of steps, each cut into stages and slices.
//
//     waiting ──(last predecessor done)──▶ ready ──(slices claimed and run)──▶ stage done
//        ▲                                   ▲                                     │
//        └──────────── reset() ──────────────┴───────── next stage ────────────────┤
//                                                                                  ▼
//                                                        node done → successors → job done
//
// Ownership: shared by the recording and by the submissions in flight; the pool only ever refers to
// nodes of jobs that are not done. A job may outlive its owner: then nobody is told.
// Threads: build and reset by one thread while the job is idle; the pool's threads share a running
// one. `claimed` belongs to the pool's lock, everything else that changes is atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "stoker/device/backend.hpp"

namespace stoker::device::cpu {

/// A CPU plan ready to run. Copies and fills get one, too, so that all steps are alike.
class CpuExecutable final : public Executable {
 public:
  CpuPlan plan;
};

class Job;
struct Node;
/// A step that must not overtake another.
struct Successor {
  std::uint32_t index = 0;
  bool reads = false;  ///< what the other writes; else it only overwrites what that one touches
};
/// Nodes that may run now; a step rarely frees more than a few at once.
using ReadyNodes = boost::container::small_vector<Node*, 16>;

struct Node {
  const CpuPlan* plan = nullptr;
  CpuArgs args{};
  Job* job = nullptr;
  std::uint32_t index = 0;
  std::uint32_t predecessors = 0;
  std::span<const Successor> successors;

  std::uint32_t claimed = 0;       ///< slices of this stage given out
  std::uint32_t claimed_last = 0;  ///< those of them that were the last ones left
  std::uint32_t stage = 0;
  std::atomic<std::uint32_t> waiting{0};  ///< predecessors not done yet
  std::atomic<std::uint32_t> left{0};     ///< slices of this stage not finished
  std::atomic<bool> failed{false};
  std::atomic<bool> asked{false};     ///< whether it is still wanted
  std::atomic<bool> left_out{false};  ///< it was not when it should have begun
  StopSign* stop = nullptr;           ///< of this step alone; under the job's lock
  std::atomic<std::uint64_t> begin_ns{0};
  std::uint64_t end_ns = 0;

  [[nodiscard]] std::uint32_t slices() const noexcept { return plan->stages[stage].slices; }
};

/// Told when every node of a job is done; the job may be reset or destroyed from inside. Kept alive for
/// as long as the call takes.
class JobOwner {
 public:
  virtual void on_job_done(Job& job) noexcept = 0;

 protected:
  ~JobOwner() = default;
};

class Job final {
 public:
  Job(std::span<const Step> steps, std::weak_ptr<JobOwner> owner, bool flush_subnormals);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The same steps on other memory; while the job is idle.
  void rebind(std::span<const Step> steps) noexcept;
  /// Back to "nothing has run"; appends the nodes without predecessors to `ready`.
  void reset(bool timed, std::atomic<std::uint32_t>* progress, StopSign* stop, ReadyNodes& ready);

  /// Runs one slice and, if it was the stage's last, moves the node on. Nodes that may run now are
  /// appended to `ready`. Never throws: what a kernel throws marks its node failed, and those who read
  /// what it writes fail with it and never run; those who only overwrite memory run. The job may be gone
  /// when this returns.
  void run_slice(Node& node, std::uint32_t stage, std::uint32_t slice, ReadyNodes& ready) noexcept;

  /// `progress` and the stop signs of the run are not touched once this returns. Any thread.
  void forget_watchers() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// A guess of the whole on one thread, in nanoseconds; infinite if a kernel makes none.
  [[nodiscard]] double cost_ns() const noexcept { return cost_ns_; }
  /// After the job is done: what to report.
  [[nodiscard]] std::vector<StepFailure> take_failures();
  [[nodiscard]] std::vector<StepTiming> timings() const;

 private:
  /// Leaves the node out if it is not wanted any more.
  void begin(Node& node) noexcept;
  void finish(Node& node, ReadyNodes& ready) noexcept;
  void fail(Node& node, Error error) noexcept;

  const std::weak_ptr<JobOwner> owner_;
  const std::size_t count_;
  const bool flush_subnormals_;
  double cost_ns_ = 0;
  std::unique_ptr<Node[]> nodes_;
  std::vector<void*> pointers_;        // inputs and outputs of all nodes, one after the other
  std::vector<Successor> successors_;  // of all nodes, one after the other
  std::vector<std::shared_ptr<const CpuExecutable>> keep_;
  std::atomic<std::uint32_t> left_{0};
  bool timed_ = false;
  bool counts_ = false;         // somebody wants to see the progress
  bool asks_ = false;           // there are stop signs
  bool has_own_signs_ = false;  // steps have some of their own
  std::mutex mutex_;            // of what follows
  std::atomic<std::uint32_t>* progress_ = nullptr;
  StopSign* stop_ = nullptr;
  std::vector<StepFailure> failures_;
};

}  // namespace stoker::device::cpu
