#include "stoker/actors/system_tree.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

}  // namespace

SystemTree::~SystemTree() { stop(); }

Supervisor SystemTree::root() {
  const std::scoped_lock lock{mutex_};
  if (stopped_) throw Error{"system", ErrorCode::closed, "the system was stopped"};
  if (!root_)
    root_ = spawn_supervisor(executor_, {.name = "system", .intensity = 10, .period = 60s}, {});
  return root_;
}

Supervisor SystemTree::peek() const {
  const std::scoped_lock lock{mutex_};
  return root_;
}

void SystemTree::add(const std::shared_ptr<DeviceSlot>& device) {
  SupervisorOptions options;
  options.name = "device " + device->name();
  options.intensity = 10;
  options.period = 60s;
  options.back_off = {.first = 10ms, .factor = 2, .most = 5s};
  ChildSpec spec = supervisor_child(std::move(options), {device->child()});
  spec.restart = Restart::transient;  // one that gave up stays away
  spec.start = [start = std::move(spec.start), device](const ChildStart& context) {
    Result<ActorAddress> started = start(context);
    // Its end is the end of the tries, unless the system has stopped before.
    if (started)
      static_cast<void>(started->cell()->at_end(device.get(), {}, [weak = std::weak_ptr{device}] {
        const auto slot = weak.lock();
        if (const auto last = slot ? slot->current() : nullptr)
          slot->close(last->shell().lost().value_or(
              Error{"device", ErrorCode::closed, "the system was stopped"}));
      }));
    return started;
  };
  static_cast<void>(root().start_child(std::move(spec)));
}

void SystemTree::stop() noexcept {
  Supervisor root;
  {
    const std::scoped_lock lock{mutex_};
    stopped_ = true;
    root = std::exchange(root_, {});
  }
  if (root) root.exit(ExitReason::shutdown());
}

void SystemTree::forsake() noexcept {
  static_cast<void>(std::make_unique<Supervisor>(std::move(root_)).release());
}

}  // namespace stoker
