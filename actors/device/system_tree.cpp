#include "stoker/actors/device/system_tree.hpp"

#include "stoker/device/commands/command_scheduler.hpp"

namespace stoker {

using namespace std::chrono_literals;

SystemTree::~SystemTree() {
  try {
    static_cast<void>(stop());
  } catch (...) {  // no memory to tell its supervisors: they end with the last address of them
    detail::log_escaped_exception("system.stop");
  }
}

Supervisor SystemTree::root_locked() {
  if (stopped_) throw Error{"system", ErrorCode::closed, "the system was stopped"};
  if (!root_)
    root_ = spawn_supervisor(executor_, {.name = "system", .intensity = 10, .period = 60s}, {});
  return root_;
}

Supervisor SystemTree::program() {
  fork_.check("supervisor").value();
  const std::scoped_lock lock{mutex_};
  const Supervisor root = root_locked();
  if (program_) return program_;
  program_ = spawn_supervisor(
      executor_, {.name = "program", .intensity = 10, .period = 60s, .parent = root}, {});
  static_cast<void>(root.start_child(running_child("program", program_, ChildKind::supervisor)));
  return program_;
}

Supervisor SystemTree::peek() const {
  if (fork_.forked()) return {};
  const std::scoped_lock lock{mutex_};
  return stopped_ ? Supervisor{} : root_;
}

void SystemTree::add(const std::shared_ptr<SupervisedDevice>& device,
                     const DeviceRestarts& restarts) {
  SupervisorOptions options;
  options.name = "device " + device->name();
  options.intensity = restarts.intensity;
  options.period = restarts.period;
  options.back_off = restarts.back_off;
  ChildSpec spec = supervisor_child(std::move(options), {device->child()});
  spec.restart = Restart::transient;  // one that gave up stays away
  spec.start = [start = std::move(spec.start), device](const ChildStart& context) {
    Result<ActorAddress> started = start(context);
    if (!started) return started;
    // Its end is the end of the tries, unless the system has stopped before.
    const auto close = [weak = std::weak_ptr{device}] {
      const auto slot = weak.lock();
      if (const auto last = slot ? slot->current() : nullptr)
        slot->close(last->scheduler().lost().value_or(
            Error{"device", ErrorCode::closed, "the system was stopped"}));
    };
    // A device that is lost at once may have been given up by now.
    if (!started->cell()->at_end(device.get(), {}, close)) close();
    return started;
  };
  const std::scoped_lock lock{mutex_};
  // A device that nobody supervises goes on, and stays lost once it is.
  static_cast<void>(
      root_locked()
          .start_child(std::move(spec))
          .then(*executor_, [weak = std::weak_ptr{device}](const Result<ActorAddress>& started) {
            if (started) return;
            if (const auto slot = weak.lock()) slot->close(started.error());
          }));
}

Future<ExitReason> SystemTree::stop_program() {
  const std::scoped_lock lock{mutex_};
  if (!program_) return make_ready_future<ExitReason>(ExitReason::shutdown());
  auto ended = program_.ended();
  // By its owner, also if that lets go of the system within an actor.
  program_.cell()->exit(ExitReason::shutdown());
  return ended;
}

Future<ExitReason> SystemTree::stop() {
  if (fork_.forked()) return make_ready_future<ExitReason>(ExitReason::shutdown());
  Supervisor root;
  {
    const std::scoped_lock lock{mutex_};
    stopped_ = true;
    root = root_;  // kept: once nobody has its address, it ends without waiting for its children
  }
  if (!root) return make_ready_future<ExitReason>(ExitReason::shutdown());
  auto ended = root.ended();
  root.cell()->exit(ExitReason::shutdown());
  return ended;
}

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): what leaks is the parent's
void SystemTree::forsake() noexcept {
  static_cast<void>(std::make_unique<Supervisor>(std::move(root_)).release());
  static_cast<void>(std::make_unique<Supervisor>(std::move(program_)).release());
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace stoker
