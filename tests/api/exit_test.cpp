// A process may end at any moment: from any thread, with work in flight, with handles that static
// objects hold.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include "stoker/api/stoker.hpp"
#include "stoker/runtime/sanitizers.hpp"

namespace {
/// A process that ends while its threads work leaves messages between them that nobody frees: there the
/// search for leaks would find what is none.
bool ends_on_purpose = false;
}  // namespace

#ifdef STOKER_ASAN
extern "C" int __lsan_is_turned_off() { return ends_on_purpose ? 1 : 0; }
#endif

namespace stoker {
namespace {

/// For a system that lives when its process ends.
SystemOptions leaving() {
  ends_on_purpose = true;
  return {};
}

struct Busy {
  System system;
  Device device;
  Buffer x;
  Pipeline pipeline;
  Command last;

  explicit Busy(const std::string& name)
      : system{leaving()},
        device{system.device(name)},
        x{device.buffer(std::vector<float>(1 << 20, -1.0F))},
        pipeline{system.pipeline(device)} {
    pipeline.add("sigmoid", {x}, "once");
    pipeline.add("tanh", {"once"}, x);
    for (int i = 0; i < 64; ++i) last = pipeline.run();
  }
};

class Exits : public testing::TestWithParam<const char*> {
 protected:
  // Each statement runs in a process of its own that starts afresh.
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_P(Exits, from_a_worker_thread_with_work_in_flight) {
  EXPECT_EXIT(
      {
        const Busy busy{GetParam()};
        std::jthread worker{[] { std::exit(0); }};
        worker.join();
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Exits, from_a_continuation_on_the_systems_own_pool) {
  EXPECT_EXIT(
      {
        const Busy busy{GetParam()};
        static_cast<void>(
            busy.last.then(busy.system.executor(), [](const Result<void>&) { std::exit(0); }));
        const Promise<void> never;
        never.future().wait();
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Exits, with_handles_in_static_objects) {
  EXPECT_EXIT(
      {
        static std::optional<Busy> busy;
        busy.emplace(GetParam());
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Exits, at_once_after_the_first_use) {
  EXPECT_EXIT(
      {
        const System system{leaving()};
        static_cast<void>(system.device(GetParam()));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, Exits, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
