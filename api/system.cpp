#include "stoker/api/system.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "stoker/actors/device_trace.hpp"
#include "stoker/runtime/fork_guard.hpp"
#include "stoker/runtime/log.hpp"
#include "stoker/runtime/thread_pool.hpp"

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

}  // namespace

struct SystemState {
  explicit SystemState(SystemOptions given)
      : options{std::move(given)},
        clock{options.clock ? options.clock : std::make_shared<SystemClock>()},
        executor{options.executor ? options.executor
                                  : make_thread_pool(clock, {options.config.threads, "stoker"})},
        drivers{options.drivers.empty() ? builtin_drivers() : options.drivers} {}
  ~SystemState() { stop(); }
  SystemState(const SystemState&) = delete;
  SystemState& operator=(const SystemState&) = delete;

  struct Found {
    DeviceInfo info;
    Driver* driver = nullptr;
    std::size_t index = 0;
  };

  std::vector<Found> find_devices() {
    std::vector<Found> found;
    for (const auto& driver : drivers) {
      const auto infos = driver->devices();
      for (std::size_t i = 0; i < infos.size(); ++i) found.push_back({infos[i], driver.get(), i});
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
      return open_one->second;
    const auto found = find_devices();
    const auto wanted = std::ranges::find_if(found, [&](const Found& one) {
      return name.empty() || one.info.name == name || one.info.backend == name;
    });
    if (wanted == found.end()) {
      std::string names;
      for (const Found& one : found) names += (names.empty() ? "" : ", ") + one.info.name;
      throw Error{"device",
                  ErrorCode::not_found,
                  "no such device",
                  {{"device", std::string{name}}, {"available", names}}};
    }
    if (const auto open_one = devices.find(wanted->info.name); open_one != devices.end())
      return open_one->second;
    OpenOptions open_options;
    open_options.cache_dir = options.config.cache_dir;
    open_options.validation = options.config.validation;
    open_options.cpu_threads = options.config.threads;
    auto shell =
        DeviceShell::open(*wanted->driver, wanted->index, open_options, options.device).value();
    ClientContext context;
    context.executor = executor;
    context.clock = clock;
    context.kernels = kernels;
    context.observer = std::make_shared<DeviceTrace>(trace, metrics, wanted->info.name);
    auto client = DeviceClient::start(std::move(shell), context);
    devices.emplace(wanted->info.name, client);
    return client;
  }

  bool stop() {
    std::map<std::string, std::shared_ptr<DeviceClient>, std::less<>> closing;
    {
      const std::scoped_lock lock{mutex};
      stopped = true;
      closing.swap(devices);
    }
    bool all = true;
    for (const auto& [name, client] : closing) {
      if (client->close(options.stop_patience)) continue;
      all = false;
      log_warn("the device still runs work that was left behind: device=" + name);
    }
    return all;
  }

  const SystemOptions options;
  // In the order in which they are needed: what comes later uses what comes before.
  const std::shared_ptr<Clock> clock;
  const std::shared_ptr<TraceRecorder> trace = std::make_shared<TraceRecorder>();
  const std::shared_ptr<MetricRegistry> metrics = std::make_shared<MetricRegistry>();
  const std::shared_ptr<KernelCatalog> kernels = std::make_shared<KernelCatalog>();
  const std::shared_ptr<Executor> executor;
  const std::vector<std::shared_ptr<Driver>> drivers;
  const ForkGuard fork;
  std::mutex mutex;
  bool stopped = false;
  std::map<std::string, std::shared_ptr<DeviceClient>, std::less<>> devices;
};

System::System(SystemOptions options) : state_{std::make_shared<SystemState>(std::move(options))} {}

std::vector<DeviceInfo> System::devices() const {
  std::vector<DeviceInfo> infos;
  const std::scoped_lock lock{state_->mutex};
  for (auto& one : state_->find_devices()) infos.push_back(std::move(one.info));
  return infos;
}

std::vector<Diagnosis> System::diagnose() const {
  std::vector<Diagnosis> all;
  const std::scoped_lock lock{state_->mutex};
  for (const auto& driver : state_->drivers)
    for (Diagnosis& one : driver->diagnose()) all.push_back(std::move(one));
  return all;
}

Device System::device(std::string_view name) const { return Device{state_->open(name)}; }

void System::add_kernel(Kernel kernel) const { state_->kernels->add(std::move(kernel)).value(); }

std::shared_ptr<const Kernel> System::kernel(std::string_view name) const {
  return state_->kernels->find(name).value();
}

std::vector<std::shared_ptr<const Kernel>> System::kernels() const {
  return state_->kernels->list();
}

Executor& System::executor() const noexcept { return *state_->executor; }
Clock& System::clock() const noexcept { return *state_->clock; }
TraceRecorder& System::trace() const noexcept { return *state_->trace; }
MetricRegistry& System::metrics() const noexcept { return *state_->metrics; }
const Config& System::config() const noexcept { return state_->options.config; }
bool System::stop() const { return state_->stop(); }

}  // namespace stoker
