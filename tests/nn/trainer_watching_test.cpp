// Trainings that are watched: by actors, and on a host's event loop.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <latch>

#include "stoker/api/asio.hpp"
#include "trainer_fixture.hpp"

namespace stoker::nn {
namespace {

struct Seen {};
/// What a dashboard would show.
class Dashboard final : public Actor {
 public:
  void on(const TrainingProgress& at) {
    lines_.push_back(std::to_string(at.epoch) + "." + std::to_string(at.batch));
  }
  void on(const EpochMetrics& metrics) { lines_.push_back(std::to_string(metrics.epoch) + "!"); }
  std::vector<std::string> on(Seen) { return lines_; }

 private:
  std::vector<std::string> lines_;
};

TEST_F(Trainers, tell_an_actor_of_every_batch_and_epoch_in_their_order) {
  const auto dashboard = spawn<Dashboard>(system.shared_executor(), {.name = "dashboard"});
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(3, 1, 1, stop));
  stop.wait();  // the first batch is over
  training.subscribe(dashboard);
  stop.go();
  training.history().get();
  const std::vector<std::string> seen = dashboard.call(Seen{}).get();
  const std::vector<std::string> all{"1.1", "1.2", "1.3", "1!",  "2.1", "2.2",
                                     "2.3", "2!",  "3.1", "3.2", "3.3", "3!"};
  EXPECT_EQ(seen, all);
}

struct Ping {};
class Bell final : public Actor {
 public:
  int on(Ping) { return ++rung_; }

 private:
  int rung_ = 0;
};

/// A system on the test's own thread, which is all the threads that its actors have.
class TrainersOnALoop : public Trainers {
 protected:
  static SystemOptions on(boost::asio::io_context& loop) {
    SystemOptions options;
    use_event_loop(options, loop.get_executor());
    return options;
  }
  /// Runs the loop until the future is there.
  template <class T> const Result<T>& run_until(const Future<T>& future) {
    loop.restart();
    const auto work = boost::asio::make_work_guard(loop);
    bool there = false;
    async_wait(future, boost::asio::bind_executor(loop.get_executor(),
                                                  [&](const Result<T>&) { there = true; }));
    while (!there) loop.run_one();
    return *future.poll();
  }

  boost::asio::io_context loop;
  System host{on(loop)};
};

TEST_F(TrainersOnALoop, tell_of_progress_on_its_thread_in_order) {
  std::vector<std::string> seen;
  std::set<std::thread::id> threads;
  const Model mine = fresh(host.device("cpu"));
  Stop stop;
  FitOptions options = with(2);
  options.on_batch = {[&](const TrainingProgress&, Training&) { stop.here(); }};
  const Trainer training = train(host.supervisor(), mine, rows(10), options);
  training.subscribe(
      host.shared_executor(),
      [&](const TrainingProgress& at) {
        seen.push_back(std::to_string(at.epoch) + "." + std::to_string(at.batch));
        threads.insert(std::this_thread::get_id());
      },
      [&](const EpochMetrics& metrics) { seen.push_back(std::to_string(metrics.epoch) + "!"); });
  stop.go();
  EXPECT_EQ(run_until(training.history()).value().size(), 2U);
  loop.restart();
  loop.poll();
  EXPECT_EQ(seen, (std::vector<std::string>{"1.1", "1.2", "1.3", "1!", "2.1", "2.2", "2.3", "2!"}));
  EXPECT_EQ(threads, (std::set{std::this_thread::get_id()}));
  EXPECT_EQ(values(mine), trained_by_fit(2));
}

TEST_F(TrainersOnALoop, block_no_handler_while_a_reader_blocks) {
  const Model mine = fresh(host.device("cpu"));
  auto stop = std::make_shared<Stop>();
  const Trainer training =
      train(host.supervisor(), mine, rows(10, [stop](std::int64_t) { stop->here(); }), with(1));
  const auto bell = spawn<Bell>(host.shared_executor(), {.name = "bell"});
  Promise<void> blocked;
  std::jthread waits{[&] {
    stop->wait();
    blocked.set();
  }};
  run_until(blocked.future()).value();
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(run_until(bell.call(Ping{})).value(), i);
  EXPECT_FALSE(training.history().ready());
  stop->go();
  EXPECT_EQ(run_until(training.history()).value().size(), 1U);
}

}  // namespace
}  // namespace stoker::nn
