// What was made before fork() refuses in the child and never hangs there; the child may make a
// system of its own, and the parent notices nothing.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "gated_kernel.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/process_actor.hpp"
#include "stoker/actors/registry.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/runtime/base/fork_fixture.hpp"

namespace stoker {
namespace {

class Forks : public ForkFixture, public testing::WithParamInterface<const char*> {
 protected:
  static bool refuses(const std::function<void()>& use) {
    try {
      use();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::forked_process) return true;
      fprintf(stderr, "in the child: %s\n", error.what());
    }
    return false;
  }
};

TEST_P(Forks, use_in_the_child_is_refused_by_name) {
  const System system;
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, -2.0F});
  const Buffer y = device.buffer(DType::f32, {2});
  Pipeline pipeline = system.pipeline(device);
  pipeline.add("relu", {x}, y);
  pipeline.run().get();
  system.run_blocking([] {}).get();
  EXPECT_TRUE(true_in_child([&] {
    return refuses([&] { device.submit("relu", {x}, y); }) &&
           refuses([&] { static_cast<void>(system.run_blocking([] {})); }) &&
           refuses([&] { static_cast<void>(x.read<float>().get()); }) && refuses([&] {
             x.write(std::vector{3.0F, 4.0F});
           }) &&
           refuses([&] { x.fill(1.0F); }) && refuses([&] { x.copy_to(y); }) &&
           refuses([&] { static_cast<void>(device.buffer({1.0F})); }) &&
           refuses([&] { pipeline.run(); }) && refuses([&] { pipeline.trim(); }) &&
           refuses([&] { static_cast<void>(device.stats()); }) && refuses([&] { device.trim(); }) &&
           refuses([&] { static_cast<void>(device.warm_up("relu", std::array{x.spec()})); }) &&
           refuses([&] { static_cast<void>(system.device(GetParam())); });
  }));
  device.submit("relu", {x}, y).get();
}

TEST_P(Forks, waits_for_work_of_the_parent_end) {
  const System system;
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, -2.0F});
  auto gate = std::make_shared<Timeline>();
  CommandOptions later;
  later.waits = {TimelinePoint{gate, 1}};
  const Command command = device.submit("relu", {x}, x, {}, later);
  EXPECT_TRUE(true_in_child([&] {
    const Result<void> outcome = command.wait();
    return command.wait_for(std::chrono::hours{1}).has_error() && outcome.has_error() &&
           outcome.error().code() == ErrorCode::forked_process;
  }));
  gate->advance(1);
  command.get();
}

TEST_P(Forks, handles_go_in_the_child_with_work_in_flight) {
  auto system = std::make_unique<System>();
  auto device = std::make_unique<Device>(system->device(GetParam()));
  auto x = std::make_unique<Buffer>(device->buffer(std::vector<float>(65536, -1.0F)));
  auto command = std::make_unique<Command>();
  for (int i = 0; i < 8; ++i) *command = device->submit("relu", {*x}, *x);
  const auto drop_all = [&] {
    command.reset();
    x.reset();
    device.reset();
    system.reset();
    return true;
  };
  EXPECT_TRUE(true_in_child(drop_all));
  command->get();
}

TEST_P(Forks, handles_go_in_the_child_while_the_parent_makes_others) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  const System system;
  const Device device = system.device(GetParam());
  const std::jthread busy{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(device.buffer({1.0F}));
  }};
  auto x = std::make_unique<Buffer>(device.buffer({1.0F}));
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(true_in_child([&] {
      x.reset();
      return true;
    }));
}

TEST_P(Forks, leave_the_child_free_to_make_its_own_system) {
  const System system;
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, -2.0F});
  device.submit("relu", {x}, x).get();
  EXPECT_TRUE(true_in_child([] {
    const System own;
    const Buffer made = own.device("cpu").buffer({1.0F, -2.0F});
    return own.device("cpu").run("relu", {made}).read<float>().get() == std::vector{1.0F, 0.0F};
  }));
}

TEST_P(Forks, pipelines_that_were_never_compiled_are_not_compiled_in_the_child) {
  const System system;
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, -2.0F});
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("in", {DType::f32, {2}}).add("relu", {"in"}, "out").output("out");
  EXPECT_TRUE(true_in_child([&] {
    return refuses([&] { pipeline.compile(); }) && refuses([&] { pipeline.run(); }) &&
           refuses([&] { static_cast<void>(pipeline.order()); }) &&
           refuses([&] { static_cast<void>(pipeline.spec_of("out")); }) &&
           refuses([&] { static_cast<void>(pipeline.arena_bytes()); }) &&
           refuses([&] { pipeline.add("relu", {"out"}, "more"); }) &&
           refuses([&] { pipeline.input("second", x.spec()); }) &&
           refuses([&] { pipeline.output("out"); }) && refuses([&] { pipeline.trim(); }) &&
           refuses([&] { static_cast<void>(system.pipeline(device)); });
  }));
  EXPECT_EQ(pipeline.compile().order(), std::vector<std::string>{"relu"});
}

TEST_P(Forks, pipelines_that_the_parent_is_compiling_refuse_in_the_child) {
  std::latch compiling{1};
  std::latch forked{1};
  const System system;
  const Device device = system.device(GetParam());
  GatedKernel never_run;
  Kernel slow = never_run.kernel("slow_to_check");
  slow.infer = [&](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    compiling.count_down();
    forked.wait();
    return Error{"slow_to_check", ErrorCode::unsupported, call.inputs[0].to_string()};
  };
  system.add_kernel(std::move(slow));
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("in", {DType::f32, {2}}).add("slow_to_check", {"in"}, "out").output("out");
  std::jthread compiler{[&] { EXPECT_THROW(pipeline.compile(), Error); }};
  compiling.wait();
  EXPECT_TRUE(true_in_child([&] {
    alarm(10);  // kills a child that waits for the parent's lock
    return refuses([&] { pipeline.run(); });
  }));
  forked.count_down();
}

TEST_P(Forks, kernels_are_not_looked_up_for_devices_of_the_parent) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  const System system;
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, -2.0F});
  EXPECT_TRUE(true_in_child([&] {
    const std::array calls{KernelCallRequest{"no_such_kernel", {x}, {x}, {}}};
    return refuses([&] { device.submit("no_such_kernel", {x}, x); }) &&
           refuses([&] { device.submit(calls); }) &&
           refuses([&] { static_cast<void>(device.run("no_such_kernel", {x})); });
  }));
}

TEST_P(Forks, times_of_commands_are_refused) {
  const System system;
  const Device device = system.device(GetParam());
  const Buffer x = device.buffer({1.0F, -2.0F});
  const Command command = device.submit("relu", {x}, x);
  command.get();
  EXPECT_TRUE(true_in_child([&] {
    return refuses([&] { static_cast<void>(command.device_time()); }) &&
           refuses([&] { static_cast<void>(command.step_times()); });
  }));
}

struct Total {};
struct Counter : Actor {
  int on(Total) { return 7; }
};

TEST_P(Forks, actors_of_the_parent_refuse_in_the_child) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  const System system;
  const Device device = system.device(GetParam());
  const Supervisor supervisor = system.supervisor();
  const auto counter = spawn<Counter>(system.shared_executor(), {.name = "counter"});
  ASSERT_EQ(counter.call(Total{}).get(), 7);
  system.registry().register_name("counter", counter);
  EXPECT_TRUE(true_in_child([&] {
    const System own;
    const auto mine = spawn<Counter>(own.shared_executor(), {.name = "mine"});
    return refuses([&] { counter.cast(Total{}).value(); }) &&
           refuses([&] { counter.cast(Total{}, Run::here).value(); }) &&
           refuses([&] { static_cast<void>(counter.call(Total{}).get()); }) && refuses([&] {
             static_cast<void>(counter.call(Total{}, {.timeout = std::chrono::hours{1}}).get());
           }) &&
           refuses([&] { counter.stop().get(); }) && refuses([&] { counter.ended().get(); }) &&
           refuses([&] { static_cast<void>(supervisor.count_children().get()); }) &&
           refuses([&] { static_cast<void>(system.supervisor()); }) &&
           refuses([&] { static_cast<void>(system.devices()); }) &&
           refuses([&] { static_cast<void>(system.kernels()); }) &&
           refuses([&] { static_cast<void>(system.metrics().snapshot()); }) &&
           refuses([&] { system.registry().register_name("mine", mine); }) &&
           refuses([&] { own.registry().register_name("counter", counter); }) &&
           mine.call(Total{}).get() == 7;
  }));
  EXPECT_EQ(counter.call(Total{}).get(), 7);
}

TEST_P(Forks, find_nothing_locked_that_the_parents_threads_use) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own locks are not free in a child";
#endif
  const LogCapture log{LogLevel::warn};
  const System system;
  const Device device = system.device(GetParam());
  const auto counter = spawn<Counter>(system.shared_executor(), {.name = "counter"});
  std::vector<std::jthread> busy;
  busy.emplace_back([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Buffer x = device.buffer(std::vector<float>(128 * 128, 1.0F), Shape{128, 128});
      static_cast<void>(device.run("matmul", {x, x}).read<float>().get());
    }
  });
  busy.emplace_back([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(counter.call(Total{}).get());
  });
  busy.emplace_back([](const std::stop_token& stop) {
    while (!stop.stop_requested()) log_warn("the parent is busy");
  });
  busy.emplace_back([](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(System{}.devices());  // loads the drivers
  });
  for (int i = 0; i < 30; ++i)
    EXPECT_TRUE(true_in_child([] {
      log_warn("the child has begun");
      const System own;
      const auto mine = spawn<Counter>(own.shared_executor(), {.name = "mine"});
      const Device cpu = own.device("cpu");
      const Buffer x = cpu.buffer(std::vector<float>(128 * 128, 1.0F), Shape{128, 128});
      return cpu.run("matmul", {x, x}).read<float>().get()[0] == 128.0F &&
             mine.call(Total{}).get() == 7;
    }));
}

INSTANTIATE_TEST_SUITE_P(Devices, Forks, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

using ForksOfSystems = ForkFixture;

TEST_F(ForksOfSystems, find_the_parents_pool_for_blocking_work_closed_and_empty) {
  const System system;
  std::latch begun{1};
  std::latch forked{1};
  const Future<void> job = system.run_blocking([&] {
    begun.count_down();
    forked.wait();
  });
  begun.wait();
  EXPECT_TRUE(true_in_child([&] { return system.blocking().jobs() == 0; }));
  std::vector<std::jthread> askers;
  for (int i = 0; i < 2; ++i)
    askers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) static_cast<void>(system.blocking().jobs());
    });
  bool all = true;
  for (int i = 0; i < 100 && all; ++i)
    all = true_in_child([&] {
      alarm(10);  // kills a child that waits for the parent's lock
      system.blocking().leave(BlockingPool::Tell::no);
      return system.blocking().jobs() == 0 &&
             system.blocking().close().wait().error().code() == ErrorCode::forked_process;
    });
  EXPECT_TRUE(all);
  EXPECT_EQ(system.blocking().jobs(), 1U);
  forked.count_down();
  job.get();
}

TEST_F(ForksOfSystems, leave_the_stacks_of_the_parents_processes_alone) {
  struct Unwound {
    int& count;
    ~Unwound() { ++count; }
  };
  int unwound = 0;
  const System system;
  std::optional process{spawn_process<Request<Total, int>>(
      system.shared_executor(), {.name = "waiting"}, [&](auto& self) {
        const Unwound counted{unwound};
        for (;;) self.receive([](Request<Total, int> ask) { ask.reply(7); });
      })};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(process->call(Total{}).get(), 7);
    EXPECT_TRUE(true_in_child([&] {
      process.reset();
      return unwound == 0;
    }));
  }
}

}  // namespace
}  // namespace stoker
