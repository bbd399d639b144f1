#include "explorer.hpp"

#include <stdexcept>

#include "explorer_choices.hpp"
#include "explorer_fiber.hpp"

namespace stoker::explore {
namespace {

constexpr std::size_t most_steps = 5000;

class Engine final : public Explorer {
 public:
  Engine(Program& program, const Options& options)
      : program_(&program), options_(&options), choices_(options.replay) {
    if (program.threads() >= max_threads) throw std::invalid_argument{"too many threads"};
    threads_.resize(program.threads() + 1);
    for (ThreadNumber t = 1; t < threads_.size(); ++t) threads_[t].fiber = make_fiber(t);
    current_ = this;
  }
  ~Engine() { current_ = nullptr; }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Report run() {
    Report report;
    do {
      run_schedule();
      ++(cut_ ? report.cut : report.schedules);
      if (!failure_.empty()) return describe_failure(report), report;
      if (!options_->replay.empty()) return report;
      if (report.schedules + report.cut >= options_->most_schedules) return report;
    } while (choices_.next());
    report.complete = true;
    return report;
  }

  std::memory_order granted(std::memory_order order) const noexcept override {
    using Order = std::memory_order;
    const Weakening& without = options_->without;
    if (order == Order::seq_cst && (without.seq_cst || without.acquire || without.release))
      order = Order::acq_rel;
    if (order == Order::acq_rel && without.acquire) order = Order::release;
    if (order == Order::acq_rel && without.release) order = Order::acquire;
    if (order == Order::acquire && without.acquire) return Order::relaxed;
    if (order == Order::release && without.release) return Order::relaxed;
    return order;
  }
  unsigned choose(unsigned count) override {
    if (count <= 1 || self_ == 0 || draining()) return 0;
    return choices_.pick_store(count);
  }
  unsigned choose_store(const void* object, std::memory_order order) override {
    threads_[self_].read_last = object;
    if (!options_->stale_reads) return 0;
    // An older store than those that came while the thread was about to load: that is what it reads
    // where it is picked before them.
    if (reduces() && memory_.stores(object) != threads_[self_].stores_before) return 0;
    if (spent_ >= options_->bound) return 0;
    const unsigned back = choose(memory_.choices(self_, object, order));
    if (back != 0) ++spent_;
    if (back != 0) steps_.push_back({self_, "  … an older store of", object});
    return back;
  }
  void only_reads() noexcept override { threads_[self_].done = Touch::reads; }
  void yield() override {
    const void* object = threads_[self_].read_last;
    step(object, Touch::reads, "wait for a store to",
         [&] { return memory_.seen(waiting_, object) < memory_.stores(object); });
    if (self_ != 0) memory_.load(self_, object, 0, std::memory_order_relaxed);
  }
  void fail(const char* what) noexcept override {
    if (failure_.empty()) failure_ = what;
  }

 private:
  struct Thread {
    std::unique_ptr<Fiber> fiber;
    Operation next;
    std::size_t stores_before = 0;  // to the object of `next`, when it was about to be done
    bool ended = false;
    Touch done = Touch::reads;  // what its last operation came to
    const void* read_last = nullptr;
  };
  struct Step {
    ThreadNumber thread;
    const char* what;
    const void* object;
  };

  std::unique_ptr<Fiber> make_fiber(ThreadNumber number) {
    return std::make_unique<Fiber>([this, number] {
      for (;;) {
        program_->run(number - 1);
        threads_[number].ended = true;
        threads_[number].fiber->leave();
      }
    });
  }

  void wait_for_turn(const Operation& operation) override {
    if (self_ == 0) {
      if (!operation.possible(operation.condition)) fail("it waits for ever when all have ended");
      return;
    }
    Thread& thread = threads_[self_];
    thread.next = operation;
    thread.stores_before = memory_.stores(operation.object);
    thread.fiber->leave();
    thread.done = operation.touch;
    steps_.push_back({self_, operation.what, operation.object});
    if (!memory_.destroyed(operation.object)) return;
    fail("something is touched after its end");
    doomed_ = true;
    for (;;) thread.fiber->leave();
  }

  void run_schedule() {
    memory_.reset();
    steps_.clear();
    failure_.clear();
    choices_.rewind();
    spent_ = 0;
    sleeping_ = 0;
    cut_ = doomed_ = false;
    program_->set_up();
    for (ThreadNumber t = 1; t < threads_.size(); ++t) memory_.begin(t);
    for (ThreadNumber t = 1; t < threads_.size(); ++t) {
      threads_[t].ended = false;
      enter(t);  // to its first operation: what comes before concerns nobody else
    }
    ThreadNumber last = 0;
    while (!doomed_) {
      const Mask enabled = find_enabled();
      if (enabled == 0) break;
      const ThreadNumber next = pick_thread(enabled, last);
      Operation operation = threads_[next].next;
      if (last != next && (enabled & bit(last)) != 0) ++spent_;
      enter(next);
      operation.touch = threads_[next].done;
      for (ThreadNumber t = 1; t < threads_.size(); ++t)
        if (depend(operation, threads_[t].next)) sleeping_ &= ~bit(t);
      last = next;
      if (steps_.size() > most_steps) fail("it does not end"), doomed_ = true;
    }
    for (ThreadNumber t = 1; t < threads_.size() && !doomed_; ++t)
      if (!threads_[t].ended) fail("somebody waits for ever"), doomed_ = true;
    if (doomed_) return abandon();
    for (ThreadNumber t = 1; t < threads_.size(); ++t) memory_.end(t);
    program_->end();
    if (failure_.empty()) failure_ = memory_.fault();
  }

  void enter(ThreadNumber thread) {
    self_ = thread;
    threads_[thread].fiber->enter();
    self_ = 0;
  }

  Mask find_enabled() {
    Mask enabled = 0;
    for (waiting_ = 1; waiting_ < threads_.size(); ++waiting_) {
      const Thread& thread = threads_[waiting_];
      if (!thread.ended &&
          (memory_.destroyed(thread.next.object) || thread.next.possible(thread.next.condition)))
        enabled |= bit(waiting_);
    }
    return enabled;
  }

  static bool depend(const Operation& a, const Operation& b) {
    return a.object == b.object && (a.touch == Touch::writes || b.touch == Touch::writes);
  }

  /// Whether schedules are left out that do the same as others.
  [[nodiscard]] bool reduces() const { return options_->bound == Options::any; }
  /// Nothing more is chosen: the schedule only runs to its end.
  [[nodiscard]] bool draining() const { return cut_ || !failure_.empty(); }

  ThreadNumber pick_thread(Mask enabled, ThreadNumber last) {
    if (draining()) return first_of(enabled, last);
    if (choices_.at_end()) {
      Mask left = reduces() ? enabled & ~sleeping_ : enabled;
      if (spent_ >= options_->bound && (left & bit(last)) != 0) left = bit(last);
      if (left == 0) return cut_ = true, first_of(enabled, last);
      choices_.add_threads(left, sleeping_, last);
    }
    const Choices::Branch& branch = choices_.pick_thread();
    if ((enabled & bit(branch.picked)) == 0)
      throw std::logic_error{"the scenario is not deterministic"};
    sleeping_ = reduces() ? branch.sleeping : 0;
    return branch.picked;
  }

  /// Leaves those who are inside where they are; what they hold stays reachable.
  void abandon() {
    static auto& abandoned = *std::make_unique<std::vector<std::unique_ptr<Fiber>>>().release();
    for (ThreadNumber t = 1; t < threads_.size(); ++t) {
      abandoned.push_back(std::move(threads_[t].fiber));
      threads_[t].fiber = make_fiber(t);
    }
    program_->abandon();
  }

  void describe_failure(Report& report) const {
    report.failure = failure_;
    report.schedule = choices_.picked();
    const auto line = [&](ThreadNumber thread, const char* what, const void* object) {
      report.steps += std::to_string(thread) + ": " + what;
      if (object != nullptr) report.steps += " #" + std::to_string(memory_.number(object));
      report.steps += '\n';
    };
    for (const Step& step : steps_) line(step.thread, step.what, step.object);
    for (ThreadNumber t = 1; t < threads_.size(); ++t)
      if (doomed_ && !threads_[t].ended)
        line(t, "stays before", nullptr), line(t, threads_[t].next.what, threads_[t].next.object);
  }

  Program* program_;
  const Options* options_;
  std::vector<Thread> threads_;
  Choices choices_;
  // Of the present schedule:
  unsigned spent_ = 0;  // of the bound
  Mask sleeping_ = 0;
  ThreadNumber waiting_ = 0;  // whose condition is being looked at
  bool cut_ = false;
  bool doomed_ = false;
  std::string failure_;
  std::vector<Step> steps_;
};

}  // namespace

void check(bool holds, const char* what) noexcept {
  if (!holds) Explorer::current()->fail(what);
}

Report explore(Program& program, const Options& options) { return Engine{program, options}.run(); }

std::string to_string(const Report& report) {
  std::string text = std::to_string(report.schedules) + " schedules (" +
                     std::to_string(report.cut) + " cut)" +
                     (report.complete ? ", all there are" : "");
  if (report.failure.empty()) return text;
  text += "\n" + report.failure + "\nreplay: {";
  for (const unsigned pick : report.schedule) text += std::to_string(pick) + ", ";
  return text + "}\n" + report.steps;
}

}  // namespace stoker::explore
