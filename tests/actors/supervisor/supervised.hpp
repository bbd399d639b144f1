// Children for tests of supervisors, and a supervisor that the test moves by hand: each test there is
// a rule of OTP's documentation (https://www.erlang.org/doc/apps/stdlib/supervisor.html).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {

/// What happened, in order: "+a" a has started, "-a" a has ended.
using Diary = std::vector<std::string>;

struct EndWith {
  ExitReason why;
};

/// Writes down that it starts and ends; ends as it is told.
class Child final : public Actor {
 public:
  Child(Diary* diary, std::string name) : diary_{diary}, name_{std::move(name)} {
    diary_->push_back("+" + name_);
  }
  ~Child() override { diary_->push_back("-" + name_); }
  void on(const EndWith& end) { exit(end.why); }

 private:
  Diary* diary_;
  std::string name_;
};

/// Unlinks itself from whoever it is told.
class Loner final : public Actor {
 public:
  void on(const ActorAddress& from) { unlink(from); }
};

/// Ignores `shutdown`.
[[nodiscard]] inline ActorAddress spawn_stubborn(const std::shared_ptr<Executor>& executor) {
  return spawn_process<>(executor, {.name = "stubborn"}, [](auto& self) {
    self.trap_exit();
    for (;;) self.receive([](const Exit&) {});
  });
}

class Supervised : public testing::Test {
 protected:
  void TearDown() override {
    if (supervisor) supervisor.exit(ExitReason::kill());
    executor->run_all();
    supervisor = {};
    executor->run_all();
  }

  [[nodiscard]] ChildSpec worker(const std::string& id, Restart restart = Restart::permanent) {
    ChildSpec spec;
    spec.id = id;
    spec.restart = restart;
    spec.start = [this, id](const ChildStart& start) -> Result<ActorAddress> {
      if (failing_starts[id] > 0) {
        --failing_starts[id];
        return Error{"start", ErrorCode::unsupported, "not now"};
      }
      last[id] = start.spawn<Child>({.name = id}, &diary, id);
      return ActorAddress{last[id]};
    };
    return spec;
  }
  /// Starts the supervisor and forgets what the diary says of it.
  void start(SupervisorOptions options, std::vector<ChildSpec> children) {
    options.on_report = [this](const SupervisorReport& said) { reports.push_back(said); };
    const auto started = start_supervisor(executor, std::move(options), std::move(children));
    executor->run_all();
    ASSERT_TRUE(started.ready());
    supervisor = started.get();
    diary.clear();
  }
  void end(const std::string& id, const ExitReason& why) {
    if (why.kind() == ExitReason::Kind::kill)
      last.at(id).exit(why);
    else
      ASSERT_TRUE(last.at(id).cast(EndWith{why}));
    executor->run_all();
  }
  template <class T> T answer(const Future<T>& future) {
    executor->run_all();
    EXPECT_TRUE(future.ready());
    return future.get();
  }
  template <class T> Error refusal(const Future<T>& future) {
    executor->run_all();
    EXPECT_TRUE(future.ready());
    return future.wait().error();
  }
  [[nodiscard]] bool runs(const std::string& id) { return last.contains(id) && last[id].alive(); }

  LogCapture quiet;
  ManualClock clock;
  std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  Diary diary;
  std::map<std::string, ActorRef<Child>> last;  // the child of that id that was started last
  std::map<std::string, int> failing_starts;
  std::vector<SupervisorReport> reports;
  Supervisor supervisor;
};

class Supervisors : public Supervised {
 protected:
  [[nodiscard]] Error failure_of(SupervisorOptions options, std::vector<ChildSpec> children) {
    options.on_report = [this](const SupervisorReport& said) { reports.push_back(said); };
    return refusal(start_supervisor(executor, std::move(options), std::move(children)));
  }
};

[[nodiscard]] inline ExitReason crashed() {
  return ExitReason::failure(Error{"test", ErrorCode::internal, "on purpose"});
}

}  // namespace stoker
