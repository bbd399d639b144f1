// Actors, processes and supervisors on the event loop of a host, which may end it at any moment.
#include <boost/asio/io_context.hpp>
#include <optional>

#include "probe.hpp"
#include "stoker/actors/process_actor.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/runtime/asio/asio_executor.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

class OnAHostsLoop : public testing::Test {
 protected:
  /// Everything that is ready runs, on this thread.
  void run() {
    host.restart();
    host.poll();
  }
  [[nodiscard]] Supervisor supervised() {
    const auto started =
        start_supervisor(executor, {.intensity = 5}, {child<Probe>("probe", std::ref(seen))});
    run();
    return started.get();
  }
  [[nodiscard]] ActorRef<Probe> probe_of(const Supervisor& supervisor) {
    const auto children = supervisor.which_children();
    run();
    return actor_cast<Probe>(children.get().at(0).actor);
  }

  LogCapture quiet;
  Journal seen;
  ManualClock clock;
  boost::asio::io_context host;
  std::shared_ptr<AsioExecutor> executor =
      std::make_shared<AsioExecutor>(host.get_executor(), clock);
};

TEST_F(OnAHostsLoop, a_supervisor_restarts_its_children) {
  const Supervisor supervisor = supervised();
  const auto first = probe_of(supervisor);
  ASSERT_TRUE(first.cast(Doing{[](Probe&) { throw std::runtime_error{"on purpose"}; }}));
  run();
  EXPECT_FALSE(first.alive());
  EXPECT_TRUE(probe_of(supervisor).alive());
}

TEST_F(OnAHostsLoop, all_is_let_go_when_the_loop_does_not_run_any_more) {
  std::weak_ptr<ActorCell> probe;
  {
    const Supervisor supervisor = supervised();
    probe = probe_of(supervisor).cell();
  }
  run();
  EXPECT_TRUE(probe.expired()) << "nobody can reach the supervisor";
}

TEST_F(OnAHostsLoop, a_supervisor_that_was_told_to_end_stops_its_children_in_order) {
  struct Finish {};
  struct Slow final : Actor {
    explicit Slow(Journal& told) : seen{&told} {}
    void on(Doing) { trap_exit(); }
    void on(Finish) { leave(ExitReason::shutdown()); }
    void on_parent_exit(const Exit& exit) override { seen->exits.push_back(exit); }
    Journal* seen;
  };
  ActorRef<Slow> user;
  Journal of_user;
  ChildSpec spec;
  spec.id = "user";
  spec.start = [&](const ChildStart& start) -> Result<ActorAddress> {
    user = start.spawn<Slow>({.name = "user"}, of_user);
    return ActorAddress{user};
  };
  auto started = start_supervisor(executor, {}, {child<Probe>("database", std::ref(seen)), spec});
  run();
  ASSERT_TRUE(user.cast(Doing{}));
  run();
  started.get().exit(ExitReason::shutdown());
  started = {};  // nobody has its address any more
  run();
  EXPECT_EQ(of_user.exits.size(), 1U);
  EXPECT_TRUE(seen.order.empty()) << "the database's user has not ended";
  ASSERT_TRUE(user.cast(Finish{}));
  run();
  EXPECT_EQ(seen.order, (std::vector<std::string>{"shutdown"}));
}

TEST_F(OnAHostsLoop, a_supervisor_that_was_told_to_end_goes_with_a_loop_that_is_destroyed) {
  auto loop = std::make_unique<boost::asio::io_context>();
  std::weak_ptr<ActorCell> supervisor;
  std::weak_ptr<ActorCell> probe;
  {
    const auto short_lived = std::make_shared<AsioExecutor>(loop->get_executor(), clock);
    const auto started = start_supervisor(short_lived, {}, {child<Probe>("probe", std::ref(seen))});
    loop->poll();
    const auto children = started.get().which_children();
    loop->restart();
    loop->poll();
    supervisor = started.get().cell();
    probe = children.get().at(0).actor.cell();
    started.get().exit(ExitReason::shutdown());
  }
  EXPECT_FALSE(supervisor.expired()) << "it is on its way";
  loop.reset();
  EXPECT_TRUE(supervisor.expired());
  EXPECT_TRUE(probe.expired());
}

TEST_F(OnAHostsLoop, what_was_on_its_way_is_refused_when_the_loop_is_destroyed) {
  auto loop = std::make_unique<boost::asio::io_context>();
  const auto short_lived = std::make_shared<AsioExecutor>(loop->get_executor(), clock);
  struct Ask {};
  class Answering final : public Actor {
   public:
    int on(Ask) { return 1; }
  };
  const auto actor = spawn<Answering>(short_lived, {.name = "answering"});
  const auto answer = actor.call(Ask{});
  loop.reset();
  ASSERT_TRUE(answer.ready());
  EXPECT_EQ(answer.poll()->error().code(), ErrorCode::closed);
}

/// A loop that can be destroyed before what runs on it.
class OnALoopThatGoes : public OnAHostsLoop {
 protected:
  void let_go() { loop.reset(); }

  std::optional<boost::asio::io_context> loop{std::in_place};
  std::shared_ptr<AsioExecutor> on_it = std::make_shared<AsioExecutor>(loop->get_executor(), clock);
  Journal of_it;
  ActorRef<Probe> probe = spawn<Probe>(on_it, {.name = "probe"}, of_it);
};

TEST_F(OnALoopThatGoes, an_actor_ends_when_its_turn_is_dropped) {
  const auto watcher = spawn<Probe>(executor, {.name = "watcher"}, seen);
  ASSERT_TRUE(watcher.cast(Doing{[&](Probe& self) { self.monitor(probe); }}));
  run();
  ASSERT_TRUE(probe.cast(1));
  const auto ended = probe.ended();
  let_go();
  ASSERT_TRUE(ended.ready());
  EXPECT_EQ(ended.get().kind(), ExitReason::Kind::shutdown);
  EXPECT_TRUE(of_it.order.empty()) << "nothing of it can run";
  EXPECT_EQ(probe.cast(2).error().code(), ErrorCode::closed);
  run();
  EXPECT_EQ(seen.downs.size(), 1U);
}

TEST_F(OnALoopThatGoes, an_idle_actor_ends_when_it_is_told_to) {
  let_go();
  EXPECT_EQ(probe.stop().get().kind(), ExitReason::Kind::shutdown);
}

TEST_F(OnALoopThatGoes, a_process_that_has_mail_is_unwound) {
  bool unwound = false;
  struct Mark {
    bool* at;
    ~Mark() { *at = true; }
  };
  const auto process = spawn_process<int>(on_it, {.name = "waiting"}, [&](auto& self) {
    const Mark mark{&unwound};
    self.receive([](int) { ADD_FAILURE() << "it ran on"; });
  });
  loop->poll();
  ASSERT_TRUE(process.cast(1));
  let_go();
  EXPECT_TRUE(unwound);
  EXPECT_EQ(process.ended().get().kind(), ExitReason::Kind::shutdown);
}

TEST_F(OnALoopThatGoes, a_process_that_can_go_on_too_late_ends) {
  Promise<void> promise;
  const auto process = spawn_process<int>(on_it, {.name = "late"}, [&](auto&) {
    promise.future().wait();
    ADD_FAILURE() << "it ran on";
  });
  loop->poll();
  ASSERT_TRUE(process.cast(1));
  let_go();  // its strand goes with the turn for the message
  promise.set();
  EXPECT_EQ(process.ended().get().kind(), ExitReason::Kind::shutdown);
  EXPECT_EQ(on_it->live_processes(), 0U) << "it is given up, and nobody waits for it";
}

TEST_F(OnAHostsLoop, a_process_that_waits_for_mail_is_unwound_when_it_is_let_go) {
  bool unwound = false;
  struct Mark {
    bool* at;
    ~Mark() { *at = true; }
  };
  {
    const auto process = spawn_process<int>(executor, {.name = "waiting"}, [&](auto& self) {
      const Mark mark{&unwound};
      self.receive([](int) {});
    });
    run();
    EXPECT_FALSE(unwound);
  }
  EXPECT_TRUE(unwound) << "though the loop does not run";
}

}  // namespace
}  // namespace stoker
