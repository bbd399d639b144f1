// A running script in its system's tree.
#include "stoker/pipeline/script/run/script_actor.hpp"

#include "stoker/kernels/kernel.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class ScriptActors : public Scripts {
 protected:
  [[nodiscard]] ScriptRun start(std::string code, ScriptOptions options = {}) {
    options.observer = std::make_shared<Recorder>();
    return host.start({"test.lua", std::move(code)}, std::move(options));
  }
};

TEST_F(ScriptActors, end_normally_with_their_script) {
  const ScriptRun run = start("print(1)");
  EXPECT_EQ(run.actor.get().ended().get(), ExitReason::normal());
  EXPECT_TRUE(run.done.wait());
}

TEST_F(ScriptActors, end_with_what_ended_their_script) {
  const ScriptRun run = start("while true do end", limited(100'000));
  const ExitReason why = run.actor.get().ended().get();
  EXPECT_EQ(why.kind(), ExitReason::Kind::shutdown);
  EXPECT_NE(why.word().find("used up its instructions"), std::string_view::npos) << why.to_string();
}

TEST_F(ScriptActors, leave_it_to_their_host_to_tell_of_a_failure) {
  const LogCapture log;
  const ScriptRun run = start("error('no')");
  EXPECT_EQ(run.done.wait().error().code(), ErrorCode::script_error);
  static_cast<void>(run.actor.get().ended().wait());
  EXPECT_TRUE(system.stop());  // the supervisor has had its say
  EXPECT_FALSE(log.contains("terminated"));
}

TEST_F(ScriptActors, take_their_script_along_when_they_are_ended) {
  const ScriptRun run = start("while true do end");
  run.actor.get().exit(ExitReason::kill());
  EXPECT_EQ(run.done.wait().error().code(), ErrorCode::cancelled);
}

TEST_F(ScriptActors, end_with_their_host_which_others_do_not_notice) {
  ScriptHost other = script_host(system, device);
  const ScriptRun kept = other.start({"kept.lua", "while true do end"}, {});
  ActorAddress of_host;
  {
    ScriptHost short_lived = script_host(system, device);
    const ScriptRun run = short_lived.start({"test.lua", "while true do end"}, {});
    of_host = run.actor.get();
  }
  static_cast<void>(of_host.ended().wait());
  EXPECT_TRUE(kept.actor.get().alive());
  kept.cancel();
  EXPECT_EQ(kept.done.wait().error().code(), ErrorCode::cancelled);
}

TEST(ScriptsOfASystem, end_with_it_though_their_host_is_still_there) {
  SystemOptions options;
  options.stop_patience = std::chrono::hours{1};  // it would not end by itself
  const System system{options};
  const ScriptHost host = script_host(system, system.device("cpu"));
  EXPECT_TRUE(system.stop());
}

TEST(ScriptsWithoutASystem, have_no_actor) {
  const System system;
  ScriptHost host{system.device("cpu").client(), system.executor(), system.kernels()};
  const ScriptRun run = host.start({"test.lua", "x = 1"}, {});
  EXPECT_FALSE(run.actor.valid());
  EXPECT_TRUE(run.done.wait());
}

}  // namespace
}  // namespace stoker
