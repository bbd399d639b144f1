// Hosts of scripts that were made before fork() refuse in the child, and go there without a wait.
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/runtime/base/error_of.hpp"
#include "stoker/tests/runtime/base/fork_fixture.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class ScriptForks : public ForkFixture {
 protected:
  [[nodiscard]] static ErrorCode refusal(ScriptHost& host) {
    return code_of([&] { return host.start({"test.lua", "return 1"}, {}); });
  }

  System system;
  Device device = system.device("cpu");
};

TEST_F(ScriptForks, refuse_to_start_scripts_of_the_parents_host) {
  ScriptHost host = script_host(system, device);
  EXPECT_TRUE(true_in_child([&] { return refusal(host) == ErrorCode::forked_process; }));
  EXPECT_TRUE(host.start({"test.lua", "return 1"}, {}).done.wait().has_value());
}

TEST_F(ScriptForks, refuse_to_start_scripts_on_the_parents_device) {
  EXPECT_TRUE(true_in_child([&] {
    // It starts no thread: sanitizers cannot follow one in a child.
    ManualExecutor own{system.clock()};
    ScriptHost host{device.client(), own, {}};
    return refusal(host) == ErrorCode::forked_process;
  }));
}

TEST_F(ScriptForks, drop_the_parents_host_at_once_while_its_scripts_run) {
  auto host = std::make_unique<ScriptHost>(device.client(), system.executor(),
                                           std::vector<std::shared_ptr<const Kernel>>{});
  ScriptOptions unlimited;
  unlimited.limits.instructions = 0;
  const ScriptRun endless = host->start({"test.lua", "while true do end"}, unlimited);
  const std::jthread starter{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(host->start({"test.lua", ""}, {}).done.wait());
  }};
  bool all = true;
  for (int i = 0; i < 100 && all; ++i)
    all = true_in_child([&] {
      alarm(10);  // kills a child that waits for the parent's threads
      host.reset();
      return !endless.stop.token().cancelled();
    });
  EXPECT_TRUE(all);
  endless.cancel();
  EXPECT_EQ(endless.done.wait().error().code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace stoker
