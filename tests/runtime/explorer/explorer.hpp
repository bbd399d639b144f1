// Runs a small program of a few threads in every order that could matter: a model checker for the
// lock-free parts, after Relacy (Dmitry Vyukov) and CHESS (Musuvathi, Qadeer, 2007).
//
// A scenario is a class: its constructor sets up, its member functions are the threads, and end()
// judges when all have ended. Each schedule makes a new one.
//
//     struct Race { Atomic<int> n; void first(); void second(); void end() { check(n == 2, "…"); } };
//     const Report report = explore<Race>({&Race::first, &Race::second});
//
// Threads are fibers, switched before each operation on an instrumented object (explored_types.hpp)
// and nowhere else. Depth-first search goes through all choices: which thread goes on, and which
// store a load reads (explorer_memory.hpp says what of weak memory is modelled). Sleep sets
// (Godefroid, 1996) leave out schedules that differ only in the order of independent operations.
//
// Proves:   for this scenario, within that memory model: no check() fails, nobody waits for ever,
//           no instrumented object is touched after its end, no race on a Plain or on the life of
//           an instrumented object, no endless loop that does not yield. With a bound, the
//           same for the schedules within it.
// Does not: say anything of more threads or longer runs, nor of fields that are not instrumented;
//           those are as safe as a Plain that is touched beside them.
// Rules:    a scenario is deterministic but for the schedule. What its threads share is
//           instrumented; what it merely counts, it counts per thread and adds up in end().
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "explorer_memory.hpp"

namespace stoker::explore {

/// The picks that make up one schedule, as a failure prints them.
using Schedule = std::vector<std::uint8_t>;

/// Orders that the code under test asks for and does not get: to see a test fail without them.
struct Weakening {
  bool acquire = false;  ///< acquiring operations are relaxed
  bool release = false;  ///< releasing operations are relaxed
  bool seq_cst = false;  ///< seq_cst operations acquire and release, no more; so with the others
};

struct Options {
  static constexpr unsigned any = ~0U;
  /// How often a schedule may interrupt a thread that could go on, or let one read an older store.
  /// Nothing is left out for being the same as another with a bound: that one might lie beyond it.
  unsigned bound = any;
  /// Loads may read older stores. Without: sequential consistency, but races are still seen.
  bool stale_reads = true;
  Weakening without = {};
  /// Runs only this schedule.
  Schedule replay = {};
  std::size_t most_schedules = 3'000'000;
};

struct Report {
  std::size_t schedules = 0;  ///< run to their end, each different in what it does
  std::size_t cut = 0;        ///< left because one that does the same had been run
  bool complete = false;      ///< nothing is left to run
  std::string failure;        ///< of the first schedule that failed, or empty
  Schedule schedule;          ///< that one
  std::string steps;          ///< what was done in it, a line each
};
/// The failure with how to repeat it, or a summary.
[[nodiscard]] std::string to_string(const Report& report);

/// Within a scenario: fails the schedule, and with it the exploration.
void check(bool holds, const char* what) noexcept;

/// A scenario behind one interface.
class Program {
 public:
  virtual void set_up() = 0;
  virtual void run(std::size_t thread) = 0;
  virtual void end() = 0;      ///< judges and takes down
  virtual void abandon() = 0;  ///< somebody is still inside, for ever
  [[nodiscard]] virtual std::size_t threads() const = 0;

 protected:
  ~Program() = default;
};
Report explore(Program& program, const Options& options);

template <class Scenario> class ScenarioProgram final : public Program {
 public:
  using Body = void (Scenario::*)();
  explicit ScenarioProgram(std::vector<Body> bodies) : bodies_(std::move(bodies)) {}
  void set_up() override { scenario_ = std::make_unique<Scenario>(); }
  void run(std::size_t thread) override { ((*scenario_).*bodies_[thread])(); }
  void end() override {
    scenario_->end();
    scenario_.reset();
  }
  void abandon() override {
    // Reachable, so that it is no leak: destroying it would wake those who lie in it.
    static auto& abandoned = *std::make_unique<std::vector<std::unique_ptr<Scenario>>>().release();
    abandoned.push_back(std::move(scenario_));
  }
  [[nodiscard]] std::size_t threads() const override { return bodies_.size(); }

 private:
  std::vector<Body> bodies_;
  std::unique_ptr<Scenario> scenario_;
};

template <class Scenario>
Report explore(std::initializer_list<void (Scenario::*)()> threads, const Options& options = {}) {
  ScenarioProgram<Scenario> program{threads};
  return explore(static_cast<Program&>(program), options);
}

// --- For instrumented objects ---------------------------------------------------------------------

/// Whether two operations on the same object may change places.
enum class Touch : std::uint8_t { reads, writes };

/// The running exploration as an instrumented object sees it.
class Explorer {
 public:
  /// Null outside an exploration: then objects are what they look like.
  [[nodiscard]] static Explorer* current() noexcept { return current_; }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }
  /// The running thread; 0 while setting up and judging.
  [[nodiscard]] ThreadNumber self() const noexcept { return self_; }

  /// Before each operation: lets others go first. Returns when the thread may go on and `possible`
  /// (a callable that only looks) holds.
  template <class Possible>
  void step(const void* object, Touch touch, const char* what, Possible&& possible) {
    wait_for_turn({object, touch, what, &possible, [](const void* p) {
                     return (*static_cast<const std::remove_reference_t<Possible>*>(p))();
                   }});
  }
  void step(const void* object, Touch touch, const char* what) {
    step(object, touch, what, [] { return true; });
  }
  /// What the code under test gets when it asks for this order.
  [[nodiscard]] virtual std::memory_order granted(std::memory_order order) const noexcept = 0;
  /// One of 0 … count-1, each of them in some schedule.
  [[nodiscard]] virtual unsigned choose(unsigned count) = 0;
  /// Which store a load reads: how far back.
  [[nodiscard]] virtual unsigned choose_store(const void* object, std::memory_order order) = 0;
  /// The present operation has turned out to leave its object as it was.
  virtual void only_reads() noexcept = 0;
  /// For loops that wait: goes on when what the thread read last has been written again.
  virtual void yield() = 0;
  virtual void fail(const char* what) noexcept = 0;

 protected:
  struct Operation {
    const void* object = nullptr;
    Touch touch = Touch::reads;
    const char* what = "";
    const void* condition = nullptr;
    bool (*possible)(const void*) = nullptr;
  };
  ~Explorer() = default;
  virtual void wait_for_turn(const Operation& operation) = 0;

  static inline Explorer* current_ = nullptr;
  Memory memory_;
  ThreadNumber self_ = 0;
};

}  // namespace stoker::explore
