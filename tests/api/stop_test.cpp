// The end of a system: in order, wherever it is stopped.
#include <gtest/gtest.h>

#include <latch>
#include <mutex>
#include <thread>

#include "gated_kernel.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/stall_detector.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

/// What happened, in order.
class Diary {
 public:
  void note(std::string what) {
    const std::scoped_lock lock{mutex_};
    notes_.push_back(std::move(what));
  }
  [[nodiscard]] std::vector<std::string> notes() {
    const std::scoped_lock lock{mutex_};
    return notes_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

/// Has something to finish when its supervisor ends it: until the test says that it has.
class Finishing final : public Actor {
 public:
  struct Trap {};
  struct Finish {};
  Finishing(Diary* diary, std::string name, Promise<void> told)
      : diary_{diary}, name_{std::move(name)}, told_{std::move(told)} {}
  ~Finishing() override { diary_->note(name_ + " has ended"); }
  void on(Trap) { trap_exit(); }
  void on(Finish) { leave(ExitReason::shutdown()); }

 private:
  void on_parent_exit(const Exit&) override {
    diary_->note(name_ + " was told");
    told_.set();
  }
  Diary* diary_;
  std::string name_;
  Promise<void> told_;
};

/// A database, and behind it one who uses it.
struct Program {
  [[nodiscard]] ChildSpec finishing(const std::string& name, ActorRef<Finishing>& actor,
                                    Promise<void>& told) {
    ChildSpec spec;
    spec.id = name;
    spec.shutdown = Shutdown::infinity();
    spec.start = [this, name, &actor, &told](const ChildStart& start) -> Result<ActorAddress> {
      actor = start.spawn<Finishing>({.name = name}, &diary, name, std::move(told));
      STOKER_TRY(actor.cast(Finishing::Trap{}));
      return ActorAddress{actor};
    };
    return spec;
  }
  [[nodiscard]] Future<ActorAddress> start(const System& system) {
    user_told = told_user.future();
    database_told = told_database.future();
    const Supervisor program = system.supervisor();
    static_cast<void>(program.start_child(finishing("database", database, told_database)));
    return program.start_child(
        supervisor_child({.name = "users"}, {finishing("user", user, told_user)}));
  }

  Diary diary;
  ActorRef<Finishing> database;
  ActorRef<Finishing> user;
  Promise<void> told_database;
  Promise<void> told_user;
  Future<void> database_told;
  Future<void> user_told;
};

/// A system on an executor that is the host's, and runs when it is told.
class OnTheHostsExecutor : public testing::Test {
 protected:
  void SetUp() override {
    options.executor = executor;
    options.clock = std::shared_ptr<Clock>{std::shared_ptr<void>{}, &clock};
    options.stall_limit = 0ns;
    options.stop_patience = 1h;  // nothing here waits that long
    system.emplace(options);
    const auto started = program.start(*system);
    executor->run_all();
    ASSERT_TRUE(started.ready());
  }
  void TearDown() override {
    system.reset();
    executor->run_all();  // what is posted keeps the executor
  }
  /// After whatever has told the system to stop.
  void expect_that_all_end_in_order() {
    executor->run_all();
    EXPECT_EQ(program.diary.notes(), (std::vector<std::string>{"user was told"}));
    ASSERT_TRUE(program.user.cast(Finishing::Finish{}));
    executor->run_all();
    EXPECT_EQ(program.diary.notes(),
              (std::vector<std::string>{"user was told", "user has ended", "database was told"}));
    ASSERT_TRUE(program.database.cast(Finishing::Finish{}));
    executor->run_all();
    EXPECT_EQ(program.diary.notes().back(), "database has ended");
  }

  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  SystemOptions options;
  Program program;
  std::optional<System> system;
};

TEST_F(OnTheHostsExecutor, stop_ends_actors_before_those_they_use) {
  system->stop();
  expect_that_all_end_in_order();
}

TEST_F(OnTheHostsExecutor, the_end_of_the_last_handle_ends_actors_before_those_they_use) {
  system.reset();
  expect_that_all_end_in_order();
}

TEST_F(OnTheHostsExecutor, the_end_of_the_last_handle_in_an_actor_ends_the_others) {
  struct Holder final : Actor {
    explicit Holder(System held) : system{std::move(held)} {}
    void on(int) { system.reset(); }
    std::optional<System> system;
  };
  const auto holder = spawn<Holder>(executor, {.name = "holder"}, *system);
  system.reset();
  ASSERT_TRUE(holder.cast(1));
  expect_that_all_end_in_order();
}

TEST_F(OnTheHostsExecutor, stop_leaves_a_watch_alone_that_is_not_the_systems) {
  executor->stall_detector().start(clock, 1s, [](const StalledThread&) {});
  system->stop();
  EXPECT_NE(executor->stall_detector().here(), nullptr);
  executor->stall_detector().stop();
  expect_that_all_end_in_order();
}

// The device's actor has a turn on the executor that stop() is called on, or holds up.
TEST_F(OnTheHostsExecutor, stop_does_not_wait_for_what_only_its_own_thread_can_run) {
  const Device device = system->device("cpu");
  const Buffer x = device.buffer({1.0F});
  const Buffer y = device.buffer({1.0F});
  executor->run_all();
  Command command;
  // What a process submits is sent, not run in place.
  const auto submitted =
      Process::spawn(*executor, [&] { command = device.submit("relu", {x}, y); });
  while (!submitted.ready()) executor->run_one();
  EXPECT_FALSE(system->stop()) << "the device comes to it later";
  ASSERT_TRUE(program.user.cast(Finishing::Finish{}));
  ASSERT_TRUE(program.database.cast(Finishing::Finish{}));
  executor->run_all();
  EXPECT_TRUE(command.wait().has_value() || command.wait().error().code() == ErrorCode::closed);
}

TEST(OnItsOwnPool, the_end_of_the_last_handle_in_a_task_ends_actors_before_those_they_use) {
  Program program;
  auto system = std::make_unique<System>();
  program.start(*system).wait();
  const auto database_ended = program.database.ended();
  Executor& executor = system->executor();
  executor.post([system = std::move(system)]() mutable { system.reset(); });
  program.user_told.wait();
  EXPECT_FALSE(program.database_told.ready());
  program.user.cast(Finishing::Finish{}).value();
  program.database_told.wait();
  program.database.cast(Finishing::Finish{}).value();
  EXPECT_EQ(database_ended.get(), ExitReason::shutdown());
  EXPECT_EQ(program.diary.notes(),
            (std::vector<std::string>{"user was told", "user has ended", "database was told",
                                      "database has ended"}));
}

TEST(OnItsOwnPool, stop_by_two_at_once_ends_all_for_both) {
  Program program;
  SystemOptions options;
  options.stop_patience = 1h;
  const System system{options};
  program.start(system).wait();
  const auto ended = program.database.ended();
  std::latch stopping{2};
  const auto stop = [&] {
    stopping.arrive_and_wait();
    EXPECT_TRUE(system.stop());
    EXPECT_TRUE(ended.ready());
  };
  std::jthread one{stop};
  std::jthread other{stop};
  program.user_told.wait();
  program.user.cast(Finishing::Finish{}).value();
  program.database_told.wait();
  program.database.cast(Finishing::Finish{}).value();
}

// Each stage has something that does not end: the program's part, the devices, the tree.
TEST(OnItsOwnPool, stop_has_one_patience_for_all) {
  GatedKernel held;
  Program program;
  SystemOptions options;
  options.stop_patience = 1s;
  const System system{options};
  program.start(system).wait();
  system.add_kernel(held.kernel("held"));
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const Command command = device.submit("held", {x}, device.buffer({0.0F}));
  held.wait_entered();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(system.stop());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s) << "it was three";
  EXPECT_EQ(command.wait().error().code(), ErrorCode::closed);
  held.release();
  program.user.cast(Finishing::Finish{}).value();
  program.database_told.wait();
  program.database.cast(Finishing::Finish{}).value();
  program.database.ended().wait();
}

TEST(OnItsOwnPool, stop_says_that_an_actor_did_not_end) {
  Program program;
  SystemOptions options;
  options.stop_patience = 1ms;
  const System system{options};
  program.start(system).wait();
  EXPECT_FALSE(system.stop());
  program.user.cast(Finishing::Finish{}).value();
  program.database_told.wait();
  program.database.cast(Finishing::Finish{}).value();
  program.database.ended().wait();
}

}  // namespace
}  // namespace stoker
