#include "stoker/api/system.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "stoker/actors/device/device_trace.hpp"
#include "stoker/actors/device/system_tree.hpp"
#include "stoker/actors/registry.hpp"
#include "stoker/api/kernel_spec.hpp"
#include "stoker/api/observe/observe_server.hpp"
#include "stoker/api/observe/observing.hpp"
#include "stoker/device/backend.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/asio/asio_clock.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/execution/stall_detector.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/observe/metrics.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker {
namespace {

/// Best first; those that are only used when asked for come last.
int rank(DeviceType type) {
  switch (type) {
    case DeviceType::discrete_gpu: return 0;
    case DeviceType::integrated_gpu: return 1;
    case DeviceType::virtual_gpu: return 2;
    case DeviceType::cpu: return 3;
    case DeviceType::software_gpu: return 4;
    case DeviceType::null: break;
  }
  return 5;
}

std::vector<std::shared_ptr<Driver>> builtin_drivers() {
  std::vector<std::shared_ptr<Driver>> drivers;
  for (std::unique_ptr<Driver>& driver : all_drivers()) drivers.push_back(std::move(driver));
  return drivers;
}

/// How many kernels a device has compiled, the earlier ones included where it was lost and opened again. Any thread.
class CompiledKernels {
 public:
  explicit CompiledKernels(const std::shared_ptr<SupervisedDevice>& device)
      : seen_{std::make_shared<Seen>()} {
    seen_->device = device;
  }

  std::uint64_t operator()() const {
    const std::scoped_lock lock{seen_->mutex};
    const auto device = seen_->device.lock();
    const auto client = device ? device->current() : nullptr;
    if (!client) return seen_->before + seen_->now;
    const BackendCounters counters = client->scheduler().backend()->counters();
    if (const std::uint64_t opened = device->reopened(); opened != seen_->reopened) {
      seen_->before += seen_->now;
      seen_->reopened = opened;
    }
    seen_->now = counters.pipelines_created - counters.pipelines_from_cache;
    return seen_->before + seen_->now;
  }

 private:
  struct Seen {
    std::mutex mutex;
    std::weak_ptr<SupervisedDevice> device;
    std::uint64_t reopened = 0;
    std::uint64_t before = 0;  ///< of devices that were lost
    std::uint64_t now = 0;
  };
  std::shared_ptr<Seen> seen_;
};

}  // namespace

struct SystemState : std::enable_shared_from_this<SystemState> {
  explicit SystemState(SystemOptions given)
      : options{std::move(given)},
        clock{options.clock ? options.clock : std::make_shared<SystemClock>()},
        executor{options.executor ? options.executor
                                  : make_thread_pool(clock, {options.config.threads, "stoker"})},
        drivers{options.drivers.empty() ? builtin_drivers() : options.drivers} {
    // A system that shares the executor may watch it already: then that one goes on.
    watches = options.stall_limit > std::chrono::nanoseconds::zero() &&
              executor->stall_detector().here() == nullptr;
    if (watches) {
      // A clock on the host's loop would keep its run() from returning, and stand still with it.
      if (dynamic_cast<AsioClock*>(&executor->clock()) != nullptr)
        watch_clock = std::make_unique<SystemClock>();
      executor->stall_detector().start(
          watch_clock ? *watch_clock : executor->clock(), options.stall_limit,
          [](const StalledThread& stalled) {
            log_warn(
                "a handler hogs its thread",
                {{"actor", stalled.who},
                 {"at_least_ms", std::to_string(stalled.at_least / std::chrono::milliseconds{1})}});
          });
    }
  }
  ~SystemState() {
    try {
      stop();
    } catch (...) {  // no memory to stop in order: the members end as they are
      detail::log_escaped_exception("system.stop");
    }
  }
  SystemState(const SystemState&) = delete;
  SystemState& operator=(const SystemState&) = delete;

  struct Found {
    DeviceInfo info;
    std::shared_ptr<Driver> driver;
    std::size_t index = 0;
  };

  /// The devices that `name` may mean. One that says its driver, as "cpu" and "vulkan:0" do, is asked of
  /// this driver alone: a program that wants the CPU does not load the drivers of its GPUs.
  std::vector<Found> find_devices(std::string_view name) {
    std::vector<Found> found;
    const std::string_view wanted = name.substr(0, name.find(':'));
    const std::scoped_lock asking{*asking_drivers};
    for (const auto& driver : drivers) {
      if (!wanted.empty() && driver->name() != wanted) continue;
      const auto infos = driver->devices();
      for (std::size_t i = 0; i < infos.size(); ++i) found.push_back({infos[i], driver, i});
    }
    std::ranges::stable_sort(found, {}, [](const Found& one) { return rank(one.info.type); });
    return found;
  }

  std::shared_ptr<DeviceClient> open(std::string_view name) {
    fork.check("device").value();
    const std::scoped_lock lock{mutex};
    if (stopped) throw Error{"device", ErrorCode::closed, "the system was stopped"};
    if (name.empty()) name = options.config.device;
    // A device that is open answers without asking the drivers again.
    if (const auto open_one = devices.find(name); open_one != devices.end())
      return open_one->second->current();
    const auto is_meant = [&](const Found& one) {
      return name.empty() || one.info.name == name || one.info.backend == name;
    };
    auto found = find_devices(name);
    auto wanted = std::ranges::find_if(found, is_meant);
    // The name may say no driver; and an error tells all there are.
    if (wanted == found.end() && !name.empty()) {
      found = find_devices({});
      wanted = std::ranges::find_if(found, is_meant);
    }
    if (wanted == found.end()) {
      std::string names;
      for (const Found& one : found) names += (names.empty() ? "" : ", ") + one.info.name;
      throw Error{"device",
                  ErrorCode::not_found,
                  "no such device",
                  {{"device", std::string{name}}, {"available", names}}};
    }
    if (const auto open_one = devices.find(wanted->info.name); open_one != devices.end())
      return open_one->second->current();
    SupervisedDevice::Source source{
        wanted->driver, wanted->index, {}, options.device, asking_drivers};
    source.open.cache_dir = options.config.cache_dir;
    source.open.validation = options.config.validation;
    source.open.cpu_threads = options.config.threads;
    source.open.flush_subnormals = options.config.flush_subnormals;
    ClientContext context;
    context.executor = executor;
    context.clock = clock;
    context.kernels = kernels;
    context.observer = std::make_shared<DeviceTrace>(trace, metrics, wanted->info.name);
    if (wanted->info.type != DeviceType::cpu)
      context.fallback_device = [self = weak_from_this()]() -> std::shared_ptr<DeviceClient> {
        const auto system = self.lock();
        return system ? system->open("cpu") : nullptr;
      };
    auto slot = std::make_shared<SupervisedDevice>(wanted->info.name, std::move(source), context);
    auto client = slot->open().value();
    metrics->counter_from("stoker_kernels_compiled_total",
                          "kernels that the device's driver compiled; those that the cache on disk "
                          "had are not among them",
                          {{"device", wanted->info.name}}, CompiledKernels{slot});
    metrics->counter_from(
        "stoker_device_losses_total", "how often the device was lost and opened again",
        {{"device", wanted->info.name}}, [lost = std::weak_ptr{slot}]() -> std::uint64_t {
          const auto device = lost.lock();
          return device ? device->reopened() : 0;
        });
    Slots one;
    one.emplace(wanted->info.name, slot);
    tree.add(slot, options.device_restarts);
    const std::scoped_lock listing{slots_mutex};
    devices.merge(one);
    return client;
  }

  bool stop() {
    if (fork.forked()) {  // all of it is the parent's
      tree.forsake();
      return true;
    }
    // A host's loop may be this thread's to run, and a thread of our pool the only one.
    const bool may_wait = !options.executor && !executor->in_executor();
    const auto until = deadline_after(std::chrono::steady_clock::now(), options.stop_patience);
    bool all = true;
    const auto await = [&](const auto& end) {
      if (may_wait && !end.wait_until(until)) all = false;
    };
    await(tree.stop_program());
    const Future<void> jobs_ended = blocking.close();
    const bool in_job = blocking.in_pool();  // it cannot wait for itself
    if (!in_job) await(jobs_ended);
    blocking.leave(may_wait && !in_job ? BlockingPool::Tell::yes : BlockingPool::Tell::no);
    // Once: by the second time it may be another system's.
    if (watches.exchange(false)) executor->stall_detector().stop();
    Slots closing;
    std::unique_ptr<ObserveServer> silenced;
    {
      const std::scoped_lock lock{mutex, slots_mutex};
      stopped = true;
      closing = devices;  // they stay: whoever stops at the same time waits for them, too
      silenced = std::move(server);
    }
    silenced.reset();
    std::vector<Leaving> leaving;
    for (const auto& [name, slot] : closing) {
      slot->close({"device", ErrorCode::closed, "the system was stopped"});
      const auto client = slot->current();
      if (client->close(until,
                        may_wait ? DeviceClient::AwaitTurns::yes : DeviceClient::AwaitTurns::no)) {
        leaving.push_back({client, client->scheduler().gone()});
        continue;
      }
      all = false;
      if (may_wait) log_warn("the device still runs work that was left behind", {{"device", name}});
    }
    // The devices end now rather than some time later on the executor: their memory is free for
    // whoever comes next, and the process may exit.
    await(tree.stop());
    {
      const std::scoped_lock lock{mutex, slots_mutex};
      devices.clear();
    }
    closing.clear();
    for (const Leaving& device : leaving)
      if (may_wait && device.client.expired()) await(device.gone);
    return all;
  }

  /// A device that was closed. It goes with the last handle of it.
  struct Leaving {
    std::weak_ptr<DeviceClient> client;
    Future<void> gone;
  };

  /// What an observer looks at. Never waits for a device that is being opened.
  Observed observed() {
    Observed what{executor, tree.peek(), {}};
    const std::scoped_lock listing{slots_mutex};
    for (const auto& [name, slot] : devices) what.devices.push_back(slot);
    return what;
  }

  using Slots = std::map<std::string, std::shared_ptr<SupervisedDevice>, std::less<>>;

  const SystemOptions options;
  // In the order in which they are needed: what comes later uses what comes before.
  const std::shared_ptr<Clock> clock;
  const std::shared_ptr<TraceRecorder> trace = std::make_shared<TraceRecorder>();
  const std::shared_ptr<MetricRegistry> metrics = std::make_shared<MetricRegistry>();
  const std::shared_ptr<KernelCatalog> kernels = std::make_shared<KernelCatalog>();
  std::atomic<bool> watches = false;         // it has started the executor's turn watch
  std::unique_ptr<SystemClock> watch_clock;  // of the turn watch, where the executor's cannot be
  const std::shared_ptr<Executor> executor;
  const std::vector<std::shared_ptr<Driver>> drivers;
  const std::shared_ptr<std::mutex> asking_drivers = std::make_shared<std::mutex>();
  const ForkGuard fork;
  std::mutex mutex;
  bool stopped = false;
  std::mutex slots_mutex;  // held beside `mutex` by whoever changes what follows
  Slots devices;
  ActorRegistry registry;
  BlockingPool blocking{options.blocking};
  SystemTree tree{executor};
  // The last, because it asks for the others from a thread of its own.
  std::unique_ptr<ObserveServer> server =
      serve_observations(options.config.observe_socket, [this] { return observed(); });
};

namespace {

SystemOptions checked(SystemOptions options) {
  check(options.device).value();
  constexpr std::size_t most_threads = 4'096;
  if (options.blocking.threads > most_threads)
    throw Error{"system",
                ErrorCode::invalid_argument,
                "blocking.threads: expected at most " + std::to_string(most_threads) + ", got " +
                    std::to_string(options.blocking.threads),
                {{"parameter", "blocking.threads"}}};
  if (options.device_restarts.period <= std::chrono::nanoseconds::zero())
    throw Error{"system",
                ErrorCode::invalid_argument,
                "device_restarts.period: must be positive",
                {{"parameter", "device_restarts.period"}}};
  return options;
}

}  // namespace

System::System(SystemOptions options)
    : state_{std::make_shared<SystemState>(checked(std::move(options)))} {}

std::vector<DeviceInfo> System::devices() const {
  state_->fork.check("devices").value();
  std::vector<DeviceInfo> infos;
  for (auto& one : state_->find_devices({})) infos.push_back(std::move(one.info));
  return infos;
}

std::vector<Diagnosis> System::diagnose() const {
  state_->fork.check("diagnose").value();
  std::vector<Diagnosis> all;
  const std::scoped_lock lock{*state_->asking_drivers};
  for (const auto& driver : state_->drivers)
    for (Diagnosis& one : driver->diagnose()) all.push_back(std::move(one));
  return all;
}

Device System::device(std::string_view name) const { return Device{state_->open(name)}; }

UserKernel System::add_kernel(KernelSpec spec) const {
  state_->fork.check("add_kernel").value();
  std::shared_ptr<const KernelGradient> gradient;
  if (spec.gradient)
    gradient = std::make_shared<const KernelGradient>(std::exchange(spec.gradient, {}));
  UserKernel added = add_kernel(make_kernel(std::move(spec), state_->options.config.cache_dir));
  added.gradient = std::move(gradient);
  return added;
}

UserKernel System::add_kernel(CppKernelSpec spec) const {
  return add_kernel(cpp_kernel(std::move(spec)));
}

UserKernel System::add_kernel(Kernel kernel) const {
  state_->fork.check("add_kernel").value();
  const std::string name = kernel.name;
  state_->kernels->add(std::move(kernel)).value();
  return {state_->kernels->find(name).value()};
}

std::shared_ptr<const Kernel> System::kernel(std::string_view name) const {
  state_->fork.check("kernel").value();
  return state_->kernels->find(name).value();
}

std::vector<std::shared_ptr<const Kernel>> System::kernels() const {
  state_->fork.check("kernels").value();
  return state_->kernels->list();
}

Executor& System::executor() const noexcept { return *state_->executor; }
Clock& System::clock() const noexcept { return *state_->clock; }
TraceRecorder& System::trace() const noexcept { return *state_->trace; }
MetricRegistry& System::metrics() const noexcept { return *state_->metrics; }
const Config& System::config() const noexcept { return state_->options.config; }
ActorRegistry& System::registry() const noexcept { return state_->registry; }
Future<SystemObservation> System::observe() const {
  if (const auto here = state_->fork.check("observe"); !here)
    return make_ready_future<SystemObservation>(here.error());
  return observe_later(state_->observed());
}
BlockingPool& System::blocking() const noexcept { return state_->blocking; }
Supervisor System::supervisor() const { return state_->tree.program(); }
std::shared_ptr<Executor> System::shared_executor() const noexcept { return state_->executor; }
bool System::stop() const { return state_->stop(); }

}  // namespace stoker
