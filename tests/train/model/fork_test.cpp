// Models, trainings and batches of the parent are refused in a child of fork(), whatever locks it finds.
#include <latch>
#include <thread>

#include "stoker/api/data/loader.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/tests/nn/trainer_fixture.hpp"
#include "stoker/tests/runtime/base/fork_fixture.hpp"

namespace stoker::nn {
namespace {

class TrainingForks : public Trainers {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer cannot follow a fork of a process with threads";
#endif
    Trainers::SetUp();
  }
  /// As ForkFixture's; a child that waits for the parent is killed soon.
  template <class Check> static bool true_in_child(const Check& check) {
    return InChild::ask([&] {
      alarm(10);
      return check();
    });
  }
  [[nodiscard]] static bool refuses(const std::function<void()>& use) {
    return code_of([&] {
             use();
             return 0;
           }) == ErrorCode::forked_process;
  }

 private:
  struct InChild : ForkFixture {
    template <class Check> static bool ask(const Check& check) { return true_in_child(check); }
  };
};

TEST_F(TrainingForks, refuse_a_model_while_the_parent_makes_a_step) {
  std::latch tracing{1};
  std::latch forked{1};
  std::atomic<bool> armed{false};
  const Node x = input({2});
  Model slow{Network{dense(x, 1)}, {.loss = "mse", .schedule = [&](const Tensor& step) {
                                      if (armed.exchange(false)) {
                                        tracing.count_down();
                                        forked.wait();
                                      }
                                      return step * 0 + 0.1;
                                    }}};
  Batch batch = whole_batch(rows(4));
  armed = true;
  std::jthread stepping{[&, device = current_device()] {
    const DeviceScope here{device};
    EXPECT_NO_THROW(slow.train_step(batch).eval());
  }};
  tracing.wait();
  const auto file = std::filesystem::temp_directory_path() / "stoker_never_saved";
  EXPECT_TRUE(true_in_child([&] {
    return refuses([&] { slow.save(file); }) && refuses([&] { static_cast<void>(slow.state()); }) &&
           refuses([&] { static_cast<void>(slow.variables()); }) &&
           refuses([&] { static_cast<void>(slow.frozen()); }) &&
           refuses([&] { slow.unfreeze({}); }) &&
           refuses([&] { slow.set_learning_rate_scale(1); }) &&
           refuses([&] { static_cast<void>(slow.clone()); }) &&
           refuses([&] { static_cast<void>(slow.train_step(batch)); });
  }));
  forked.count_down();
}

TEST_F(TrainingForks, refuse_a_training_of_the_parent) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(2, 1, 1, stop));
  stop.wait();
  EXPECT_TRUE(true_in_child([&] {
    return refuses([&] { training.pause().get(); }) && refuses([&] { training.resume(); }) &&
           refuses([&] { training.cancel(); }) && refuses([&] { training.history().get(); }) &&
           refuses([&] { static_cast<void>(training.status()); }) &&
           refuses([&] { static_cast<void>(training.actor()); }) &&
           refuses([&] { training.subscribe(system.shared_executor(), {}, {}); });
  }));
  stop.go();
  EXPECT_EQ(training.history().get().size(), 2U);
}

TEST_F(TrainingForks, drop_a_training_of_the_parent_at_once) {
  auto own = std::make_unique<System>();
  Stop stop;
  std::optional<Trainer> training{
      train(own->supervisor(), model, rows(10), stopping_at(2, 1, 1, stop))};
  stop.wait();
  const auto drop_all = [&] {
    training.reset();
    own.reset();
    return true;
  };
  EXPECT_TRUE(true_in_child(drop_all)) << "it works";
  stop.go();
  training->history().get();
  EXPECT_TRUE(true_in_child(drop_all)) << "it has ended";
}

TEST_F(TrainingForks, refuse_batches_that_threads_of_the_parent_make) {
  std::latch reading{1};
  std::latch forked{1};
  std::optional<Epoch> epoch{Loader{rows(10,
                                         [&](std::int64_t row) {
                                           if (row != 0) return;
                                           reading.count_down();
                                           forked.wait();
                                         }),
                                    {.batch_size = 4, .shuffle = false, .prefetch = 1}}
                                 .epoch(0)};
  reading.wait();
  EXPECT_TRUE(true_in_child([&] {
    const bool refused = refuses([&] { static_cast<void>(epoch->next()); });
    epoch.reset();
    return refused;
  }));
  forked.count_down();
  EXPECT_EQ(epoch->next()->rows, 4);
}

}  // namespace
}  // namespace stoker::nn
