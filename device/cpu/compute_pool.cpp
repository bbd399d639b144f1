#include "stoker/device/cpu/compute_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/runtime/base/cores.hpp"
#include "stoker/runtime/base/process_mutex.hpp"
#include "stoker/runtime/base/relax.hpp"
#include "stoker/runtime/base/spin_then_lock.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker::device::cpu {
namespace {

// The next submission of a busy program comes within microseconds; a wake-up costs more, in a virtual
// machine up to milliseconds. While others compute, what they make ready is waited for longer, and so is
// the next submission if the last one came just after the threads had gone to sleep: that of a program that
// looks at a result now and then, and is itself woken for it.
constexpr auto spin_idle = std::chrono::microseconds{20};
constexpr auto spin_longer = std::chrono::microseconds{200};
constexpr auto stop_patience = std::chrono::seconds{2};
// Nodes that take less in all stay on the thread that made them ready: what they read is in its cache,
// and another thread takes a microsecond to notice and to fetch it.
constexpr double handed_on_from_ns = 2000;
// A slice that a caller helps with.
constexpr double helped_up_to_ns = while_waiting_ns;
constexpr double any_time_ns = 1e12;  // the cost of what nobody can guess
constexpr double no_limit = std::numeric_limits<double>::infinity();

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
  unsigned woken = 0;  // of the sleepers: notified, and not awake yet
  unsigned running_workers = 0;
  std::condition_variable ended;
  // For those who spin, and how many do.
  std::atomic<std::uint32_t> waiting_nodes{0};  // ready.size()
  std::atomic<std::uint32_t> busy{0};           // active
  std::atomic<std::uint32_t> spinning{0};
  std::atomic<bool> longer{false};                // how long they do while nobody computes
  std::chrono::steady_clock::time_point slept{};  // when somebody last went to sleep
  bool helped = false;  // a caller took part in what came last from outside

  /// Of a node's slices some threads take the first and some the last that are left: so a thread meets the
  /// same part of the tensors in every step, and what it left of them in its cache.
  bool claim_locked(Claim& claim, bool last, double most_ns = no_limit) {
    if (ready.empty() || active >= threads) return false;
    Node* node = ready.front();
    const std::uint32_t slices = node->plan->stages.empty() ? 1 : node->slices();
    if (cost_of(*node) > most_ns * slices) return false;
    claim = {node, node->stage,
             last ? slices - 1 - node->claimed_last : node->claimed - node->claimed_last};
    if (last) ++node->claimed_last;
    if (++node->claimed == slices) {
      ready.pop_front();
      waiting_nodes.store(static_cast<std::uint32_t>(ready.size()), std::memory_order_relaxed);
    }
    busy.store(++active, std::memory_order_relaxed);
    return true;
  }

  void unclaim_locked() { busy.store(--active, std::memory_order_relaxed); }

  void push_locked(std::span<Node* const> nodes) {
    for (Node* node : nodes) ready.push_back(node);
    waiting_nodes.store(static_cast<std::uint32_t>(ready.size()), std::memory_order_relaxed);
  }

  /// How many sleepers are worth waking, whom the caller then notifies: one for each slice that waits for
  /// a thread, beside those who are awake and will claim one: who spins, and `claiming` others. `expected`
  /// will probably claim one as well, but somebody else is awake in any case.
  unsigned wake_locked(unsigned claiming, unsigned expected = 0) {
    if (sleeping <= woken || ready.empty()) return 0;
    const Node* front = ready.front();
    const std::size_t slices =
        front->plan->stages.empty() ? 1 : front->slices() - front->claimed + ready.size() - 1;
    const std::size_t room = threads - std::min(threads, active);
    const std::size_t awake = claiming + woken + spinning.load(std::memory_order_relaxed);
    const std::size_t wanted = std::min(slices, room);
    if (wanted <= awake) return 0;
    const std::size_t missing = wanted - awake - std::min<std::size_t>(expected, wanted - 1);
    const auto count = static_cast<unsigned>(std::min<std::size_t>(sleeping - woken, missing));
    woken += count;
    return count;
  }

  /// Work has come from outside: whether it should have been waited for.
  void learn_locked() {
    if (sleeping > woken && active == 0)
      longer.store(std::chrono::steady_clock::now() - slept < spin_longer,
                   std::memory_order_relaxed);
  }

  void wake_some(unsigned count) {
    for (; count > 0; --count) wake.notify_one();
  }

  /// Waits for a node, for a while, unless as many threads as there are cores are busy.
  template <class Stop> void spin(const Stop& stop) {
    const auto begin = std::chrono::steady_clock::now();
    spinning.fetch_add(1, std::memory_order_relaxed);
    while (waiting_nodes.load(std::memory_order_relaxed) == 0 && !stop()) {
      const std::uint32_t others = busy.load(std::memory_order_relaxed);
      if (others + spinning.load(std::memory_order_relaxed) > threads) break;
      const auto waited = std::chrono::steady_clock::now() - begin;
      const bool patient = others > 0 || longer.load(std::memory_order_relaxed);
      if (waited > (patient ? spin_longer : spin_idle)) break;
      // Those who compute may be on this core.
      waited > spin_idle ? std::this_thread::yield() : relax();
    }
    spinning.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Runs the claimed slice, then what it made ready, is worth keeping and takes at most `most_ns`.
  /// Returns without a claim.
  void run(Claim claim, ReadyNodes& ready_now, double most_ns = no_limit) {
    ReadyNodes own;  // claimed, to be run here; the last comes next
    double own_ns = 0;
    for (;;) {
      ready_now.clear();
      claim.node->job->run_slice(*claim.node, claim.stage, claim.slice, ready_now);
      keep(ready_now, own, own_ns, most_ns);
      if (!ready_now.empty() || own.empty()) {
        unsigned wanted = 0;
        {
          const auto lock = spin_then_lock(mutex);
          push_locked(ready_now);
          if (own.empty()) unclaim_locked();
          wanted = wake_locked(own.empty() ? 1 : 0);
        }
        wake_some(wanted);
        if (own.empty()) return;
      }
      Node* const next = own.back();
      own.pop_back();
      own_ns -= cost_of(*next);
      claim = {next, next->stage, 0};
    }
  }

  static double cost_of(const Node& node) noexcept {
    if (node.plan->stages.empty()) return 0;
    return node.plan->cost_ns > 0 ? node.plan->cost_ns : any_time_ns;
  }

  /// Moves to `own` what this thread goes on with: one node, and what is short beside it.
  static void keep(ReadyNodes& ready_now, ReadyNodes& own, double& own_ns, double most_ns) {
    const auto kept = [&](Node* node) {
      if (!node->plan->stages.empty() && node->slices() != 1) return false;
      const double cost = cost_of(*node);
      if (cost > most_ns || (!own.empty() && own_ns + cost > handed_on_from_ns)) return false;
      own_ns += cost;
      node->claimed = 1;
      own.push_back(node);
      return true;
    };
    ready_now.erase(std::remove_if(ready_now.begin(), ready_now.end(), kept), ready_now.end());
  }
};

namespace {

// The pool is the one thing a process has once; it ends with its last user, not at exit.
struct Current {
  ProcessMutex mutex;
  std::weak_ptr<ComputePool> pool;
};

Current& current() {
  static Current& only = *std::make_unique<Current>().release();
  return only;
}
// By main() at the latest: a fork() does not wait for a ProcessMutex that is made meanwhile.
[[maybe_unused]] const Current& made_in_time = current();

}  // namespace

std::shared_ptr<ComputePool> ComputePool::shared(unsigned threads) {
  const std::scoped_lock lock{current().mutex};
  if (auto pool = current().pool.lock(); pool && !pool->fork_.forked()) return pool;
  auto pool = std::make_shared<ComputePool>(threads);
  current().pool = pool;
  return pool;
}

ComputePool::ComputePool(unsigned threads)
    : state_{std::make_shared<State>(threads ? threads : usable_cores())} {
  state_->running_workers = state_->threads;
  workers_.reserve(state_->threads);
  for (unsigned i = 0; i < state_->threads; ++i) {
    workers_.emplace_back([state = state_, last = i % 2 == 1](const std::stop_token& stop) {
      work(state, last, stop);
    });
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
    const auto lock = spin_then_lock(state_->mutex);
    state_->learn_locked();
    state_->push_locked(ready);
    // Who helped last time is on its way. A thread that is woken for nothing takes the core of one that spins.
    wanted = state_->wake_locked(0, std::exchange(state_->helped, false) ? 1 : 0);
  }
  state_->wake_some(wanted);
}

bool ComputePool::help(const std::function<bool()>& done,
                       std::chrono::steady_clock::time_point deadline) {
  ReadyNodes ready_now;
  bool spun = false;
  bool is_done = done();
  while (!is_done) {
    const std::chrono::duration<double, std::nano> left =
        deadline - std::chrono::steady_clock::now();
    const double most_ns = std::min(helped_up_to_ns, left.count());
    Claim claim;
    bool claimed = false;
    {
      const auto lock = spin_then_lock(state_->mutex);
      claimed = state_->claim_locked(claim, false, most_ns);
      if (claimed) state_->helped = true;
    }
    if (!claimed && spun) break;
    if (claimed)
      state_->run(claim, ready_now, most_ns);
    else
      state_->spin(done);
    spun = !claimed;
    is_done = done();
  }
  // What it left is for others.
  unsigned wanted = 0;
  {
    const auto lock = spin_then_lock(state_->mutex);
    wanted = state_->wake_locked(0);
  }
  state_->wake_some(wanted);
  return is_done;
}

void ComputePool::work(const std::shared_ptr<State>& state, bool last,
                       const std::stop_token& stop) {
  ReadyNodes ready_now;
  bool spun = true;  // since it last had or heard of work
  auto lock = spin_then_lock(state->mutex);
  while (!stop.stop_requested()) {
    Claim claim;
    const bool claimed = state->claim_locked(claim, last);
    if (claimed || !spun) {
      // Who was woken too late, when others had taken what there was, waits for what they make ready.
      lock.unlock();
      if (claimed) state->run(claim, ready_now);
      state->spin([&] { return stop.stop_requested(); });
      lock = spin_then_lock(state->mutex);
      spun = true;
      continue;
    }
    ++state->sleeping;
    state->slept = std::chrono::steady_clock::now();
    state->wake.wait(lock, stop, [&] { return state->woken > 0; });
    --state->sleeping;
    if (state->woken > 0) --state->woken;
    spun = false;
  }
  --state->running_workers;
  state->ended.notify_all();
}

}  // namespace stoker::device::cpu
