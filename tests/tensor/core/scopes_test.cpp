// Where scopes hold: in the process or on the plain thread that made them.
#include <thread>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/process/process.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

TEST(DeviceScopes, go_with_a_process_that_waits_and_are_nobody_elses) {
  const System system;
  const Device cpu = system.device("cpu");
  const Device null = system.device("null");
  ManualClock clock;
  ManualExecutor executor{clock};
  Promise<void> go_on;
  const DeviceScope outer{cpu};
  const auto seen = Process::spawn(executor, [&] {
    const DeviceScope scope{null};
    go_on.future().wait();
    return current_device();
  });
  executor.run_all();
  EXPECT_EQ(current_device(), cpu) << "the process waits on this thread";
  go_on.set();
  std::thread{[&] { executor.run_all(); }}.join();
  ASSERT_TRUE(seen.ready());
  EXPECT_EQ(seen.get(), null);
}

TEST(HookScopes, go_with_a_process_that_waits_and_are_nobody_elses) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  ManualClock clock;
  ManualExecutor executor{clock};
  Promise<void> go_on;
  Promise<void> shown;
  const NamedHooks hooks{{"look", [&](const Tensor&) { shown.set(); }}};
  const Tensor x = ones({2});
  Tensor y;
  const auto done = Process::spawn(executor, [&] {
    const HookScope here{hooks};
    go_on.future().wait();
    y = hook("look", x);
  });
  executor.run_all();
  static_cast<void>(hook("look", x).to_vector<float>());
  EXPECT_FALSE(shown.future().ready()) << "the process waits on this thread";
  go_on.set();
  std::thread{[&] { executor.run_all(); }}.join();
  ASSERT_TRUE(done.ready());
  static_cast<void>(y.to_vector<float>());
  shown.future().wait();
}

}  // namespace
}  // namespace stoker
