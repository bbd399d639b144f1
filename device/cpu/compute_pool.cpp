#include "stoker/device/cpu/compute_pool.hpp"

#include <pthread.h>

#include <algorithm>

#include "stoker/runtime/cores.hpp"
#include "stoker/runtime/ring.hpp"

namespace stoker::device::cpu {
namespace {

constexpr auto spin_time = std::chrono::microseconds{20};
constexpr auto stop_patience = std::chrono::seconds{2};

void relax() noexcept { __builtin_ia32_pause(); }

struct Claim {
  Node* node = nullptr;
  std::uint32_t stage = 0;
  std::uint32_t slice = 0;
};

}  // namespace

struct ComputePool::State {
  explicit State(unsigned count) : threads{count} {}

  const unsigned threads;
  std::mutex mutex;
  std::condition_variable_any wake;
  Ring<Node*> ready;    // each has a slice to give
  unsigned active = 0;  // threads that hold a claim
  unsigned sleeping = 0;
  unsigned running_workers = 0;
  std::condition_variable ended;
  std::atomic<std::uint32_t> waiting_nodes{0};  // ready.size(), for those who spin

  bool claim_locked(Claim& claim) {
    if (ready.empty() || active >= threads) return false;
    Node* node = ready.front();
    const std::uint32_t slices = node->plan->stages.empty() ? 1 : node->slices();
    claim = {node, node->stage, node->claimed++};
    if (node->claimed == slices) {
      ready.pop_front();
      waiting_nodes.store(static_cast<std::uint32_t>(ready.size()), std::memory_order_relaxed);
    }
    ++active;
    return true;
  }

  void push_locked(std::span<Node* const> nodes) {
    for (Node* node : nodes) ready.push_back(node);
    waiting_nodes.store(static_cast<std::uint32_t>(ready.size()), std::memory_order_relaxed);
  }

  /// How many sleepers are worth waking: one per slice that waits for a thread.
  unsigned wanted_locked() const {
    if (sleeping == 0 || ready.empty()) return 0;
    const unsigned room = threads - std::min(threads, active);
    const Node* front = ready.front();
    const std::size_t slices =
        front->plan->stages.empty() ? 1 : front->slices() - front->claimed + ready.size() - 1;
    return static_cast<unsigned>(std::min<std::size_t>({sleeping, room, slices}));
  }

  void wake_some(unsigned count) {
    for (; count > 0; --count) wake.notify_one();
  }

  /// Runs the claimed slice, then what it made ready and can be kept. Returns without a claim.
  void run(Claim claim, ReadyNodes& ready_now) {
    for (;;) {
      ready_now.clear();
      claim.node->job->run_slice(*claim.node, claim.stage, claim.slice, ready_now);
      // A successor with a single slice stays on this thread; what is left goes to the others.
      Node* mine = nullptr;
      const auto small = std::ranges::find_if(ready_now, [](const Node* node) {
        return node->plan->stages.empty() || node->slices() == 1;
      });
      if (small != ready_now.end()) {
        mine = *small;
        ready_now.erase(small);
        mine->claimed = 1;
      }
      if (mine && ready_now.empty()) {
        claim = {mine, mine->stage, 0};
        continue;
      }
      unsigned wanted = 0;
      {
        const std::scoped_lock lock{mutex};
        push_locked(ready_now);
        if (!mine) --active;
        wanted = wanted_locked();
      }
      wake_some(wanted);
      if (!mine) return;
      claim = {mine, mine->stage, 0};
    }
  }
};

std::shared_ptr<ComputePool> ComputePool::shared(unsigned threads) {
  // The pool is the one thing a process has once; the weak pointer ends with it, not at exit.
  static std::mutex mutex;
  static std::weak_ptr<ComputePool> current;
  const std::scoped_lock lock{mutex};
  if (auto pool = current.lock(); pool && !pool->fork_.forked()) return pool;
  auto pool = std::make_shared<ComputePool>(threads);
  current = pool;
  return pool;
}

ComputePool::ComputePool(unsigned threads)
    : state_{std::make_shared<State>(threads ? threads : usable_cores())} {
  state_->running_workers = state_->threads;
  workers_.reserve(state_->threads);
  for (unsigned i = 0; i < state_->threads; ++i) {
    workers_.emplace_back([state = state_](const std::stop_token& stop) { work(state, stop); });
    pthread_setname_np(workers_.back().native_handle(), ("stoker-cpu" + std::to_string(i)).c_str());
  }
}

ComputePool::~ComputePool() {
  if (fork_.forked()) {
    // The threads are the parent's; joining or detaching them here would hang. Kept for ever.
    static_cast<void>(std::make_unique<std::vector<std::jthread>>(std::move(workers_)).release());
    return;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): on purpose
  }
  for (std::jthread& worker : workers_) worker.request_stop();
  state_->wake.notify_all();
  // The last user may drop the pool from one of its own threads (a completion that ends a system).
  const auto own = std::ranges::find(workers_, std::this_thread::get_id(), &std::jthread::get_id);
  const unsigned stay = own == workers_.end() ? 0 : 1;
  if (stay) own->detach();
  std::unique_lock lock{state_->mutex};
  const bool ended =
      state_->ended.wait_for(lock, stop_patience, [&] { return state_->running_workers == stay; });
  lock.unlock();
  for (std::jthread& worker : workers_)
    if (!ended && worker.joinable()) worker.detach();
}

unsigned ComputePool::threads() const noexcept { return state_->threads; }

void ComputePool::push(std::span<Node* const> ready) {
  unsigned wanted = 0;
  {
    const std::scoped_lock lock{state_->mutex};
    state_->push_locked(ready);
    wanted = state_->wanted_locked();
  }
  state_->wake_some(wanted);
}

bool ComputePool::help(const std::function<bool()>& done) {
  ReadyNodes ready_now;
  while (!done()) {
    Claim claim;
    {
      const std::scoped_lock lock{state_->mutex};
      if (!state_->claim_locked(claim)) return false;
    }
    state_->run(claim, ready_now);
  }
  return true;
}

void ComputePool::work(const std::shared_ptr<State>& state, const std::stop_token& stop) {
  ReadyNodes ready_now;
  std::unique_lock lock{state->mutex};
  while (!stop.stop_requested()) {
    Claim claim;
    if (state->claim_locked(claim)) {
      lock.unlock();
      state->run(claim, ready_now);
      // The next submission of a busy program comes within microseconds; a wake-up costs more.
      const auto until = std::chrono::steady_clock::now() + spin_time;
      while (state->waiting_nodes.load(std::memory_order_relaxed) == 0 && !stop.stop_requested() &&
             std::chrono::steady_clock::now() < until)
        relax();
      lock.lock();
      continue;
    }
    ++state->sleeping;
    state->wake.wait(lock, stop,
                     [&] { return !state->ready.empty() && state->active < state->threads; });
    --state->sleeping;
  }
  --state->running_workers;
  state->ended.notify_all();
}

}  // namespace stoker::device::cpu
