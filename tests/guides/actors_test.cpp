// The examples of docs/actors.md and docs/testing.md; see guides_test.cpp.
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <iostream>
#include <latch>

#include "stoker/api/actors.hpp"
#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/testing.hpp"

namespace {

using namespace std::chrono_literals;

struct Add {
  int value = 0;
};
struct Total {};

class Counter : public stoker::Actor {
 public:
  void on(Add add) { total_ += add.value; }
  int on(Total) { return total_; }

 private:
  int total_ = 0;
};

class ActorGuide : public testing::Test {
 protected:
  template <class Condition> static void until(Condition&& holds) {
    while (!holds()) std::this_thread::yield();
  }

  std::shared_ptr<stoker::ThreadPool> executor =
      stoker::make_thread_pool(std::make_shared<stoker::SystemClock>(), {.threads = 2});
  stoker::ActorRef<Counter> counter = stoker::spawn<Counter>(executor, {.name = "counter"});
};

TEST(ActorGuides, actors) {
  const auto executor = stoker::make_thread_pool(std::make_shared<stoker::SystemClock>());
  const auto counter = stoker::spawn<Counter>(executor, {.name = "counter"});
  counter.cast(Add{2}).value();                   // no answer
  const int total = counter.call(Total{}).get();  // a Future<int>
  EXPECT_EQ(total, 2);
}

TEST_F(ActorGuide, addresses) {
  const stoker::ActorAddress somebody = counter;
  const auto again = stoker::actor_cast<Counter>(somebody);
  EXPECT_EQ(again, counter);
  struct Other : stoker::Actor {};
  EXPECT_EQ(stoker::try_actor_cast<Other>(somebody).error().code(),
            stoker::ErrorCode::invalid_argument);
}

TEST_F(ActorGuide, time_limits) {
  const auto answer = counter.call(Total{}, {.timeout = 10s});
  EXPECT_EQ(answer.get(), 0);
}

class Desk : public stoker::Actor {
 public:
  explicit Desk(stoker::ActorRef<Counter> counter) : counter_{std::move(counter)} {}
  stoker::Future<int> on(Total total) { return forward(counter_, total); }

 private:
  stoker::ActorRef<Counter> counter_;
};

struct Rectify {
  std::vector<float> values;
};

class Rectifier : public stoker::Actor {
 public:
  explicit Rectifier(stoker::Device device) : device_{std::move(device)} {}
  stoker::Future<std::vector<float>> on(const Rectify& work) {
    return device_.run("relu", {device_.buffer(work.values)}).read<float>();
  }

 private:
  stoker::Device device_;
};

TEST_F(ActorGuide, futures_as_answers) {
  const auto desk = stoker::spawn<Desk>(executor, {.name = "desk"}, counter);
  counter.cast(Add{3}).value();
  EXPECT_EQ(desk.call(Total{}).get(), 3);

  stoker::SystemOptions options;
  options.executor = executor;
  const stoker::System system{options};
  const auto rectifier =
      stoker::spawn<Rectifier>(executor, {.name = "rectifier"}, system.device("cpu"));
  EXPECT_EQ(rectifier.call(Rectify{{-1.0F, 2.0F}}).get(), (std::vector{0.0F, 2.0F}));
}

struct Report {};
class Reporter : public stoker::Actor {
 public:
  explicit Reporter(stoker::ActorRef<Counter> counter) : counter_{std::move(counter)} {}
  void on(Report) {
    then(counter_.call(Total{}), [this](const stoker::Result<int>& total) { last_ = total; });
  }
  stoker::Result<int> on(Total) { return last_; }

 private:
  stoker::ActorRef<Counter> counter_;
  stoker::Result<int> last_ = -1;
};

TEST_F(ActorGuide, asking_from_a_handler) {
  const auto reporter = stoker::spawn<Reporter>(executor, {.name = "reporter"}, counter);
  counter.cast(Add{4}).value();
  reporter.cast(Report{}).value();
  until([&] { return reporter.call(Total{}).get() == 4; });
}

boost::asio::awaitable<int> ask(stoker::ActorRef<Counter> counter) {
  co_return co_await stoker::async_get(counter.call(Total{}));
}

TEST_F(ActorGuide, coroutines) {
  boost::asio::io_context loop;
  auto total = boost::asio::co_spawn(loop, ask(counter), boost::asio::use_future);
  loop.run();
  EXPECT_EQ(total.get(), 0);
}

TEST_F(ActorGuide, mailboxes) {
  const auto latest = stoker::spawn<Counter>(
      executor, {.name = "latest", .capacity = 16, .overflow = stoker::OverflowRule::drop_oldest});
  EXPECT_TRUE(latest.cast(Add{1}));
}

TEST_F(ActorGuide, processes) {
  const auto clerk = stoker::spawn_process<Add, stoker::Request<Total, int>>(
      executor, {.name = "clerk"}, [](auto& self) {
        for (int total = 0;;)
          self.receive([&](Add add) { total += add.value; },
                       [&](stoker::Request<Total, int> ask) { ask.reply(total); },
                       stoker::after(1min, [&] { total = 0; }));  // nobody wrote for a minute
      });
  clerk.cast(Add{2}).value();
  EXPECT_EQ(clerk.call(Total{}).get(), 2);
}

TEST_F(ActorGuide, processes_that_pick) {
  const auto sorter = stoker::spawn_process<Add, stoker::Request<Total, int>>(
      executor, {.name = "sorter"}, [](auto& self) {
        int big = 0;
        for (int i = 0; i < 2; ++i)
          self.receive(stoker::when([](const Add& add) { return add.value >= 100; },
                                    [&](Add add) { big += add.value; }));
        self.receive([&](stoker::Request<Total, int> ask) { ask.reply(big); });
      });
  for (const int value : {1, 100, 2, 200}) sorter.cast(Add{value}).value();
  EXPECT_EQ(sorter.call(Total{}).get(), 300);
}

struct Hire {};
struct Who {};

class Foreman : public stoker::Actor {
 public:
  void on(Hire) {
    trap_exit();
    worker_ = spawn_link<Counter>({.name = "worker"});
  }
  stoker::ActorRef<Counter> on(Who) { return worker_; }

 private:
  void on_exit(const stoker::Exit& exit) override {
    if (exit.from == worker_.id()) on(Hire{});
  }
  stoker::ActorRef<Counter> worker_;
};

TEST_F(ActorGuide, links) {
  const auto foreman = stoker::spawn<Foreman>(executor, {.name = "foreman"});
  foreman.cast(Hire{}).value();
  const auto first = foreman.call(Who{}).get();
  first.exit(stoker::ExitReason::kill());
  until([&] { return foreman.call(Who{}).get() != first; });
  EXPECT_TRUE(foreman.call(Who{}).get().alive());
}

struct Open {};
struct Flushed {};

class Archive : public stoker::Actor {
 public:
  void on(Open) { trap_exit(); }
  void on(Flushed) { leave(why_); }

 private:
  void on_parent_exit(const stoker::Exit& exit) override {
    why_ = exit.reason;
    self<Archive>().cast(Flushed{}).value();  // when all is written
  }
  stoker::ExitReason why_;
};

TEST_F(ActorGuide, parents) {
  const auto supervisor =
      stoker::start_supervisor(executor, {}, {stoker::child<Archive>("archive")}).get();
  const auto archive = stoker::actor_cast<Archive>(supervisor.which_children().get().at(0).actor);
  archive.call(Open{}).get();
  supervisor.stop().get();
  EXPECT_EQ(archive.ended().get(), stoker::ExitReason::shutdown());
}

class Watcher : public stoker::Actor {
 public:
  void on(const stoker::ActorAddress& somebody) { monitor(somebody); }

 private:
  void on_down(const stoker::Down& down) override {
    std::cout << down.name << " has ended: " << down.reason.to_string() << std::endl;
  }
};

TEST_F(ActorGuide, monitors) {
  const auto watcher = stoker::spawn<Watcher>(executor, {.name = "watcher"});
  watcher.call(stoker::ActorAddress{counter}).get();
  testing::internal::CaptureStdout();
  counter.exit(stoker::ExitReason::kill());
  EXPECT_EQ(counter.ended().get(), stoker::ExitReason::killed());
  watcher.stop().get();  // behind the word of the end
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "counter has ended: killed\n");
}

TEST_F(ActorGuide, ends) {
  const auto ended = counter.stop({.patience = 5s});
  const stoker::ExitReason why = ended.get();
  EXPECT_EQ(why, stoker::ExitReason::normal());
}

TEST_F(ActorGuide, names) {
  stoker::ActorRegistry names;
  names.register_name("counter", counter);
  const auto found = names.find<Counter>("counter");
  EXPECT_EQ(found, counter);
}

TEST_F(ActorGuide, groups) {
  const stoker::ActorGroup<Counter> counters;
  counters.join(counter);
  const std::size_t taken = counters.cast_all(Add{1});
  const auto one = counters.next();  // the members in turn; empty if there is none
  EXPECT_EQ(taken, 1U);
  EXPECT_EQ(one.call(Total{}).get(), 1);
}

struct Start {};
struct Beat {};

class Heart : public stoker::Actor {
 public:
  void on(Start) { timer_ = stoker::cast_every(self<Heart>(), 10ms, Beat{}); }
  void on(Beat) { ++beats_; }
  int on(Total) { return beats_; }

 private:
  stoker::SendTimer timer_;  // goes with the actor
  int beats_ = 0;
};

TEST_F(ActorGuide, timed_sends) {
  const auto heart = stoker::spawn<Heart>(executor, {.name = "heart"});
  heart.cast(Start{}).value();
  until([&] { return heart.call(Total{}).get() >= 2; });
}

TEST_F(ActorGuide, supervisors) {
  const stoker::LogCapture quiet;
  const stoker::Supervisor pool =
      stoker::start_supervisor(executor, {.name = "pool", .intensity = 10},
                               {stoker::child<Counter>("one"), stoker::child<Counter>("two")})
          .get();
  EXPECT_EQ(pool.count_children().get().active, 2U);
  EXPECT_EQ(pool.stop().get(), stoker::ExitReason::normal());
}

TEST_F(ActorGuide, child_specifications) {
  const stoker::LogCapture quiet;
  stoker::ActorRegistry names;
  stoker::ChildSpec spec;
  spec.id = "counter";
  spec.restart = stoker::Restart::transient;
  spec.shutdown = stoker::Shutdown{1s};
  spec.start = [&](const stoker::ChildStart& start) {
    const auto counter = start.spawn<Counter>({.name = "counter"});
    names.register_name("counter", counter);
    return stoker::ActorAddress{counter};
  };
  const auto pool = stoker::start_supervisor(executor, {.intensity = 3}, {spec}).get();
  const auto first = names.whereis("counter");
  first.exit(stoker::ExitReason::kill());
  until([&] { return names.whereis("counter") && names.whereis("counter") != first; });
  static_cast<void>(pool.stop().get());
}

TEST_F(ActorGuide, one_specification) {
  stoker::ChildSpec session;
  session.restart = stoker::Restart::temporary;
  session.start = [](const stoker::ChildStart& start) -> stoker::Result<stoker::ActorAddress> {
    return stoker::ActorAddress{start.spawn<Counter>({.name = start.argument<std::string>()})};
  };
  const auto sessions = stoker::start_supervisor(
                            executor, {.strategy = stoker::Strategy::simple_one_for_one}, {session})
                            .get();
  const stoker::ActorAddress one = sessions.start_child(std::string{"session 1"}).get();
  EXPECT_EQ(one.name(), "session 1");
}

TEST(ActorGuides, the_systems_tree) {
  const stoker::System system;
  system.supervisor()
      .start_child(stoker::supervisor_child({.name = "counters", .intensity = 10},
                                            {stoker::child<Counter>("one")}))
      .get();
  EXPECT_EQ(system.supervisor().count_children().get().supervisors, 1U);
}

TEST(ActorGuides, lost_devices) {
  const stoker::LogCapture quiet;
  const stoker::Faults faults;
  stoker::SystemOptions options;
  options.drivers = stoker::with_faults(faults);
  const stoker::System system{options};
  const stoker::Device device = system.device("cpu");
  const std::vector<float> values{-1.0F, 2.0F};
  faults.lose_at_submission();
  const auto rectified = [&] {
    for (;;) {
      try {
        return device.run("relu", {device.buffer(values)}).read<float>().get();
      } catch (const stoker::Error& error) {
        if (error.code() != stoker::ErrorCode::device_lost) throw;
        device.when_ready().get();  // throws if the device stays lost
      }
    }
  };
  EXPECT_EQ(rectified(), (std::vector{0.0F, 2.0F}));
  EXPECT_EQ(faults.counters().losses, 1U);
}

TEST(TestingGuide, devices) {
  const stoker::LogCapture quiet;
  stoker::TestScheduler scheduler;
  stoker::Faults faults;
  stoker::SystemOptions options;
  options.executor = scheduler.executor();
  options.clock = scheduler.clock();
  options.drivers = stoker::with_faults(faults);
  const stoker::System system{options};
  const stoker::Device device = system.device("cpu");

  faults.fail_kernel("relu");
  const auto result = device.run("relu", {device.buffer({-1.0F})}).read<float>();
  while (!result.ready()) scheduler.run();
  EXPECT_EQ(result.wait().error().code(), stoker::ErrorCode::handler_failed);
}

TEST_F(ActorGuide, watching_for_hogs) {
  std::latch told{1};
  std::string hogging;
  const auto warn = [&](const std::string& who) {
    hogging = who;
    told.count_down();
  };
  executor->stall_detector().start(
      executor->clock(), 50ms, [&](const stoker::StalledThread& stalled) { warn(stalled.who); });
  struct Hog : stoker::Actor {
    explicit Hog(std::latch& latch) : told{&latch} {}
    void on(Start) { told->wait(); }
    std::latch* told;
  };
  stoker::spawn<Hog>(executor, {.name = "hog"}, told).call(Start{}).get();
  executor->stall_detector().stop();
  EXPECT_EQ(hogging, "hog");
}

}  // namespace
