#include "stoker/actors/supervisor/supervisor.hpp"

#include <set>

#include "stoker/actors/supervisor/supervisor_loop.hpp"

namespace stoker {
namespace {

[[nodiscard]] Error refused(std::string why, const std::string& child = {}) {
  Error error{"start_supervisor", ErrorCode::invalid_argument, std::move(why)};
  return child.empty() ? error : error.with("child", child);
}

[[nodiscard]] Result<void> check(const SupervisorOptions& options,
                                 const std::vector<ChildSpec>& children) {
  if (options.period <= std::chrono::nanoseconds::zero())
    return refused("the period must be positive");
  if (options.strategy == Strategy::simple_one_for_one && children.size() != 1)
    return refused("simple_one_for_one takes exactly one specification");
  std::set<std::string_view> ids;
  for (const ChildSpec& child : children) {
    if (!child.start) return refused("the child has no start function", child.id);
    if (!ids.insert(child.id).second) return refused("two children have the same id", child.id);
    if (!child.significant) continue;
    if (child.restart == Restart::permanent)
      return refused("a significant child must not be permanent", child.id);
    if (options.auto_shutdown == AutoShutdown::never)
      return refused("a significant child needs a supervisor with auto_shutdown", child.id);
  }
  return {};
}

/// What a supervisor's process begins with. A std::function wants to be copied; the process takes it
/// once.
struct Given {
  SupervisorOptions options;
  std::vector<ChildSpec> children;
  ActorId starter;  ///< its parent, unless it was given one
  Promise<Supervisor> started;
};

void supervise(SupervisorSelf& self, Given& given) {
  SupervisorLoop loop{self, std::exchange(given.options, {}), given.starter};
  const Result<void> all = loop.start_all(std::move(given.children));
  {
    // The answer holds this supervisor's address, and must not keep it reachable.
    Promise<Supervisor> started = std::move(given.started);
    if (all)
      started.set(Supervisor{self.self()});
    else
      started.set(all.error());
  }
  if (!all) self.exit(ExitReason::shutdown("failed to start a child"));
  loop.run();
}

Supervisor spawn_with(std::shared_ptr<Executor> executor, std::shared_ptr<Given> given) {
  const ProcessActorOptions process{.name = given->options.name};
  ActorCell* const parent = given->options.parent.cell().get();
  const auto spawned = [&]<class... Accepted>(const ProcessActor<Accepted...>*) {
    return detail::start_process<Accepted...>(
        std::move(executor), process, parent,
        [given = std::move(given)](SupervisorSelf& self) { supervise(self, *given); });
  };
  return Supervisor{spawned(static_cast<const SupervisorProcess*>(nullptr))};
}

}  // namespace

Future<Supervisor> start_supervisor(std::shared_ptr<Executor> executor, SupervisorOptions options,
                                    std::vector<ChildSpec> children) {
  if (auto valid = check(options, children); !valid)
    return make_ready_future<Supervisor>(valid.error());
  auto given =
      std::make_shared<Given>(std::move(options), std::move(children), Strand::running_actor());
  auto started = given->started.future();
  static_cast<void>(spawn_with(std::move(executor), std::move(given)));
  return started;
}

Supervisor spawn_supervisor(std::shared_ptr<Executor> executor, SupervisorOptions options,
                            std::vector<ChildSpec> children) {
  check(options, children).value();
  auto given =
      std::make_shared<Given>(std::move(options), std::move(children), Strand::running_actor());
  static_cast<void>(given->started.future().poll());  // a failure is the supervisor's end
  return spawn_with(std::move(executor), std::move(given));
}

ChildSpec supervisor_child(SupervisorOptions options, std::vector<ChildSpec> children) {
  ChildSpec spec;
  spec.id = options.name;
  spec.kind = ChildKind::supervisor;
  spec.start = [options = std::move(options),
                children = std::move(children)](const ChildStart& start) -> Result<ActorAddress> {
    SupervisorOptions own = options;
    own.parent = ActorAddress{start.supervisor().shared_from_this()};
    const auto future = start_supervisor(start.executor(), std::move(own), children);
    const Result<Supervisor>& started = future.wait();
    if (!started) return started.error();
    return ActorAddress{*started};
  };
  return spec;
}

}  // namespace stoker
