// Every schedule of small scenarios of the real parker.cpp; explorer.hpp says what that proves.
#include <gtest/gtest.h>

#include <memory>

#include "stoker/tests/runtime/explorer/explored_runtime.hpp"
#include "stoker/tests/runtime/explorer/explorer_expect.hpp"

namespace stoker::explore {
namespace {

using stoker_explored::Parker;

/// A waiter with a context; that resumes it through an Event, which fails if it is set twice.
template <class Context> struct Parked {
  Context context;
  std::unique_ptr<Parker> parker = std::make_unique<Parker>();
  Parker* shared = parker.get();
  Plain<int> news{0};

  void unpark_first() { news = 1, shared->unpark(); }
  void unpark_again() { shared->unpark(); }
  void park() {
    parker->park();
    check(news.get() == 1, "it wakes before there is news");
  }
  void park_and_destroy() {
    park();
    parker.reset();
  }
  /// Gives up at some moment, and waits without a deadline then.
  void park_twice() {
    if (!parker->park_until(ExploredClock::later)) parker->park();
    check(news.get() == 1, "it wakes before there is news");
    parker.reset();
  }
  void end() {}
};
struct NoContext {};  // a plain thread

template <class Context> Report unparked(const Options& options = {}) {
  using P = Parked<Context>;
  return explore<P>({&P::park_and_destroy, &P::unpark_first}, options);
}
template <class Context> Report timed_out(const Options& options = {}) {
  using P = Parked<Context>;
  return explore<P>({&P::park_twice, &P::unpark_first}, options);
}

TEST(ParkerExplored, an_unpark_before_or_while_it_parks_ends_the_wait_and_the_parker) {
  expect_holds(unparked<ExploredContext>(), 3);
}

TEST(ParkerExplored, a_plain_thread_wakes_as_well) { expect_holds(unparked<NoContext>(), 3); }

TEST(ParkerExplored, a_deadline_and_an_unpark_make_one_end_of_the_wait) {
  expect_holds(timed_out<ExploredContext>(), 10);
}

TEST(ParkerExplored, a_plain_thread_with_a_deadline_loses_no_unpark) {
  expect_holds(timed_out<NoContext>(), 10);
}

struct Again : Parked<ExploredContext> {
  void waiter() {
    park();
    again.set();
    parker->park();
  }
  void second() { again.wait(), shared->unpark(); }
  Event again;
};

TEST(ParkerExplored, each_wait_takes_one_permit) {
  expect_holds(explore<Again>({&Again::waiter, &Again::unpark_first, &Again::second}), 20);
}

struct TwoUnparks : Parked<ExploredContext> {
  // Whichever comes first has brought the news, or not: only the permits are looked at.
  void waiter() { parker->park(); }
};

TEST(ParkerExplored, two_unparks_at_once_resume_it_once) {
  expect_holds(explore<TwoUnparks>(
                   {&TwoUnparks::waiter, &TwoUnparks::unpark_first, &TwoUnparks::unpark_again}),
               10);
}

/// The time-out comes from a clock's thread, as it does for processes.
struct Timed : Parked<ExploredContext> {
  ExploredClock clock;
  bool woken = false;
  void waiter() {
    woken = parker->park_until(clock, ExploredClock::later);
    if (!woken) parker->park();
    check(news.get() == 1, "it wakes before there is news");
    parker.reset();
  }
  void time_passes() { clock.tick(); }
};

TEST(ParkerExplored, a_clock_and_an_unpark_resume_it_once_between_them) {
  expect_holds(explore<Timed>({&Timed::waiter, &Timed::unpark_first, &Timed::time_passes}), 50);
}

TEST(ParkerExplored, the_explorer_would_see_an_order_that_is_too_weak) {
  expect_found(unparked<ExploredContext>, {.without = {.acquire = true}});
  expect_found(unparked<ExploredContext>, {.without = {.release = true}});
}

/// Blocks whatever commit() says.
class Deaf final : public stoker_explored::BlockingContext {
 public:
  Deaf() { stoker_explored::set_blocking_context(this); }
  ~Deaf() { stoker_explored::set_blocking_context(nullptr); }
  void block(Parker& parker, const Parker::time_point*) noexcept override {
    Resumption resumption;
    parker.bind(resumption);
    static_cast<void>(parker.commit());
    resumption.event.wait();
  }

 private:
  struct Resumption final : stoker_explored::Resumable {
    void resume() noexcept override { event.set(); }
    Event event;
  };
};

TEST(ParkerExplored, the_explorer_would_see_a_context_that_blocks_after_an_unpark) {
  expect_found(unparked<Deaf>);
  stoker_explored::set_blocking_context(nullptr);
}

/// Looks at itself once more after it has given the permit.
class Clumsy {
 public:
  void park() {
    while (!permit_.load()) Explorer::current()->yield();
  }
  void unpark() {
    permit_.store(true);
    unparks_.fetch_add(1);
  }

 private:
  Atomic<bool> permit_{false};
  Atomic<int> unparks_{0};
};
struct ClumsilyParked {
  std::unique_ptr<Clumsy> parker = std::make_unique<Clumsy>();
  Clumsy* shared = parker.get();
  void waiter() { parker->park(), parker.reset(); }
  void unpark() { shared->unpark(); }
  void end() {}
};

TEST(ParkerExplored, the_explorer_would_see_an_unpark_that_touches_a_parker_after_its_end) {
  expect_found([](const Options& options) {
    return explore<ClumsilyParked>({&ClumsilyParked::waiter, &ClumsilyParked::unpark}, options);
  });
}

}  // namespace
}  // namespace stoker::explore
